// `headrace-tune simulate`: a plan on a topology, without running it.
#pragma once

#include <string>
#include <vector>

namespace headrace::tune {

inline constexpr const char *kSimulateUsage =
    "  headrace-tune simulate PLAN.json --topology FILE|NAME --ranks N --rows NAME=ROWS … [--trace "
    "FILE]\n"
    "  --rows NAME=ROWS  rows over all ranks of a slot (needed) or a stream; may repeat\n"
    "  --trace FILE      the timeline for Perfetto\n";

/// Prints the report; returns the exit status.
int simulateCommand(const std::vector<std::string> &arguments);

} // namespace headrace::tune
