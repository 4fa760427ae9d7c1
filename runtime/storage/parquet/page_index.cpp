// From header to header, through a window that moves along the file.
#include "runtime/storage/parquet/page_index.h"

#include <algorithm>

namespace headrace::storage {
namespace {

/// Read at once to see a header; most are of 20 to 60 bytes, those with statistics of long texts
/// larger.
constexpr uint64_t kHeaderBytes = 128;
constexpr uint64_t kHeaderBytesMax = 4 << 20;

Status corrupt(const char *what) { return makeError(ErrorKind::kCorrupt, what); }

Expected<PageHeader> readHeaderAt(const InputFile &input, uint64_t offset, uint64_t end,
                                  std::vector<uint8_t> &window) {
  for (uint64_t bytes = kHeaderBytes;; bytes *= 8) {
    window.resize(std::min(bytes, end - offset));
    HR_RETURN_IF_ERROR(input.read(offset, window.size(), window.data()));
    Expected<PageHeader> header = readPageHeader(window.data(), window.data() + window.size());
    if (header.ok() || window.size() == end - offset || bytes >= kHeaderBytesMax) {
      return header;
    }
  }
}

} // namespace

PageRun wholeChunk(const ParquetFooter &footer, size_t rowGroup, size_t column) {
  const ParquetRowGroup &group = footer.rowGroups[rowGroup];
  const ParquetChunk &chunk = group.chunks[column];
  return {chunk.begin, chunk.bytes, chunk.uncompressedBytes, 0, group.rows};
}

bool isOurs(const PageHeader &header, const ParquetColumn &column) {
  if (column.isPacked()) {
    return false;
  }
  if (header.kind == PageKind::kData && column.nullable &&
      header.levelEncoding != static_cast<int32_t>(Encoding::kRle)) {
    return false;
  }
  switch (static_cast<Encoding>(header.encoding)) {
  case Encoding::kPlain:
    return true;
  case Encoding::kPlainDictionary:
  case Encoding::kRleDictionary:
    return column.stored != Stored::kBoolean;
  case Encoding::kRle:
    return column.stored == Stored::kBoolean && header.kind != PageKind::kDictionary;
  default:
    return false;
  }
}

Expected<PageIndex> readPageIndex(const ParquetFooter &footer, const InputFile &input,
                                  size_t rowGroup, size_t column, uint64_t partRows) {
  const PageRun all = wholeChunk(footer, rowGroup, column);
  PageIndex index;
  index.parts.resize((all.rows + partRows - 1) / partRows);
  std::vector<uint8_t> window;
  uint64_t next = all.begin;
  const uint64_t end = all.begin + all.bytes;
  uint64_t rows = 0;
  while (rows < all.rows) {
    if (next == end) {
      return corrupt("the column chunk has fewer rows than its row group");
    }
    HR_ASSIGN_OR_RETURN(PageHeader header, readHeaderAt(input, next, end, window));
    const uint64_t bytes = header.headerBytes + header.compressedBytes;
    if (end - next < bytes) {
      return corrupt("a page reaches past the end of its column chunk");
    }
    const bool isDictionary = header.kind == PageKind::kDictionary;
    if (header.kind != PageKind::kOther &&
        (!isOurs(header, footer.columns[column]) || (isDictionary && rows != 0))) {
      index.dictionary.reset();
      std::fill(index.parts.begin(), index.parts.end(), PageRun());
      index.parts.front() = all;
      return index;
    }
    if (isDictionary) {
      index.dictionary = PageRun{next, bytes, header.uncompressedBytes, 0, 0};
    } else if (header.kind != PageKind::kOther && header.values != 0) {
      PageRun &part = index.parts[rows / partRows];
      if (part.rows == 0) {
        part.begin = next;
        part.firstRow = rows;
      }
      part.bytes = next + bytes - part.begin;
      part.uncompressedBytes += header.uncompressedBytes;
      part.rows += header.values;
      rows += header.values;
    }
    next += bytes;
  }
  if (rows > all.rows) {
    return corrupt("the column chunk has more rows than its row group");
  }
  return index;
}

} // namespace headrace::storage
