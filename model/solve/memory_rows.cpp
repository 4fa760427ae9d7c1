// Finds the rows by a sweep over starts and ends.
#include "model/solve/memory_rows.h"

#include <algorithm>
#include <numeric>

namespace headrace::solve {
namespace {

struct Event {
  int32_t time;
  enum : uint8_t { kEnd, kStart } kind; // ends before starts at one time: intervals are half open
  double bytes;

  bool operator<(const Event &other) const {
    return time != other.time ? time < other.time : kind < other.kind;
  }
};

double largest(const std::vector<double> &bytes) {
  return *std::max_element(bytes.begin(), bytes.end());
}
double smallest(const std::vector<double> &bytes) {
  return *std::min_element(bytes.begin(), bytes.end());
}

} // namespace

MemoryRows::MemoryRows(const Problem &problem) {
  for (size_t tier = 0; tier < problem.tierBytesMax.size(); ++tier) {
    tierFirst_.push_back(static_cast<int32_t>(limit_.size()));
    std::vector<Event> events;
    for (const Node &node : problem.nodes) {
      for (const MemoryUse &use : node.memory) {
        if (use.tier == static_cast<int32_t>(tier) && use.first < use.last) {
          double most = largest(use.bytes);
          events.push_back({use.first, Event::kStart, most});
          events.push_back({use.last, Event::kEnd, most});
        }
      }
    }
    std::sort(events.begin(), events.end());
    double limit = problem.tierBytesMax[tier];
    double held = 0;
    for (size_t i = 0; i + 1 < events.size(); ++i) {
      held += events[i].kind == Event::kStart ? events[i].bytes : -events[i].bytes;
      // The sum drifts by rounding; a little slack keeps rows that could bind.
      if (events[i].kind == Event::kStart && events[i + 1].kind == Event::kEnd &&
          held > limit * (1 - 1e-9)) {
        limit_.push_back(limit);
        time_.push_back(events[i].time);
        tier_.push_back(static_cast<int32_t>(tier));
      }
    }
  }
  tierFirst_.push_back(static_cast<int32_t>(limit_.size()));
}

RowRange MemoryRows::rows(const MemoryUse &use) const {
  auto begin = time_.begin() + tierFirst_[use.tier];
  auto end = time_.begin() + tierFirst_[use.tier + 1];
  auto first = std::lower_bound(begin, end, use.first);
  auto last = std::lower_bound(first, end, use.last);
  return {static_cast<int32_t>(first - time_.begin()), static_cast<int32_t>(last - time_.begin())};
}

int32_t MemoryRows::findHopeless(const Problem &problem, double &bytes) const {
  std::vector<double> change(size() + 1, 0);
  for (const Node &node : problem.nodes) {
    for (const MemoryUse &use : node.memory) {
      RowRange range = rows(use);
      if (!range.empty()) {
        change[range.first] += smallest(use.bytes);
        change[range.last] -= smallest(use.bytes);
      }
    }
  }
  double held = 0;
  for (size_t row = 0; row < size(); ++row) {
    held += change[row];
    if (held > limit_[row] * (1 + 1e-9)) {
      bytes = held;
      return static_cast<int32_t>(row);
    }
  }
  return -1;
}

} // namespace headrace::solve
