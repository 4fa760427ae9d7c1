// Follows the rows of a load to where it does not matter any more which rank has them.
#include "model/plan/shared_loads.h"

#include "model/plan/dependencies.h"

#include <utility>

namespace headrace::plan {
namespace {

/// The streams and states that rows of a load come to on the rank that reads it.
class Reached {
public:
  Reached(const Plan &plan, int32_t stream)
      : streams_(plan.streams.size(), 0), states_(plan.states.size(), 0) {
    streams_[stream] = 1;
    for (bool more = true; more;) {
      more = false;
      for (const Task &task : plan.tasks) {
        more |= takesFrom(task) && !task.as<ExchangeTask>() && reach(task);
      }
    }
  }

  bool takesFrom(const Task &task) const {
    bool reads = (task.inputStream() != kNone && streams_[task.inputStream()]) ||
                 (task.sourceState() != kNone && states_[task.sourceState()]);
    for (const StateArgument &argument : task.states()) {
      reads |= argument.use == StateUse::kShared && states_[argument.state];
    }
    return reads;
  }
  bool has(int32_t state) const { return states_[state] != 0; }

private:
  /// What the task writes; whether that is new.
  bool reach(const Task &task) {
    bool added = task.outputStream() != kNone && !std::exchange(streams_[task.outputStream()], 1);
    for (const StateArgument &argument : task.states()) {
      added |= argument.use == StateUse::kPerWorker && !std::exchange(states_[argument.state], 1);
    }
    return added;
  }

  std::vector<char> streams_;
  std::vector<char> states_;
};

/// Ranks come together to what a choice on which they agree decides.
bool allComeTo(const Plan &plan, int32_t task) {
  const std::vector<Region> regions = regionsOf(plan);
  for (int32_t owner = regions[task].owner; owner != kNone; owner = regions[owner].owner) {
    const auto *choose = plan.tasks[owner].as<ChooseTask>();
    if (!choose || !plan.holes[choose->hole].agreed) {
      return false;
    }
  }
  return true;
}

} // namespace

const char *whyNotShared(const Plan &plan, int32_t load) {
  const auto *task = plan.tasks[load].as<LoadTask>();
  if (!task || plan.slots[task->slot].kind != SlotKind::kTable) {
    return "it loads no table";
  }
  if (task->split.empty()) {
    return "every rank reads all of the table";
  }
  if (!allComeTo(plan, load)) {
    return "not every rank may come to it";
  }
  const Reached reached(plan, task->outputStream);
  for (const Task &reader : plan.tasks) {
    if (reader.as<ToTensorTask>() && reached.takesFrom(reader)) {
      return "its rows become a rank's part of a tensor";
    }
    if (plan.resident && reader.as<ResultTask>() && reached.takesFrom(reader)) {
      return "its rows stay on the rank that reads them";
    }
  }
  for (size_t state = 0; state < plan.states.size(); ++state) {
    if (plan.states[state].firstCome && reached.has(static_cast<int32_t>(state))) {
      return "a state keeps the first rows that come";
    }
  }
  return nullptr;
}

void shareLoads(Plan &plan) {
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    if (auto *load = plan.tasks[t].as<LoadTask>()) {
      load->shared = whyNotShared(plan, static_cast<int32_t>(t)) == nullptr;
    }
  }
}

} // namespace headrace::plan
