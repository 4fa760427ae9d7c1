// The version of headrace. It stands once, in the CMakeLists.txt of the project.
#pragma once

namespace headrace {

/// "0.1.0".
const char *version();

} // namespace headrace
