// The pages of one column chunk after the other, from rows as they come.
#pragma once

#include "runtime/base/status.h"
#include "runtime/storage/parquet/write/leaf_rows.h"

#include <parquet/schema.h>
#include <parquet/statistics.h>
#include <parquet/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace headrace::storage {

struct WrittenPage {
  std::vector<uint8_t> bytes; ///< levels and values, compressed if it says so
  uint64_t plainBytes = 0;    ///< before compression
  bool isCompressed = false;
  uint32_t entries = 0;  ///< values and what stands for none; values, of a dictionary
  uint64_t firstRow = 0; ///< in its chunk
  parquet::Encoding::type encoding = parquet::Encoding::PLAIN;
  parquet::EncodedStatistics statistics;
};

struct WrittenChunk {
  std::optional<WrittenPage> dictionary;
  std::vector<WrittenPage> pages;
  parquet::EncodedStatistics statistics;
};

/// Values are coded by a dictionary as long as one pays: as the first page says, and up to so many
/// bytes as a page has. Pages end after 2^15 rows or `pageBytes`.
class ColumnEncoder {
public:
  /// column: outlives the encoder.
  static std::unique_ptr<ColumnEncoder> make(const parquet::ColumnDescriptor &column,
                                             uint64_t pageBytes);
  virtual ~ColumnEncoder() = default;

  /// kData: a value that Parquet cannot hold; kUnsupported: a row of 2 GiB.
  virtual Status append(const LeafRows &leaf) = 0;
  /// Ends the chunk; the next rows begin another one.
  virtual Expected<WrittenChunk> finish() = 0;

  /// Pages that have ended and are in the chunk: to be compressed by whoever likes.
  std::vector<WrittenPage> &pages() { return chunk_.pages; }
  /// About what the chunk has so far.
  uint64_t bytes() const;

protected:
  WrittenChunk chunk_;
};

} // namespace headrace::storage
