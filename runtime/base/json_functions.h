// The values of the functions of JSON (json_functions.def). Nothing: a text is not well-formed, or
// a path is none.
#pragma once

#include "runtime/base/list_functions.h"
#include "runtime/base/text_room.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

namespace json {

using Text = std::string_view;

// Of what the path leads to, as the only element of a list; NULL where there is nothing.

/// JSON, as DuckDB writes it.
MaybeList extract(TextRoom &room, Text text, Text path);
/// The same, but of a string what it says; NULL for null.
MaybeList extractText(TextRoom &room, Text text, Text path);
/// JSON; NULL for what is no scalar, or null.
MaybeList extractScalar(TextRoom &room, Text text, Text path);
/// The name of the type that DuckDB would take for it.
MaybeList typeOf(TextRoom &room, Text text, Text path);
/// 0 of what is no array.
MaybeList arrayLength(TextRoom &room, Text text, Text path);
/// None of what is no object.
MaybeList keysOf(TextRoom &room, Text text, Text path);
std::optional<bool> exists(Text text, Text path);
/// The JSON of all that a path with wildcards leads to.
MaybeList extractAll(TextRoom &room, Text text, Text path);

bool isValid(Text text);
/// The text as it is.
std::optional<Text> checked(Text text);
std::optional<Text> normalized(TextRoom &room, Text text);
std::optional<Text> pretty(TextRoom &room, Text text);
/// Whether some value in a text has all that another has.
std::optional<bool> contains(Text text, Text part);
/// A text as a string, with quotes and escapes.
Text quoted(TextRoom &room, Text text);
/// Appends it likewise.
void appendString(Text text, std::string &to);
Text printedReal(TextRoom &room, double value);

/// What a scalar is read as.
enum class Target : int64_t { kText, kBoolean, kInteger, kReal, kDecimal, kMoment };
/// In a list the text that a cast reads of a scalar; NULL of null, nothing of objects and arrays.
MaybeList castText(TextRoom &room, Text text, Target target);
/// In a list the elements of an array, or the values of an object, as JSON; NULL of null, nothing of
/// others.
MaybeList elementsOf(TextRoom &room, Text text);
MaybeList valuesOf(TextRoom &room, Text text);
/// In a list the values of these keys, NULL of one that is not there; of `how` 0 also of what is no object,
/// else nothing of it, or where one is not there or there twice; of 2 nor where there are others.
MaybeList fieldsOf(TextRoom &room, Text text, const List &names, int64_t how);
/// An object with what another has to change in it (RFC 7396).
std::optional<Text> patched(TextRoom &room, Text text, Text patch);

} // namespace json
} // namespace headrace
