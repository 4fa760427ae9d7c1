// Plans reshards: scatter while reducing, slice, exchange splits, gather; and for tables exchange,
// then finish.
#include "passes/shard/reshard_plan.h"

#include <algorithm>

using namespace mlir;
using namespace headrace::dist;

namespace headrace::shard {
namespace {

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Of a value whose reshard goes axis by axis.
struct InLevels {
  Type type;
  const cost::Mesh &mesh;

  /// Of axes with more than one rank the innermost, if there are several; else none.
  AxisSet innermost(AxisSet axes) const {
    AxisSet found = 0;
    int count = 0;
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
      AxisSet bit = AxisSet{1} << axis;
      if ((axes & bit) && mesh.axes[axis].size > 1) {
        found = bit;
        ++count;
      }
    }
    return count > 1 ? found : 0;
  }
};

class TensorPlanner {
public:
  TensorPlanner(const Layout &source, const Layout &target, const InLevels *levels)
      : now_(source), target_(target), levels_(levels) {}

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
    plan_.push_back(
        {kind, axes, /*toward=*/0, dim, otherDim, SplitKind::Even, {}, /*cycle=*/0, now_});
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
    reduceEverywhere();
  }

  void reduceEverywhere() {
    AxisSet rest = now_.unreduced;
    if (!rest) {
      return;
    }
    AxisSet inner = levels_ ? levels_->innermost(rest) : 0;
    int64_t dim = inner ? dimToScatter(inner) : -1;
    if (dim < 0) {
      now_.unreduced = 0;
      now_.combine = {};
      push(StepKind::kAllReduce, rest);
      return;
    }
    now_.unreduced &= ~inner;
    now_.dims[dim] = inner;
    push(StepKind::kReduceScatter, inner, dim);
    reduceEverywhere();
    now_.dims[dim] = 0;
    push(StepKind::kAllGather, inner, dim);
  }

  /// A whole dimension that every rank along the axes gets a part of; -1 without one.
  int64_t dimToScatter(AxisSet axes) const {
    auto type = cast<RankedTensorType>(levels_->type);
    for (int64_t dim = 0; dim < rank(); ++dim) {
      bool large = !type.isDynamicDim(dim) && type.getDimSize(dim) >= levels_->mesh.sizeOf(axes);
      if (large && !now_.dims[dim]) {
        return dim;
      }
    }
    return -1;
  }

  /// Splits dimensions that are whole; slices nest evenly only when cut at once, so never a second
  /// time.
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
  const InLevels *levels_; ///< null: over all axes at once
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
  const int64_t cycle = after.cycle;
  return {kind,
          axes,
          /*toward=*/0,
          /*dim=*/0,
          /*otherDim=*/0,
          SplitKind::Even,
          llvm::SmallVector<StringAttr, 2>(keys),
          cycle,
          std::move(after)};
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
  // Without keys there is exactly one row: were it finished on one rank only, the others would make
  // up their own.
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
    bool divides =
        target.isRoot() || target.rowKind == RowKind::Hash || target.rowKind == RowKind::Scattered;
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
  if (target.rowKind == RowKind::Range) {
    plan.push_back(tableStep(StepKind::kRange, axes, target));
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

/// Over the outer axes each rank sends its own rows, over the inner one those that it got.
static void broadcastInLevels(ReshardStep step, const InLevels &levels, ReshardPlan &plan) {
  for (AxisSet inner = levels.innermost(step.axes); inner; inner = levels.innermost(step.axes)) {
    AxisSet outer = step.axes & ~inner;
    plan.push_back(tableStep(StepKind::kBroadcast, outer, splitRows(RowKind::Scattered, inner)));
    step.axes = inner;
  }
  plan.push_back(step);
}

/// By hash or to the first rank: over the innermost axis first. What came together is combined
/// before it goes on, if the plan combines it at all.
static void inwardInLevels(ReshardStep step, const InLevels &levels, bool combines,
                           ReshardPlan &plan) {
  const AxisSet all = step.axes;
  for (AxisSet inner = levels.innermost(step.axes); inner; inner = levels.innermost(step.axes)) {
    Layout onTheWay = splitRows(RowKind::Scattered, all);
    for (StepKind kind : {step.kind, StepKind::kFinish}) {
      if (kind != StepKind::kFinish || combines) {
        plan.push_back(tableStep(kind, inner, onTheWay, step.keys));
        plan.back().toward = all;
        plan.back().cycle = step.cycle;
      }
    }
    step.axes &= ~inner;
    step.toward = all;
  }
  plan.push_back(step);
}

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
    return TensorPlanner(source, target, nullptr).run();
  }
  return planTable(source, target);
}

std::optional<ReshardPlan> planReshardInLevels(const Layout &source, const Layout &target,
                                               Type type, const cost::Mesh &mesh) {
  if (source == target) {
    return ReshardPlan();
  }
  InLevels levels{type, mesh};
  if (source.form == Form::kTensor) {
    return TensorPlanner(source, target, &levels).run();
  }
  std::optional<ReshardPlan> plan = planTable(source, target);
  ReshardPlan apart;
  for (size_t at = 0; plan && at < plan->size(); ++at) {
    const ReshardStep &step = (*plan)[at];
    bool combines = at + 1 < plan->size() && (*plan)[at + 1].kind == StepKind::kFinish;
    switch (step.kind) {
    case StepKind::kBroadcast:
      broadcastInLevels(step, levels, apart);
      break;
    case StepKind::kHash:
    case StepKind::kGather:
      inwardInLevels(step, levels, combines, apart);
      break;
    default:
      apart.push_back(step);
      break;
    }
  }
  return plan ? std::optional(apart) : std::nullopt;
}

} // namespace headrace::shard
