// A plan on a topology as a graph of activities: what every task costs on a rank of each class,
// chunk by chunk.
#pragma once

#include "model/plan/plan.h"
#include "model/simulate/graph.h"
#include "model/simulate/workload.h"

namespace headrace::simulate {

/// Equal ranks become one (see RankSkew for others), so the size does not grow with ranks. Kernels
/// use a device in the order of plan::precedences, as workers take them. Streams
/// hold their producers as in the run: by their credit, scaled to the simulated chunks and at least
/// two. A choose takes the branch that the expected value of its hole decides; a repeat's body
/// counts as often as it may run. Rank 0's share after a gather is simulated on a rank of the first
/// class. A state whose reservation exceeds its tier is written in part to the tier below while it
/// is filled and read back before its first reader; without a tier below, the simulation says that
/// there is no room. Errors (kUser): ranks that the topology lacks, skews that make no sense, a
/// slot without rows. `plan` must have passed plan::check.
Expected<Graph> planGraph(const plan::Plan &plan, const topology::Topology &topology,
                          const Workload &workload);

} // namespace headrace::simulate
