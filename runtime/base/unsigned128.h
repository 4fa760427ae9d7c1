// Unsigned integers of 128 bits as they are kept, packed bytes in the place of a text; their texts,
// and arithmetic of them.
#pragma once

#include "runtime/base/text_numbers.h"
#include "runtime/base/text_room.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

/// A number that lies in memory: its bytes, the highest first, so that they are in order as numbers
/// are.
inline constexpr uint32_t kUnsigned128Bytes = 16;
std::string packedUnsigned128(U128 value);
/// Of such bytes; of others, as those under NULL, 0.
U128 unsigned128(std::string_view bytes);

std::string unsigned128Text(U128 value);
/// Of a text that is a number, rounded half away from zero; nothing if that is negative or too
/// large.
std::optional<U128> parseUnsigned128(std::string_view text);

/// Arithmetic; nothing where a result does not fit, or of a division by zero.
using MaybeU128 = std::optional<U128>;
MaybeU128 sumOf(U128 x, U128 y);
MaybeU128 differenceOf(U128 x, U128 y);
MaybeU128 productOf(U128 x, U128 y);
MaybeU128 quotientOf(U128 x, U128 y);
MaybeU128 remainderOf(U128 x, U128 y);
/// Bits that are shifted out to the left are lost to nobody: then there is nothing.
MaybeU128 shiftedLeft(U128 x, U128 bits);
U128 shiftedRight(U128 x, U128 bits);

/// What the table of functions writes of them (text_functions.def): their bytes.
struct PackedUnsigned128 : std::string_view {
  U128 value() const { return unsigned128(*this); }
};

PackedUnsigned128 keepUnsigned128(TextRoom &room, U128 value);
std::optional<PackedUnsigned128> keepUnsigned128(TextRoom &room, MaybeU128 value);

} // namespace headrace
