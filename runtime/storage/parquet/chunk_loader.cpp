// Pages to segments. A page without NULLs stays encoded; one with NULLs is decoded to values and
// validity.
#include "runtime/storage/parquet/chunk_loader.h"

#include "runtime/abi/type_bytes.h"
#include "runtime/storage/columns/texts.h"
#include "runtime/storage/parquet/arrow_pages.h"
#include "runtime/storage/parquet/codec.h"
#include "runtime/storage/parquet/plain_values.h"

#include <algorithm>
#include <cstring>

namespace headrace::storage {
namespace {

constexpr uint8_t kBoolDictionary[2] = {0, 1};

/// A page may claim this much without a word in the footer; more must be within the chunk's
/// declared size.
constexpr uint64_t kPageBytesUnquestioned = 64 << 20;

Status corrupt(const char *what) { return makeError(ErrorKind::kCorrupt, what); }

template <typename Value>
void spreadValid(const uint8_t *valid, uint32_t rows, uint32_t values, void *data) {
  // In place, from the end: a value never moves down.
  Value *out = static_cast<Value *>(data);
  for (uint32_t i = rows; i-- > 0;) {
    if (valid[i]) {
      out[i] = out[--values];
    } else {
      out[i] = Value{};
    }
  }
}

} // namespace

ChunkLoader::ChunkLoader(const Decoders &decoders, std::shared_ptr<const ParquetFile> file,
                         size_t rowGroup, size_t column, HrType type, PageRun run,
                         std::shared_ptr<const EncodedDictionary> dictionary,
                         std::shared_ptr<PageBuffers> memory)
    : decoders_(decoders), file_(std::move(file)), rowGroup_(rowGroup), columnIndex_(column),
      column_(file_->footer().columns[column]),
      meta_(file_->footer().rowGroups[rowGroup].chunks[column]), offset_(run.begin), run_(run),
      dictionary_(std::move(dictionary)), memory_(std::move(memory)),
      chunk_(std::make_shared<EncodedChunk>()), coded_(decoders, *chunk_, memory_) {
  chunk_->type = type;
  chunk_->rows = run.rows;
}

uint64_t ChunkLoader::bytesMax() const {
  uint64_t converted = run_.rows * abi::bytesOf(chunk_->type);
  if (column_.nullable) {
    converted += run_.rows * 2 + run_.rows / 8; // levels, a byte and a bit a row
  }
  if (run_.rows == 0) { // at least a byte an entry, of texts four
    converted = run_.uncompressedBytes * abi::bytesOf(chunk_->type) /
                (column_.stored == Stored::kByteArray ? 4 : 1);
  }
  // Decompressed, and beside it first what is in the file (levels may be read there to the end) and
  // then what it is converted to.
  const uint64_t bytes =
      run_.uncompressedBytes +
      (column_.nullable ? run_.bytes + converted : std::max(run_.bytes, converted));
  return bytes + bytes / PageBuffers::kLargerPart + 8 * HR_PADDING;
}

Status ChunkLoader::locate(const Status &status) const {
  return status.ok() ? status
                     : Status(status.kind(),
                              placeOf(*file_, rowGroup_, columnIndex_) + ", page at byte " +
                                  std::to_string(offset_) + ": " + status.message(),
                              status.place());
}

Status ChunkLoader::readPages(const InputFile &input) {
  if (meta_.encrypted) {
    // no test: Arrow writes columns with keys of their own only by services for keys
    return locate(makeError(ErrorKind::kUnsupported, "the column is encrypted"));
  }
  PaddedBuffer raw(run_.bytes, memory_);
  if (!raw) {
    // no test: it takes more memory than a machine has
    return makeError(ErrorKind::kMemory, "no memory for pages of bytes: ", run_.bytes);
  }
  HR_RETURN_IF_ERROR(input.read(run_.begin, run_.bytes, raw.data()));
  raw_ = std::make_shared<const PaddedBuffer>(std::move(raw));
  return locate(findPages(input));
}

Status ChunkLoader::findPages(const InputFile &file) {
  const uint8_t *const begin = raw_->data();
  const uint8_t *const end = begin + run_.bytes;
  const uint8_t *next = begin;
  uint64_t rows = 0;
  while (rows < run_.rows || (run_.rows == 0 && pages_.empty())) {
    if (next == end) {
      return corrupt("the column chunk has fewer rows than its row group");
    }
    Page page;
    page.offset = offset_ = run_.begin + static_cast<uint64_t>(next - begin);
    HR_ASSIGN_OR_RETURN(page.header, readPageHeader(next, end));
    next += page.header.headerBytes;
    if (static_cast<uint64_t>(end - next) < page.header.compressedBytes) {
      return corrupt("a page reaches past the end of its column chunk");
    }
    const uint8_t *input = next;
    next += page.header.compressedBytes;
    if (page.header.kind == PageKind::kOther) {
      continue;
    }
    if (page.header.kind == PageKind::kDictionary) {
      if (!pages_.empty()) {
        return corrupt("a dictionary page does not come first");
      }
    } else {
      rows += page.header.values;
      if (page.header.values == 0) {
        continue;
      }
    }
    if (!isOurs(page.header, column_)) {
      return readPagesWithArrow(file);
    }
    HR_RETURN_IF_ERROR(openPage(input, page));
    pages_.push_back(std::move(page));
  }
  return rows == run_.rows ? Status()
                           : corrupt("the column chunk has more rows than its row group");
}

Status ChunkLoader::readPagesWithArrow(const InputFile &input) {
  pages_.clear();
  offset_ = meta_.begin;
  std::vector<PlainPage> plain;
  HR_RETURN_IF_ERROR(readWithArrow(*file_, input, rowGroup_, columnIndex_, plain));
  for (PlainPage &part : plain) {
    Page page;
    page.header.kind = PageKind::kData;
    page.header.encoding = static_cast<int32_t>(Encoding::kPlain);
    page.header.values = part.rows;
    page.offset = offset_;
    page.bytes = part.bytes.data();
    page.size = part.bytes.bytes();
    page.owner = std::make_shared<const PaddedBuffer>(std::move(part.bytes));
    page.levelsRead = true;
    page.nulls = part.nulls;
    page.valid = std::move(part.valid);
    pages_.push_back(std::move(page));
  }
  return Status();
}

/// Makes the bytes of a page available: in place where they are not compressed (or one Snappy
/// literal), else in a buffer of its own.
Status ChunkLoader::openPage(const uint8_t *input, Page &page) {
  const PageHeader &header = page.header;
  const uint64_t levelBytes =
      header.kind == PageKind::kDataV2 ? header.definitionBytes + header.repetitionBytes : 0;
  if (header.kind == PageKind::kDataV2) {
    if (header.repetitionBytes != 0) {
      return makeError(ErrorKind::kUnsupported, "nested columns are not supported");
    }
    page.levels = input;
    page.levelsOwner = raw_;
  }
  input += levelBytes;
  const uint64_t inputBytes = header.compressedBytes - levelBytes;
  page.size = header.uncompressedBytes - levelBytes;
  if (page.size > kPageBytesUnquestioned && page.size > meta_.uncompressedBytes) {
    return corrupt("a page claims to be larger than its column chunk");
  }
  const bool plainBytes = meta_.codec == kCodecNone || !header.compressed;
  if (plainBytes && inputBytes != page.size) {
    return corrupt("the sizes of an uncompressed page differ");
  }
  const uint8_t *inPlace = plainBytes ? input
                           : meta_.codec == kCodecSnappy
                               ? primitives::snappySingleLiteral(input, inputBytes, page.size)
                               : nullptr;
  if (inPlace) {
    page.bytes = inPlace;
    page.owner = raw_;
    return Status();
  }
  PaddedBuffer buffer(page.size, memory_);
  if (!buffer) {
    // no test: it takes more memory than a machine has
    return makeError(ErrorKind::kMemory, "no memory for a page of bytes: ", page.size);
  }
  uint8_t *output = buffer.data();
  page.bytes = output;
  page.owner = std::make_shared<const PaddedBuffer>(std::move(buffer));
  if (meta_.codec == kCodecSnappy) {
    page.snappy = {input, inputBytes, output, page.size};
    return Status();
  }
  if (page.size == 0) {
    return Status();
  }
  return decompressWithArrow(meta_.codec, input, inputBytes, output, page.size);
}

void ChunkLoader::snappyBlocks(std::vector<primitives::SnappyBlock> &blocks) const {
  for (const Page &page : pages_) {
    if (page.snappy.input) {
      blocks.push_back(page.snappy);
    }
  }
}

Status ChunkLoader::findBrokenPage() {
  for (const Page &page : pages_) {
    std::vector<primitives::SnappyBlock> block;
    if (page.snappy.input) {
      block.push_back(page.snappy);
    }
    if (!primitives::snappyDecompress(decoders_.isa, block)) {
      offset_ = page.offset;
      return locate(corrupt("the page does not decompress (snappy)"));
    }
  }
  return Status();
}

bool ChunkLoader::dictionaryEncoded(const Page &page) const {
  return page.header.encoding == static_cast<int32_t>(Encoding::kRleDictionary) ||
         page.header.encoding == static_cast<int32_t>(Encoding::kPlainDictionary);
}

Expected<std::shared_ptr<const EncodedChunk>> ChunkLoader::finish() {
  if (column_.stored == Stored::kBoolean) {
    chunk_->dictionary = kBoolDictionary; // run-length encoded bools are codes of this
    chunk_->dictionaryCount = 2;
  }
  if (dictionary_) {
    beginCodes(std::move(dictionary_));
  }
  for (Page &page : pages_) {
    offset_ = page.offset;
    Status status =
        page.header.kind == PageKind::kDictionary ? makeDictionary(page) : addPage(page);
    if (!status.ok()) {
      return locate(status);
    }
  }
  pages_.clear();
  HR_RETURN_IF_ERROR(locate(coded_.end()));
  if (chunk_->table && ownsTable_) {
    chunk_->bytes += chunk_->table->bytes();
  }
  return std::shared_ptr<const EncodedChunk>(std::move(chunk_));
}

Status ChunkLoader::makeDictionary(Page &page) {
  if (column_.stored == Stored::kBoolean) {
    return corrupt("a column of bools has a dictionary");
  }
  // A value takes at least one byte, a string four: so a corrupt count cannot ask for much memory.
  if (page.header.values > page.size) {
    return corrupt("a dictionary has more entries than bytes");
  }
  auto made = std::make_shared<EncodedDictionary>();
  made->entries = page.header.values;
  made->values = PaddedBuffer(uint64_t{made->entries} * abi::bytesOf(chunk_->type), memory_);
  if (!made->values) {
    // no test: it takes more memory than a machine has
    return makeError(ErrorKind::kMemory, "no memory for a dictionary of entries: ", made->entries);
  }
  HR_RETURN_IF_ERROR(convertPlain(decoders_.isa, column_, page.bytes, page.size, made->entries,
                                  chunk_->type, *made, made->values.data()));
  if (chunk_->type == HR_STRING) {
    made->texts = page.owner;
  }
  ownsTable_ = true;
  beginCodes(std::move(made));
  return Status();
}

void ChunkLoader::beginCodes(std::shared_ptr<const EncodedDictionary> dictionary) {
  uint64_t rows = 0, bytes = 0;
  for (const Page &coded : pages_) {
    if (coded.header.kind != PageKind::kDictionary && dictionaryEncoded(coded)) {
      rows += coded.header.values;
      bytes += coded.size;
    }
  }
  const uint64_t all = file_->footer().rowGroups[rowGroup_].rows;
  coded_.begin(std::move(dictionary), rows, bytes,
               static_cast<double>(run_.rows) / static_cast<double>(all));
}

Status ChunkLoader::decodeBits(const uint8_t *stream, uint64_t bytes, uint32_t rows,
                               uint8_t *out) const {
  HrSegment segment{};
  segment.rows = rows;
  segment.encoding = HR_CODES;
  segment.bitWidth = 1;
  segment.bytes = bytes;
  segment.data = stream;
  if (!decoders_.decode(segment, kBoolDictionary, 2, 1, out)) {
    return corrupt("a page of levels or bools does not decode");
  }
  return Status();
}

Expected<ChunkLoader::Values> ChunkLoader::readLevels(Page &page) const {
  Values values{page.bytes, page.size, page.nulls, std::move(page.valid)};
  if (!column_.nullable || page.levelsRead) {
    return values;
  }
  const uint32_t rows = page.header.values;
  const uint8_t *stream;
  uint64_t bytes;
  if (page.header.kind == PageKind::kDataV2) {
    stream = page.levels;
    bytes = page.header.definitionBytes;
    if (page.header.nulls == 0) {
      return values;
    }
  } else {
    uint32_t length = 0;
    if (page.size < 4) {
      return corrupt("a page is too short for its definition levels");
    }
    std::memcpy(&length, page.bytes, 4);
    if (length > page.size - 4) {
      return corrupt("definition levels reach past the end of their page");
    }
    stream = page.bytes + 4;
    bytes = length;
    values.data = stream + bytes;
    values.bytes = page.size - 4 - bytes;
  }
  // The levels are read through vectors: a copy has the padding they need.
  PaddedBuffer padded(bytes), valid(rows);
  if (!padded || !valid) {
    // no test: it takes more memory than a machine has
    return makeError(ErrorKind::kMemory, "no memory for the definition levels of rows: ", rows);
  }
  if (bytes != 0) {
    std::memcpy(padded.data(), stream, bytes);
  }
  HR_RETURN_IF_ERROR(decodeBits(padded.data(), bytes, rows, valid.data()));
  uint32_t present = 0;
  for (uint32_t i = 0; i < rows; ++i) {
    present += valid.data()[i];
  }
  values.nulls = rows - present;
  if (values.nulls != 0) {
    values.validity = std::move(valid);
  }
  return values;
}

Status ChunkLoader::addPage(Page &page) {
  HR_ASSIGN_OR_RETURN(Values values, readLevels(page));
  if (dictionaryEncoded(page) && !chunk_->dictionary) {
    return corrupt("a page needs a dictionary, and there is none");
  }
  return values.nulls == 0 ? addWithoutNulls(page, values) : addWithNulls(page, values);
}

Status ChunkLoader::addWithoutNulls(Page &page, const Values &values) {
  HrSegment segment{};
  segment.rows = page.header.values;
  if (dictionaryEncoded(page)) {
    if (values.bytes < 1 || values.data[0] > 32) {
      return corrupt("a page has codes of an impossible width");
    }
    segment.encoding = HR_CODES;
    segment.bitWidth = values.data[0];
    segment.data = values.data + 1;
    segment.bytes = values.bytes - 1;
    return coded_.add(segment, page.owner);
  }
  if (page.header.encoding == static_cast<int32_t>(Encoding::kRle)) {
    uint32_t length = 0;
    if (values.bytes < 4) {
      return corrupt("a page of bools is too short");
    }
    std::memcpy(&length, values.data, 4);
    if (length > values.bytes - 4) {
      return corrupt("bools reach past the end of their page");
    }
    segment.encoding = HR_CODES;
    segment.bitWidth = 1;
    segment.data = values.data + 4;
    segment.bytes = length;
    std::vector<uint8_t> unused(segment.rows);
    HR_RETURN_IF_ERROR(decodeBits(values.data + 4, length, segment.rows, unused.data()));
    chunk_->keep(page.owner);
  } else if (column_.stored == Stored::kBoolean) {
    if (values.bytes < (uint64_t{segment.rows} + 7) / 8) {
      return corrupt("a page holds fewer values than its header says");
    }
    segment.encoding = HR_BITMAP;
    segment.data = values.data;
    segment.bytes = values.bytes;
    chunk_->keep(page.owner);
  } else {
    if (column_.stored == Stored::kByteArray && values.bytes / 4 < segment.rows) {
      return corrupt("a page holds fewer values than its header says");
    }
    PaddedBuffer plain(uint64_t{segment.rows} * abi::bytesOf(chunk_->type), memory_);
    if (!plain) {
      // no test: it takes more memory than a machine has
      return makeError(ErrorKind::kMemory,
                       "no memory for the values of a page, rows: ", segment.rows);
    }
    HR_RETURN_IF_ERROR(convertPlain(decoders_.isa, column_, values.data, values.bytes, segment.rows,
                                    chunk_->type, *chunk_, plain.data()));
    segment.encoding = HR_VALUES;
    segment.data = plain.data();
    segment.bytes = plain.bytes();
    chunk_->keep(std::move(plain));
    if (chunk_->type == HR_STRING) {
      chunk_->keep(page.owner);
    }
  }
  chunk_->segments.push_back(segment);
  return Status();
}

Status ChunkLoader::addWithNulls(Page &page, Values &values) {
  const uint32_t rows = page.header.values;
  const uint32_t present = rows - values.nulls;
  const uint32_t width = abi::bytesOf(chunk_->type);
  PaddedBuffer data(uint64_t{rows} * width, memory_);
  PaddedBuffer bits((uint64_t{rows} + 7) / 8);
  if (!data || !bits) {
    // no test: it takes more memory than a machine has
    return makeError(ErrorKind::kMemory, "no memory for the values of a page, rows: ", rows);
  }
  if (dictionaryEncoded(page)) {
    if (present != 0) {
      if (values.bytes < 1 || values.data[0] > 32) {
        return corrupt("a page has codes of an impossible width");
      }
      HrSegment segment{};
      segment.rows = present;
      segment.encoding = HR_CODES;
      segment.bitWidth = values.data[0];
      segment.data = values.data + 1;
      segment.bytes = values.bytes - 1;
      HR_RETURN_IF_ERROR(coded_.decode(segment, data.data()));
    }
  } else if (page.header.encoding == static_cast<int32_t>(Encoding::kRle)) {
    uint32_t length = 0;
    if (values.bytes < 4) {
      return corrupt("a page of bools is too short");
    }
    std::memcpy(&length, values.data, 4);
    if (length > values.bytes - 4) {
      return corrupt("bools reach past the end of their page");
    }
    HR_RETURN_IF_ERROR(decodeBits(values.data + 4, length, present, data.data()));
  } else {
    HR_RETURN_IF_ERROR(convertPlain(decoders_.isa, column_, values.data, values.bytes, present,
                                    chunk_->type, *chunk_, data.data()));
  }
  const uint8_t *valid = values.validity.data();
  switch (width) {
  case 1:
    spreadValid<uint8_t>(valid, rows, present, data.data());
    break;
  case 2:
    spreadValid<uint16_t>(valid, rows, present, data.data());
    break;
  case 4:
    spreadValid<uint32_t>(valid, rows, present, data.data());
    break;
  case 8:
    spreadValid<uint64_t>(valid, rows, present, data.data());
    break;
  default:
    spreadValid<unsigned __int128>(valid, rows, present, data.data());
  }
  std::memset(bits.data(), 0, bits.bytes());
  for (uint32_t i = 0; i < rows; ++i) {
    bits.data()[i / 8] |= static_cast<uint8_t>(valid[i] << (i % 8));
  }
  if (chunk_->type == HR_STRING) {
    HrString *texts = reinterpret_cast<HrString *>(data.data());
    for (uint32_t i = 0; i < rows; ++i) {
      if (!valid[i]) {
        texts[i].data = emptyText();
      }
    }
    chunk_->keep(page.owner);
  }
  chunk_->hasNulls = true;
  HrSegment segment{};
  segment.rows = rows;
  segment.encoding = HR_VALUES;
  segment.data = data.data();
  segment.bytes = data.bytes();
  segment.validity = bits.data();
  chunk_->segments.push_back(segment);
  chunk_->keep(std::move(data));
  chunk_->keep(std::move(bits));
  return Status();
}

} // namespace headrace::storage
