// The dialect `topo`: mesh and topology of a module, as attributes.
#ifndef HEADRACE_DIALECTS_TOPO_TOPODIALECT_H
#define HEADRACE_DIALECTS_TOPO_TOPODIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"

#include "dialects/topo/TopoDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/topo/TopoAttrs.h.inc"

namespace headrace::topo {

/// The mesh of the module around `op`; null if the module has none.
MeshAttr meshOf(mlir::Operation *op);

/// Whether the mesh of the op's module has these axes, one or more and each once. Without a mesh
/// only the uniqueness is checked: a fragment is valid outside a module.
mlir::LogicalResult verifyAxes(mlir::Operation *op, mlir::ArrayAttr axes);

/// Whether `toward` has the axes of `over` and others, in the order of the mesh of the op's module:
/// by several steps, over some of them each, a row comes to one of the ranks along all of them, and
/// each step must count these alike.
mlir::LogicalResult verifyToward(mlir::Operation *op, mlir::ArrayAttr over, mlir::ArrayAttr toward);

/// How many ranks differ along these axes alone; 1 without axes and in a module without a mesh.
int64_t ranksAlong(mlir::Operation *op, mlir::ArrayAttr axes);

} // namespace headrace::topo

#endif // HEADRACE_DIALECTS_TOPO_TOPODIALECT_H
