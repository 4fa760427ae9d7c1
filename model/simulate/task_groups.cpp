// Sets of tasks, and their order.
#include "model/simulate/task_groups.h"

#include "model/plan/precedence.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace headrace::simulate {

using plan::kNone;
using plan::Plan;
using plan::Task;

std::vector<int32_t> sortedByRank(const Successors &successors, const std::vector<double> &ranks) {
  std::vector<size_t> left(successors.size(), 0);
  for (const std::set<int32_t> &behind : successors) {
    for (int32_t vertex : behind) {
      ++left[vertex];
    }
  }
  std::set<std::pair<double, int32_t>> next;
  for (size_t vertex = 0; vertex < successors.size(); ++vertex) {
    if (left[vertex] == 0) {
      next.insert({ranks[vertex], static_cast<int32_t>(vertex)});
    }
  }
  std::vector<int32_t> sorted;
  while (!next.empty()) {
    int32_t vertex = next.begin()->second;
    next.erase(next.begin());
    sorted.push_back(vertex);
    for (int32_t behind : successors[vertex]) {
      if (--left[behind] == 0) {
        next.insert({ranks[behind], behind});
      }
    }
  }
  return sorted;
}

bool onlyInTurn(const Plan &plan, int32_t before, const Task &task) {
  const auto *collective = task.as<plan::CollectiveTask>();
  const auto *other = plan.tasks[before].as<plan::CollectiveTask>();
  return collective && other && other->output != collective->input;
}

Successors listedBehind(const Plan &plan) {
  Successors behind(plan.tasks.size());
  std::vector<std::vector<int32_t>> writers(plan.streams.size());
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    if (int32_t stream = plan.tasks[t].outputStream(); stream != kNone) {
      writers[stream].push_back(static_cast<int32_t>(t));
    }
  }
  int32_t lastResult = kNone;
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    const Task &task = plan.tasks[t];
    auto index = static_cast<int32_t>(t);
    for (int32_t before : task.after) {
      if (!onlyInTurn(plan, before, task)) {
        behind[before].insert(index);
      }
    }
    for (int32_t inner : task.body()) {
      behind[inner].insert(index);
    }
    if (int32_t stream = task.inputStream(); stream != kNone) {
      for (int32_t writer : writers[stream]) {
        behind[writer].insert(index);
      }
    }
    if (task.as<plan::TensorResultTask>()) { // the caller gets them in order
      if (lastResult != kNone) {
        behind[lastResult].insert(index);
      }
      lastResult = index;
    }
  }
  return behind;
}

TaskGroups::TaskGroups(const Plan &plan) : groupOf_(plan::precedences(plan)) {
  joinReservations(plan);
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    size_t group = static_cast<size_t>(groupOf_[t]);
    members_.resize(std::max(members_.size(), group + 1));
    markers_.resize(members_.size(), true);
    members_[group].push_back(static_cast<int32_t>(t));
    plan::TaskKind kind = plan.tasks[t].kind();
    markers_[group] = markers_[group] &&
                      (kind == plan::TaskKind::kRelease || kind == plan::TaskKind::kTensorResult);
  }
  before_.resize(members_.size());
  after_.resize(members_.size());
  Successors behind = listedBehind(plan);
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    for (int32_t task : behind[t]) {
      if (groupOf_[task] != groupOf_[t]) {
        after_[groupOf_[t]].insert(groupOf_[task]);
        before_[groupOf_[task]].insert(groupOf_[t]);
      }
    }
  }
}

/// A reservation is made when its run is next, which a token to it makes sure of.
void TaskGroups::joinReservations(const Plan &plan) {
  auto fills = [](const Task &task, int32_t state) {
    return std::any_of(task.states().begin(), task.states().end(), [&](const auto &argument) {
      return argument.state == state && argument.use == plan::StateUse::kPerWorker;
    });
  };
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    for (int32_t before : plan.tasks[t].after) {
      const auto *reserve = plan.tasks[before].as<plan::ReserveTask>();
      if (reserve && fills(plan.tasks[t], reserve->state)) {
        groupOf_[before] = groupOf_[t];
      }
    }
  }
  // Without gaps, by the first task.
  std::vector<int32_t> numbers(plan.tasks.size(), kNone);
  int32_t next = 0;
  for (int32_t &group : groupOf_) {
    numbers[group] = numbers[group] == kNone ? next++ : numbers[group];
    group = numbers[group];
  }
}

std::vector<int32_t> TaskGroups::sorted(std::vector<double> ranks) const {
  for (size_t group = 0; group < count(); ++group) {
    ranks[group] = markers_[group] ? -std::numeric_limits<double>::infinity() : ranks[group];
  }
  return sortedByRank(after_, ranks);
}

std::vector<int32_t> TaskGroups::sorted() const {
  std::vector<double> numbers(count());
  std::iota(numbers.begin(), numbers.end(), 0);
  return sorted(std::move(numbers));
}

std::vector<int32_t> TaskGroups::tasks(const std::vector<int32_t> &order) const {
  std::vector<int32_t> tasks;
  for (int32_t group : order) {
    tasks.insert(tasks.end(), members_[group].begin(), members_[group].end());
  }
  return tasks;
}

std::set<int32_t> TaskGroups::closure(int32_t group) const {
  std::set<int32_t> all;
  std::vector<int32_t> open = {group};
  while (!open.empty()) {
    int32_t next = open.back();
    open.pop_back();
    if (all.insert(next).second) {
      open.insert(open.end(), before_[next].begin(), before_[next].end());
    }
  }
  return all;
}

bool TaskGroups::hasOrders() const {
  std::vector<int32_t> order = sorted();
  std::erase_if(order, [&](int32_t group) { return markers_[group]; });
  for (size_t at = 1; at < order.size(); ++at) {
    if (!closure(order[at]).contains(order[at - 1])) {
      return true;
    }
  }
  return false;
}

} // namespace headrace::simulate
