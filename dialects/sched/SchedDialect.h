// The sched dialect (L4): tasks, tokens, streams and buffers of a rank's program.
#pragma once

#include "dialects/dist/DistDialect.h"
#include "dialects/interfaces/KnownAttributes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/sched/SchedDialect.h.inc"
#include "dialects/sched/SchedEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/sched/SchedTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/sched/SchedAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/sched/SchedOps.h.inc"

namespace headrace::sched {
/// The run whose chunks a stream has, also if it is repeated; null if no run writes it.
RunOp writerOf(mlir::Value stream);
} // namespace headrace::sched
