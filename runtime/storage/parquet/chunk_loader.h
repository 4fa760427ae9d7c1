// Reads a column chunk of a Parquet file, or a run of its pages, into an EncodedChunk, in steps, so
// that a caller can decompress the pages of several chunks together (interleaved Snappy is faster
// than one page at a time):
//
//   readPages -> snappyBlocks of all chunks -> snappyDecompress -> finish
#pragma once

#include "runtime/primitives/snappy/snappy.h"
#include "runtime/storage/columns/decoders.h"
#include "runtime/storage/columns/encoded_chunk.h"
#include "runtime/storage/parquet/coded_pages.h"
#include "runtime/storage/parquet/page_index.h"
#include "runtime/storage/parquet/parquet_file.h"

#include <memory>
#include <vector>

namespace headrace::storage {

class ChunkLoader {
public:
  /// `type` must be one that the column can be (canBe). `dictionary`: of the column chunk, if
  /// `run` is only a part of it and does not begin with it.
  ChunkLoader(const Decoders &decoders, std::shared_ptr<const ParquetFile> file, size_t rowGroup,
              size_t column, HrType type, PageRun run,
              std::shared_ptr<const EncodedDictionary> dictionary,
              std::shared_ptr<PageBuffers> memory);

  /// The most memory that loading takes at any time, finish() included.
  uint64_t bytesMax() const;
  /// Reads the run and finds the pages; decompresses those of codecs other than Snappy.
  Status readPages(const InputFile &input);
  /// Appends what is left to decompress. The blocks stay valid while this lives.
  void snappyBlocks(std::vector<primitives::SnappyBlock> &blocks) const;
  /// The blocks are decompressed: what is in the file is needed no more, but for pages in place.
  void dropRaw() { raw_.reset(); }
  /// Call after that, once. A chunk without rows has its table alone.
  Expected<std::shared_ptr<const EncodedChunk>> finish();

  /// After snappyDecompress failed on the blocks of several chunks: the error of this chunk's first
  /// page that does not decompress, if it has one.
  Status findBrokenPage();
  uint64_t fileBytes() const { return run_.bytes; }

private:
  struct Page {
    PageHeader header;
    uint64_t offset = 0;            ///< of the header, in the file
    const uint8_t *bytes = nullptr; ///< decompressed: levels (v1) and values
    uint64_t size = 0;
    const uint8_t *levels = nullptr; ///< v2
    BufferHandle levelsOwner;
    BufferHandle owner; ///< of `bytes`
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
  Status findPages(const InputFile &file);
  Status openPage(const uint8_t *input, Page &page);
  Status readPagesWithArrow(const InputFile &input);
  Status makeDictionary(Page &page);
  void beginCodes(std::shared_ptr<const EncodedDictionary> dictionary);
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
  const PageRun run_;
  std::shared_ptr<const EncodedDictionary> dictionary_; ///< until the pages are added
  bool ownsTable_ = false;                              ///< the chunk's table was made here
  BufferHandle raw_;                                    ///< the run as it is in the file
  const std::shared_ptr<PageBuffers> memory_;
  std::vector<Page> pages_;
  std::shared_ptr<EncodedChunk> chunk_;
  CodedPages coded_;
};

} // namespace headrace::storage
