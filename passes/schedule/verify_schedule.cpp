// The checks between schedule and the plan.
#include "passes/schedule/verify_schedule.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/analysis/physical.h"
#include "passes/schedule/verify_tensors.h"

using namespace mlir;

namespace headrace::schedule {
namespace {

/// The states that a task looks at.
SmallVector<StringAttr> readStates(sched::RunOp run) {
  SmallVector<StringAttr> states;
  for (auto state : run.getReads().getAsRange<FlatSymbolRefAttr>()) {
    states.push_back(state.getAttr());
  }
  if (FlatSymbolRefAttr source = run.getSourceAttr()) {
    states.push_back(source.getAttr());
  }
  return states;
}

/// All runs in order, those in the groups of a choice included.
SmallVector<sched::RunOp> runsOf(sched::ProgramOp program) {
  SmallVector<sched::RunOp> runs;
  program.walk([&](sched::RunOp run) { runs.push_back(run); });
  return runs;
}

LogicalResult verifyStates(sched::ProgramOp program) {
  llvm::DenseSet<StringAttr> filled;
  llvm::DenseSet<StringAttr> read;
  for (sched::RunOp run : runsOf(program)) {
    for (StringAttr state : readStates(run)) {
      if (!filled.contains(state)) {
        return run.emitOpError("reads a state before it is filled: @") << state.getValue();
      }
      read.insert(state);
    }
    for (auto state : run.getFills().getAsRange<FlatSymbolRefAttr>()) {
      if (read.contains(state.getAttr())) {
        return run.emitOpError("fills a state that was read before: @") << state.getValue();
      }
      filled.insert(state.getAttr());
    }
  }
  return success();
}

/// A run takes rows, and uses states, as its pipeline does.
LogicalResult verifyRun(sched::RunOp run, pipe::PipelineOp pipeline) {
  Operation &source = pipeline.getBody().front().front();
  auto read = dyn_cast<pipe::ReadOp>(source);
  bool sameSource =
      read ? run.getSourceAttr() == read.getStateAttr()
           : run.getInput() && run.getInput().getType().getRows() == source.getResult(0).getType();
  if (!sameSource) {
    return run.emitOpError("takes other rows than its pipeline: ") << source.getName();
  }
  llvm::SmallDenseSet<StringRef> used;
  for (ArrayAttr states : {run.getFills(), run.getReads()}) {
    for (auto state : states.getAsRange<FlatSymbolRefAttr>()) {
      used.insert(state.getValue());
    }
  }
  SmallVector<StringRef> states = statesOf(pipeline);
  if (used.size() != states.size() ||
      !llvm::all_of(states, [&](StringRef state) { return used.contains(state); })) {
    return run.emitOpError("uses other states than its pipeline: @") << pipeline.getSymName();
  }
  return success();
}

/// An exchange moves chunks as the stream that its run writes says.
LogicalResult verifyExchanges(const SymbolTable &symbols, sched::ProgramOp program) {
  WalkResult walked = program.walk([&](sched::ExchangeOp exchange) -> WalkResult {
    sched::RunOp run = sched::writerOf(exchange.getInput());
    auto pipeline =
        run ? symbols.lookup<pipe::PipelineOp>(run.getKernelAttr().getAttr()) : pipe::PipelineOp();
    auto emit =
        pipeline ? dyn_cast<pipe::EmitOp>(pipeline.getBody().front().back()) : pipe::EmitOp();
    auto stream =
        emit ? symbols.lookup<pipe::StreamOp>(emit.getStreamAttr().getAttr()) : pipe::StreamOp();
    StringRef kind = sched::stringifyExchangeKind(exchange.getKind());
    if (!stream || pipe::stringifyStreamKind(stream.getKind()) != kind ||
        stream.getAxesAttr() != exchange.getAxesAttr()) {
      return exchange.emitOpError("moves chunks in another way than their stream: ") << kind;
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult verifyReservations(const SymbolTable &symbols, sched::ProgramOp program) {
  WalkResult walked = program.walk([&](sched::ReserveOp reserve) -> WalkResult {
    if (!symbols.lookup<pipe::StateOp>(reserve.getStateAttr().getAttr())) {
      return reserve.emitOpError("is for no state of the module: @") << reserve.getState();
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult verifyRuns(const SymbolTable &symbols, sched::ProgramOp program) {
  llvm::DenseSet<StringAttr> kernels;
  for (sched::RunOp run : runsOf(program)) {
    StringAttr kernel = run.getKernelAttr().getAttr();
    auto pipeline = symbols.lookup<pipe::PipelineOp>(kernel);
    if (!pipeline) {
      return run.emitOpError("runs no pipeline of the module: @") << kernel.getValue();
    }
    if (failed(verifyRun(run, pipeline))) {
      return failure();
    }
    if (!kernels.insert(kernel).second) {
      return run.emitOpError("runs a pipeline a second time: @") << kernel.getValue();
    }
  }
  for (auto pipeline : cast<ModuleOp>(symbols.getOp()).getOps<pipe::PipelineOp>()) {
    if (!pipeline.getMerges() && !kernels.contains(pipeline.getSymNameAttr())) {
      return pipeline.emitOpError("is run by no task: @") << pipeline.getSymName();
    }
  }
  return success();
}

LogicalResult verifyLoads(const SymbolTable &symbols, sched::ProgramOp program) {
  WalkResult walked = program.walk([&](sched::LoadOp load) -> WalkResult {
    auto pipeline = symbols.lookup<pipe::PipelineOp>(load.getScanAttr().getAttr());
    auto scan = pipeline ? dyn_cast<pipe::ScanOp>(pipeline.getBody().front().front()) : nullptr;
    if (!scan || scan.getRows().getType() != load.getRows().getType().getRows()) {
      return load.emitOpError("loads for no pipeline that begins with a scan of such rows: @")
             << load.getScan();
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

} // namespace

LogicalResult verifySchedule(ModuleOp module) {
  auto programs = module.getOps<sched::ProgramOp>();
  if (!llvm::hasSingleElement(programs)) {
    return module.emitError("needs exactly one sched.program after schedule, got ")
           << llvm::range_size(programs);
  }
  sched::ProgramOp program = *programs.begin();
  const SymbolTable symbols(module);
  return failure(
      failed(verifyReservations(symbols, program)) || failed(verifyLoads(symbols, program)) ||
      failed(verifyExchanges(symbols, program)) || failed(verifyRuns(symbols, program)) ||
      failed(verifyStates(program)) || failed(verifyTensors(module, program)));
}

} // namespace headrace::schedule
