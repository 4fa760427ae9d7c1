// `headrace-tune calibrate`: the model of tasks fitted to this machine by running plans.
#pragma once

#include <string>
#include <vector>

namespace headrace::tune {

std::string calibrateUsage();
/// Returns the exit status.
int calibrateCommand(const std::vector<std::string> &arguments);

} // namespace headrace::tune
