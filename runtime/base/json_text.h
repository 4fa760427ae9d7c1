// JSON as DuckDB writes it: without blanks, numbers and strings each in one form.
#pragma once

#include "runtime/base/json_scanner.h"
#include "runtime/base/text_room.h"

#include <string>
#include <string_view>

namespace headrace::json {

/// The double that a number means; infinite if it is too large.
double realOf(std::string_view number);
/// Whether a number is one of 64 bits, negative or not.
bool isWhole(std::string_view number);
/// Whether it is kept as it is, since no type of 64 bits has it.
bool isKept(std::string_view number);

/// Whether a value is written as it is.
inline bool isWritten(const Value &value) { return value.isCompact && value.reals == 0; }
/// The most bytes that a value is written in.
uint64_t bytesMax(const Value &value);
/// Writes a value, and returns the end.
char *write(const Value &value, char *to);
/// A value in that form; itself if it has it.
std::string_view written(TextRoom &room, const Value &value);
/// Likewise of a scalar, but a string without quotes and escapes.
std::string_view plain(TextRoom &room, const Value &value);

/// Appends a double as a number.
void appendReal(double value, std::string &to);

/// Appends a text as a string, with quotes and escapes.
void appendString(std::string_view text, std::string &to);

/// With each value of an object or array on a line of its own.
std::string prettied(const Value &value);

} // namespace headrace::json
