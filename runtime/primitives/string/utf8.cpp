// The way into the body for this processor.
#include "runtime/primitives/string/utf8.h"

#include "runtime/primitives/dispatch/table.h"

namespace headrace::primitives {

bool isUtf8(Isa isa, const uint8_t *bytes, uint64_t count) {
  return isaPrimitives(isa).isUtf8(bytes, count);
}

} // namespace headrace::primitives
