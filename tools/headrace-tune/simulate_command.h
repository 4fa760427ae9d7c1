// `headrace-tune simulate`: a plan on a topology, without running it.
#pragma once

#include <string>
#include <vector>

namespace headrace::tune {

inline constexpr const char *kSimulateUsage =
    "  headrace-tune simulate PLAN --topology NAME [--ranks N] [--trace FILE] …\n"
    "  --trace FILE      the timeline for Perfetto\n";

/// Prints the report; returns the exit status.
int simulateCommand(const std::vector<std::string> &arguments);

} // namespace headrace::tune
