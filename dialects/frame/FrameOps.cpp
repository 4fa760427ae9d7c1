// The generated part of the ops of `frame`.
#include "dialects/frame/FrameOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace headrace::frame;

#define GET_OP_CLASSES
#include "dialects/frame/FrameOps.cpp.inc"
