// What the steps of a reshard cost: rows are written to chunks, go between ranks, and are read
// again.
#include "model/cost/tensor_work.h"
#include "passes/shard/op_work.h"
#include "passes/shard/reshard_plan.h"

#include <algorithm>

using namespace mlir;
using namespace headrace::dist;

namespace headrace::shard {
namespace {

using Others = cost::Workers::Others;

frame::TableType tableType(const ValueSize &size) {
  return cast<frame::TableType>(size.value.getType());
}

double partCount(const Layout &layout, const cost::Mesh &mesh) {
  double parts = 1;
  for (AxisSet dim : layout.dims) {
    parts *= static_cast<double>(mesh.sizeOf(dim));
  }
  return parts;
}

plan::ExchangeKind exchangeOf(StepKind kind) {
  return kind == StepKind::kHash        ? plan::ExchangeKind::kHash
         : kind == StepKind::kRange     ? plan::ExchangeKind::kRange
         : kind == StepKind::kBroadcast ? plan::ExchangeKind::kBroadcast
                                        : plan::ExchangeKind::kGather;
}

/// What is on its way between devices; nothing of that is apart among workers that share cores.
void addMovement(ReshardCost &cost, const cost::Movement &movement) {
  cost.latencySeconds += movement.latencySeconds;
  cost.postSeconds += movement.postSeconds;
  cost.wireSeconds += movement.seconds() - movement.latencySeconds - movement.postSeconds;
}

} // namespace

/// The parts of groups that came together, combined; then they are read.
double ReshardPricer::finishSeconds(const TableStep &step, const Layout &source) {
  cost::StateShape state;
  cost::StepWork work;
  double lanes = model_.workers().lanes();
  if (size_.limit > 0) {
    state.kind = plan::StateKind::kSortBuffer;
    state.rows = step.rowsHere;
    state.limit = size_.limit;
    state.texts = size_.shape.strings;
    state.rowBytes = cost::stateRowBytes(state.kind, size_.shape);
    work = cost::sortRows(state, step.rowsHere, size_.shape, lanes);
  } else {
    state.kind = plan::StateKind::kGroupTable;
    state.rows = step.rowsAfter;
    state.rowBytes = cost::stateRowBytes(state.kind, size_.shape);
    state.reals = realsAmong(tableType(size_));
    state.stringKeys = stringsAmong(tableType(size_), source.groupKeys);
    double keys = static_cast<double>(source.groupKeys.size());
    work =
        cost::groupRows(state, step.rowsHere, keys, size_.shape.columns - keys, {.lanes = lanes});
  }
  work += cost::readState(state, step.rowsAfter, size_.shape);
  return cost::secondsOf(model_, work, step.after);
}

ReshardCost &ReshardCost::operator+=(const ReshardCost &other) {
  seconds += other.seconds;
  bytesSent += other.bytesSent;
  latencySeconds += other.latencySeconds;
  postSeconds += other.postSeconds;
  wireSeconds += other.wireSeconds;
  waitsForAll = waitsForAll || other.waitsForAll;
  return *this;
}

ReshardCost ReshardPricer::costOf(const TableStep &step, const Layout &source) {
  ReshardCost cost;
  if (step.kind == StepKind::kFinish) {
    cost.seconds = finishSeconds(step, source);
    cost.waitsForAll = true;
    return cost;
  }
  if (step.kind == StepKind::kKeep) {
    // A filter that hashes; without keys it asks for the rank only.
    cost::StepWork filter;
    filter.rows = step.rowsHere;
    filter.lanes = cost::hashTerms(step.rowsHere, step.keys, step.stringKeys);
    filter.lanes["select"] = step.rowsHere;
    cost::addHashes(filter.device, step.rowsHere, step.keys);
    cost.seconds = cost::secondsOf(model_, filter);
    return cost;
  }
  cost::StepWork emit = cost::emitRows(step.rowsHere, size_.shape);
  if (step.kind == StepKind::kHash) {
    cost::add(emit.lanes, cost::hashTerms(step.rowsHere, step.keys, step.stringKeys));
    cost::addHashes(emit.device, step.rowsHere, step.keys);
    emit.lanes["partition"] = step.rowsHere;
  }
  bool spreads = step.kind == StepKind::kHash || step.kind == StepKind::kRange;
  double fullest = spreads ? std::max(1.0, step.rowsAfter / step.rowsHere) : 1;
  cost::Transfer transfer{exchangeOf(step.kind), step.axes, step.rowsHere, fullest};
  if (step.kind == StepKind::kRange) {
    cost.seconds =
        cost::secondsOf(model_, cost::rangeRows(step.rowsHere, size_.shape), step.before);
    cost.waitsForAll = true;
  }
  double receivers = step.after == Others::kBusy ? static_cast<double>(model_.workers().ranks) : 1;
  cost.seconds += cost::secondsOf(model_, emit, step.before) +
                  cost::secondsOf(model_, transfer, size_.shape, step.before) +
                  cost::secondsOf(model_, cost::receiveRows(step.rowsAfter, size_.shape, receivers),
                                  step.after);
  if (!model_.workers().shared()) {
    addMovement(cost, model_.movement(transfer.kind, transfer.axes,
                                      transfer.rows * size_.shape.wireBytes(), fullest));
  }
  return cost;
}

double ReshardPricer::shareAfter(const ReshardStep &step) const {
  auto ranksAlong = [&](AxisSet axes) { return static_cast<double>(model_.mesh().sizeOf(axes)); };
  auto shareOf = [&](ArrayRef<StringAttr> keys, double parts) {
    return size_.estimates->fullestShare(size_.value, keys, parts);
  };
  if (step.after.isRoot()) {
    return 1;
  }
  if (step.toward && step.after.keys.empty()) { // on their way
    return shareOf(step.keys, ranksAlong(step.axes));
  }
  double parts = ranksAlong(step.after.rowAxes);
  double share = step.after.cycle ? 1 / parts : shareOf(step.after.keys, parts);
  return step.toward ? share * parts / ranksAlong(step.axes) : share;
}

/// Follows the rows through the steps of a table's plan.
ReshardCost ReshardPricer::tableCost(const ReshardPlan &plan, const Layout &source) {
  ReshardCost total;
  const cost::Mesh &mesh = model_.mesh();
  double rowsHere = source.unreduced ? size_.partRows
                    : source.isRoot()
                        ? size_.rows
                        : size_.rows / static_cast<double>(mesh.sizeOf(source.rowAxes));
  bool alone = source.isRoot(); // only the first rank has rows
  for (const ReshardStep &step : plan) {
    double peers = static_cast<double>(mesh.sizeOf(step.axes));
    double bytes = rowsHere * size_.shape.wireBytes();
    double rowsAfter = rowsHere;
    double senders = alone ? 1 : static_cast<double>(mesh.rankCount());
    switch (step.kind) {
    case StepKind::kHash:
    case StepKind::kRange:
      rowsAfter = (alone ? 1 : peers) * rowsHere * shareAfter(step);
      total.bytesSent += senders * bytes * (peers - 1) / peers;
      break;
    case StepKind::kBroadcast:
      rowsAfter = alone ? rowsHere : rowsHere * peers;
      total.bytesSent += senders * bytes * (peers - 1);
      break;
    case StepKind::kGather:
      rowsAfter = alone ? rowsHere : rowsHere * peers;
      total.bytesSent += senders * bytes * (peers - 1) / peers;
      break;
    case StepKind::kFinish:
      rowsAfter = std::min(
          rowsHere, size_.limit > 0 ? size_.limit : std::max(1.0, size_.rows * shareAfter(step)));
      break;
    case StepKind::kKeep:
      rowsAfter = rowsHere * shareAfter(step);
      break;
    default:
      break;
    }
    TableStep priced{step.kind,
                     step.axes,
                     static_cast<double>(step.keys.size()),
                     stringsAmong(tableType(size_), step.keys),
                     rowsHere,
                     rowsAfter,
                     alone ? Others::kIdle : Others::kBusy,
                     step.after.isRoot() ? Others::kIdle : Others::kBusy};
    const auto *known =
        llvm::find_if(priced_, [&](const auto &entry) { return entry.first == priced; });
    if (known == priced_.end()) {
      priced_.push_back({priced, costOf(priced, source)});
      known = &priced_.back();
    }
    total += known->second;
    rowsHere = rowsAfter;
    alone = step.after.isRoot();
  }
  return total;
}

ReshardCost ReshardPricer::tensorCost(const ReshardPlan &plan, const Layout &source) {
  using topology::CollectiveKind;
  ReshardCost total;
  const Layout *before = &source;
  for (const ReshardStep &step : plan) {
    double here = size_.bytes / partCount(*before, model_.mesh());
    double after = size_.bytes / partCount(step.after, model_.mesh());
    double peers = static_cast<double>(model_.mesh().sizeOf(step.axes));
    double fraction = (peers - 1) / peers;
    auto add = [&](CollectiveKind kind, double sent) {
      total.seconds += cost::secondsOf(model_, kind, step.axes, here, after);
      total.bytesSent += sent * static_cast<double>(model_.mesh().rankCount());
      if (!model_.workers().shared()) {
        double bytes = kind == CollectiveKind::kAllGather ? after : here;
        addMovement(total, model_.movement(kind, step.axes, bytes));
      }
    };
    switch (step.kind) {
    case StepKind::kAllGather:
      add(CollectiveKind::kAllGather, fraction * after);
      break;
    case StepKind::kAllReduce:
      add(CollectiveKind::kAllReduce, 2 * fraction * here);
      break;
    case StepKind::kReduceScatter:
      add(CollectiveKind::kReduceScatter, fraction * here);
      break;
    case StepKind::kAllToAll:
      add(CollectiveKind::kAllToAll, fraction * here);
      break;
    default: // A slice is a copy within the rank.
      total.seconds += cost::copySeconds(model_, here, after);
      break;
    }
    before = &step.after;
  }
  return total;
}

ReshardCost ReshardPricer::costOf(const ReshardPlan &plan, const Layout &source) {
  return source.form == Form::kTensor ? tensorCost(plan, source) : tableCost(plan, source);
}

} // namespace headrace::shard
