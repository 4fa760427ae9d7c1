// States that do not fit their tier: what is too much is written to the tier below while the state
// is filled, and comes back before it is read.
#include "model/simulate/plan_graph_builder.h"

namespace headrace::simulate {
namespace {

// What a spilled state keeps in memory besides its pages, so that no tier is planned to the brim.
constexpr double kTierShare = 0.9;

} // namespace

const plan::ReserveTask *PlanGraph::reservationOf(int32_t state) const {
  for (const Task &task : plan_.tasks) {
    if (const auto *reserve = task.as<plan::ReserveTask>(); reserve && reserve->state == state) {
      return reserve;
    }
  }
  return nullptr;
}

double PlanGraph::spilledPart(const plan::ReserveTask &reserve, const RankClass &on) const {
  double bytes = static_cast<double>(reserve.bytes.expected);
  double room = kTierShare * graph_.tiers[on.tier].bytes;
  return on.spillTier == kNone || bytes <= room ? 0 : 1 - room / bytes;
}

void PlanGraph::addSpillWrites(int32_t id) {
  for (const plan::StateArgument &argument : plan_.tasks[id].states()) {
    const plan::ReserveTask *reserve =
        argument.use == plan::StateUse::kPerWorker ? reservationOf(argument.state) : nullptr;
    if (!reserve) {
      continue;
    }
    for (size_t c = 0; c < chunksOf_[id].size(); ++c) {
      const RankClass &on = classes_[c];
      double part = spilledPart(*reserve, on);
      if (part <= 0 || chunksOf_[id][c].empty()) {
        continue;
      }
      // Chunk by chunk behind the kernel, on its own engine: the kernel goes on meanwhile.
      double bytes = part * static_cast<double>(reserve->bytes.expected);
      Chunks kernels = chunksOf_[id][c];
      double each = bytes / static_cast<double>(kernels.size());
      int32_t before = kNone;
      for (size_t chunk = 0; chunk < kernels.size(); ++chunk) {
        Activity activity = activityOf(id, chunk, kernels.size());
        activity.name = "spill of " + activity.name;
        activity.rankClass = static_cast<int32_t>(c);
        activity.latencySeconds = on.spillLatencySeconds;
        activity.work = each;
        activity.uses = {{on.memory, 1}, {on.spillWrite, 1}};
        activity.acquires = {{on.spillTier, each}};
        activity.after = {kernels[chunk]};
        if (before != kNone) {
          activity.after.push_back(before);
        }
        before = static_cast<int32_t>(graph_.activities.size());
        graph_.activities.push_back(std::move(activity));
      }
      chunksOf_[id][c].push_back(before); // who waits for the task waits for its last byte
    }
  }
}

void PlanGraph::addSpillReads(int32_t id, size_t rankClass, Activity &firstChunk) {
  const Task &task = plan_.tasks[id];
  std::vector<int32_t> states;
  if (task.sourceState() != kNone) {
    states.push_back(task.sourceState());
  }
  for (const plan::StateArgument &argument : task.states()) {
    if (argument.use == plan::StateUse::kShared) {
      states.push_back(argument.state);
    }
  }
  for (int32_t state : states) {
    const plan::ReserveTask *reserve = reservationOf(state);
    const RankClass &on = classes_[rankClass];
    double part = reserve ? spilledPart(*reserve, on) : 0;
    if (part <= 0) {
      continue;
    }
    Activity activity = activityOf(id, 0, 1);
    activity.name = "reload for " + activity.name;
    activity.rankClass = static_cast<int32_t>(rankClass);
    activity.latencySeconds = on.spillLatencySeconds;
    activity.work = part * static_cast<double>(reserve->bytes.expected);
    activity.uses = {{on.memory, 1}, {on.spillRead, 1}};
    activity.after = firstChunk.after;
    firstChunk.after.push_back(static_cast<int32_t>(graph_.activities.size()));
    graph_.activities.push_back(std::move(activity));
  }
}

} // namespace headrace::simulate
