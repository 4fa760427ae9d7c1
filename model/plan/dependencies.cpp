// Builds the event graph, its closure, and finds cycles.
#include "model/plan/dependencies.h"

#include <algorithm>

namespace headrace::plan {
namespace {

int32_t pairOf(const Task &task) {
  const auto *exchange = task.as<ExchangeTask>();
  return exchange ? exchange->pair : kNone;
}

/// The tasks that must have started before an exchange gets its first rows: through streams, and
/// through the other of each pair on the way.
std::vector<uint32_t> feedersOf(const Plan &plan, uint32_t exchange) {
  std::vector<uint32_t> feeders{exchange};
  std::vector<bool> seen(plan.tasks.size(), false);
  seen[exchange] = true;
  for (size_t next = 0; next < feeders.size(); ++next) {
    const Task &task = plan.tasks[feeders[next]];
    const int32_t input = task.inputStream(), pair = pairOf(task);
    for (uint32_t t = 0; t < plan.tasks.size(); ++t) {
      bool writes =
          input != kNone && plan.streams[input].parts == 0 && plan.tasks[t].outputStream() == input;
      bool agrees = pair != kNone && pairOf(plan.tasks[t]) == pair;
      if ((writes || agrees) && !seen[t]) {
        seen[t] = true;
        feeders.push_back(t);
      }
    }
  }
  return feeders;
}

} // namespace

Dependencies::Dependencies(const Plan &plan, BackPressure backPressure)
    : events_(plan.tasks.size() * 2), words_((events_ + 63) / 64), edges_(events_) {
  auto edge = [&](uint32_t from, uint32_t to) { edges_[from].push_back(to); };
  auto count = static_cast<uint32_t>(plan.tasks.size());
  for (uint32_t t = 0; t < count; ++t) {
    const Task &task = plan.tasks[t];
    edge(2 * t, 2 * t + 1);
    for (int32_t before : task.after) {
      edge(2 * before + 1, 2 * t);
    }
    for (int32_t inner : task.body()) {
      edge(2 * t, 2 * inner);
      edge(2 * inner + 1, 2 * t + 1);
    }
    if (pairOf(task) != kNone) {
      for (uint32_t feeder : feedersOf(plan, t)) {
        edge(2 * feeder, 2 * t + 1);
      }
    }
    int32_t input = task.inputStream();
    for (uint32_t producer = 0; input != kNone && producer < count; ++producer) {
      if (plan.tasks[producer].outputStream() == input) {
        if (plan.streams[input].parts != 0) {
          edge(2 * producer + 1, 2 * t);
          continue;
        }
        edge(2 * producer + 1, 2 * t + 1);
        if (backPressure == BackPressure::kIncluded) {
          edge(2 * t, 2 * producer + 1);
        }
      }
    }
  }
  // Closure by repeated sweeps in reverse: plans are nearly in topological order already.
  closure_.assign(events_ * words_, 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t from = events_; from-- > 0;) {
      uint64_t *row = &closure_[from * words_];
      for (uint32_t to : edges_[from]) {
        const uint64_t *next = &closure_[to * words_];
        for (size_t w = 0; w < words_; ++w) {
          uint64_t merged = row[w] | next[w];
          changed |= merged != row[w];
          row[w] = merged;
        }
        uint64_t bit = uint64_t(1) << (to % 64);
        changed |= !(row[to / 64] & bit);
        row[to / 64] |= bit;
      }
    }
  }
}

std::vector<int32_t> Dependencies::cycle() const {
  for (size_t start = 0; start < events_; ++start) {
    if (!reaches(start, start)) {
      continue;
    }
    // Walk along edges that still lead back to the start; each step is on a cycle.
    std::vector<int32_t> tasks;
    std::vector<bool> visited(events_, false);
    size_t at = start;
    do {
      visited[at] = true;
      auto task = static_cast<int32_t>(at / 2);
      if (std::find(tasks.begin(), tasks.end(), task) == tasks.end()) {
        tasks.push_back(task);
      }
      size_t next = start;
      for (uint32_t to : edges_[at]) {
        if (to == start || (!visited[to] && reaches(to, start))) {
          next = to;
          break;
        }
      }
      at = next;
    } while (at != start);
    return tasks;
  }
  return {};
}

std::vector<Region> regionsOf(const Plan &plan) {
  std::vector<Region> regions(plan.tasks.size());
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    if (const auto *choose = plan.tasks[t].as<ChooseTask>()) {
      for (int32_t inner : choose->thenTasks) {
        regions[inner] = Region{static_cast<int32_t>(t), 0};
      }
      for (int32_t inner : choose->elseTasks) {
        regions[inner] = Region{static_cast<int32_t>(t), 1};
      }
    }
    if (const auto *repeat = plan.tasks[t].as<RepeatTask>()) {
      for (int32_t inner : repeat->tasks) {
        regions[inner] = Region{static_cast<int32_t>(t), 0};
      }
    }
  }
  return regions;
}

const LoadTask *scanOf(const Plan &plan, const Task &task) {
  const auto *run = task.as<RunTask>();
  for (size_t t = 0; t < plan.tasks.size() && run && run->inputStream != kNone; ++t) {
    const auto *load = plan.tasks[t].as<LoadTask>();
    if (load && load->outputStream == run->inputStream) {
      return plan.slots[load->slot].kind == SlotKind::kTable ? load : nullptr;
    }
  }
  return nullptr;
}

std::vector<std::vector<int32_t>> fillersOf(const Plan &plan) {
  std::vector<std::vector<int32_t>> fillers(plan.states.size());
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    for (const StateArgument &argument : plan.tasks[t].states()) {
      if (argument.use == StateUse::kPerWorker) {
        fillers[argument.state].push_back(static_cast<int32_t>(t));
      }
    }
  }
  return fillers;
}

std::vector<char> statesOfRounds(const Plan &plan) {
  const std::vector<Region> regions = regionsOf(plan);
  std::vector<char> inRounds(plan.states.size(), 0);
  std::vector<int32_t> owner(plan.states.size(), kNone);
  std::vector<char> seen(plan.states.size(), 0);
  auto use = [&](int32_t state, int32_t task) {
    const int32_t of = regions[task].owner;
    const bool repeated = of != kNone && plan.tasks[of].as<RepeatTask>();
    inRounds[state] = repeated && (!seen[state] || (inRounds[state] && owner[state] == of));
    owner[state] = of;
    seen[state] = 1;
  };
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    const auto task = static_cast<int32_t>(t);
    if (plan.tasks[t].sourceState() != kNone) {
      use(plan.tasks[t].sourceState(), task);
    }
    for (const StateArgument &argument : plan.tasks[t].states()) {
      use(argument.state, task);
    }
  }
  return inRounds;
}

} // namespace headrace::plan
