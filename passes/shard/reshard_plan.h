// How one layout becomes another: the steps, shared by the costs of the solver and by the lowering.
#ifndef HEADRACE_PASSES_SHARD_RESHARD_PLAN_H
#define HEADRACE_PASSES_SHARD_RESHARD_PLAN_H

#include "dialects/frame/FrameTypes.h"
#include "passes/shard/layout.h"
#include "passes/shard/row_estimates.h"

namespace headrace::shard {

enum class StepKind : uint8_t {
  kSlice,         ///< tensor: this rank's part of `dim`, no bytes
  kAllGather,     ///< tensor: `dim` whole again
  kAllReduce,     ///< tensor: parts combined, everywhere
  kReduceScatter, ///< tensor: parts combined, split along `dim`
  kAllToAll,      ///< tensor: split moves from `otherDim` to `dim`
  kHash,          ///< table: rows to the rank of their keys
  kRange,         ///< table: rows to the rank of their range of the target's order
  kBroadcast,     ///< table: all rows everywhere
  kGather,        ///< table: all rows on the first rank
  kFinish,        ///< table: parts of an unreduced value that are together are combined
  kKeep,          ///< table: of copies on all ranks each rank keeps its part, no bytes
};

struct ReshardStep {
  StepKind kind = StepKind::kSlice;
  AxisSet axes = 0;
  /// Rows are on their way to ranks along these axes: kHash and kGather bring them to where those
  /// are along `axes`, kFinish combines parts that met there. 0: the step is the whole way.
  AxisSet toward = 0;
  int64_t dim = 0;
  int64_t otherDim = 0;
  dist::SplitKind split = dist::SplitKind::Even; ///< kAllGather: of the parts that are put together
  llvm::SmallVector<mlir::StringAttr, 2> keys;
  int64_t cycle = 0; ///< of the key, see Layout
  Layout after;
};

using ReshardPlan = llvm::SmallVector<ReshardStep, 4>;

/// The steps from one layout to the other; empty if nothing has to be done; nothing if there is no
/// way. A need for `scattered` rows is met by any split over the same axes, `root` rows meet every
/// split.
std::optional<ReshardPlan> planReshard(const Layout &source, const Layout &target);

/// Likewise, but what goes over several axes of the mesh at once goes over one after the other, so
/// that less of it crosses the outer axes, whose links are the slower ones: an all_reduce is over
/// the outer axes for the part only that a reduce_scatter over the innermost one leaves on a rank;
/// rows that all ranks get go over the outer axes first, where a rank has fewest; rows that go by
/// their hash or to the first rank go over the inner axes first, and what can be combined then is,
/// so that a rank talks to those along each axis and not to all. The same steps where that makes no
/// difference.
std::optional<ReshardPlan> planReshardInLevels(const Layout &source, const Layout &target,
                                               mlir::Type type, const cost::Mesh &mesh);

/// Whether the steps keep rows of copies by a column of `type` that may differ between the copies
/// (a float).
bool keepsByFloat(const ReshardPlan &plan, frame::TableType type);

/// How large a value is, as a whole.
struct ValueSize {
  mlir::Value value;
  RowEstimates *estimates = nullptr; ///< tables
  cost::RowShape shape;              ///< tables
  double rows = 1;                   ///< tables
  double partRows = 0;               ///< tables that are unreduced: rows of one rank's part
  double limit = 0;                  ///< tables that are unreduced choices: rows that are chosen
  double bytes = 0;                  ///< tensors
};

struct ReshardCost {
  double seconds = 0;
  double bytesSent = 0; ///< by all ranks together
  // Of the seconds, between devices; the rest is work of the ranks:
  double latencySeconds = 0;
  double postSeconds = 0; ///< of messages, see cost::Movement
  double wireSeconds = 0;
  /// Rows go on when all of them have come: some step finishes a state.
  bool waitsForAll = false;

  ReshardCost &operator+=(const ReshardCost &other);
};

/// Prices the reshards of one value: steps that several plans share are priced once.
class ReshardPricer {
public:
  ReshardPricer(ValueSize size, const cost::CostModel &model)
      : size_(std::move(size)), model_(model) {}
  ReshardCost costOf(const ReshardPlan &plan, const Layout &source);

private:
  ReshardCost tableCost(const ReshardPlan &plan, const Layout &source);
  ReshardCost tensorCost(const ReshardPlan &plan, const Layout &source);
  /// What the seconds of a step depend on, for one value.
  struct TableStep {
    StepKind kind;
    AxisSet axes;
    double keys;
    double stringKeys;
    double rowsHere;  ///< of one rank, before
    double rowsAfter; ///< of one rank
    cost::Workers::Others before;
    cost::Workers::Others after;
    bool operator==(const TableStep &) const = default;
  };
  ReshardCost costOf(const TableStep &step, const Layout &source);
  double finishSeconds(const TableStep &step, const Layout &source);

  ValueSize size_;
  const cost::CostModel &model_;
  /// Of the rows of all ranks along the step's axes, what the fullest of them has after it.
  double shareAfter(const ReshardStep &step) const;

  llvm::SmallVector<std::pair<TableStep, ReshardCost>> priced_;
};

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_RESHARD_PLAN_H
