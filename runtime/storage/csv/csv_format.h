// What the bytes of a CSV file mean, as its address says it.
#pragma once

#include "runtime/storage/csv/csv_encoding.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace::storage {

/// What makes records other than plain ones, which are lines of values between separators of one
/// byte, with quotes doubled inside of quotes. `CsvFormat` has the separator and quote of the plain
/// form.
struct CsvDialect {
  std::string separator;
  char quote = 0;       ///< 0: none
  char escape = 0;      ///< before a quote inside of quotes; 0: none
  char comment = 0;     ///< from there to the end of its line nothing counts; 0: none
  bool returns = false; ///< lines end with a CR alone
  std::optional<CsvEncoding> encoding; ///< none: UTF-8
  bool pads = false;                   ///< values that a line lacks at its end are NULL
  bool drops = false;                  ///< records that cannot be read are left out
};

/// What the bytes of a file mean; all of it is told, nothing is guessed here.
struct CsvFormat {
  char separator = ',';
  char quote = '"'; ///< 0: none
  bool header = true;
  uint64_t skip = 0;                     ///< lines before the header or the first record
  std::vector<std::string> nulls = {""}; ///< values that are NULL
  bool quotedNulls = true;               ///< also in quotes
  std::vector<std::string> columns;
  std::vector<nlohmann::json> types;  ///< of columns, as statistics documents have them
  std::vector<std::string> neverNull; ///< columns
  char point = '.';                   ///< of numbers
  char thousands = 0;                 ///< between digits of numbers; 0: none
  std::string dates, timestamps;      ///< formats of strptime; empty: as casts of texts read them
  std::string compression;            ///< "gzip", "zstd"; empty: none
  std::optional<CsvDialect> dialect;

  bool emptyIsNull() const { return std::find(nulls.begin(), nulls.end(), "") != nulls.end(); }
  /// Whether an empty line is a record: a NULL of the only column.
  bool emptyLinesCount() const { return columns.size() == 1 && emptyIsNull(); }
  bool isPlain() const { return compression.empty() && !dialect; }

  /// From the reader of an address. kUnsupported: a part of a format of dates.
  static Expected<CsvFormat> of(const nlohmann::json &reader);
};

} // namespace headrace::storage
