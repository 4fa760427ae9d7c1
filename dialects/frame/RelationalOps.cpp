// The generated part of the interface of relational ops.
#include "dialects/frame/RelationalOps.h"

using namespace mlir;

#include "dialects/frame/RelationalOpInterface.cpp.inc"
