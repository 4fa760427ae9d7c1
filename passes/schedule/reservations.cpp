// A reservation waits for what its run waits for, so that the plan's peak is that of states that
// live together.
#include "passes/schedule/reservations.h"

#include "passes/analysis/state_bytes.h"

using namespace mlir;

namespace headrace::schedule {

namespace {

/// The op of the program's block, or of a group in it, that `op` belongs to in `block`.
Operation *ancestorIn(Block *block, Operation *op) {
  while (op && op->getBlock() != block) {
    op = op->getParentOp();
  }
  return op;
}

Value endOf(Operation *op) { return op->getResult(0); }

bool uses(sched::RunOp run, Attribute state) {
  return llvm::is_contained(run.getFills(), state) || llvm::is_contained(run.getReads(), state) ||
         run.getSourceAttr() == state;
}

class Reserver {
public:
  Reserver(ModuleOp module, sched::ProgramOp program)
      : symbols_(module), program_(program), b_(module.getContext()) {}

  void run() {
    SmallVector<sched::RunOp> runs;
    program_.walk([&](sched::RunOp run) { runs.push_back(run); });
    for (sched::RunOp run : runs) {
      for (Attribute state : run.getFills()) {
        reserve(run, cast<FlatSymbolRefAttr>(state), runs);
      }
    }
  }

private:
  void reserve(sched::RunOp run, FlatSymbolRefAttr name, ArrayRef<sched::RunOp> runs) {
    auto state = symbols_.lookup<pipe::StateOp>(name.getValue());
    plan::Cardinality bytes = analysis::bytesOf(state);
    auto clamped = [&](uint64_t value) {
      return b_.getI64IntegerAttr(static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)));
    };
    // What is filled in rounds and read elsewhere is there in all of them.
    Operation *first = run;
    auto repeat = run->getParentOfType<sched::RepeatOp>();
    for (sched::RunOp user : runs) {
      if (repeat && uses(user, name) && !repeat->isAncestor(user)) {
        first = repeat;
      }
    }
    b_.setInsertionPoint(first);
    auto granted = sched::ReserveOp::create(
        b_, state.getLoc(), b_.getType<sched::TokenType>(),
        sched::TierAttr::get(b_.getContext(), sched::Tier::Host), name, clamped(bytes.min),
        clamped(bytes.p95), first == run ? run.getAfter() : ValueRange());
    run.getAfterMutable().append(granted.getGranted());
    // Given back behind all users; for those inside a choice or repeat, behind it.
    Block *block = first->getBlock();
    SmallVector<Value> ends;
    Operation *last = first;
    for (sched::RunOp user : runs) {
      Operation *here = uses(user, name) ? ancestorIn(block, user) : nullptr;
      if (!here) {
        continue;
      }
      if (!llvm::is_contained(ends, endOf(here))) {
        ends.push_back(endOf(here));
      }
      last = last->isBeforeInBlock(here) ? here : last;
    }
    b_.setInsertionPointAfter(last);
    sched::ReleaseOp::create(b_, state.getLoc(), b_.getType<sched::TokenType>(),
                             granted.getGranted(), ends);
  }

  SymbolTable symbols_;
  sched::ProgramOp program_;
  OpBuilder b_;
};

} // namespace

void addReservations(ModuleOp module, sched::ProgramOp program) { Reserver(module, program).run(); }

} // namespace headrace::schedule
