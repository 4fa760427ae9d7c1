// The generated part of the enums of `frame`.
#include "dialects/frame/FrameEnums.h"

using namespace mlir;
using namespace headrace::frame;

#include "dialects/frame/FrameEnums.cpp.inc"
