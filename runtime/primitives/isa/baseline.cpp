// The instruction-set dependent primitives for any x86-64 (SSE2).
#define HR_ISA_LEVEL 1
#include "runtime/primitives/isa/body.h"

namespace headrace::primitives {
const IsaPrimitives kBaselinePrimitives = {fillIsaImports, snappyBlocks, narrow, isUtf8};
} // namespace headrace::primitives
