// A simulated run for people: Perfetto's trace JSON, and a report of the critical path and the
// resources.
#pragma once

#include "model/simulate/simulate.h"

#include <string>

namespace headrace::simulate {

/// Chrome trace events (microseconds) that open in Perfetto: one process for each class of equal
/// ranks, one for what all ranks do together, one with a curve for each resource; in them a line
/// for each task, on which slices never overlap, with what held each activity up.
std::string perfettoTrace(const Graph &graph, const Outcome &outcome);

/// The time with its interval, the critical path by the user's program with shares, the fullest
/// resources, the peaks of the tiers.
std::string report(const Graph &graph, const Outcome &outcome);

} // namespace headrace::simulate
