// Tensor kernels, and the tasks that take no time of their own.
#include "model/cost/tensor_work.h"
#include "model/simulate/plan_graph_builder.h"

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
