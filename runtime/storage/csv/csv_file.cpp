// Addresses, and the pass that finds records: a line end outside of quotes ends one.
#include "runtime/storage/csv/csv_file.h"

#include "runtime/storage/csv/plain_form.h"
#include "runtime/storage/csv/structure.h"
#include "runtime/storage/files/open_file.h"
#include "runtime/storage/files/padded_buffer.h"
#include "runtime/storage/files/ranges.h"

#include <algorithm>
#include <functional>

namespace headrace::storage {
namespace {

/// A piece ends with the first record that reaches one of these.
constexpr uint64_t kPieceBytes = 4 << 20;
constexpr uint64_t kPieceRows = 64 << 10;
constexpr uint64_t kBlockBytes = 1 << 20;
/// Of a remote file: four requests at once.
constexpr uint64_t kRemoteBlockBytes = 4 * kRequestBytesMax;

} // namespace

/// One pass over a file, block by block.
class CsvIndexer {
public:
  CsvIndexer(CsvFile &file, const InputFile &input)
      : file_(file), input_(input), format_(file.format_), emptyCounts_(format_.emptyLinesCount()),
        header_(format_.header) {}

  Status run();

private:
  Expected<uint64_t> firstByte(PaddedBuffer &buffer);
  uint64_t blockBytes() const { return input_.isRemote() ? kRemoteBlockBytes : kBlockBytes; }
  void recordEnds(uint64_t end, bool empty);
  Status scan(const uint8_t *data, uint64_t count, uint64_t offset);

  CsvFile &file_;
  const InputFile &input_;
  const CsvFormat &format_;
  const bool emptyCounts_;
  bool header_; ///< still to come
  CsvPiece piece_;
  uint64_t line_ = 1;
  // Of the byte before the next block.
  uint64_t inside_ = 0; ///< all ones within quotes
  uint64_t lineEnd_ = 1, lineEndBefore_ = 1, return_ = 0, boundary_ = 1, closed_ = 0;
};

void CsvIndexer::recordEnds(uint64_t end, bool empty) {
  if (header_) {
    header_ = empty;
    piece_ = {end, 0, 0, line_};
    return;
  }
  piece_.rows += !empty || emptyCounts_;
  piece_.bytes = end - piece_.offset;
  if (piece_.bytes >= kPieceBytes || piece_.rows >= kPieceRows) {
    file_.pieces_.push_back(piece_);
    piece_ = {end, 0, 0, line_};
  }
}

Status CsvIndexer::scan(const uint8_t *data, uint64_t count, uint64_t offset) {
  for (uint64_t at = 0; at < count; at += 64) {
    const uint64_t within = lowBits(count - at);
    const uint8_t *block = data + at;
    uint64_t lines = bytesEqual(block, '\n') & within;
    const uint64_t returns = bytesEqual(block, '\r') & within;
    const uint64_t quotes = format_.quote ? bytesEqual(block, format_.quote) & within : 0;
    uint64_t ends = lines;
    if (quotes | inside_ | closed_) {
      const uint64_t inside = prefixXor(quotes) ^ inside_;
      const uint64_t separators = bytesEqual(block, format_.separator) & within;
      const uint64_t boundaries = separators | lines | quotes;
      const uint64_t opens = quotes & inside, closes = quotes & ~inside;
      const uint64_t wrong = (opens & ~(boundaries << 1 | boundary_)) |
                             ((closes << 1 | closed_) & within & ~(boundaries | returns));
      if (wrong) {
        line_ += static_cast<uint64_t>(__builtin_popcountll(lines & ((wrong & -wrong) - 1)));
        return misplacedQuote(file_.path(), line_);
      }
      boundary_ = boundaries >> 63;
      closed_ = closes >> 63;
      ends &= ~inside;
      inside_ = static_cast<uint64_t>(static_cast<int64_t>(inside) >> 63);
    } else {
      boundary_ = (lines >> 63) | (block[63] == static_cast<uint8_t>(format_.separator));
    }
    const uint64_t before = ends << 1 | lineEnd_;
    const uint64_t twoBefore = before << 1 | lineEndBefore_;
    const uint64_t empties = ends & (before | ((returns << 1 | return_) & twoBefore));
    lineEndBefore_ = ends >> 62 & 1;
    lineEnd_ = ends >> 63;
    return_ = returns >> 63;
    while (lines) {
      const uint64_t bit = lines & -lines;
      ++line_;
      if (ends & bit) {
        const auto place = static_cast<uint64_t>(__builtin_ctzll(bit));
        recordEnds(offset + at + place + 1, (empties & bit) != 0);
      }
      lines ^= bit;
    }
  }
  return Status();
}

/// Behind a byte order mark and the lines that are left out, whose quotes mean nothing.
Expected<uint64_t> CsvIndexer::firstByte(PaddedBuffer &buffer) {
  const InputFile &input = input_;
  uint64_t first = 0;
  if (input.bytes() >= 3) {
    HR_RETURN_IF_ERROR(input.read(0, 3, buffer.data()));
    first = std::memcmp(buffer.data(), "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  }
  for (uint64_t count; line_ <= format_.skip && first < input.bytes();) {
    count = std::min(blockBytes(), input.bytes() - first);
    HR_RETURN_IF_ERROR(input.read(first, count, buffer.data()));
    const void *end = std::memchr(buffer.data(), '\n', count);
    if (end) {
      ++line_;
      count = static_cast<uint64_t>(static_cast<const uint8_t *>(end) - buffer.data()) + 1;
    }
    first += count;
  }
  return first;
}

Status CsvIndexer::run() {
  const InputFile &input = input_;
  PaddedBuffer buffer(std::min(blockBytes(), input.bytes() + 3));
  HR_ASSIGN_OR_RETURN(uint64_t offset, firstByte(buffer));
  piece_.offset = offset;
  piece_.firstLine = line_;
  for (uint64_t count; offset < input.bytes(); offset += count) {
    count = std::min(blockBytes(), input.bytes() - offset);
    HR_RETURN_IF_ERROR(input.read(offset, count, buffer.data()));
    HR_RETURN_IF_ERROR(scan(buffer.data(), count, offset));
  }
  if (inside_) {
    return makeError(ErrorKind::kData, file_.path(), ", line ", piece_.firstLine,
                     " or behind it: a quoted value is not closed before the end of the file");
  }
  if (piece_.offset + piece_.bytes < input.bytes()) { // no line end behind the last record
    recordEnds(input.bytes(), false);
  }
  if (piece_.rows != 0) {
    file_.pieces_.push_back(piece_);
  }
  return Status();
}

Expected<std::shared_ptr<const CsvFile>> CsvFile::open(const Address &address) {
  auto file = std::make_shared<CsvFile>();
  HR_ASSIGN_OR_RETURN(file->format_, CsvFormat::of(address.reader));
  HR_ASSIGN_OR_RETURN(file->given_, GivenColumns::of(address.reader));
  HR_ASSIGN_OR_RETURN(std::shared_ptr<const InputFile> input,
                      openFile(address.path, address.known()));
  file->source_ = address.path;
  file->isRemote_ = input->isRemote();
  file->stamp_ = input->stamp();
  file->identity_ = {input->path(), file->stamp_.bytes, file->stamp_.modifiedNanoseconds,
                     std::hash<std::string>{}(address.reader.dump())};
  if (!file->format_.isPlain()) {
    HR_ASSIGN_OR_RETURN(input, plainForm(std::move(input), file->format_));
    file->plain_ = input;
  }
  HR_RETURN_IF_ERROR(CsvIndexer(*file, *input).run());
  return std::shared_ptr<const CsvFile>(std::move(file));
}

Expected<std::shared_ptr<const InputFile>> CsvFile::input() const {
  if (plain_) {
    return plain_;
  }
  HR_ASSIGN_OR_RETURN(std::shared_ptr<const InputFile> now,
                      openFile(source_, isRemote_ ? &stamp_ : nullptr));
  if (!(now->stamp() == stamp_)) {
    return makeError(ErrorKind::kIo, "the file has changed while it was read: ", path());
  }
  return now;
}

bool CsvFile::isCurrent(const FileStamp *known) const {
  Expected<std::shared_ptr<const InputFile>> now = openFile(source_, known);
  return now.ok() && (*now)->stamp() == stamp_;
}

} // namespace headrace::storage
