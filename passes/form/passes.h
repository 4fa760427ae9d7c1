// The passes of the phase `form`, for its callers.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace headrace::form {

#define GEN_PASS_DECL
#include "passes/form/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/form/Passes.h.inc"

} // namespace headrace::form
