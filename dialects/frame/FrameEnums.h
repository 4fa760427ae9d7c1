// The enums of `frame`.
#ifndef HEADRACE_DIALECTS_FRAME_FRAMEENUMS_H
#define HEADRACE_DIALECTS_FRAME_FRAMEENUMS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

#include "dialects/frame/FrameEnums.h.inc"

#endif // HEADRACE_DIALECTS_FRAME_FRAMEENUMS_H
