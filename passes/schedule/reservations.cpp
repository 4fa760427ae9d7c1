// A reservation waits for what its run waits for, so that the plan's peak is that of states that
// live together.
#include "passes/schedule/reservations.h"

#include "passes/analysis/physical.h"

using namespace mlir;

namespace headrace::schedule {

namespace {

/// What the first row of a copy costs: the smallest block of memory.
constexpr uint64_t kBlockBytes = 64 << 10;
/// A group table's smallest directory, and what an entry of a directory costs.
constexpr uint64_t kGroupDirectoryBytes = 64 << 10;
constexpr uint64_t kEntryBytes = 8;

uint64_t times(uint64_t rows, uint64_t bytes) {
  uint64_t out;
  return __builtin_mul_overflow(rows, bytes, &out) ? UINT64_MAX : out;
}

uint64_t plus(uint64_t a, uint64_t b) {
  uint64_t out;
  return __builtin_add_overflow(a, b, &out) ? UINT64_MAX : out;
}

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
    plan::Cardinality bytes = bytesOf(state);
    auto clamped = [&](uint64_t value) {
      return b_.getI64IntegerAttr(static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)));
    };
    b_.setInsertionPoint(run);
    auto granted = sched::ReserveOp::create(b_, state.getLoc(), b_.getType<sched::TokenType>(),
                                            sched::TierAttr::get(b_.getContext(), sched::Tier::Host),
                                            name, clamped(bytes.min), clamped(bytes.p95),
                                            run.getAfter());
    run.getAfterMutable().append(granted.getGranted());
    // Given back behind all users; for those inside a choice, behind the choice.
    Block *block = run->getBlock();
    SmallVector<Value> ends;
    Operation *last = run;
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

plan::Cardinality bytesOf(pipe::StateOp op) {
  plan::State state = layoutState(op);
  uint64_t perRow = state.rowBytes;
  plan::Cardinality bytes{kBlockBytes, kBlockBytes, kBlockBytes, UINT64_MAX};
  switch (state.kind) {
  case plan::StateKind::kScalar:
    bytes.max = kBlockBytes;
    return bytes;
  case plan::StateKind::kGroupTable:
    perRow += 2 * kEntryBytes; // the directory is at most half full
    bytes.min = kGroupDirectoryBytes + kBlockBytes;
    break;
  case plan::StateKind::kJoinTable:
    perRow += state.direct ? 0 : kEntryBytes;
    bytes.min =
        kBlockBytes +
        (state.direct ? std::max(kBlockBytes, times(state.extent, kEntryBytes)) : kBlockBytes);
    break;
  default:
    break;
  }
  bytes.expected = plus(bytes.min, times(state.rows.expected, perRow));
  bytes.p95 = plus(bytes.min, times(state.rows.p95, perRow));
  return bytes;
}

void addReservations(ModuleOp module, sched::ProgramOp program) { Reserver(module, program).run(); }

} // namespace headrace::schedule
