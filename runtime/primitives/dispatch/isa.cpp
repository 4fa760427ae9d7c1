// Looks at the processor once.
#include "runtime/primitives/dispatch/isa.h"

#include <cstdlib>
#include <string_view>

namespace headrace::primitives {

const char *isaName(Isa isa) {
  switch (isa) {
  case Isa::kBaseline:
    return "x86-64";
  case Isa::kV3:
    return "x86-64-v3";
  case Isa::kV4:
    return "x86-64-v4";
  }
  return "x86-64";
}

Isa detectIsa() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) {
    return Isa::kV4;
  }
  return __builtin_cpu_supports("x86-64-v3") ? Isa::kV3 : Isa::kBaseline;
}

Expected<Isa> chooseIsa() {
  Isa best = detectIsa();
  const char *wanted = std::getenv("HEADRACE_ISA");
  if (!wanted || !*wanted) {
    return best;
  }
  for (Isa isa : {Isa::kBaseline, Isa::kV3, Isa::kV4}) {
    if (std::string_view(wanted) == isaName(isa)) {
      if (isa > best) {
        // no test: it takes an older processor than that of the tests
        return makeError(ErrorKind::kUser, "this processor supports no more than ", isaName(best),
                         ", HEADRACE_ISA is: ", wanted);
      }
      return isa;
    }
  }
  return makeError(ErrorKind::kUser,
                   "HEADRACE_ISA must be x86-64, x86-64-v3 or x86-64-v4, got: ", wanted);
}

} // namespace headrace::primitives
