// Table results as text: CSV, and aligned columns for people.
#pragma once

#include "runtime/exec/program.h"

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

namespace headrace::exec {

/// One value as text: decimals with their scale, dates as YYYY-MM-DD, reals in the fewest digits
/// that read back the same, true and false; nullopt for NULL.
std::optional<std::string> cellText(const Chunk &chunk, const plan::Column &column, size_t index,
                                    uint32_t row);

/// RFC 4180 with a line of names and "\n". NULL is nothing between commas, an empty text is "".
Status writeCsv(const ResultRows &table, std::ostream &out);

/// Aligned columns: at most `rowsMax` rows, then how many more there are.
Status writeAligned(const ResultRows &table, uint64_t rowsMax, std::ostream &out);

} // namespace headrace::exec
