// Where the pages of a column chunk lie in the file, cut into the parts that a scan reads at once.
#pragma once

#include "runtime/base/status.h"
#include "runtime/storage/files/input_file.h"
#include "runtime/storage/parquet/footer.h"
#include "runtime/storage/parquet/page_header.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace headrace::storage {

/// Pages of a column chunk that follow each other in the file.
struct PageRun {
  uint64_t begin = 0; ///< in the file
  uint64_t bytes = 0; ///< in the file
  uint64_t uncompressedBytes = 0;
  uint64_t firstRow = 0; ///< within the row group
  uint64_t rows = 0;     ///< 0: the dictionary page
};

/// The whole column chunk, its dictionary included.
PageRun wholeChunk(const ParquetFooter &footer, size_t rowGroup, size_t column);

/// Whether our own code decodes the page; else the whole chunk goes through Arrow's reader.
bool isOurs(const PageHeader &header, const ParquetColumn &column);

/// Immutable.
struct PageIndex {
  std::optional<PageRun> dictionary;
  /// Part i: the pages that begin in the rows [i * partRows, (i + 1) * partRows); perhaps none.
  /// Where they cannot be read one by one the first is the whole chunk, its dictionary included.
  std::vector<PageRun> parts;
};

/// Reads the headers of all pages. Messages carry no place.
Expected<PageIndex> readPageIndex(const ParquetFooter &footer, const InputFile &input,
                                  size_t rowGroup, size_t column, uint64_t partRows);

} // namespace headrace::storage
