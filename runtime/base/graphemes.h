// Texts by what is seen as one character: with its marks, emoji that are joined, flags.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace {

/// How many there are. As in DuckDB those of a text of ASCII are its bytes, also of "\r\n".
int64_t graphemeCount(std::string_view text);

/// `count` of them from one place on, or in front of it if that is negative; a negative place
/// counts from the end. Nothing beyond 2^32.
std::optional<std::string_view> graphemeSlice(std::string_view text, int64_t from, int64_t count);

/// The first ones; of a negative number all but so many. Nothing beyond 2^32.
std::optional<std::string_view> leftGraphemes(std::string_view text, int64_t count);
/// The last ones, likewise.
std::string_view rightGraphemes(std::string_view text, int64_t count);

/// Writes a text from its last one to the first, and returns the end.
char *reverseGraphemes(std::string_view text, char *to);

} // namespace headrace
