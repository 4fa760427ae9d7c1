// The empty text, and the refusal of bytes that are none.
#include "runtime/storage/columns/texts.h"

#include "runtime/abi/kernel.h"
#include "runtime/base/binary_functions.h"

namespace headrace::storage {

const uint8_t *emptyText() {
  alignas(64) static const uint8_t zeros[HR_PADDING] = {};
  return zeros;
}

Status notUtf8(std::string_view text, uint64_t number) {
  constexpr size_t kShownBytes = 24;
  return makeError(ErrorKind::kCorrupt, "value ", number,
                   " is a text that is not UTF-8: ", binaryText(text.substr(0, kShownBytes)),
                   text.size() > kShownBytes ? "…" : "");
}

} // namespace headrace::storage
