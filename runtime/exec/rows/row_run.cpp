// A row is written as it is in memory, behind it the bytes of its texts; their addresses are set
// anew when it comes back.
#include "runtime/exec/rows/row_run.h"

#include "runtime/base/check.h"
#include "runtime/exec/rows/field_values.h"

namespace headrace::exec {
namespace {

/// Rows lie as they do side by side in a state.
uint64_t alignmentOf(const plan::State &state) {
  return std::min<uint64_t>(state.rowBytes & (~state.rowBytes + 1), 64);
}

uint64_t aligned(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

/// Calls `visit` with the place of each text that the row has.
template <typename Visit> void forTexts(const plan::State &state, uint8_t *row, Visit visit) {
  for (const plan::StateField &field : state.fields) {
    if (field.type == HR_STRING && isValid(field, row)) {
      visit(row + field.offset);
    }
  }
}

/// Purpose: a piece in memory. The block goes before the account that it is charged to.
struct ReadPiece {
  std::shared_ptr<MemoryAccount> account;
  Block block;
};

} // namespace

RowRun::~RowRun() {
  for (const RunPiece &piece : pieces_) {
    file_->release(piece.extent);
  }
}

Status RowRun::append(std::span<const uint8_t> bytes, uint32_t rows, uint64_t firstWord) {
  HR_ASSIGN_OR_RETURN(SpillFile::Extent extent, file_->write(bytes));
  pieces_.push_back({extent, rows, firstWord});
  rows_ += rows;
  return {};
}

RunWriter::RunWriter(const plan::State &state, std::shared_ptr<SpillFile> file, const Block &room,
                     WordOf wordOf)
    : state_(state), room_(room), wordOf_(std::move(wordOf)),
      run_(std::make_shared<RowRun>(std::move(file))) {}

uint64_t RunWriter::bytesOf(const uint8_t *row) const {
  uint64_t bytes = state_.rowBytes;
  // Only read: the visitor is given places, to be able to set them.
  forTexts(state_, const_cast<uint8_t *>(row),
           [&](const uint8_t *at) { bytes += loadAs<HrString>(at).length; });
  return aligned(bytes, alignmentOf(state_));
}

bool RunWriter::fits(const uint8_t *row) const {
  return bytesOf(row) + HR_PADDING <= static_cast<uint64_t>(room_.size());
}

Status RunWriter::add(const uint8_t *row) {
  const auto capacity = static_cast<uint64_t>(room_.size());
  const uint64_t bytes = bytesOf(row);
  if (used_ + bytes + HR_PADDING > std::min<uint64_t>(capacity, kRunPieceBytes)) {
    HR_RETURN_IF_ERROR(flush());
    if (bytes + HR_PADDING > capacity) {
      return makeError(ErrorKind::kMemory, state_.name, ": a row of ", bytes,
                       " bytes is too large to wait on disk");
    }
  }
  if (rows_ == 0 && wordOf_) {
    firstWord_ = wordOf_(row);
  }
  uint8_t *at = reinterpret_cast<uint8_t *>(room_.data()) + used_;
  std::memcpy(at, row, state_.rowBytes);
  uint8_t *text = at + state_.rowBytes;
  forTexts(state_, at, [&](const uint8_t *place) {
    const auto kept = loadAs<HrString>(place);
    std::memcpy(text, kept.data, kept.length);
    text += kept.length;
  });
  std::memset(text, 0, static_cast<size_t>(at + bytes - text));
  used_ += bytes;
  ++rows_;
  return {};
}

Status RunWriter::flush() {
  if (rows_ == 0) {
    return {};
  }
  HR_RETURN_IF_ERROR(
      run_->append({reinterpret_cast<uint8_t *>(room_.data()), used_}, rows_, firstWord_));
  used_ = 0;
  rows_ = 0;
  return {};
}

Expected<std::shared_ptr<const RowRun>> RunWriter::end() {
  HR_RETURN_IF_ERROR(flush());
  return std::shared_ptr<const RowRun>(std::move(run_));
}

RunReader::RunReader(const plan::State &state, std::shared_ptr<const RowRun> run,
                     std::shared_ptr<MemoryAccount> account)
    : state_(state), run_(std::move(run)), account_(std::move(account)),
      endPiece_(run_->pieces().size()) {}

RunReader::RunReader(const plan::State &state, std::shared_ptr<const RowRun> run, size_t piece,
                     std::shared_ptr<MemoryAccount> account)
    : state_(state), run_(std::move(run)), account_(std::move(account)), nextPiece_(piece),
      endPiece_(piece + 1) {}

Status RunReader::open(const RunPiece &piece) {
  auto read = std::make_shared<ReadPiece>();
  HR_ASSIGN_OR_RETURN(read->block,
                      account_->allocate(static_cast<int64_t>(piece.extent.bytes) + HR_PADDING));
  read->account = account_;
  next_ = reinterpret_cast<uint8_t *>(read->block.data());
  HR_RETURN_IF_ERROR(run_->file().read(piece.extent, next_));
  block_ = std::move(read);
  left_ = piece.rows;
  return {};
}

Status RunReader::advance() {
  if (left_ == 0) {
    row_ = nullptr;
    if (nextPiece_ == endPiece_) {
      block_.reset();
      return {};
    }
    HR_RETURN_IF_ERROR(open(run_->pieces()[nextPiece_++]));
  }
  row_ = next_;
  uint8_t *text = row_ + state_.rowBytes;
  forTexts(state_, row_, [&](uint8_t *place) {
    auto kept = loadAs<HrString>(place);
    kept.data = text;
    storeAs(place, kept);
    text += kept.length;
  });
  next_ = row_ + aligned(static_cast<uint64_t>(text - row_), alignmentOf(state_));
  --left_;
  return {};
}

} // namespace headrace::exec
