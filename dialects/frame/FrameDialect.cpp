// The generated part of `frame`; what belongs to it is put together in FrameInitialize.cpp.
#include "dialects/frame/FrameDialect.h"

using namespace mlir;
using namespace headrace::frame;

#include "dialects/frame/FrameDialect.cpp.inc"

void headrace::frame::registerFrameDialect(DialectRegistry &registry) {
  registry.insert<FrameDialect>();
}
