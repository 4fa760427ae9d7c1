// The text that a command is about: a file, or standard input.
#pragma once

#include "runtime/base/status.h"

#include <string>

namespace headrace::tune {

/// All of the file, or of standard input if the path is "-". `what` names it in the error.
Expected<std::string> readInput(const std::string &path, const char *what);

} // namespace headrace::tune
