// What is known beside a plan that is imported.
#ifndef HEADRACE_PASSES_IMPORT_IMPORTOPTIONS_H
#define HEADRACE_PASSES_IMPORT_IMPORTOPTIONS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace::import {

struct ImportOptions {
  /// Per table the statistics document of the storage layer, as JSON text. Tables without one are
  /// scanned without statistics; what of a document does not concern the columns read is left out.
  llvm::StringMap<std::string> statistics;
  /// Names that columns must not get: of the program that the query becomes a part of.
  llvm::StringSet<> takenNames;
  /// The text of the query, for line and column of places; empty: all is one line.
  std::string text;
  /// The names of the result's columns; empty: those that the plan has.
  std::vector<std::string> resultNames;
  /// If there are any, the rows of the result stay on the ranks that make them, divided by the hash
  /// of these of its columns; anyhow if there are none of them.
  std::optional<std::vector<std::string>> residentKeys;
  /// Columns of the result whose equal values come one after another, in each of these in the order
  /// of the query.
  std::vector<std::string> adjacentKeys;
  /// The moment that now() and current_date stand for, in microseconds since 1970-01-01 (UTC);
  /// without it they are refused.
  std::optional<int64_t> nowMicroseconds;
  /// The name of the zone whose clocks the query's user has; empty: UTC.
  std::string timeZone;
  /// The folder that has the files of zones (TZif) by their names.
  std::string zoneFolder = "/usr/share/zoneinfo";
};

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_IMPORTOPTIONS_H
