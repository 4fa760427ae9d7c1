// The instruction set that kernels are made for, for those above the runtime.
#pragma once

#include "runtime/base/status.h"

#include <string>

namespace headrace::exec {

/// "x86-64", "x86-64-v3" or "x86-64-v4": the processor's level, or what HEADRACE_ISA names. An
/// unknown name or a level that the processor lacks is an error.
Expected<std::string> instructionSet();

} // namespace headrace::exec
