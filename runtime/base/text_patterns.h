// Patterns that are values of rows: of LIKE and of shells.
#pragma once

#include <optional>
#include <string_view>

namespace headrace {

/// Whether a pattern of LIKE fits: '%' is any text, '_' any character. `escape`: one character,
/// behind which a character stands for itself; none if it is empty. Nothing for a pattern that ends
/// with it.
std::optional<bool> isLike(std::string_view text, std::string_view pattern,
                           std::string_view escape);

/// Whether a pattern of shells fits, byte by byte; one that has no end fits nothing.
bool fitsGlob(std::string_view text, std::string_view pattern);

} // namespace headrace
