// `headrace-tune search`: the tuner of the Python package, which knows all phases and can run
// plans.
#pragma once

#include <string>
#include <vector>

namespace headrace::tune {

/// Becomes `headrace tune ARGUMENTS`; returns only if that cannot be started.
int searchCommand(const std::vector<std::string> &arguments);

} // namespace headrace::tune
