// Values of enums as they are kept: bytes in the place of a text, in order as the list is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

/// The place in the list, from 0 on, as four bytes, the highest first; and the text behind it.
std::string packedEnum(uint32_t place, std::string_view text);
/// Of such bytes; of others, as those under NULL, an empty text and 0.
std::string_view enumText(std::string_view bytes);
uint32_t enumPlace(std::string_view bytes);

/// What the table of functions writes of them (text_functions.def): their bytes.
struct Enum : std::string_view {};
using MaybeEnum = std::optional<Enum>;

} // namespace headrace
