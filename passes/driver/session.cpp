// Fills a SessionAnswer from the driver.
#include "passes/driver/session.h"

#include "model/plan/json.h"
#include "model/plan/text.h"
#include "passes/analysis/explanation.h"
#include "passes/driver/commit_points.h"
#include "passes/driver/compile.h"
#include "passes/driver/contained_workers.h"
#include "passes/driver/containment.h"
#include "passes/driver/object_cache.h"
#include "passes/driver/phases.h"
#include "runtime/base/settings.h"
#include "runtime/base/stop.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace headrace::driver {

struct CompilerSession::State {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  lower::CodeGenerators generators;
};

CompilerSession::CompilerSession() : state_(std::make_unique<State>()) {}
CompilerSession::~CompilerSession() = default;

SessionAnswer CompilerSession::compileSql(const SessionRequest &request,
                                          const Interrupted &interrupted) {
  return compile(request, Language::kSql, interrupted);
}

SessionAnswer CompilerSession::compileMlir(const SessionRequest &request,
                                           const Interrupted &interrupted) {
  return compile(request, Language::kMlir, interrupted);
}

SessionAnswer CompilerSession::compile(const SessionRequest &request, Language language,
                                       const Interrupted &interrupted) {
  auto answer = std::make_unique<SessionAnswer>();
  Expected<Settings> settings =
      Settings::fromEnvironment(); // a wrong variable is an error of the run
  if (settings.ok()) {
    settings->applyLog(); // of this library
  }
  std::atomic<bool> stopped = false;
  ContainedWorkers workers(settings.ok() ? settings->workerCount() : 1, stopped);
  auto work = [&] {
    const StopScope scope(stopped);
    compile(request, language, workers, *answer);
  };
  auto ask = [&] {
    if (interrupted && interrupted()) {
      stopped = true;
    }
  };
  std::string death;
  SessionAnswer failed;
  if (!runContained(work, death, ask)) {
    // What died in the middle of its work is left as it is.
    (void)answer.release();
    (void)state_->context.release();
    state_->context = makeContext();
  } else if (death = workers.death(); death.empty() && stopped) {
    failed.errorKind = errorKindName(ErrorKind::kCancelled);
    failed.error = "the compilation was stopped";
    return failed;
  } else if (death.empty()) {
    return std::move(*answer);
  }
  failed.died = true;
  failed.errorKind = errorKindName(ErrorKind::kInternal);
  failed.error = "the compiler failed: " + death;
  return failed;
}

static SqlQuery sqlQuery(const SessionSql &sql) {
  bool duckdb = sql.substrait.empty();
  return {duckdb ? SqlQuery::Format::kDuckdb : SqlQuery::Format::kSubstrait,
          duckdb ? sql.duckdb : sql.substrait,
          sql.text,
          sql.resultNames,
          sql.nowMicroseconds,
          sql.timeZone,
          sql.zoneFolder};
}

/// False if it cannot be cut; the module has the error then.
static bool addParts(mlir::ModuleOp module, const CompileOptions &options, double lossesPerSecond,
                     SessionAnswer &answer) {
  mlir::FailureOr<std::vector<CommittedPart>> parts =
      cutAtCommitPoints(module, options, lossesPerSecond);
  if (failed(parts)) {
    return false;
  }
  for (CommittedPart &part : *parts) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    part.program->print(stream, mlir::OpPrintingFlags().enableDebugInfo()); // places of errors
    answer.parts.emplace_back(part.table, std::move(text));
  }
  return true;
}

void CompilerSession::compile(const SessionRequest &request, Language language,
                              lower::Workers &workers, SessionAnswer &answer) {
  CompileOptions options;
  options.backend = {objectCache(request.kernelCache), &state_->generators, &workers};
  options.statistics = request.statistics;
  options.ranks = request.ranks;
  options.mesh = request.mesh;
  options.topology = request.topology;
  options.layoutSeed = request.layoutSeed;
  options.layoutAlternative = request.layoutAlternative;
  options.memoryBytes = request.memoryBytes;
  options.chunkRows = request.chunkRows;
  options.note = request.note;
  options.planOnly = request.planOnly;
  options.isa = request.isa;
  if (!request.gpu.empty()) {
    options.gpu =
        request.gpu == "ptx" ? lower::DeviceTarget::kPtx : lower::DeviceTarget::kEmulation;
  }
  auto phaseNamed = [&](const std::string &name, Phase *phase) {
    if (parsePhase(name, phase)) {
      return true;
    }
    answer.errorKind = errorKindName(ErrorKind::kUser);
    answer.error = "no such phase (" + phaseNames(Phase::kImport) + "): " + name;
    return false;
  };
  for (const std::string &name : request.dumpPhases) {
    if (Phase phase; !phaseNamed(name, &phase)) {
      return;
    }
  }
  if (!request.dumpPhases.empty()) {
    options.observe = [&](Phase phase, mlir::ModuleOp module) {
      if (llvm::is_contained(request.dumpPhases, phaseName(phase).str())) {
        std::string text;
        llvm::raw_string_ostream stream(text);
        mlir::Attribute explanation =
            module->removeAttr(analysis::kExplanationAttr); // long, and told apart
        module.print(stream);
        if (explanation) {
          module->setAttr(analysis::kExplanationAttr, explanation);
        }
        answer.dumps.emplace_back(phaseName(phase).str(), text);
      }
    };
  }
  if (!request.resumeAfter.empty() && !phaseNamed(request.resumeAfter, &options.resumeAfter)) {
    return;
  }
  if (Phase last; !request.stopAfter.empty()) {
    if (!phaseNamed(request.stopAfter, &last)) {
      return;
    }
    options.stopAfter = last;
  }
  bool isCut = true;
  if (request.lossesPerSecond > 0) {
    options.stopAfter = Phase::kOptimize;
    options.observe = [&](Phase phase, mlir::ModuleOp module) {
      if (phase == Phase::kOptimize) {
        isCut = addParts(module, options, request.lossesPerSecond, answer);
      }
    };
  }
  CompiledProgram program;
  mlir::MLIRContext *context = state_->context.get();
  std::vector<QueryInput> queries;
  for (const SessionQuery &query : request.queries) {
    queries.push_back({sqlQuery(query), query.arguments, query.columns});
  }
  SqlQuery query = sqlQuery(request);
  query.residentKeys = request.residentKeys;
  query.adjacentKeys = request.adjacentKeys;
  CompileError error;
  answer.ok = language == Language::kMlir
                  ? driver::compileMixed(context, request.mlir, queries, options, program, error)
                  : driver::compileSql(context, query, options, program, error);
  answer.ok &= isCut;
  answer.phaseSeconds = program.phaseSeconds;
  if (!answer.ok) {
    answer.error = error.message.empty() ? "compilation failed without a message" : error.message;
    answer.errorKind = errorKindName(error.kind);
    answer.errorPosition = error.position ? static_cast<int64_t>(*error.position) : -1;
    answer.errorLength = static_cast<int64_t>(error.length);
    return;
  }
  if (options.stopAfter) {
    return;
  }
  program.plan.program = request.text;
  answer.planJson = plan::toJson(program.plan);
  answer.planText = plan::toText(program.plan);
  answer.kernels = std::move(program.kernels);
  answer.kernelsCompiled = program.kernelsCompiled;
  answer.kernelsCached = program.kernelsCached;
}

} // namespace headrace::driver
