// Unsigned integers of 128 bits as bytes, and arithmetic of them.
#include "runtime/base/unsigned128.h"

#include "runtime/abi/kernel.h"
#include "runtime/base/ascii.h"

#include <algorithm>

namespace headrace {

static constexpr U128 kBits = 8 * kUnsigned128Bytes;

static char *write(U128 value, char *to) {
  for (uint32_t byte = kUnsigned128Bytes; byte-- > 0;) {
    *to++ = static_cast<char>(static_cast<uint8_t>(value >> (8 * byte)));
  }
  return to;
}

std::string packedUnsigned128(U128 value) {
  std::string bytes(kUnsigned128Bytes, '\0');
  write(value, bytes.data());
  return bytes;
}

U128 unsigned128(std::string_view bytes) {
  U128 value = 0;
  if (bytes.size() == kUnsigned128Bytes) {
    for (char byte : bytes) {
      value = value << 8 | static_cast<uint8_t>(byte);
    }
  }
  return value;
}

std::string unsigned128Text(U128 value) {
  char memory[HR_TEXT_PRINTED];
  char *end = memory + HR_TEXT_PRINTED;
  return {printDigits(value, 1, end), end};
}

std::optional<U128> parseUnsigned128(std::string_view text) {
  text = withoutBlanks(text);
  if (text.empty()) {
    return std::nullopt;
  }
  bool isNegative = false;
  U128 value = 0;
  const bool isNumber = parseMagnitude(text, 0, &isNegative, &value);
  // Of negative ones only 0, not what becomes it.
  const bool hasDigits = text.find_first_of("123456789") != std::string_view::npos;
  return isNumber && !(isNegative && hasDigits) ? std::optional(value) : std::nullopt;
}

MaybeU128 sumOf(U128 x, U128 y) {
  U128 sum;
  return __builtin_add_overflow(x, y, &sum) ? std::nullopt : MaybeU128(sum);
}

MaybeU128 differenceOf(U128 x, U128 y) { return x < y ? std::nullopt : MaybeU128(x - y); }

MaybeU128 productOf(U128 x, U128 y) {
  U128 product;
  return __builtin_mul_overflow(x, y, &product) ? std::nullopt : MaybeU128(product);
}

MaybeU128 quotientOf(U128 x, U128 y) { return y == 0 ? std::nullopt : MaybeU128(x / y); }

MaybeU128 remainderOf(U128 x, U128 y) { return y == 0 ? std::nullopt : MaybeU128(x % y); }

MaybeU128 shiftedLeft(U128 x, U128 bits) {
  if (x == 0) {
    return 0;
  }
  const bool fits = bits < kBits && x << bits >> bits == x;
  return fits ? MaybeU128(x << bits) : std::nullopt;
}

U128 shiftedRight(U128 x, U128 bits) { return bits < kBits ? x >> bits : 0; }

PackedUnsigned128 keepUnsigned128(TextRoom &room, U128 value) {
  return {room.make(kUnsigned128Bytes, [&](char *to) { return write(value, to); })};
}

std::optional<PackedUnsigned128> keepUnsigned128(TextRoom &room, MaybeU128 value) {
  return value ? std::optional(keepUnsigned128(room, *value)) : std::nullopt;
}

} // namespace headrace
