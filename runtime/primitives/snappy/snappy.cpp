// What of Snappy does not depend on the instruction set.
#include "runtime/primitives/snappy/snappy.h"

#include "runtime/primitives/dispatch/table.h"

namespace headrace::primitives {

bool snappyDecompress(Isa isa, std::span<const SnappyBlock> blocks) {
  return isaPrimitives(isa).snappy(blocks.data(), blocks.size());
}

const uint8_t *snappySingleLiteral(const uint8_t *input, uint64_t inputBytes,
                                   uint64_t outputBytes) {
  const uint8_t *next = input;
  const uint8_t *end = input + inputBytes;
  uint64_t declared = 0;
  for (int shift = 0;; shift += 7) {
    if (next == end || shift > 28) {
      return nullptr;
    }
    uint8_t byte = *next++;
    declared |= static_cast<uint64_t>(byte & 127) << shift;
    if (!(byte & 128)) {
      break;
    }
  }
  if (declared != outputBytes || outputBytes == 0 || next == end) {
    return nullptr;
  }
  uint8_t tag = *next++;
  if ((tag & 3) != 0) {
    return nullptr;
  }
  uint64_t length = tag >> 2;
  if (length >= 60) {
    uint32_t bytes = static_cast<uint32_t>(length) - 59;
    if (static_cast<uint64_t>(end - next) < bytes) {
      return nullptr;
    }
    length = 0;
    for (uint32_t i = 0; i < bytes; ++i) {
      length |= static_cast<uint64_t>(*next++) << (8 * i);
    }
  }
  ++length;
  return length == outputBytes && static_cast<uint64_t>(end - next) == length ? next : nullptr;
}

} // namespace headrace::primitives
