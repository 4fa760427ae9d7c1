// Dates and times in texts of a given form, as strptime of DuckDB reads them.
#pragma once

#include "runtime/base/logical_type.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace {

/// What is wrong with a format of strptime: its first specifier that is not supported, or the % at
/// its end; empty if nothing is.
std::string_view unsupportedPart(std::string_view format);

/// The moment that a text says in a format of which nothing is unsupported, in a unit since
/// 1970-01-01; of 1900-01-01 is what it does not say. Blanks around it, and how many are between
/// its parts, do not count; "infinity", "-infinity" and "epoch" are of any format. Nothing if the
/// text is not of that form, or the unit does not hold the moment.
std::optional<int64_t> momentIn(std::string_view text, std::string_view format, TimeUnit unit);

} // namespace headrace
