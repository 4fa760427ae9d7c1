// Reads one column chunk of a Parquet file into an EncodedChunk, in steps, so that a caller can
// decompress the pages of several chunks together (interleaved Snappy is faster than one page at a
// time):
//
//   readPages -> snappyBlocks of all chunks -> snappyDecompress -> finish
#pragma once

#include "runtime/primitives/snappy/snappy.h"
#include "runtime/storage/decoders.h"
#include "runtime/storage/encoded_chunk.h"
#include "runtime/storage/parquet/coded_pages.h"
#include "runtime/storage/parquet/page_header.h"
#include "runtime/storage/parquet/parquet_file.h"

#include <memory>
#include <vector>

namespace headrace::storage {

class ChunkLoader {
public:
  /// `type` must be one that the column can be (canBe).
  ChunkLoader(const Decoders &decoders, std::shared_ptr<const ParquetFile> file, size_t rowGroup,
              size_t column, HrType type);

  /// Finds the pages; decompresses those of codecs other than Snappy.
  Status readPages();
  /// Appends what is left to decompress. The blocks stay valid while this lives.
  void snappyBlocks(std::vector<primitives::SnappyBlock> &blocks) const;
  /// Call after the blocks are decompressed, once.
  Expected<std::shared_ptr<const EncodedChunk>> finish();

  /// After snappyDecompress failed on the blocks of several chunks: the error of this chunk's first
  /// page that does not decompress, if it has one.
  Status findBrokenPage();
  uint64_t fileBytes() const { return meta_.bytes; }

private:
  struct Page {
    PageHeader header;
    uint64_t offset = 0;            ///< of the header, in the file
    const uint8_t *bytes = nullptr; ///< decompressed: levels (v1) and values
    uint64_t size = 0;
    const uint8_t *levels = nullptr; ///< v2
    PaddedBuffer owned;
    /// By Arrow: `nulls` and `valid` are known, `bytes` are the values alone.
    bool levelsRead = false;
    uint32_t nulls = 0;
    PaddedBuffer valid;
    primitives::SnappyBlock snappy{}; ///< outputBytes 0: nothing to do
  };
  struct Values {
    const uint8_t *data;
    uint64_t bytes;
    uint32_t nulls;
    PaddedBuffer validity; ///< bits, if there are NULLs
  };

  Status locate(const Status &status) const;
  Status readPages_();
  Status openPage(const uint8_t *input, Page &page);
  Status readPagesWithArrow();
  Status keepDictionary(Page &page);
  Status addPage(Page &page);
  Expected<Values> readLevels(Page &page) const;
  Status addWithoutNulls(Page &page, const Values &values);
  Status addWithNulls(Page &page, Values &values);
  Status decodeBits(const uint8_t *stream, uint64_t bytes, uint32_t rows, uint8_t *out) const;
  bool dictionaryEncoded(const Page &page) const;

  const Decoders &decoders_;
  std::shared_ptr<const ParquetFile> file_;
  size_t rowGroup_, columnIndex_;
  const ParquetColumn &column_;
  const ParquetChunk &meta_;
  uint64_t offset_; ///< what is being looked at, in the file: for messages
  std::vector<Page> pages_;
  std::shared_ptr<EncodedChunk> chunk_;
  CodedPages coded_;
};

} // namespace headrace::storage
