// Asks the primitives.
#include "runtime/exec/kernel/instruction_set.h"

#include "runtime/primitives/dispatch/isa.h"

namespace headrace::exec {

Expected<std::string> instructionSet() {
  HR_ASSIGN_OR_RETURN(primitives::Isa isa, primitives::chooseIsa());
  return std::string(primitives::isaName(isa));
}

} // namespace headrace::exec
