// Plans reshards: scatter while reducing, slice, exchange splits, gather; and for tables exchange, then finish.
#include "passes/shard/reshard_plan.h"

#include <algorithm>

using namespace mlir;
using namespace headrace::dist;

namespace headrace::shard {
namespace {

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

class TensorPlanner {
public:
  TensorPlanner(const Layout &source, const Layout &target) : now_(source), target_(target) {}

  std::optional<ReshardPlan> run() {
    // A ragged split cannot be made by moving a tensor, only kept or gathered.
    bool keepsRagged = target_.raggedDim >= 0 && now_.raggedDim == target_.raggedDim &&
                       now_.raggedOrigin == target_.raggedOrigin &&
                       now_.dims[now_.raggedDim] == target_.dims[target_.raggedDim];
    if (target_.unreduced || (target_.raggedDim >= 0 && !keepsRagged)) {
      return std::nullopt;
    }
    reduce();
    slice();
    exchangeSplits();
    gather();
    slice();
    return plan_;
  }

private:
  int64_t rank() const { return static_cast<int64_t>(now_.dims.size()); }
  bool sameDim(int64_t dim) const {
    return now_.dims[dim] == target_.dims[dim] &&
           (now_.raggedDim == dim) == (target_.raggedDim == dim);
  }
  void push(StepKind kind, AxisSet axes, int64_t dim = 0, int64_t otherDim = 0) {
    plan_.push_back({kind, axes, dim, otherDim, SplitKind::Even, {}, now_});
  }

  void reduce() {
    for (int64_t dim = 0; dim < rank(); ++dim) {
      AxisSet wanted = target_.dims[dim];
      if (wanted && !now_.dims[dim] && (wanted & ~now_.unreduced) == 0) {
        now_.unreduced &= ~wanted;
        now_.dims[dim] = wanted;
        if (!now_.unreduced) {
          now_.combine = {};
        }
        push(StepKind::kReduceScatter, wanted, dim);
      }
    }
    if (AxisSet rest = now_.unreduced) {
      now_.unreduced = 0;
      now_.combine = {};
      push(StepKind::kAllReduce, rest);
    }
  }

  /// Splits dimensions that are whole; slices nest evenly only when cut at once, so never a second time.
  void slice() {
    for (int64_t dim = 0; dim < rank(); ++dim) {
      AxisSet wanted = target_.dims[dim];
      if (wanted && !now_.dims[dim] && !(wanted & now_.usedAxes())) {
        now_.dims[dim] = wanted;
        push(StepKind::kSlice, wanted, dim);
      }
    }
  }

  void exchangeSplits() {
    for (int64_t from = 0; from < rank(); ++from) {
      AxisSet axes = now_.dims[from];
      if (!axes || target_.dims[from] || now_.raggedDim == from) {
        continue;
      }
      for (int64_t to = 0; to < rank(); ++to) {
        if (target_.dims[to] == axes && !now_.dims[to]) {
          now_.dims[from] = 0;
          now_.dims[to] = axes;
          push(StepKind::kAllToAll, axes, to, from);
          break;
        }
      }
    }
  }

  void gather() {
    for (int64_t dim = 0; dim < rank(); ++dim) {
      AxisSet axes = now_.dims[dim];
      if (axes && !sameDim(dim)) {
        bool ragged = now_.raggedDim == dim;
        now_.dims[dim] = 0;
        if (ragged) {
          now_.raggedDim = -1;
          now_.raggedOrigin = nullptr;
        }
        push(StepKind::kAllGather, axes, dim);
        plan_.back().split = ragged ? SplitKind::Ragged : SplitKind::Even;
      }
    }
  }

  Layout now_;
  const Layout &target_;
  ReshardPlan plan_;
};

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

bool isSubset(ArrayRef<StringAttr> part, ArrayRef<StringAttr> whole) {
  return llvm::all_of(part, [&](StringAttr key) { return llvm::is_contained(whole, key); });
}

bool isOrderedChoice(Attribute combine) {
  auto kind = dyn_cast_or_null<CombineAttr>(combine);
  return kind && (kind.getValue() == Combine::TopK || kind.getValue() == Combine::Limit);
}

ReshardStep tableStep(StepKind kind, AxisSet axes, Layout after, ArrayRef<StringAttr> keys = {}) {
  return {kind, axes, 0, 0, SplitKind::Even, llvm::SmallVector<StringAttr, 2>(keys), std::move(after)};
}

std::optional<ReshardPlan> planSplit(const Layout &source, const Layout &target);

/// `plan`, whose last step leaves the table as its `after` says, continued to the target.
std::optional<ReshardPlan> continued(ReshardPlan plan, const Layout &target) {
  std::optional<ReshardPlan> rest = planSplit(plan.back().after, target);
  if (!rest) {
    return std::nullopt;
  }
  plan.append(rest->begin(), rest->end());
  return plan;
}

/// Brings the parts of an unreduced table together and combines them.
std::optional<ReshardPlan> planFinish(const Layout &source, const Layout &target) {
  AxisSet axes = source.unreduced;
  ReshardPlan plan;
  auto finishBy = [&](StepKind kind, const Layout &after, ArrayRef<StringAttr> keys = {}) {
    plan.push_back(tableStep(kind, axes, after, keys));
    plan.push_back(tableStep(StepKind::kFinish, axes, after));
    return plan;
  };
  if (isOrderedChoice(source.combine)) {
    // One rank decides between ties, so that all copies agree.
    return continued(finishBy(StepKind::kGather, splitRows(RowKind::Root, axes)), target);
  }
  if (target.isReplicated()) {
    return finishBy(StepKind::kBroadcast, replicatedTable());
  }
  // Without keys there is exactly one row: were it finished on one rank only, the others would make up their own.
  if (source.groupKeys.empty() || target.rowAxes != axes) {
    return continued(finishBy(StepKind::kBroadcast, replicatedTable()), target);
  }
  if (target.isRoot()) {
    return finishBy(StepKind::kGather, target);
  }
  if (target.rowKind == RowKind::Hash) {
    return isSubset(target.keys, source.groupKeys)
               ? std::optional(finishBy(StepKind::kHash, target, target.keys))
               : std::nullopt;
  }
  Layout byKeys = splitRows(RowKind::Hash, axes, source.groupKeys);
  return continued(finishBy(StepKind::kHash, byKeys, source.groupKeys), target);
}

/// From a split, or from copies, to a split or to copies.
std::optional<ReshardPlan> planSplit(const Layout &source, const Layout &target) {
  ReshardPlan plan;
  AxisSet axes = source.rowAxes;
  if (source == target) {
    return plan;
  }
  if (axes && (target.isReplicated() || target.rowAxes != axes)) {
    plan.push_back(tableStep(StepKind::kBroadcast, axes, replicatedTable()));
    return continued(plan, target);
  }
  if (!axes) {
    // Copies of a multiset have no common order, so that no rank could keep a block.
    bool divides = target.isRoot() || target.rowKind == RowKind::Hash || target.rowKind == RowKind::Scattered;
    if (!divides) {
      return std::nullopt;
    }
    plan.push_back(tableStep(StepKind::kKeep, target.rowAxes, target, target.keys));
    return plan;
  }
  if (target.rowKind == RowKind::Scattered) {
    return plan; // A relabelling: nothing moves.
  }
  if (target.rowKind == RowKind::Hash) {
    plan.push_back(tableStep(StepKind::kHash, axes, target, target.keys));
    return plan;
  }
  if (target.isRoot()) {
    plan.push_back(tableStep(StepKind::kGather, axes, target));
    return plan;
  }
  return std::nullopt;
}

std::optional<ReshardPlan> planTable(const Layout &source, const Layout &target) {
  if (target.unreduced) {
    return std::nullopt;
  }
  return source.unreduced ? planFinish(source, target) : planSplit(source, target);
}

} // namespace

bool keepsByFloat(const ReshardPlan &plan, frame::TableType type) {
  return llvm::any_of(plan, [&](const ReshardStep &step) {
    return step.kind == StepKind::kKeep && llvm::any_of(step.keys, [&](StringAttr key) {
             Type column = type.getColumnType(key);
             return !column || frame::isFloat(column);
           });
  });
}

std::optional<ReshardPlan> planReshard(const Layout &source, const Layout &target) {
  if (source == target) {
    return ReshardPlan();
  }
  if (source.form == Form::kTensor) {
    return TensorPlanner(source, target).run();
  }
  return planTable(source, target);
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

namespace {

// Per row: hash, find the partition, copy.
constexpr double kPartitionOperations = 12;
// Per row of a combine: hash, look up, add.
constexpr double kFinishOperations = 24;
// Per row of a copy: hash and select, row by row, on every rank.
constexpr double kKeepOperations = 36;

/// Follows the bytes through the steps of a table's plan.
ReshardCost tableCost(const ReshardPlan &plan, const Layout &source, const ValueSize &size,
                      const cost::CostModel &model) {
  ReshardCost total;
  const cost::Mesh &mesh = model.mesh();
  double rowsHere = source.unreduced  ? size.partRows
                    : source.isRoot() ? size.rows
                                      : size.rows / static_cast<double>(mesh.sizeOf(source.rowAxes));
  for (const ReshardStep &step : plan) {
    double peers = static_cast<double>(mesh.sizeOf(step.axes));
    double bytes = rowsHere * size.rowBytes;
    double sent = bytes * (peers - 1) / peers;
    cost::KernelWork work;
    work.operations = kPartitionOperations * rowsHere;
    work.streamBytes = 2 * bytes;
    switch (step.kind) {
    case StepKind::kHash:
      total.seconds += model.shuffle(step.axes, bytes).seconds + model.kernel(work).seconds;
      total.bytesPerRank += sent;
      break;
    case StepKind::kBroadcast:
      total.seconds +=
          model.collective(topology::CollectiveKind::kAllGather, step.axes, bytes * peers).seconds;
      rowsHere *= source.isRoot() ? 1 : peers;
      work.operations = 0;
      work.streamBytes = 2 * rowsHere * size.rowBytes;
      total.seconds += model.kernel(work).seconds;
      total.bytesPerRank += bytes * (peers - 1);
      break;
    case StepKind::kGather:
      total.seconds += model.gather(step.axes, bytes).seconds;
      rowsHere *= peers;
      total.bytesPerRank += sent;
      break;
    case StepKind::kFinish:
      work.operations = kFinishOperations * rowsHere;
      work.randomBytes = 64 * rowsHere;
      work.workingSetBytes = size.rows * size.rowBytes;
      total.seconds += model.kernel(work).seconds;
      rowsHere = std::min(rowsHere, size.rows);
      break;
    case StepKind::kKeep:
      work.operations = kKeepOperations * rowsHere;
      total.seconds += model.kernel(work).seconds;
      rowsHere /= step.after.isRoot() ? 1 : peers;
      break;
    default:
      break;
    }
  }
  return total;
}

double partCount(const Layout &layout, const cost::Mesh &mesh) {
  double parts = 1;
  for (AxisSet dim : layout.dims) {
    parts *= static_cast<double>(mesh.sizeOf(dim));
  }
  return parts;
}

ReshardCost tensorCost(const ReshardPlan &plan, const Layout &source, const ValueSize &size,
                       const cost::CostModel &model) {
  using topology::CollectiveKind;
  ReshardCost total;
  const Layout *before = &source;
  for (const ReshardStep &step : plan) {
    double here = size.bytes / partCount(*before, model.mesh());
    double after = size.bytes / partCount(step.after, model.mesh());
    double peers = static_cast<double>(model.mesh().sizeOf(step.axes));
    double fraction = (peers - 1) / peers;
    auto add = [&](CollectiveKind kind, double buffer, double sent) {
      total.seconds += model.collective(kind, step.axes, buffer).seconds;
      total.bytesPerRank += sent;
    };
    switch (step.kind) {
    case StepKind::kAllGather:
      add(CollectiveKind::kAllGather, after, fraction * after);
      break;
    case StepKind::kAllReduce:
      add(CollectiveKind::kAllReduce, here, 2 * fraction * here);
      break;
    case StepKind::kReduceScatter:
      add(CollectiveKind::kReduceScatter, here, fraction * here);
      break;
    case StepKind::kAllToAll:
      add(CollectiveKind::kAllToAll, here, fraction * here);
      break;
    default: { // A slice is a copy within the rank.
      cost::KernelWork work;
      work.streamBytes = 2 * after;
      total.seconds += model.kernel(work).seconds;
      break;
    }
    }
    before = &step.after;
  }
  return total;
}

} // namespace

ReshardCost costOf(const ReshardPlan &plan, const Layout &source, const ValueSize &size,
                   const cost::CostModel &model) {
  return source.form == Form::kTensor ? tensorCost(plan, source, size, model)
                                      : tableCost(plan, source, size, model);
}

} // namespace headrace::shard
