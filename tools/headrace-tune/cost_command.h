// `headrace-tune cost`: what a plan costs on a topology, in parts with their errors.
#pragma once

#include <string>
#include <vector>

namespace headrace::tune {

inline constexpr const char *kCostUsage =
    "  headrace-tune cost PLAN --topology NAME [--ranks N] [--format text|json] …\n";

/// Prints the table; returns the exit status.
int costCommand(const std::vector<std::string> &arguments);

} // namespace headrace::tune
