// `headrace-tune cost`: what a plan costs on a topology, in parts with their errors.
#pragma once

#include <string>
#include <vector>

namespace headrace::tune {

std::string costUsage();

/// Prints the table; returns the exit status.
int costCommand(const std::vector<std::string> &arguments);

} // namespace headrace::tune
