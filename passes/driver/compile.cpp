// Named phases one after the other, timed; diagnostics are gathered into one error text.
#include "passes/driver/compile.h"

#include "dialects/AllDialects.h"
#include "dialects/pipe/PipeDialect.h"
#include "model/plan/check.h"
#include "passes/driver/diagnostic_text.h"
#include "passes/driver/phases.h"
#include "passes/lower/lower.h"
#include "passes/schedule/schedule.h"
#include "passes/schedule/tensor_schedule.h"
#include "runtime/base/check.h"
#include "runtime/base/log.h"
#include "runtime/base/readable.h"
#include "runtime/base/stop.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"

#include <chrono>

using namespace mlir;

namespace headrace::driver {

namespace {

class PhaseClock {
public:
  explicit PhaseClock(CompiledProgram &out) : out_(out) {}
  void lap(std::string name) {
    auto now = std::chrono::steady_clock::now();
    out_.phaseSeconds.emplace_back(std::move(name),
                                   std::chrono::duration<double>(now - last_).count());
    last_ = now;
  }

private:
  CompiledProgram &out_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

} // namespace

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  lower::registerCompileDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  // What was given up ends with the pass that is under way.
  context->registerActionHandler([](llvm::function_ref<void()> run, const tracing::Action &action) {
    if (!stopRequested() || !isa<PassExecutionAction>(action)) {
      run();
    }
  });
  context->loadAllAvailableDialects();
  return context;
}

bool runPhases(ModuleOp module, Phase from, Phase to, const CompileOptions &options,
               CompileError &error) {
  DiagnosticText diagnostics(module.getContext(), error);
  for (Phase phase : {Phase::kOptimize, Phase::kShard, Phase::kForm}) {
    if (phase < from || phase > to) {
      continue;
    }
    if (stopRequested()) {
      return false;
    }
    LogicalResult result = success();
    if (phase == Phase::kOptimize) {
      currentWork = "phase optimize";
      result = runOptimize(module);
    } else if (phase == Phase::kShard) {
      currentWork = "phase shard";
      result = runShard(module, options);
    } else {
      currentWork = "phase form";
      result = runForm(module, options);
    }
    if (succeeded(result)) {
      result = verify(module);
    }
    if (failed(result)) {
      if (error.message.empty()) {
        error.message = ("phase failed without a message: " + phaseName(phase)).str();
      }
      return false;
    }
    if (options.observe) {
      options.observe(phase, module);
    }
  }
  return true;
}

namespace {

/// False of more tasks than a plan may have.
bool requireSize(size_t tasks, CompileError &error) {
  if (tasks <= plan::kElementsMax) {
    return true;
  }
  error = {ErrorKind::kUnsupported,
           "a program of more than " + std::to_string(plan::kElementsMax) +
               " tasks is not supported; divide it into several, which keep tables between them"};
  return false;
}

/// Of the tasks that a program will have at least: of each pipeline, and what makes and ends each
/// state.
size_t leastTasks(ModuleOp module) {
  size_t tasks = 0;
  for (Operation &op : *module.getBody()) {
    tasks += isa<pipe::PipelineOp>(op) ? 1 : isa<pipe::StateOp>(op) ? 2 : 0;
  }
  return tasks;
}

/// From the program of phase `options.resumeAfter` to plan and kernels.
bool compileModule(OwningOpRef<ModuleOp> module, PhaseClock &clock, const CompileOptions &options,
                   CompiledProgram &out, CompileError &error) {
  if (!module) {
    return false;
  }
  clock.lap("import");
  if (options.resumeAfter == Phase::kImport) {
    if (options.observe) {
      options.observe(Phase::kImport, *module);
    }
    if (options.stopAfter == Phase::kImport) {
      return true;
    }
  }
  for (Phase phase : {Phase::kOptimize, Phase::kShard, Phase::kForm}) {
    if (phase <= options.resumeAfter) {
      continue;
    }
    if (!runPhases(*module, phase, phase, options, error)) {
      return false;
    }
    clock.lap(phaseName(phase).str());
    if (options.stopAfter == phase) {
      return true;
    }
  }
  DiagnosticText diagnostics(module->getContext(), error);
  lower::CompileOptions target;
  target.isa = lower::hostIsa();
  target.gpu = options.gpu;
  target.effort = options.planOnly ? lower::Effort::kNone : target.effort;
  for (lower::TargetIsa isa :
       {lower::TargetIsa::kX86_64, lower::TargetIsa::kX86_64_v3, lower::TargetIsa::kX86_64_v4}) {
    if (lower::isaName(isa) == options.isa) {
      target.isa = isa;
    }
  }
  currentWork = "phase lower";
  if (options.observe) {
    FailureOr<OwningOpRef<ModuleOp>> kernels = lower::emitKernels(*module);
    if (failed(kernels)) {
      return false;
    }
    options.observe(Phase::kLower, **kernels);
  }
  if (options.stopAfter == Phase::kLower) {
    return true;
  }
  if (stopRequested() || !requireSize(leastTasks(*module), error)) {
    return false;
  }
  FailureOr<lower::LoweredKernels> lowered =
      lower::lowerPipelines(*module, target, options.backend);
  if (failed(lowered)) {
    return false;
  }
  clock.lap("lower");
  currentWork = "phase schedule";
  if (options.resumeAfter != Phase::kSchedule && failed(runSchedule(*module, options))) {
    return false;
  }
  if (options.observe) {
    options.observe(Phase::kSchedule, *module);
  }
  if (options.stopAfter == Phase::kSchedule) {
    return true;
  }
  FailureOr<plan::Plan> plan = schedule::emitPlan(*module->getOps<sched::ProgramOp>().begin());
  if (failed(plan)) {
    return false;
  }
  clock.lap("schedule");
  for (const auto &[phase, seconds] : out.phaseSeconds) {
    log(LogLevel::kInfo, "compiled, phase ", phase, ": ", formatSeconds(seconds));
  }
  log(LogLevel::kInfo, "kernels compiled: ", lowered->compiled,
      ", from the cache: ", lowered->cached);
  out.plan = std::move(*plan);
  if (!requireSize(out.plan.tasks.size(), error)) {
    return false;
  }
  if (Status status = plan::check(out.plan); !status.ok()) {
    error.message = "the compiler made a plan that it refuses itself: " + status.toString();
    return false;
  }
  out.kernels = std::move(lowered->sharedObject);
  out.kernelsCompiled = lowered->compiled;
  out.kernelsCached = lowered->cached;
  return true;
}

} // namespace

/// The text of a program of a phase behind `import`.
static OwningOpRef<ModuleOp> importPhase(MLIRContext *context, const std::string &text,
                                         const std::vector<QueryInput> &queries,
                                         const CompileOptions &options, CompileError &error) {
  if (!queries.empty()) {
    error = {ErrorKind::kUser, "queries are put into a program of the phase import only, got " +
                                   phaseName(options.resumeAfter).str()};
    return {};
  }
  OwningOpRef<ModuleOp> module = importMlir(context, text, options, error);
  DiagnosticText diagnostics(context, error);
  if (module && failed(verifyAfter(options.resumeAfter, *module, options))) {
    error.kind = ErrorKind::kUser; // the text is the user's
    return {};
  }
  return module;
}

bool compileSql(MLIRContext *context, const SqlQuery &query, const CompileOptions &options,
                CompiledProgram &out, CompileError &error) {
  PhaseClock clock(out);
  currentWork = "phase import";
  import::ImportError refused;
  OwningOpRef<ModuleOp> module = importSql(context, query, options, refused);
  if (!module) {
    error = compileError(refused);
    return false;
  }
  return compileModule(std::move(module), clock, options, out, error);
}

bool compileMixed(MLIRContext *context, const std::string &text,
                  const std::vector<QueryInput> &queries, const CompileOptions &options,
                  CompiledProgram &out, CompileError &error) {
  PhaseClock clock(out);
  currentWork = "phase import";
  OwningOpRef<ModuleOp> module;
  if (options.resumeAfter == Phase::kImport) {
    DiagnosticText diagnostics(context, error);
    module = importMixed(context, text, queries, options, error);
    if (module && failed(verify(*module))) {
      return false;
    }
  } else {
    module = importPhase(context, text, queries, options, error);
  }
  return compileModule(std::move(module), clock, options, out, error);
}

} // namespace headrace::driver
