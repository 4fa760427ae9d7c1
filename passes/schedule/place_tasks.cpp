// Which runs a GPU takes, and which states live in its memory.
#include "dialects/pipe/PipeDialect.h"
#include "passes/schedule/schedule.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace headrace::schedule {

#define GEN_PASS_DEF_PLACETASKS
#include "passes/schedule/Passes.h.inc"

namespace {

struct StateUses {
  SmallVector<sched::RunOp> fillers, readers;
};

class Placement {
public:
  explicit Placement(ModuleOp module, sched::ProgramOp program) : symbols_(module) {
    program.walk([&](sched::RunOp run) {
      for (Attribute state : run.getFills()) {
        uses_[nameOf(state)].fillers.push_back(run);
      }
      for (Attribute state : run.getReads()) {
        uses_[nameOf(state)].readers.push_back(run);
      }
      if (FlatSymbolRefAttr source = run.getSourceAttr()) {
        uses_[nameOf(source)].readers.push_back(run);
      }
      if (run->getParentOp() == program && hasKernel(module, run)) {
        onGpu_.insert(run);
      }
    });
    for (bool changed = true; changed;) {
      changed = onGpu_.remove_if([&](sched::RunOp run) { return !canRunOnGpu(run); });
    }
  }

  ArrayRef<sched::RunOp> runs() const { return onGpu_.getArrayRef(); }
  /// All that uses it is on the GPU.
  bool isOnGpu(StringAttr state) const {
    auto found = uses_.find(state);
    auto there = [&](sched::RunOp run) { return onGpu_.contains(run); };
    return found != uses_.end() && !found->second.readers.empty() &&
           llvm::all_of(found->second.fillers, there) && llvm::all_of(found->second.readers, there);
  }

private:
  static StringAttr nameOf(Attribute state) { return cast<FlatSymbolRefAttr>(state).getAttr(); }

  static bool hasKernel(ModuleOp module, sched::RunOp run) {
    return llvm::any_of(module.getOps<sched::KernelsOp>(), [&](sched::KernelsOp kernels) {
      return kernels.getGpu() &&
             SymbolTable::lookupSymbolIn(kernels, run.getKernelAttr().getAttr());
    });
  }

  pipe::StateKind kindOf(StringAttr state) const {
    return symbols_.lookup<pipe::StateOp>(state).getKind();
  }

  bool canRunOnGpu(sched::RunOp run) const {
    for (Attribute filled : run.getFills()) {
      StringAttr state = nameOf(filled);
      pipe::StateKind kind = kindOf(state);
      bool copied = kind == pipe::StateKind::Group || kind == pipe::StateKind::Scalar;
      if (uses_.find(state)->second.fillers.size() != 1 || kind == pipe::StateKind::Sort ||
          (!copied && !isOnGpu(state))) {
        return false;
      }
    }
    // Rows of these are put in order, or computed, by the CPU.
    auto finishedOnCpu = [&](StringAttr state) {
      return llvm::is_contained({pipe::StateKind::Sort, pipe::StateKind::Window}, kindOf(state));
    };
    auto reached = [&](StringAttr state) { return isOnGpu(state) && !finishedOnCpu(state); };
    return llvm::all_of(run.getReads(), [&](Attribute read) { return reached(nameOf(read)); }) &&
           (!run.getSourceAttr() || reached(run.getSourceAttr().getAttr()));
  }

  SymbolTable symbols_;
  llvm::MapVector<StringAttr, StateUses> uses_;
  llvm::SetVector<sched::RunOp> onGpu_;
};

class PlaceTasksPass : public impl::PlaceTasksBase<PlaceTasksPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<sched::ProgramOp>()) {
      Placement placement(getOperation(), program);
      for (sched::RunOp run : placement.runs()) {
        run.setGpu(true);
      }
      program.walk([&](sched::ReserveOp reserve) {
        if (placement.isOnGpu(reserve.getStateAttr().getAttr())) {
          reserve.setTier(sched::Tier::Device);
        }
      });
    }
  }
};

} // namespace

} // namespace headrace::schedule
