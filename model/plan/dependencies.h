// What must happen before what in a plan: the start and the end of every task as a graph of events.
//
//   start(t) -> end(t)                    always
//   end(a)   -> start(t)                  a in t.after
//   end(p)   -> end(c)                    stream p -> c: the consumer sees the end of its input
//   start(c) -> start(b), end(b) -> end(c)   b in a body of the choose c
//   start(x) -> end(e)                    e an exchange of a pair, x on the way to the other one
//   start(c) -> end(p)                    back-pressure: a full stream holds its producer until c
//                                         runs
#pragma once

#include "model/plan/plan.h"

#include <cstdint>
#include <vector>

namespace headrace::plan {

/// Whether the edges that exist only when a bounded stream is full are part of the graph.
enum class BackPressure : uint8_t { kIgnored, kIncluded };

/// The transitive closure of the events of a plan. Every id in the plan must be in range.
/// Memory: (2 tasks)^2 bits.
class Dependencies {
public:
  Dependencies(const Plan &plan, BackPressure backPressure);

  /// In every schedule task a has ended before task b starts.
  bool endsBefore(int32_t a, int32_t b) const { return reaches(2 * a + 1, 2 * b); }
  /// Tasks of one cycle, in order; empty if the graph has none.
  std::vector<int32_t> cycle() const;

private:
  bool reaches(size_t from, size_t to) const {
    return closure_[from * words_ + to / 64] >> (to % 64) & 1;
  }
  size_t events_ = 0;
  size_t words_ = 0;
  std::vector<std::vector<uint32_t>> edges_;
  std::vector<uint64_t> closure_;
};

/// The choose task whose body holds each task, and which branch: 0 then, 1 else.
struct Region {
  int32_t owner = kNone;
  int32_t branch = 0;
};
/// One per task. With several owners (an invalid plan) the last one.
std::vector<Region> regionsOf(const Plan &plan);

/// The load of a table whose morsels a run takes; null for any other task.
const LoadTask *scanOf(const Plan &plan, const Task &task);

/// Tasks that fill each state (use it per worker), in task order.
std::vector<std::vector<int32_t>> fillersOf(const Plan &plan);

/// By state: 1 if only tasks of one repeat use it, so that it lives for one round.
std::vector<char> statesOfRounds(const Plan &plan);

} // namespace headrace::plan
