// The dialect `dist`: layouts and the ops that move data between them (L2).
#ifndef HEADRACE_DIALECTS_DIST_DISTDIALECT_H
#define HEADRACE_DIALECTS_DIST_DISTDIALECT_H

#include "dialects/frame/FrameAttrs.h"
#include "dialects/frame/FrameDialect.h"
#include "dialects/frame/FrameTypes.h"
#include "dialects/interfaces/KnownAttributes.h"
#include "dialects/topo/TopoDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/dist/DistDialect.h.inc"
#include "dialects/dist/DistEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/dist/DistAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/dist/DistOps.h.inc"

namespace headrace::dist {

/// Whether values of the column are inside an integer that i64 holds: then those that follow one
/// another are a stretch of numbers, and rows can go in a cycle of them.
bool hasNeighbours(mlir::Type column);

/// Whether `layout` can belong to a value of `type`: as many dims as the tensor has, rows only on
/// tables with its keys among the columns. Without a value to blame, `emitError` may give an
/// inactive diagnostic.
mlir::LogicalResult verifyLayoutFits(LayoutAttr layout, mlir::Type type,
                                     llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Whether `layout` fits a value of `type`, and is on the mesh of the op's module, if that has one;
/// errors are of the op.
mlir::LogicalResult verifyLayout(mlir::Operation *op, LayoutAttr layout, mlir::Type type);

/// The type of one rank's part of a value in a layout: split dimensions of tensors become dynamic.
mlir::Type localType(mlir::Type type, LayoutAttr layout);

} // namespace headrace::dist

#endif // HEADRACE_DIALECTS_DIST_DISTDIALECT_H
