// Texts in Unicode's canonical form, in which those that look the same have the same bytes.
#pragma once

#include "runtime/base/text_room.h"

#include <string_view>

namespace headrace {

enum class Marks { kKept, kDropped };

/// A text in the normal form C: letters with their marks as one code point, as far as there is one.
/// As it is if it is ASCII. Where marks are dropped, `é` is `e`.
std::string_view canonicalForm(TextRoom &room, std::string_view text, Marks marks);

} // namespace headrace
