// Rows stay where they are while their entries are sorted; what leaves memory leaves sorted.
#include "runtime/exec/sort/sort_copy.h"

#include "model/plan/first_rows.h"
#include "runtime/abi/type_bytes.h"
#include "runtime/exec/rows/field_values.h"

#include <algorithm>

namespace headrace::exec {
namespace {

/// Before more is left to others, a worker has so much; in little memory this part of it.
constexpr int64_t kOwnBytesMin = 1 << 20;
constexpr int64_t kOwnPart = 8;
/// Rows leave memory when so much of it is in use: who feeds and reads the sort needs some, too.
constexpr int64_t kCrowdedNumerator = 2;
constexpr int64_t kCrowdedDenominator = 3;
constexpr int64_t kLastTextBytes = 256 << 10;
/// So many rows before it is written the texts of a row are asked for, and as many before, the row.
constexpr size_t kAhead = 8;
constexpr uint64_t kLineBytes = 64;
} // namespace

SortCopy::SortCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account)
    : RowBufferCopy(state, std::move(account)), order_(state),
      pruneAt_(plan::rowsBeforeFirst(state.limit)) {}

Status SortCopy::grow() {
  if (state_.limit > 0 && abi_.rows >= pruneAt_) {
    // Where there is no room for it, rows wait on disk.
    if (prune().ok() && abi_.next != abi_.end) {
      return {};
    }
  }
  if (canSpill() && (isFull_ || isCrowded())) {
    HR_RETURN_IF_ERROR(spill());
  }
  Status grown = addBlock();
  if (grown.kind() == ErrorKind::kMemory && canSpill()) {
    HR_RETURN_IF_ERROR(spill());
    grown = addBlock();
  }
  return grown;
}

Status SortCopy::addBlock() {
  if (rows_.capacity() > 0) {
    HR_RETURN_IF_ERROR(prepareToSpill());
  }
  HR_RETURN_IF_ERROR(RowBufferCopy::grow());
  return prepareEntries(rows_.capacity());
}

/// They are written when rows are sorted, so those that are outgrown are not copied: no more are
/// taken than there are rows, since a run must begin before memory is full.
Status SortCopy::prepareEntries(uint64_t rows) {
  const auto bytes = static_cast<int64_t>(rows * sizeof(SortEntry));
  if (bytes > entries_.size()) {
    HR_ASSIGN_OR_RETURN(entries_, account_->allocate(bytes));
  }
  return {};
}

Status SortCopy::prepareToSpill() {
  if (!staging_) {
    HR_ASSIGN_OR_RETURN(lastTexts_, account_->allocate(kLastTextBytes));
    HR_ASSIGN_OR_RETURN(staging_, account_->allocate(kRunPieceBytes));
  }
  return {};
}

bool SortCopy::isCrowded() const {
  RankMemory &memory = account_->memory();
  const int64_t own = static_cast<int64_t>(abi_.rows * state_.rowBytes) + textBytes_;
  const int64_t limit = memory.budget.limitBytes();
  return own >= std::min(kOwnBytesMin, limit / kOwnPart) &&
         memory.budget.reservedBytes() - memory.spillableBytes() >
             limit / kCrowdedDenominator * kCrowdedNumerator;
}

Status SortCopy::keep(HrString *text) {
  textBytes_ += text->length;
  if (textBytes_ >= textsSeenAt_) {
    textsSeenAt_ = textBytes_ + kSmallTexts;
    HR_RETURN_IF_ERROR(prepareToSpill());
    if (isCrowded()) {
      endBlock();
    }
  }
  Status kept = StateCopy::keep(text);
  if (kept.kind() != ErrorKind::kMemory || !staging_ ||
      lastTextBytes_ + text->length + HR_PADDING > static_cast<uint64_t>(lastTexts_.size())) {
    return kept;
  }
  auto *bytes = reinterpret_cast<uint8_t *>(lastTexts_.data()) + lastTextBytes_;
  std::memcpy(bytes, text->data, text->length);
  text->data = bytes;
  lastTextBytes_ += text->length;
  endBlock();
  return {};
}

/// No row goes behind the one whose texts are being kept.
void SortCopy::endBlock() {
  isFull_ = true;
  abi_.end = abi_.next + state_.rowBytes;
}

std::span<SortEntry> SortCopy::listRows() {
  auto *entries = reinterpret_cast<SortEntry *>(entries_.data());
  size_t count = 0;
  for (const RowSpan &span : spans()) {
    for (uint64_t row = 0; row < span.count; ++row) {
      entries[count++] = order_.entryOf(span.rows + row * state_.rowBytes);
    }
  }
  return {entries, count};
}

std::span<SortEntry> SortCopy::firstRows() {
  std::span<SortEntry> rows = listRows();
  if (state_.limit == 0 || state_.limit >= rows.size()) {
    return rows;
  }
  std::nth_element(
      rows.begin(), rows.begin() + static_cast<ptrdiff_t>(state_.limit), rows.end(),
      [this](const SortEntry &a, const SortEntry &b) { return order_.isBefore(a, b); });
  return rows.first(state_.limit);
}

/// Rows that are written in order lie anywhere, and so do their texts.
void SortCopy::askForRow(const uint8_t *row) const {
  for (uint64_t line = 0; line < state_.rowBytes; line += kLineBytes) {
    __builtin_prefetch(row + line);
  }
}

void SortCopy::askForTexts(const uint8_t *row) const {
  for (const plan::StateField &field : state_.fields) {
    if (field.type == HR_STRING && isValid(field, row)) {
      const auto text = loadAs<HrString>(row + field.offset);
      __builtin_prefetch(text.data);
      __builtin_prefetch(text.data + std::min<uint32_t>(text.length, kLineBytes));
    }
  }
}

Status SortCopy::spill() {
  if (abi_.rows == 0) {
    return {};
  }
  HR_RETURN_IF_ERROR(prepareToSpill());
  // For the rows that there are: those of a block just added may have found no room.
  HR_RETURN_IF_ERROR(prepareEntries(abi_.rows));
  RunWriter writer(state_, account_->memory().spill, staging_,
                   [&](const uint8_t *row) { return order_.entryOf(row).word; });
  const std::span<SortEntry> rows = firstRows();
  // Many rows are sorted several times as quickly where there is room for their entries once more.
  Expected<Block> other = account_->allocateIfFree(static_cast<int64_t>(rows.size_bytes()));
  order_.sort(rows, other.ok() ? reinterpret_cast<SortEntry *>(other->data()) : nullptr);
  for (size_t row = 0; row < rows.size(); ++row) {
    if (row + 2 * kAhead < rows.size()) {
      askForRow(rows[row + 2 * kAhead].row);
    }
    if (row + kAhead < rows.size()) {
      askForTexts(rows[row + kAhead].row);
    }
    forgetResults(const_cast<uint8_t *>(rows[row].row)); // of this copy
    HR_RETURN_IF_ERROR(writer.add(rows[row].row));
  }
  HR_ASSIGN_OR_RETURN(std::shared_ptr<const RowRun> run, writer.end());
  runs_.push_back(std::move(run));
  clear();
  account_->reservation().shrink(); // others have the memory
  return {};
}

/// Texts among them may be of rows that are gone, or were never set.
void SortCopy::forgetResults(uint8_t *row) const {
  for (const plan::WindowColumn &window : state_.windows) {
    const plan::StateField &result = state_.fields[window.result];
    if (result.type == HR_STRING) {
      setValid(result, row, false);
      storeAs(row + result.offset, HrString{});
    }
  }
}

Status SortCopy::spillAll() {
  HR_RETURN_IF_ERROR(spill());
  staging_.reset();
  lastTexts_.reset();
  return {};
}

void SortCopy::clear() {
  takeRows(RowStore(account_, state_.rowBytes), BumpArena(account_), 0);
  entries_.reset();
  textBytes_ = 0;
  textsSeenAt_ = kSmallTexts;
  lastTextBytes_ = 0;
  isFull_ = false;
  firstRows_ = 0;
  forgetBound();
}

/// To the kernel: it need not read the rest of rows that come later.
void SortCopy::tellBound(const uint8_t *row) {
  if (state_.order.empty()) { // any rows are the first
    return;
  }
  forgetBound();
  const plan::StateField &key = state_.fields[state_.order.front().field];
  if (isValid(key, row)) {
    abi_.isBounded = 1;
    std::memcpy(abi_.bound, row + key.offset, abi::bytesOf(key.type));
  }
}

/// Kernels compare with it before they look whether it is one: an empty text, not where one was.
void SortCopy::forgetBound() {
  abi_.isBounded = 0;
  std::ranges::fill(abi_.bound, 0);
}

/// The first rows move to a place of their own; the others go with the old one.
Status SortCopy::prune() {
  std::span<SortEntry> rows = listRows();
  auto before = [this](const SortEntry &a, const SortEntry &b) { return order_.isBefore(a, b); };
  auto end = rows.end();
  if (firstRows_ > 0) {
    end = std::remove_if(rows.begin() + static_cast<ptrdiff_t>(firstRows_), end,
                         [&](const SortEntry &row) { return !before(row, bound_); });
  }
  const auto last = rows.begin() + static_cast<ptrdiff_t>(state_.limit) - 1;
  std::nth_element(rows.begin(), last, end, before);
  RowStore first(account_, state_.rowBytes);
  BumpArena texts(account_);
  uint8_t *kept = nullptr;
  int64_t textBytes = 0;
  for (const SortEntry &entry : rows.first(state_.limit)) {
    const uint8_t *row = entry.row;
    HR_ASSIGN_OR_RETURN(kept, first.append());
    std::memcpy(kept, row, state_.rowBytes);
    for (const plan::StateField &field : state_.fields) {
      if (field.type != HR_STRING || !isValid(field, row)) {
        continue;
      }
      auto text = loadAs<HrString>(row + field.offset);
      HR_ASSIGN_OR_RETURN(uint8_t *bytes, texts.allocate(text.length, 1));
      std::memcpy(bytes, text.data, text.length);
      text.data = bytes;
      storeAs(kept + field.offset, text);
      textBytes += text.length;
    }
  }
  takeRows(std::move(first), std::move(texts), state_.limit);
  bound_ = order_.entryOf(kept);
  firstRows_ = state_.limit;
  tellBound(kept);
  textBytes_ = textBytes;
  textsSeenAt_ = textBytes + kSmallTexts;
  lastTextBytes_ = 0;
  isFull_ = false;
  return {};
}

} // namespace headrace::exec
