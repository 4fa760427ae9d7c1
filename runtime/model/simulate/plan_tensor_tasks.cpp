// Collectives, tensor kernels, and the tasks that take no time of their own.
#include "runtime/model/cost/tensor_work.h"
#include "runtime/model/simulate/plan_graph_builder.h"

namespace headrace::simulate {

Status PlanGraph::addTensorLoad(int32_t id) {
  if (hasWorkers()) {
    addWorkerTensorLoad(id);
    return {};
  }
  // The tensor is in memory: a rank reads its part and writes it.
  double bytes = 2 * cost::localBytes(plan_, plan_.tasks[id].outputs, workload_.ranks);
  for (size_t c = 0; c < classes_.size(); ++c) {
    kernel(id, c, 0, 1, cost::copyWork(bytes), 1);
  }
  return {};
}

void PlanGraph::addCollective(int32_t id) {
  if (hasWorkers()) {
    addWorkerCollective(id);
    return;
  }
  const Task &task = plan_.tasks[id];
  CollectiveKind kind = cost::collectiveOf(task);
  double bytes = cost::localBytes(
      plan_, kind == CollectiveKind::kAllGather ? task.outputs : task.inputs, workload_.ranks);
  Activity activity = activityOf(id, 0, 1);
  activity.relativeError = 0;
  cost::GroupShape shape{workload_.ranks, 0, 0};
  double ranks = static_cast<double>(workload_.ranks);
  double steps = cost::stepCount(kind, workload_.ranks);
  for (const RankClass &on : classes_) {
    if (on.linksOwner == RankClass::Links::kOwn) {
      shape.nodes += on.nodes;
      shape.remotePeers = std::max(shape.remotePeers, remoteRanks(on));
    }
  }
  for (const RankClass &on : classes_) {
    if (workload_.ranks < 2 || on.linksOwner == RankClass::Links::kShared) {
      continue;
    }
    // A ring enters and leaves a node once; all-to-all crosses from every rank.
    double sent = cost::sentFraction(kind, workload_.ranks);
    double between = shape.nodes > 1 ? sent / static_cast<double>(on.nodeRanks) : 0;
    Traffic traffic{sent / static_cast<double>(std::max<int64_t>(on.nodeRanks - 1, 1)), between,
                    Weight::kEven, Weight::kEven};
    if (kind == CollectiveKind::kAllToAll) {
      traffic.localBytes = 1 / ranks;
      traffic.remoteBytes = static_cast<double>(remoteRanks(on)) / ranks;
    }
    TrafficUse use = usesOf(on, traffic);
    activity.uses.insert(activity.uses.end(), use.uses.begin(), use.uses.end());
    activity.latencySeconds =
        std::max(activity.latencySeconds,
                 steps * std::max(use.localLatencySeconds, use.remoteLatencySeconds));
  }
  activity.work = workload_.ranks > 1 ? bytes : 0;
  activity.ownError = errorOf(activity.uses);
  Level level = shape.nodes > 1 ? Level::kNetwork : Level::kNode;
  const topology::CollectiveFit *fit =
      workload_.ranks < 2 || bytes <= 0
          ? nullptr
          : cost::leastFit(topology_.collectives, kind, level, shape, bytes);
  if (fit) {
    activity.latencySeconds = cost::predictSeconds(*fit, shape, 0);
    activity.rateMax = bytes / (cost::predictSeconds(*fit, shape, bytes) - activity.latencySeconds);
    activity.ownError = fit->relativeError;
  }
  appendCommon(std::move(activity), id, 0);
}

void PlanGraph::addCompute(int32_t id) {
  if (hasWorkers()) {
    addWorkerCompute(id);
    return;
  }
  cost::KernelWork work = cost::computeWork(plan_, plan_.tasks[id], workload_.ranks);
  for (size_t c = 0; c < classes_.size(); ++c) {
    kernel(id, c, 0, 1, work, 1);
  }
}

void PlanGraph::addMarker(int32_t id) {
  const Task &task = plan_.tasks[id];
  bool first = task.inputStream != kNone &&
               streams_[task.inputStream].distribution == Distribution::kFirstRank;
  int64_t chunks = task.inputStream != kNone ? streams_[task.inputStream].chunks : 1;
  for (size_t c = 0; c < (first ? 1 : classes_.size()); ++c) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      Activity activity = activityOf(id, chunk, chunks);
      if (task.kind == TaskKind::kReserve) {
        double bytes = static_cast<double>(task.bytes.expected);
        activity.acquires = {{classes_[c].tier, bytes * (1 - spilledPart(task, classes_[c]))}};
      } else if (task.kind == TaskKind::kRelease && task.reservation != kNone) {
        const Task &reserve = plan_.tasks[task.reservation];
        double bytes = static_cast<double>(reserve.bytes.expected);
        double spilled = spilledPart(reserve, classes_[c]);
        activity.releases = {{classes_[c].tier, bytes * (1 - spilled)}};
        if (spilled > 0) {
          activity.releases.push_back({classes_[c].spillTier, bytes * spilled});
        }
      } else if (task.kind == TaskKind::kCopy) {
        activity.work = cost::localBytes(plan_, task.inputs, workload_.ranks);
        activity.uses = {{classes_[c].memory, 2}}; // read and written
        copyBetweenTiers(task, classes_[c], activity);
      }
      append(std::move(activity), id, c, chunk);
    }
  }
}

} // namespace headrace::simulate
