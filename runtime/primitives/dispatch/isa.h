// Which instruction set the primitives use: chosen once at start from the processor, or by a
// setting.
#pragma once

#include "runtime/base/status.h"

namespace headrace::primitives {

/// Levels of the x86-64 psABI. The targets of generated code carry the same names.
enum class Isa : uint8_t { kBaseline, kV3, kV4 };

/// "x86-64", "x86-64-v3" or "x86-64-v4".
const char *isaName(Isa isa);

/// The best level this processor (and its operating system) supports.
Isa detectIsa();

/// The level named by the environment variable HEADRACE_ISA, else detectIsa(). An unknown name or a
/// level that the processor lacks is an error.
Expected<Isa> chooseIsa();

} // namespace headrace::primitives
