// The table of functions that kernels may call: primitives' entries and exec's own.
#pragma once

#include "runtime/abi/imports.h"
#include "runtime/base/status.h"

namespace headrace::exec {

/// Made once for the process: the entries never change. Fails if HEADRACE_ISA names a level that
/// this processor lacks.
Expected<const HrImports *> kernelImports();

} // namespace headrace::exec
