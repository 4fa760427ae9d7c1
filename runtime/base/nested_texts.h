// Texts of lists, maps and structs, taken apart as casts read them. What is between brackets or in
// quotes is one part; blanks around a part are none of it, nor are its quotes, and backslashes
// stand before quotes that are letters, and before any letter in quotes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::nested_texts {

/// The text of a part; nothing of NULL, which is a word without quotes.
using Part = std::optional<std::string>;

/// The elements of `[a, b]`; nothing if it is no list.
std::optional<std::vector<Part>> elements(std::string_view text);

/// The keys and values of `{k=v, l=w}`; nothing if it is no map, or has a key that is NULL.
std::optional<std::vector<std::pair<std::string, Part>>> entries(std::string_view text);

/// The fields of these names, of `{name: value, …}` or in order of `(value, …)`: NULL of those that
/// are not written, of several of one name the last. Nothing if it is no struct, or has others.
std::optional<std::vector<Part>> fields(std::string_view text,
                                        std::span<const std::string_view> names);

} // namespace headrace::nested_texts
