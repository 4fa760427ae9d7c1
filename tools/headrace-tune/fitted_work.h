// What each kind of work takes, fitted to measured plans.
#pragma once

#include "model/cost/accuracy.h"
#include "model/topology/topology.h"
#include "tools/headrace-tune/measured_plan.h"

#include <map>
#include <string>
#include <vector>

namespace headrace::tune {

using MeasuredPlans = std::vector<const MeasuredPlan *>;

/// Seconds a unit of the kinds of work that the plans contain. What they do not contain is left as
/// the topology has it, or as it is assumed.
struct FittedWork {
  std::map<std::string, double> seconds;
  size_t parts = 0; ///< of tasks, which it was fitted to
};
/// `topology` says which cores; `threads` are those that the plans ran on.
Expected<FittedWork> fitWork(const MeasuredPlans &plans, const topology::Topology &topology,
                             int threads);

/// The topology with this work on the device of its ranks. Also what the model of operations and
/// bytes, by which plans without kernels are chosen, knows of it: rates follow from the same terms.
topology::Topology withWork(topology::Topology topology, const FittedWork &work,
                            double relativeError);

/// Relative errors of what a topology predicts of plans and of the parts of their tasks.
struct PredictionErrors {
  std::vector<double> parts;
  std::vector<double> plans;
};
Expected<PredictionErrors> predictionErrors(const MeasuredPlans &plans,
                                            const topology::Topology &topology, int threads);

/// The same where each plan is predicted by a fit to every other one: those in even places by
/// those in odd ones, and the other way round. Empty for fewer than two plans.
Expected<PredictionErrors> heldOutErrors(const MeasuredPlans &plans,
                                         const topology::Topology &topology, int threads);

} // namespace headrace::tune
