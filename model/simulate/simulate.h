// Simulates a graph of activities as discrete events: when each starts and ends, what is the
// bottleneck, and which chain of activities decides the time.
#pragma once

#include "model/simulate/graph.h"
#include "runtime/base/status.h"

#include <string>
#include <vector>

namespace headrace::simulate {

/// One activity's life, in seconds from the start of the simulation.
struct Span {
  double ready = 0; ///< the last of `after` has ended
  double start = 0; ///< later than ready if a tier had no room
  double finish = 0;
  int32_t cause = kNone; ///< the activity whose end let this one start; kNone at time 0
  int32_t bottleneck =
      kNone; ///< the resource that held it longest; kNone: latency, or its own bound
};

/// What goes through a resource from a time on.
struct RateChange {
  double seconds = 0;
  double bytesPerSecond = 0;
};

struct ResourceUse {
  double bytes = 0;       ///< moved through it
  double busySeconds = 0; ///< bytes / capacity; of a fatpipe the time in which anyone used it
  std::vector<RateChange> rates; ///< ascending in time; before the first nothing, as after the last
};

struct Outcome {
  double seconds = 0;
  double relativeError = 0;          ///< standard deviation; see errorOf in simulate.cpp
  std::vector<Span> spans;           ///< one an activity
  std::vector<ResourceUse> uses;     ///< one a resource
  std::vector<double> tierPeakBytes; ///< one a tier
  std::vector<int32_t> criticalPath; ///< from the first to the last, each the cause of the next
  /// [seconds·(1−2e), seconds·(1+2e)], not below 0: two standard deviations.
  double secondsLow() const;
  double secondsHigh() const;
};

/// Errors (kUser): an id out of range, a capacity that is not positive, a negative or infinite
/// amount, a cycle, more held than a tier has. Time O(events × running activities × their uses).
Expected<Outcome> simulate(const Graph &graph);

/// The most that any of these forbids to beat: the longest chain of activities alone, and the
/// fullest shared resource. Needs a graph that `simulate` accepts.
double lowerBoundSeconds(const Graph &graph);

} // namespace headrace::simulate
