// HEADRACE_VERSION comes from CMake, to this file alone.
#include "runtime/base/version.h"

namespace headrace {

const char *version() { return HEADRACE_VERSION; }

} // namespace headrace
