// UUIDs (RFC 9562) as they are kept, 16 bytes in the place of a text; their texts, and what is in
// them.
#pragma once

#include "runtime/base/text_room.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

/// One that lies in memory: its bytes as its text writes them, so that they are in order as texts.
inline constexpr uint32_t kUuidBytes = 16;
using UuidBytes = std::array<char, kUuidBytes>;

/// 36 small letters with dashes; of bytes that are none, as those under NULL, an empty text.
std::string uuidText(std::string_view bytes);
std::string_view printedUuid(TextRoom &room, std::string_view bytes);
/// Of a text of 32 hexadecimal digits, with dashes anywhere, and maybe in braces.
std::optional<UuidBytes> parseUuid(std::string_view text);

/// The four bits that say how it was made; 0 of bytes that are no UUID.
int64_t uuidVersion(std::string_view bytes);
/// When one of version 7 was made: microseconds since 1970, whole milliseconds. Nothing of others.
std::optional<int64_t> uuidMicros(std::string_view bytes);

/// What the table of functions writes of them (text_functions.def): their bytes.
struct Uuid : std::string_view {};
using MaybeUuid = std::optional<Uuid>;

/// Of version 4: 122 bits of three numbers of 52 bits that are drawn.
Uuid drawnUuid(TextRoom &room, int64_t first, int64_t second, int64_t third);
/// Of version 7: a moment, and 74 bits of two such numbers.
Uuid timedUuid(TextRoom &room, int64_t millis, int64_t first, int64_t second);
MaybeUuid keptUuid(TextRoom &room, const std::optional<UuidBytes> &bytes);

} // namespace headrace
