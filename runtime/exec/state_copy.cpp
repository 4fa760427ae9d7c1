// The copies of scalar, group, dense and row-buffer states.
#include "runtime/exec/state_copy.h"

#include "runtime/base/check.h"

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

class DenseCopy final : public StateCopy {
public:
  DenseCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account)
      : StateCopy(state, std::move(account)) {}
  ~DenseCopy() override { block_.reset(); }
  Status initialize() {
    abi_.rowBytes = state_.rowBytes;
    abi_.owner = static_cast<StateCopy *>(this);
    return {};
  }
  void *abi() override { return &abi_; }
  uint64_t rowCount() const override { return abi_.capacity; }
  std::vector<RowSpan> spans() const override {
    return abi_.capacity == 0 ? std::vector<RowSpan>{}
                              : std::vector<RowSpan>{{abi_.rows, abi_.capacity}};
  }
  /// The capacity that kernels see is what was asked for, so that no group beyond it is ever
  /// emitted; the memory behind it doubles.
  Status reserveGroups(uint64_t groups) override {
    if (groups <= abi_.capacity) {
      return {};
    }
    if (groups > allocated_) {
      HR_RETURN_IF_ERROR(enlarge(std::max(groups, allocated_ * 2)));
    }
    for (; abi_.capacity < groups; ++abi_.capacity) {
      fillIdentity(abi_.rows + abi_.capacity * abi_.rowBytes);
    }
    return {};
  }

private:
  Status enlarge(uint64_t rows) {
    uint64_t bytes;
    if (__builtin_mul_overflow(rows, abi_.rowBytes, &bytes) || bytes > (uint64_t(1) << 46)) {
      // no test: it takes 64 TiB
      return makeError(ErrorKind::kMemory, "too many groups in state '", state_.name, "': ", rows);
    }
    HR_ASSIGN_OR_RETURN(Block block, account_->allocate(static_cast<int64_t>(bytes) + HR_PADDING));
    allocated_ = (static_cast<uint64_t>(block.size()) - HR_PADDING) / abi_.rowBytes;
    auto *moved = reinterpret_cast<uint8_t *>(block.data());
    if (abi_.capacity != 0) {
      std::memcpy(moved, abi_.rows, abi_.capacity * abi_.rowBytes);
    }
    block_ = std::move(block);
    abi_.rows = moved;
    return {};
  }

  Block block_;
  uint64_t allocated_ = 0; ///< rows that the block has room for
  HrDenseTable abi_{};
};

/// Join build side before finishing, sort buffer: the kernel appends by itself.
class RowBufferCopy final : public StateCopy {
public:
  RowBufferCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account)
      : StateCopy(state, account), rows_(account, state.rowBytes) {
    abi_.rowBytes = state.rowBytes;
    abi_.owner = static_cast<StateCopy *>(this);
  }
  void *abi() override { return &abi_; }
  uint64_t rowCount() const override { return abi_.rows; }
  std::vector<RowSpan> spans() const override {
    rows_.setNext(abi_.next);
    return rows_.spans();
  }
  Status grow() {
    rows_.setNext(abi_.next);
    HR_RETURN_IF_ERROR(rows_.grow());
    abi_.next = rows_.next();
    abi_.end = rows_.end();
    return {};
  }

private:
  mutable RowStore rows_; ///< learns how far the kernel has written only when asked
  HrRowBuffer abi_{};
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
  case plan::StateKind::kDense:
    return initialized<DenseCopy>(state, account);
  case plan::StateKind::kJoinTable:
  case plan::StateKind::kSortBuffer:
  case plan::StateKind::kRowBuffer:
    return std::unique_ptr<StateCopy>(std::make_unique<RowBufferCopy>(state, account));
  case plan::StateKind::kDictionary:
    break;
  }
  return makeError(ErrorKind::kInternal, "a dictionary has no copies: ", state.name);
}

Expected<uint8_t *> insertGroup(HrGroupTable *table, uint64_t hash) {
  return static_cast<GroupCopy *>(static_cast<StateCopy *>(table->owner))->insert(hash);
}

Status growRows(HrRowBuffer *buffer) {
  return static_cast<RowBufferCopy *>(static_cast<StateCopy *>(buffer->owner))->grow();
}

Status reserveDense(HrDenseTable *table, uint64_t groups) {
  return static_cast<StateCopy *>(table->owner)->reserveGroups(groups);
}

} // namespace headrace::exec
