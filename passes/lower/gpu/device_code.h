// From a module of supersteps and entries to PTX, or to an object for the host that emulates
// blocks.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace headrace::lower {

/// PTX for sm_80 and later devices. Consumes the module. Call it in a process of its own: the back
/// end ends the process on what it does not know.
mlir::FailureOr<std::string> compilePtx(mlir::ModuleOp module);
/// An ELF object for this machine (x86-64-v2). Consumes the module.
mlir::FailureOr<std::vector<char>> compileEmulation(mlir::ModuleOp module);

} // namespace headrace::lower
