// The mesh of a program for which none is given.
#ifndef HEADRACE_PASSES_DRIVER_DEFAULT_MESH_H
#define HEADRACE_PASSES_DRIVER_DEFAULT_MESH_H

#include "passes/driver/compile_options.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace headrace::driver {

/// Axes and their sizes, "node:2,gpu:4". One of all ranks; for tables on more than 256 ranks axes
/// of at most 2,048 each, if the nodes of the topology and the divisors of their number allow it: a
/// rank then talks to those along each axis, and not to all, where that is cheaper. Arrays keep one
/// axis, whose name their layouts may say, and so does what stays on the ranks by keys.
Expected<std::string> defaultMesh(mlir::func::FuncOp program, const CompileOptions &options);

} // namespace headrace::driver

#endif // HEADRACE_PASSES_DRIVER_DEFAULT_MESH_H
