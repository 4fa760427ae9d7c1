// Paths as users write them: "~" and patterns.
#pragma once

#include "runtime/base/status.h"

#include <string>
#include <vector>

namespace headrace {

/// The path with a leading "~" or "~/" as the home directory ($HOME); any other as it is.
std::string homePath(const std::string &path);

/// The paths that a text means: what a pattern (* ? [, and ** for any number of folders) matches,
/// in the order of names, if there is no file of that very name; else the path itself, whether or
/// not it exists. Errors: kIo for a pattern that nothing matches.
Expected<std::vector<std::string>> matchingPaths(const std::string &text);

} // namespace headrace
