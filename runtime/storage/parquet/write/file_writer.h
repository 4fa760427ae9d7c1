// Record batches as a Parquet file.
#pragma once

#include "runtime/base/status.h"
#include "runtime/storage/files/byte_sink.h"

#include <cstdint>
#include <string>

struct ArrowArrayStream;

namespace headrace::storage {

struct ParquetOutput {
  std::string codec = "snappy"; ///< as codecName has them
  int level = 0;                ///< of the codec; 0: its usual one
  /// A row group has at most so many rows, and ends when its pages take so many bytes.
  uint64_t rowGroupRows = 1 << 20, rowGroupBytes = 64 << 20;
  int threads = 1; ///< that encode and compress; bytes are written by the caller's
};

/// Writes all batches of a stream, which it consumes; the number of rows. Memory: the compressed
/// pages of a row group, and the batches of 2^15 rows, 16 at most.
/// kUnsupported: a type that Parquet lacks; kData: a value that it cannot hold; what the stream and
/// the sink say.
Expected<uint64_t> writeParquet(ArrowArrayStream *stream, ByteSink &sink,
                                const ParquetOutput &output);

} // namespace headrace::storage
