// What the kernels that decode pages take; no other dependency, as it is compiled for GPUs too.
#pragma once

#include <cstdint>

namespace headrace::decode {

/// Rows that are coded in one way, up to the next run's first.
struct CodeRun {
  uint32_t firstRow;
  uint32_t isPacked;
  uint64_t place; ///< packed: the bit of the stream at which its first code begins; else the code
};

/// Rows that 32 threads decode together.
constexpr uint64_t kDecodedRows = 1024;

/// What decode_codes takes; all pointers are the device's. `stream` is aligned to 4 and may be read
/// HR_PADDING bytes past its end.
struct DecodeCodesParameters {
  const CodeRun *runs;
  uint64_t runCount; ///< at least 1
  const uint32_t *stream;
  uint32_t *codes; ///< HR_INDICES
  uint64_t rows;
  uint32_t bitWidth; ///< 0..32
  uint32_t reserved;
};

/// What HR_DECODE_PAGES, a kernel of every plan's image, takes: pages that are decoded at once.
struct DecodePagesParameters {
  const DecodeCodesParameters *pages;
  const uint64_t
      *groupsBefore;  ///< of each page: parts of kDecodedRows that the pages before it have
  uint64_t pageCount; ///< at least 1
};

/// Words of 32 rows that count_levels takes together.
constexpr uint64_t kSpreadChunk = 1024;

/// What the kernels that put a page's values to their rows take: pack_levels, count_levels and
/// sum_chunks where rows may be NULL, one after the other, then spread_values. Integers become as
/// wide as the kernels above want them (HR_ERROR_RANGE where one does not fit); values of one width
/// stay as they are.
struct SpreadParameters {
  const uint32_t *levels; ///< 1 where a row has a value; null: all have
  uint32_t *validity;     ///< pack_levels: a bit a row, whole words
  uint32_t *wordStarts;   ///< count_levels: values before each word, within its chunk
  uint64_t *chunkStarts;  ///< count_levels: values of a chunk; sum_chunks: values before it
  const uint8_t *source;  ///< values of the rows that have one
  uint8_t *target;        ///< a value a row, 0 under NULL
  uint64_t rows;
  uint32_t sourceBytes; ///< 4 or 8, or that of the target
  uint32_t targetBytes; ///< 1, 2, 4 or 8, or that of the source
};

} // namespace headrace::decode
