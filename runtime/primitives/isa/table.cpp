// Which table serves an instruction set here.
#include "runtime/primitives/dispatch/table.h"

namespace headrace::primitives {

const IsaPrimitives &isaPrimitives(Isa isa) {
  if (isa == Isa::kV4 && __builtin_cpu_supports("avx512vbmi") &&
      __builtin_cpu_supports("avx512vbmi2")) {
    return kV4Primitives;
  }
  return isa == Isa::kBaseline ? kBaselinePrimitives : kV3Primitives;
}

} // namespace headrace::primitives
