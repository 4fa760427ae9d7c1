// `headrace-tune simulate`: a plan on a topology, without running it.
#pragma once

#include <string>
#include <vector>

namespace headrace::tune {

std::string simulateUsage();

/// Prints the report; returns the exit status.
int simulateCommand(const std::vector<std::string> &arguments);

} // namespace headrace::tune
