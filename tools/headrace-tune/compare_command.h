// `headrace-tune compare`: predictions beside measurements of plans.
#pragma once

#include "tools/headrace-tune/measure_request.h"

#include <string>
#include <vector>

namespace headrace::tune {

std::string compareUsage();
/// Returns the exit status.
int compareCommand(const std::vector<std::string> &arguments);

} // namespace headrace::tune
