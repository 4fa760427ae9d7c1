// Record batches as CSV, with values and quotes as DuckDB's COPY writes them.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

struct ArrowArrayStream;

namespace headrace::storage {

struct CsvOutput {
  std::string path;
  std::string name; ///< of the file in messages
  std::string separator = ",";
  bool header = true;
  int threads = 1;   ///< that make texts of values; bytes are written by the caller's
  char quote = '"';  ///< around what needs quotes; 0: nothing gets any
  char escape = '"'; ///< before a quote or escape inside of quotes; 0: nothing
  std::string null;  ///< instead of NULL; a text like it gets quotes
  std::vector<std::string> quoted = {}; ///< columns whose values get quotes, needed or not
};

/// Writes all batches of a stream, which it consumes, over a file that may be there; the number of
/// rows. Memory: the texts of one batch.
/// kUnsupported: a column of a type that is not known here; kUser: `quoted` names none; kIo: what
/// the system says of the file.
Expected<uint64_t> writeCsv(ArrowArrayStream *stream, const CsvOutput &output);

} // namespace headrace::storage
