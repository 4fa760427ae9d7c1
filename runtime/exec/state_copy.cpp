// The copies of states, by kind.
#include "runtime/exec/state_copy.h"

#include "runtime/base/check.h"
#include "runtime/exec/sort/sort_copy.h"
#include "runtime/exec/window/first_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace headrace::exec {
namespace {

constexpr uint64_t kPointerBits = 48;
/// Of a group table's first directory: 64 KiB to 2 MiB.
constexpr uint64_t kEntriesMin = 1 << 13;
constexpr uint64_t kEntriesMax = 1 << 18;

class ScalarCopy final : public StateCopy {
public:
  ScalarCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account)
      : StateCopy(state, account), rows_(account, state.rowBytes) {}
  Status initialize() {
    HR_ASSIGN_OR_RETURN(abi_.row, rows_.append());
    fillIdentity(abi_.row);
    abi_.owner = static_cast<StateCopy *>(this);
    return {};
  }
  void *abi() override { return &abi_; }
  uint64_t rowCount() const override { return 1; }
  std::vector<RowSpan> spans() const override { return rows_.spans(); }

private:
  RowStore rows_;
  HrScalarState abi_{};
};

/// The directory doubles when half full; entries are row pointers tagged with the hash's high bits.
class GroupCopy final : public StateCopy {
public:
  GroupCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account)
      : StateCopy(state, account), rows_(account, state.rowBytes) {}
  ~GroupCopy() override { directory_.reset(); }
  Status initialize() {
    abi_.owner = static_cast<StateCopy *>(this);
    // For the groups that are expected, as far as they are cheap to be wrong about; with less
    // memory it grows later.
    uint64_t wanted = std::bit_ceil(std::clamp(state_.rows.expected, kEntriesMin, kEntriesMax) * 2);
    wanted = std::clamp(wanted, kEntriesMin, kEntriesMax);
    if (wanted > kEntriesMin && resize(wanted).ok()) {
      return {};
    }
    return resize(kEntriesMin);
  }
  void *abi() override { return &abi_; }
  uint64_t rowCount() const override { return abi_.rows; }
  std::vector<RowSpan> spans() const override { return rows_.spans(); }

  Expected<uint8_t *> insert(uint64_t hash) {
    if (abi_.rows >= abi_.limit) {
      HR_RETURN_IF_ERROR(resize((abi_.mask + 1) * 2));
    }
    HR_ASSIGN_OR_RETURN(uint8_t *row, rows_.append());
    fillIdentity(row);
    std::memcpy(row, &hash, sizeof hash);
    enter(row, hash);
    ++abi_.rows;
    return row;
  }

private:
  void enter(uint8_t *row, uint64_t hash) {
    uint64_t slot = hash & abi_.mask;
    while (abi_.directory[slot] != 0) {
      slot = (slot + 1) & abi_.mask;
    }
    abi_.directory[slot] = reinterpret_cast<uint64_t>(row) | (hash >> kPointerBits << kPointerBits);
  }
  Status resize(uint64_t entries) {
    HR_ASSIGN_OR_RETURN(Block block, account_->allocate(static_cast<int64_t>(entries * 8)));
    std::memset(block.data(), 0, entries * 8);
    directory_ = std::move(block);
    abi_.directory = reinterpret_cast<uint64_t *>(directory_.data());
    abi_.mask = entries - 1;
    abi_.limit = entries / 2;
    for (const RowSpan &span : rows_.spans()) {
      for (uint64_t i = 0; i < span.count; ++i) {
        uint8_t *row = span.rows + i * rows_.rowBytes();
        uint64_t hash;
        std::memcpy(&hash, row, sizeof hash);
        enter(row, hash);
      }
    }
    return {};
  }

  RowStore rows_;
  Block directory_;
  HrGroupTable abi_{};
};

template <typename Copy, typename... Args>
Expected<std::unique_ptr<StateCopy>> initialized(Args &&...args) {
  auto copy = std::make_unique<Copy>(std::forward<Args>(args)...);
  HR_RETURN_IF_ERROR(copy->initialize());
  return std::unique_ptr<StateCopy>(std::move(copy));
}

} // namespace

StateCopy::StateCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account)
    : state_(state), account_(account), strings_(account) {}

RowBufferCopy::RowBufferCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account)
    : StateCopy(state, account), rows_(account, state.rowBytes) {
  abi_.rowBytes = state.rowBytes;
  abi_.owner = static_cast<StateCopy *>(this);
}

std::vector<RowSpan> RowBufferCopy::spans() const {
  rows_.setNext(abi_.next);
  return rows_.spans();
}

Status RowBufferCopy::grow() {
  rows_.setNext(abi_.next);
  HR_RETURN_IF_ERROR(rows_.grow());
  abi_.next = rows_.next();
  abi_.end = rows_.end();
  return {};
}

void RowBufferCopy::takeRows(RowStore rows, BumpArena texts, uint64_t count) {
  rows_ = std::move(rows);
  strings_ = std::move(texts);
  abi_.next = rows_.next();
  abi_.end = rows_.end();
  abi_.rows = count;
}

void StateCopy::fillIdentity(uint8_t *row) const {
  if (state_.identity.empty()) {
    std::memset(row, 0, state_.rowBytes);
  } else {
    std::memcpy(row, state_.identity.data(), state_.rowBytes);
  }
}

Status StateCopy::keep(HrString *text) {
  HR_ASSIGN_OR_RETURN(uint8_t *bytes, strings_.allocate(text->length, 1));
  std::memcpy(bytes, text->data, text->length);
  text->data = bytes;
  return {};
}

Expected<std::unique_ptr<StateCopy>> makeStateCopy(const plan::State &state,
                                                   std::shared_ptr<MemoryAccount> account) {
  switch (state.kind) {
  case plan::StateKind::kScalar:
    return initialized<ScalarCopy>(state, account);
  case plan::StateKind::kGroupTable:
    return initialized<GroupCopy>(state, account);
  case plan::StateKind::kSortBuffer:
    return std::unique_ptr<StateCopy>(std::make_unique<SortCopy>(state, account));
  case plan::StateKind::kJoinTable:
  case plan::StateKind::kRowBuffer:
    return std::unique_ptr<StateCopy>(std::make_unique<RowBufferCopy>(state, account));
  case plan::StateKind::kWindow:
    if (state.limit > 0) {
      return std::unique_ptr<StateCopy>(std::make_unique<FirstRowsCopy>(state, account));
    }
    return std::unique_ptr<StateCopy>(std::make_unique<RowBufferCopy>(state, account));
  }
  // no test: the switch has all kinds
  return makeError(ErrorKind::kInternal, "unknown kind of state: ", state.name);
}

Expected<uint8_t *> insertGroup(HrGroupTable *table, uint64_t hash) {
  return static_cast<GroupCopy *>(static_cast<StateCopy *>(table->owner))->insert(hash);
}

Status growRows(HrRowBuffer *buffer) {
  return static_cast<RowBufferCopy *>(static_cast<StateCopy *>(buffer->owner))->grow();
}

} // namespace headrace::exec
