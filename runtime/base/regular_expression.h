// Regular expressions in texts, as RE2 reads them.
#pragma once

#include "runtime/base/text_room.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

// Nothing is what all of these give of a pattern that RE2 refuses, or of an option that is none of
// these: 'c' and 'i' (capitals count or not), 'l' (no character of the pattern is special), 's'
// ('.' is a line's end, too), 'm', 'n' and 'p' (it is not). Spaces are no options.
namespace headrace::regular_expression {

/// Whether the pattern fits a part of the text, or the whole.
std::optional<bool> matchesPart(std::string_view text, std::string_view pattern,
                                std::string_view options);
std::optional<bool> matchesWhole(std::string_view text, std::string_view pattern,
                                 std::string_view options);

/// What the pattern's group fits where the pattern fits first, 0 the whole pattern; empty if there
/// is no such place or group. Nothing also where `group` is not 0 to 9.
std::optional<std::string_view> firstMatch(std::string_view text, std::string_view pattern,
                                           int64_t group, std::string_view options);

/// What the group fits wherever the pattern does, from the left, each after the one before: nothing
/// where the group has no part in it. No places for a negative group; nothing also for one that the
/// pattern does not have.
std::optional<std::vector<std::optional<std::string_view>>> allMatches(std::string_view text,
                                                                       std::string_view pattern,
                                                                       int64_t group,
                                                                       std::string_view options);

/// The parts of the text between the places that the pattern fits; where it fits nothing at all, a
/// character is a part.
std::optional<std::vector<std::string_view>> split(std::string_view text, std::string_view pattern,
                                                   std::string_view options);

/// With `by` where the pattern fits first, or with the option 'g' wherever it does: \1 to \9 in
/// `by` are what groups fit. Nothing also where `by` has a group that the pattern does not.
std::optional<std::string_view> replaced(TextRoom &room, std::string_view text,
                                         std::string_view pattern, std::string_view by,
                                         std::string_view options);

/// The pattern that fits this text alone.
std::string_view escaped(TextRoom &room, std::string_view text);

} // namespace headrace::regular_expression
