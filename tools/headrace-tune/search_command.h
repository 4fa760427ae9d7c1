// `headrace-tune search`: the tuner of the Python package, which knows all phases and can run
// plans.
#pragma once

#include <string>
#include <vector>

namespace headrace::tune {

inline constexpr const char *kSearchUsage =
    "  headrace-tune search PROGRAM [--tables DIR] [--topology NAME] [--ranks N,N] …\n"
    "  PROGRAM           SQL, @FILE.sql, or FILE.mlir; see headrace-tune search --help\n";

/// Becomes `headrace tune ARGUMENTS`; returns only if that cannot be started.
int searchCommand(const std::vector<std::string> &arguments);

} // namespace headrace::tune
