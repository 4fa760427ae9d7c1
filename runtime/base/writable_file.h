// Whether a file can be written, asked before the work whose outcome it is for.
#pragma once

#include <string>

#include "runtime/base/status.h"

namespace headrace {

/// Begins a file beside `path` and drops it: what is there stays as it is. `what` names the file in
/// messages: "the trace". Errors: kIo for a folder that is missing or refuses, and for a path that
/// is a folder itself.
Status checkWritable(const std::string &path, const char *what);

} // namespace headrace
