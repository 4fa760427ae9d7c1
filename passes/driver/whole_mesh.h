// Whether a sharded program uses a mesh of several axes as one: more the phases behind shard do not
// know.
#pragma once

#include "dialects/topo/TopoDialect.h"

#include "mlir/IR/BuiltinOps.h"

namespace headrace::driver {

/// Fails, and names the first op that divides or moves something over some of the mesh's axes
/// alone. The plan knows one axis, of all ranks: such a program would run, and be wrong. Axes of
/// one rank count as well.
mlir::LogicalResult requireWholeMesh(mlir::ModuleOp module);

/// "node:2,gpu:4".
std::string meshText(topo::MeshAttr mesh);

} // namespace headrace::driver
