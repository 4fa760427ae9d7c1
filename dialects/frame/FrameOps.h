// The ops of `frame`: relations (tables in, tables out) and scalar expressions.
#ifndef HEADRACE_DIALECTS_FRAME_FRAMEOPS_H
#define HEADRACE_DIALECTS_FRAME_FRAMEOPS_H

#include "dialects/frame/AggregateFunctions.h"
#include "dialects/frame/FrameDialect.h"
#include "dialects/frame/FrameTypes.h"
#include "dialects/frame/RelationalOps.h"
#include "dialects/frame/ScalarOps.h"
#include "dialects/interfaces/KnownAttributes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "runtime/base/math_functions.h"
#include "runtime/base/text_functions.h"

#define GET_OP_CLASSES
#include "dialects/frame/FrameOps.h.inc"

#endif // HEADRACE_DIALECTS_FRAME_FRAMEOPS_H
