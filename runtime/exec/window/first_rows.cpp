// Rows go from the buffer to those that are kept; these are sorted when there are many.
#include "runtime/exec/window/first_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace headrace::exec {
namespace {

constexpr int64_t kIncomingBytes = 256 << 10;
constexpr uint64_t kCompressRows = 32768;
/// What is kept grows to so many times what compressing left.
constexpr uint64_t kGrowth = 4;
constexpr uint64_t kSlotsMin = 1 << 10;
constexpr uint64_t kSlotsMax = 1 << 16;

} // namespace

FirstRowsCopy::FirstRowsCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account)
    : RowBufferCopy(state, account), order_(state), sort_(order_, account),
      countsPeers_(std::any_of(state.windows.begin(), state.windows.end(),
                               [](const plan::WindowColumn &window) {
                                 return window.function != plan::WindowFunction::kRowNumber;
                               })),
      kept_(std::make_unique<RowStore>(account, state.rowBytes)), compressAt_(kCompressRows),
      entries_(account), last_(account) {}

std::vector<RowSpan> FirstRowsCopy::spans() const {
  std::vector<RowSpan> spans = kept_->spans();
  if (!helps_) {
    std::vector<RowSpan> others = RowBufferCopy::spans();
    spans.insert(spans.end(), others.begin(), others.end());
  } else if (abi_.next != incomingBegin_) {
    spans.push_back(
        {incomingBegin_, static_cast<uint64_t>(abi_.next - incomingBegin_) / state_.rowBytes});
  }
  return spans;
}

uint64_t FirstRowsCopy::rowCount() const {
  uint64_t rows = 0;
  for (const RowSpan &span : spans()) {
    rows += span.count;
  }
  return rows;
}

Status FirstRowsCopy::grow() {
  if (!helps_) {
    return RowBufferCopy::grow();
  }
  if (!incomingBegin_) {
    return startIncoming();
  }
  HR_RETURN_IF_ERROR(takeIncoming());
  if (keptRows_ < compressAt_) {
    return {};
  }
  HR_RETURN_IF_ERROR(compress());
  if (helps_) {
    return {};
  }
  abi_.next = abi_.end = nullptr;
  incoming_.reset();
  entries_.reset();
  last_.reset();
  return RowBufferCopy::grow();
}

Status FirstRowsCopy::startIncoming() {
  int64_t bytes = std::max<int64_t>(kIncomingBytes, int64_t(state_.rowBytes) + HR_PADDING);
  HR_ASSIGN_OR_RETURN(incoming_, account_->allocate(bytes));
  incomingBegin_ = reinterpret_cast<uint8_t *>(incoming_.data());
  abi_.next = incomingBegin_;
  abi_.end = incomingBegin_ + (bytes - HR_PADDING) / state_.rowBytes * state_.rowBytes;
  return {};
}

bool FirstRowsCopy::isRuledOut(const Entry &entry) const {
  if (last_.size() == 0) {
    return false;
  }
  const Entry &last = lastOf(entry.hash);
  return last.row && last.hash == entry.hash && last.prefix < entry.prefix &&
         order_.samePartition(last, entry);
}

Status FirstRowsCopy::takeIncoming() {
  for (uint8_t *row = incomingBegin_; row < abi_.next; row += state_.rowBytes) {
    if (!isRuledOut(order_.entryOf(row))) {
      HR_RETURN_IF_ERROR(keepRow(row));
    }
  }
  abi_.next = incomingBegin_;
  return {};
}

Status FirstRowsCopy::keepRow(const uint8_t *row) {
  HR_ASSIGN_OR_RETURN(uint8_t *at, kept_->append());
  std::memcpy(at, row, state_.rowBytes);
  ++keptRows_;
  return {};
}

Status FirstRowsCopy::compress() {
  uint64_t before = keptRows_;
  HR_RETURN_IF_ERROR(entries_.resize(before));
  uint64_t count = 0;
  for (const RowSpan &span : kept_->spans()) {
    for (uint64_t i = 0; i < span.count; ++i) {
      entries_[count++] = order_.entryOf(span.rows + i * state_.rowBytes);
    }
  }
  HR_RETURN_IF_ERROR(sort_.sort(entries_.span()));
  HR_RETURN_IF_ERROR(last_.resize(std::clamp(std::bit_ceil(before), kSlotsMin, kSlotsMax)));
  std::fill(last_.data(), last_.data() + last_.size(), Entry{});
  std::unique_ptr<RowStore> old = std::move(kept_);
  kept_ = std::make_unique<RowStore>(account_, state_.rowBytes);
  keptRows_ = 0;
  for (uint64_t begin = 0, end = 0; begin < count; begin = end) {
    bool isOne = true; // of several partitions of one hash all rows are kept
    for (end = begin + 1; end < count && entries_[end].hash == entries_[begin].hash; ++end) {
      isOne &= order_.samePartition(entries_[begin], entries_[end]);
    }
    uint64_t wanted = end - begin;
    if (isOne && wanted > state_.limit) {
      wanted = state_.limit;
      while (countsPeers_ && begin + wanted < end &&
             !order_.isBefore(entries_[begin + wanted - 1], entries_[begin + wanted])) {
        ++wanted;
      }
    }
    for (uint64_t i = begin; i < begin + wanted; ++i) {
      HR_RETURN_IF_ERROR(keepRow(entries_[i].row));
    }
    if (isOne && wanted >= state_.limit) {
      Entry last = entries_[begin + wanted - 1];
      last.row = kept_->next() - state_.rowBytes;
      lastOf(last.hash) = last;
    }
  }
  helps_ = keptRows_ <= before / 2;
  compressAt_ = std::max(kCompressRows, kGrowth * keptRows_);
  return {};
}

} // namespace headrace::exec
