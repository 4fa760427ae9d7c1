// Phases that are functions on modules, wrapped as passes.
#include "passes/driver/phase_passes.h"

#include "dialects/dist/DistDialect.h"
#include "dialects/frame/FrameDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/analysis/print_estimates.h"
#include "passes/driver/phases.h"
#include "passes/form/passes.h"
#include "passes/lower/compile.h"
#include "passes/lower/gpu/lower_gpu.h"
#include "passes/lower/lower.h"
#include "passes/optimize/Passes.h"
#include "passes/schedule/schedule.h"
#include "passes/shard/passes.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace headrace::driver {

namespace {

class FormPass : public PassWrapper<FormPass, OperationPass<ModuleOp>> {
public:
  StringRef getArgument() const override { return "form"; }
  StringRef getDescription() const override { return "phase form: the local program to pipelines between states, and tensor kernels"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<pipe::PipeDialect, arith::ArithDialect>();
  }
  void runOnOperation() override {
    if (failed(runForm(getOperation()))) {
      signalPassFailure();
    }
  }
};

class SchedulePass : public PassWrapper<SchedulePass, OperationPass<ModuleOp>> {
public:
  StringRef getArgument() const override { return "schedule-tasks"; }
  StringRef getDescription() const override { return "phase schedule: pipelines to tasks, tokens and streams"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<sched::SchedDialect>(); }
  void runOnOperation() override {
    if (failed(schedule::buildProgram(getOperation()))) {
      signalPassFailure();
    }
  }
};

class LowerPass : public PassWrapper<LowerPass, OperationPass<ModuleOp>> {
public:
  StringRef getArgument() const override { return "lower-kernels"; }
  StringRef getDescription() const override { return "phase lower: pipelines to kernels in the LLVM dialect"; }
  void getDependentDialects(DialectRegistry &registry) const override { lower::registerCompileDialects(registry); }
  void runOnOperation() override {
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
  StringRef getDescription() const override { return "pipelines and tensor kernels shaped for threads, in the LLVM dialect"; }
  void getDependentDialects(DialectRegistry &registry) const override { lower::registerCompileDialects(registry); }
  void runOnOperation() override {
    FailureOr<lower::DeviceKernels> kernels = lower::emitDeviceKernels(getOperation(), lower::DeviceTarget::kPtx);
    if (failed(kernels)) {
      return signalPassFailure();
    }
    getOperation().getBodyRegion().takeBody(kernels->code->getBodyRegion());
  }
};

struct PhasePasses {
  const char *phase;
  const char *pass;
};
constexpr PhasePasses kPhases[] = {
    {"optimize", "--optimize"},
    {"shard", "--shard"},
    {"form", "--form"},
    {"schedule", "--schedule-tasks"},
    {"lower", "--lower-kernels"},
};

} // namespace

void registerAllPasses() {
  registerTransformsPasses();
  analysis::registerAnalysisPasses();
  optimize::registerOptimizePasses();
  shard::registerShardPasses();
  form::registerFormPasses();
  PassRegistration<FormPass>();
  PassRegistration<SchedulePass>();
  PassRegistration<LowerPass>();
  PassRegistration<LowerGpuPass>();
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
  auto position = [](const std::string &phase) {
    for (size_t index = 0; index < std::size(kPhases); ++index) {
      if (phase == kPhases[index].phase) {
        return static_cast<int>(index);
      }
    }
    return -1;
  };
  int first = from.empty() ? 0 : position(from);
  int last = to.empty() ? static_cast<int>(std::size(kPhases)) - 1 : position(to);
  if (first < 0 || last < 0) {
    return "unknown phase, got " + (first < 0 ? from : to);
  }
  for (int index = first; index <= last; ++index) {
    arguments.push_back(kPhases[index].pass);
  }
  return "";
}

} // namespace headrace::driver
