// What libheadrace_compiler.so shows beside the session of passes/driver: its tools, each a whole
// command. LLVM is linked once for all of them.
#pragma once

#include "runtime/base/exported.h"

namespace headrace {

/// Each returns the exit status, and runs once per process: its flags are the process's.
HEADRACE_EXPORTED int optTool(int argc, char **argv);
HEADRACE_EXPORTED int translateTool(int argc, char **argv);
HEADRACE_EXPORTED int interpretTool(int argc, char **argv);

} // namespace headrace
