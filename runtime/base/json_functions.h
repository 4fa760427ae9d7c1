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
using MaybeText = std::optional<Text>;

// Of what the path leads to, a text behind a letter, which is one byte and may be any; without it
// where there is nothing.

/// JSON, as DuckDB writes it.
MaybeText extract(TextRoom &room, Text text, Text path);
/// The same, but of a string what it says; nothing for null.
MaybeText extractText(TextRoom &room, Text text, Text path);
/// JSON; nothing for what is no scalar, or null.
MaybeText extractScalar(TextRoom &room, Text text, Text path);
/// The name of the type that DuckDB would take for it.
MaybeText typeOf(Text text, Text path);
/// Of what the path leads to; 0 of what is no array, -1 where there is nothing.
std::optional<Number> arrayLength(Text text, Text path);
/// Likewise in a list, NULL where there is nothing; none of what is no object.
MaybeList keysOf(TextRoom &room, Text text, Text path);
std::optional<bool> exists(Text text, Text path);
/// The JSON of all that a path with wildcards leads to.
MaybeList extractAll(TextRoom &room, Text text, Text path);
/// Likewise as it stands in the text.
MaybeList partsOf(TextRoom &room, Text text, Text path);

bool isValid(Text text);
/// The text as it is.
MaybeText checked(Text text);
MaybeText normalized(TextRoom &room, Text text);
MaybeText pretty(TextRoom &room, Text text);
/// Whether some value in a text has all that another has.
std::optional<bool> contains(Text text, Text part);
/// A text as a string, with quotes and escapes.
Text quoted(TextRoom &room, Text text);
Text printedReal(TextRoom &room, double value);

/// What JSON is read as: text of anything, values of scalars, or what only strings say.
enum class Target : int64_t { kText, kBoolean, kInteger, kSingle, kDouble, kDecimal, kWord };
/// How numbers and booleans stand in strings: as in JSON, but for blanks before them, or as casts
/// read texts.
enum class Strings : int64_t { kStrict, kTexts };
/// Behind a letter the text that a cast reads of a value; without it of null. Nothing of what has
/// no such value.
MaybeText castText(TextRoom &room, Text text, Target target, Strings strings);
/// The elements of an array as JSON.
MaybeList listedIn(TextRoom &room, Text text);
/// In a list the elements of an array, or the values of an object, as they stand in the text; NULL
/// of null, nothing of others.
MaybeList elementsOf(TextRoom &room, Text text);
MaybeList valuesOf(TextRoom &room, Text text);
/// In a list the values of these keys, NULL of one that is not there; of `how` 0 also of what is no
/// object, else nothing of it, or where one is not there or there twice; of 2 nor where there are
/// others.
MaybeList fieldsOf(TextRoom &room, Text text, const List &names, int64_t how);
/// An object with what another has to change in it (RFC 7396).
MaybeText patched(TextRoom &room, Text text, Text patch);

/// The rows of json_each, of the values in what a path leads to, or of json_tree, of all in it: a
/// list of structs with DuckDB's columns.
enum class RowsOf : uint8_t { kEach, kTree };
MaybeList rowsOf(TextRoom &room, Text text, Text path, RowsOf which);
/// JSON that has the names of types in place of values, and of an array one for all elements.
MaybeText structureOf(TextRoom &room, Text text);

} // namespace json
} // namespace headrace
