// Tensor kernels, and the tasks that take no time of their own.
#include "model/cost/tensor_work.h"
#include "model/simulate/plan_graph_builder.h"

namespace headrace::simulate {

void PlanGraph::addTensorLoad(int32_t id) {
  if (plan_.slots[plan_.tasks[id].slot()].resident) { // is read where it is
    addMarker(id);
    return;
  }
  if (hasWorkers()) {
    addWorkerTensorLoad(id);
    return;
  }
  // The tensor is in memory: a rank reads its part and writes it.
  double bytes = 2 * cost::localBytes(plan_, plan_.tasks[id].outputs(), workload_.ranks);
  for (size_t c = 0; c < classes_.size(); ++c) {
    kernel(id, c, 0, 1, cost::copyWork(bytes), 1);
  }
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
  int32_t input = task.inputStream();
  bool first = input != kNone && streams_[input].distribution == Distribution::kFirstRank;
  int64_t chunks = input != kNone ? streams_[input].chunks : 1;
  for (size_t c = 0; c < (first ? 1 : classes_.size()); ++c) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      Activity activity = activityOf(id, chunk, chunks);
      if (const auto *reserve = task.as<plan::ReserveTask>()) {
        double bytes = static_cast<double>(reserve->bytes.expected);
        activity.acquires = {{classes_[c].tier, bytes * (1 - spilledPart(*reserve, classes_[c]))}};
      } else if (const auto *release = task.as<plan::ReleaseTask>()) {
        const auto &reserved = *plan_.tasks[release->reservation].as<plan::ReserveTask>();
        double bytes = static_cast<double>(reserved.bytes.expected);
        double spilled = spilledPart(reserved, classes_[c]);
        activity.releases = {{classes_[c].tier, bytes * (1 - spilled)}};
        if (spilled > 0) {
          activity.releases.push_back({classes_[c].spillTier, bytes * spilled});
        }
      }
      append(std::move(activity), id, c, chunk);
    }
  }
}

} // namespace headrace::simulate
