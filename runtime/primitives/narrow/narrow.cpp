// The way into the body for this processor.
#include "runtime/primitives/narrow/narrow.h"

#include "runtime/primitives/dispatch/table.h"

namespace headrace::primitives {

IntegerRange narrowIntegers(Isa isa, StoredInteger stored, const void *values, uint64_t count,
                            HrType target, void *out) {
  return isaPrimitives(isa).narrow(stored, values, count, target, out);
}

} // namespace headrace::primitives
