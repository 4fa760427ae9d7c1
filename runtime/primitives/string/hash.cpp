// The hash of a string: sixteen bytes a step through one widening multiplication, the last step
// zero filled.
#include "runtime/primitives/hash/hash.h"
#include "runtime/primitives/string/string.h"

#include <cstring>

namespace headrace::primitives {
namespace {

uint64_t multiplyFold(uint64_t a, uint64_t b) {
  unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t loadWord(const uint8_t *data) {
  uint64_t word;
  std::memcpy(&word, data, 8);
  return word;
}

uint64_t lowBytes(uint64_t word, uint32_t bytes) { // 0..8
  return bytes >= 8 ? word : word & ((1ull << (8 * bytes)) - 1);
}

} // namespace

uint64_t stringHash(const HrString *text) {
  if (text->length <= sizeof(text->prefix)) {
    // Length and prefix are the whole string; kernels do this case inline.
    uint64_t head;
    std::memcpy(&head, text, sizeof(head));
    return hashInteger(static_cast<int64_t>(head));
  }
  const uint8_t *data = text->data;
  uint32_t left = text->length;
  uint64_t hash = kHashMultiplier2 ^ left;
  for (; left > 16; left -= 16, data += 16) {
    hash = multiplyFold(loadWord(data) ^ kHashMultiplier1, loadWord(data + 8) ^ hash);
  }
  if (left != 0) {
    uint64_t low = lowBytes(loadWord(data), left);
    uint64_t high = left > 8 ? lowBytes(loadWord(data + 8), left - 8) : 0;
    hash = multiplyFold(low ^ kHashMultiplier1, high ^ hash);
  }
  return hashInteger(static_cast<int64_t>(hash));
}

} // namespace headrace::primitives
