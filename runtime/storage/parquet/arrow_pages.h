// Column chunks in encodings that are not ours (delta, byte stream split, old level encodings),
// lists, structs and maps, decoded by Arrow's readers and handed on as plain pages. Slower, and
// right.
#pragma once

#include "runtime/base/status.h"
#include "runtime/storage/files/padded_buffer.h"
#include "runtime/storage/parquet/parquet_file.h"

#include <vector>

namespace headrace::storage {

/// Plain-encoded values of `rows` rows, without those that are NULL.
struct PlainPage {
  uint32_t rows = 0;
  uint32_t nulls = 0;
  PaddedBuffer bytes;
  PaddedBuffer valid; ///< a byte a row; no memory if there is no NULL
};

/// Messages carry no place. kCorrupt, kUnsupported, or kIo.
Status readWithArrow(const ParquetFile &file, const InputFile &input, size_t rowGroup,
                     size_t column, std::vector<PlainPage> &pages);

} // namespace headrace::storage
