// Blocks of rows that grow from 64 KiB to 2 MiB.
#include "runtime/exec/rows/row_store.h"

#include "runtime/abi/kernel.h"

#include <algorithm>
#include <utility>

namespace headrace::exec {

RowStore &RowStore::operator=(RowStore &&other) noexcept {
  blocks_ = std::move(other.blocks_); // before the account that they are charged to
  account_ = std::move(other.account_);
  rowBytes_ = other.rowBytes_;
  next_ = std::exchange(other.next_, nullptr);
  end_ = std::exchange(other.end_, nullptr);
  capacity_ = std::exchange(other.capacity_, 0);
  return *this;
}

Status RowStore::grow() {
  if (!blocks_.empty()) {
    auto *start = reinterpret_cast<uint8_t *>(blocks_.back().block.data());
    blocks_.back().count = static_cast<uint64_t>(next_ - start) / rowBytes_;
  }
  int64_t bytes =
      blocks_.empty() ? 64 << 10 : std::min<int64_t>(blocks_.back().block.size() * 2, 2 << 20);
  bytes = std::max<int64_t>(bytes, static_cast<int64_t>(rowBytes_) + HR_PADDING);
  HR_ASSIGN_OR_RETURN(Block block, account_->allocate(bytes));
  next_ = reinterpret_cast<uint8_t *>(block.data());
  uint64_t room = (static_cast<uint64_t>(block.size()) - HR_PADDING) / rowBytes_;
  end_ = next_ + room * rowBytes_;
  capacity_ += room;
  blocks_.push_back(Piece{std::move(block), 0});
  return {};
}

Expected<uint8_t *> RowStore::append() {
  if (next_ == end_) {
    HR_RETURN_IF_ERROR(grow());
  }
  uint8_t *row = next_;
  next_ += rowBytes_;
  return row;
}

std::vector<RowSpan> RowStore::spans() const {
  std::vector<RowSpan> spans;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    auto *start = reinterpret_cast<uint8_t *>(blocks_[i].block.data());
    bool newest = i + 1 == blocks_.size();
    uint64_t count = newest ? static_cast<uint64_t>(next_ - start) / rowBytes_ : blocks_[i].count;
    if (count != 0) {
      spans.push_back(RowSpan{start, count});
    }
  }
  return spans;
}

} // namespace headrace::exec
