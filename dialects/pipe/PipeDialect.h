// The pipe dialect (L3): pipelines of sub-operators between states.
#pragma once

#include "dialects/dist/DistDialect.h"
#include "dialects/frame/AggregateFunctions.h"
#include "dialects/frame/FrameDialect.h"
#include "dialects/interfaces/KnownAttributes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "runtime/base/math_functions.h"
#include "runtime/base/text_functions.h"

#include "dialects/pipe/PipeDialect.h.inc"
#include "dialects/pipe/PipeEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/pipe/PipeTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/pipe/PipeAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/pipe/PipeOps.h.inc"

namespace headrace::pipe {

/// Fails unless `logical` has a type of `frame` for each column of `rows` that its values can be
/// of.
mlir::LogicalResult verifyColumnTypes(mlir::Operation *op, mlir::ArrayAttr logical, RowsType rows);

/// Whether these are names of columns.
bool areAmong(mlir::ArrayAttr columns, std::optional<mlir::ArrayAttr> names);

/// What the field of an aggregate does when values meet; nothing if its values do not. Sums of two
/// doubles are `SumDoubleDouble`, by their type.
std::optional<Combine> combineOf(frame::AggregateFunction function);

} // namespace headrace::pipe
