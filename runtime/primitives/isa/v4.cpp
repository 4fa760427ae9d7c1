// The instruction-set dependent primitives for x86-64-v4 with VBMI (AVX-512).
#define HR_ISA_LEVEL 4
#include "runtime/primitives/isa/body.h"

namespace headrace::primitives {
const IsaPrimitives kV4Primitives = {fillIsaImports, snappyBlocks, narrow, isUtf8};
} // namespace headrace::primitives
