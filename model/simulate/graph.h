// What is simulated: activities that wait for each other, share resources, and hold room in tiers.
// Plain values; ids are indices into the vectors of Graph.
#pragma once

#include "model/topology/topology.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::simulate {

inline constexpr int32_t kNone = -1;

/// A thing with a rate that activities share fairly (max-min), or that bounds each alone (fatpipe).
struct Resource {
  std::string name;
  double capacity = 0; ///< bytes, or what stands for them, per second; above 0
  topology::Sharing sharing = topology::Sharing::kShared;
  double relativeError = 0; ///< of the capacity
};

/// Memory of limited size.
struct Tier {
  std::string name;
  double bytes = 0;
};

/// How much of a resource one byte of an activity's work takes.
struct Use {
  int32_t resource = 0;
  double amount = 1;
};

struct Hold {
  int32_t tier = 0;
  double bytes = 0;
};

/// Of an activity that nobody goes before.
inline constexpr int32_t kFirst = -1;

/// Starts when all of `after` have ended and its holds have room; waits its latency, then does its
/// work at the rate that the resources give it.
struct Activity {
  std::string name;
  int32_t place = kNone;     ///< of the user's program, for reports
  int32_t lane = 0;          ///< the task of the plan
  int32_t rankClass = kNone; ///< whose it is, in Graph::rankClasses; kNone: of all ranks together
  double latencySeconds = 0;
  double work = 0;          ///< bytes; rates are bytes per second, and fairness is between them
  double rateMax = 0;       ///< bytes per second it cannot exceed; 0 = no bound
  double relativeError = 0; ///< of its work
  double ownError = 0;      ///< of its latency and rateMax, while they hold it up and no resource
  std::vector<Use> uses;    ///< no resource twice
  int32_t precedence = kFirst; ///< of shared resources it gets what those of lower numbers leave;
                               ///< equal ones share fairly
  std::vector<int32_t> after;
  std::vector<Hold> acquires; ///< all at once at the start; of several the first that was ready
  std::vector<Hold> releases; ///< at the end

  /// The name without the number of the chunk: "shuffle" of "shuffle #12".
  std::string kind() const { return name.substr(0, name.find(" #")); }
};

struct Graph {
  std::vector<Resource> resources;
  std::vector<Tier> tiers;
  std::vector<Activity> activities;
  std::vector<std::string> places;      ///< texts for Activity::place
  std::vector<std::string> rankClasses; ///< texts for Activity::rankClass: "ranks 0-71 ×1400"
};

} // namespace headrace::simulate
