// What a plan costs on a topology, in parts: which tasks, held up by what, make up the time.
#pragma once

#include "model/cost/cost.h"
#include "model/simulate/plan_graph.h"

#include <string>
#include <vector>

namespace headrace::simulate {

/// Time on the critical path that one task spends on one thing.
struct CostTerm {
  std::string task;
  std::string place; ///< in the user's program; empty if it is not known
  std::string kind;  ///< "load", "run", "exchange", …
  std::string bound; ///< the resource that holds it up, "latency" or "its own rate"
  cost::Cost cost;
};

/// The terms' seconds add up to `total`; what overlaps with them is in none. The total's error is
/// that of the simulation: errors with a common source are not independent.
struct ProgramCost {
  std::vector<CostTerm> terms; ///< the largest first
  cost::Cost total;
  double secondsLow = 0; ///< two standard deviations
  double secondsHigh = 0;
  struct TierUse {
    std::string tier;
    double peakBytes = 0;
    double bytes = 0;
  };
  std::vector<TierUse> tiers; ///< those that something is held in

  /// One line a term, then the total and the tiers.
  std::string text() const;
  /// {"seconds", "seconds_low", "seconds_high", "relative_error", "terms": [...], "tiers": [...]}
  std::string json() const;
};

/// Errors as of planGraph and simulate.
Expected<ProgramCost> programCost(const plan::Plan &plan, const topology::Topology &topology,
                                  const Workload &workload);

} // namespace headrace::simulate
