// Objects to one shared object, in process, without a linker.
#pragma once

#include "runtime/base/status.h"

#include <string>
#include <vector>

namespace headrace::lower {

/// Links x86-64 ELF objects made by compileObject into a shared object that exports their global
/// functions. kInternal if an object refers to a symbol that none of them defines, or needs a
/// relocation that kernels do not produce. The result has no section headers (debuggers see
/// symbols, not lines).
Expected<std::vector<char>> linkSharedObject(const std::vector<std::vector<char>> &objects);

} // namespace headrace::lower
