// The primitives as generated code sees them: fills their entries of the imports table.
#pragma once

#include "runtime/abi/imports.h"
#include "runtime/primitives/dispatch/isa.h"

namespace headrace::primitives {

/// Sets every entry of imports.def but those of the section "states and memory of a worker", which
/// are left as they are (exec's). `isa` must be one that the processor supports. Thread-safe; call
/// once a process.
void fillPrimitiveImports(HrImports *table, Isa isa);

} // namespace headrace::primitives
