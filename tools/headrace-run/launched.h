// headrace-run as one of the processes that a launcher has started.
#pragma once

#include "tools/headrace-run/request.h"

#include <string>

namespace headrace::run {

/// Runs the plan of rank 0's line on all ranks; rank 0 writes the result. The status is that of all
/// ranks. `who` is given this rank's name for messages, once it is known.
Status runLaunched(const Request &request, std::string &who);

} // namespace headrace::run
