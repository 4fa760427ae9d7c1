// The values of the functions of bytes (text_functions.def): as texts, and back.
#pragma once

#include "runtime/base/text_room.h"

#include <optional>
#include <string>
#include <string_view>

namespace headrace {

/// What the table writes of values that are bytes and no text.
struct Binary : std::string_view {};
using MaybeBinary = std::optional<Binary>;

/// Bytes as a cast to a text writes them: those of ASCII that can be printed as themselves, others,
/// quotes and backslashes as \xNN.
std::string binaryText(std::string_view bytes);
std::string_view printedBinary(TextRoom &room, std::string_view bytes);
/// The bytes of such a text; nothing if it has other letters than of ASCII, or a backslash that
/// begins no \xNN.
MaybeBinary parsedBinary(TextRoom &room, std::string_view text);
std::optional<std::string> binaryOfText(std::string_view text);

/// Bytes whose digits of so many bits each (4 or 1) a text is, the first of them with zeros in
/// front; nothing if one is none.
MaybeBinary fromDigits(TextRoom &room, std::string_view text, unsigned bits);

std::string_view inBase64(TextRoom &room, std::string_view bytes);
/// Nothing unless it is whole groups of four, of which the last may end in one or two `=`.
MaybeBinary fromBase64(TextRoom &room, std::string_view text);

} // namespace headrace
