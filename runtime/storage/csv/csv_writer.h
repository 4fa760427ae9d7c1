// Record batches as CSV, with values and quotes as DuckDB's COPY writes them.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <string>

struct ArrowArrayStream;

namespace headrace::storage {

struct CsvOutput {
  std::string path;
  char separator = ',';
  bool header = true;
  int threads = 1; ///< that make texts of values; bytes are written by the caller's
};

/// Writes all batches of a stream, which it consumes, over a file that may be there; the number of
/// rows. NULL is nothing between separators, an empty text is "". Memory: the texts of one batch.
/// kUnsupported: a column of a type that is not known here; kIo: what the system says of the file.
Expected<uint64_t> writeCsv(ArrowArrayStream *stream, const CsvOutput &output);

} // namespace headrace::storage
