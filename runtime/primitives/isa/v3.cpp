// The instruction-set dependent primitives for x86-64-v3 (AVX2, BMI2).
#define HR_ISA_LEVEL 3
#include "runtime/primitives/isa/body.h"

namespace headrace::primitives {
const IsaPrimitives kV3Primitives = {fillIsaImports, snappyBlocks, narrow, isUtf8};
} // namespace headrace::primitives
