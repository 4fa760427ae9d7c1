// Phases that are functions on modules, wrapped as passes.
#include "passes/driver/phase_passes.h"

#include "dialects/dist/DistDialect.h"
#include "dialects/frame/FrameDialect.h"
#include "passes/analysis/print_estimates.h"
#include "passes/driver/compile.h"
#include "passes/form/passes.h"
#include "passes/form/verify_form.h"
#include "passes/form/verify_states.h"
#include "passes/import/verify_import.h"
#include "passes/lower/gpu/lower_gpu.h"
#include "passes/lower/lower.h"
#include "passes/lower/machine/compile.h"
#include "passes/optimize/Passes.h"
#include "passes/optimize/verify_optimize.h"
#include "passes/schedule/schedule.h"
#include "passes/schedule/verify_schedule.h"
#include "passes/shard/passes.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace headrace::driver {

namespace {

class LowerPass : public PassWrapper<LowerPass, OperationPass<ModuleOp>> {
public:
  StringRef getArgument() const override { return "lower-kernels"; }
  StringRef getDescription() const override {
    return "phase lower: pipelines to kernels in the LLVM dialect";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    lower::registerCompileDialects(registry);
  }
  void runOnOperation() override {
    if (failed(form::verifyStateUses(getOperation()))) {
      return signalPassFailure();
    }
    FailureOr<OwningOpRef<ModuleOp>> kernels = lower::emitKernels(getOperation());
    if (failed(kernels)) {
      return signalPassFailure();
    }
    getOperation().getBodyRegion().takeBody((*kernels)->getBodyRegion());
  }
};

class LowerGpuPass : public PassWrapper<LowerGpuPass, OperationPass<ModuleOp>> {
public:
  StringRef getArgument() const override { return "lower-gpu-kernels"; }
  StringRef getDescription() const override {
    return "pipelines and tensor kernels shaped for threads, in the LLVM dialect";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    lower::registerCompileDialects(registry);
  }
  void runOnOperation() override {
    if (failed(form::verifyStateUses(getOperation()))) {
      return signalPassFailure();
    }
    FailureOr<lower::DeviceKernels> kernels =
        lower::emitDeviceKernels(getOperation(), lower::DeviceTarget::kPtx);
    if (failed(kernels)) {
      return signalPassFailure();
    }
    getOperation().getBodyRegion().takeBody(kernels->code->getBodyRegion());
  }
};

/// The checks that a phase leaves behind for the next, as a pass.
class VerifyPass : public PassWrapper<VerifyPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyPass)
  using Check = LogicalResult (*)(ModuleOp);
  VerifyPass(StringRef argument, StringRef description, Check check)
      : argument_(argument), description_(description), check_(check) {}
  StringRef getArgument() const override { return argument_; }
  StringRef getDescription() const override { return description_; }
  void runOnOperation() override {
    if (failed(check_(getOperation()))) {
      signalPassFailure();
    }
  }

private:
  StringRef argument_;
  StringRef description_;
  Check check_;
};

void registerVerifyPass(StringRef argument, StringRef description, VerifyPass::Check check) {
  registerPass([=] { return std::make_unique<VerifyPass>(argument, description, check); });
}

/// What headrace-opt starts from: it imports nothing.
constexpr Phase kFirst = Phase::kOptimize;

const char *passOf(Phase phase) {
  switch (phase) {
  case Phase::kImport:
    break;
  case Phase::kOptimize:
    return "--optimize";
  case Phase::kShard:
    return "--shard";
  case Phase::kForm:
    return "--form";
  case Phase::kLower:
    return "--lower-kernels";
  case Phase::kSchedule:
    return "--schedule-tasks";
  }
  return nullptr;
}

} // namespace

void registerAllPasses() {
  registerTransformsPasses();
  analysis::registerAnalysisPasses();
  optimize::registerOptimizePasses();
  shard::registerShardPasses();
  form::registerFormPasses();
  schedule::registerSchedulePasses();
  registerVerifyPass("verify-import",
                     "what optimize may rely on: one global program without layouts",
                     import::verifyImport);
  registerVerifyPass("verify-optimize",
                     "what shard may rely on: relations with strategies, measures that combine",
                     optimize::verifyOptimize);
  registerVerifyPass(
      "verify-form",
      "what lower and schedule may rely on: pipelines between states that are filled",
      form::verifyForm);
  registerVerifyPass("verify-schedule",
                     "what the plan may rely on: every pipeline runs once, states are filled first",
                     schedule::verifySchedule);
  PassRegistration<LowerPass>();
  PassRegistration<LowerGpuPass>();
}

std::string phaseFlagsHelp() {
  return "\nWHOLE PHASES:\n\n"
         "  --start-from=<phase>  the first phase that runs (default: optimize)\n"
         "  --stop-after=<phase>  the last phase that runs (default: schedule)\n\n"
         "  phases, in order: " +
         phaseNames(kFirst) +
         "; without either flag none runs\n"
         "  (lower gives kernels alone, and schedule goes on behind form)\n";
}

std::string expandPhaseFlags(std::vector<std::string> &arguments) {
  auto take = [&](StringRef flag) -> std::string {
    for (size_t index = 1; index < arguments.size(); ++index) {
      StringRef text = arguments[index];
      if (text.consume_front(flag)) {
        std::string phase = text.str();
        arguments.erase(arguments.begin() + index);
        return phase;
      }
    }
    return "";
  };
  std::string from = take("--start-from="), to = take("--stop-after=");
  if (from.empty() && to.empty()) {
    return "";
  }
  Phase first = kFirst, last = Phase::kSchedule;
  for (auto [given, phase] : {std::pair(&from, &first), {&to, &last}}) {
    if (!given->empty() && (!parsePhase(*given, phase) || *phase < kFirst)) {
      return "expected a phase (" + phaseNames(kFirst) + "), got: " + *given;
    }
  }
  for (Phase phase : kPhases) {
    bool isLeftAside = phase == Phase::kLower && last != Phase::kLower;
    if (phase >= first && phase <= last && !isLeftAside) {
      arguments.push_back(passOf(phase));
    }
  }
  return "";
}

} // namespace headrace::driver
