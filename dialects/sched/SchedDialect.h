// The sched dialect (L4): tasks, tokens, streams and buffers of a rank's program.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/sched/SchedDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/sched/SchedTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/sched/SchedOps.h.inc"
