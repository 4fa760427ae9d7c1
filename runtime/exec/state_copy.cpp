// The copies of states, by kind.
#include "runtime/exec/state_copy.h"

#include "runtime/base/check.h"
#include "runtime/exec/group/group_copy.h"
#include "runtime/exec/sort/sort_copy.h"
#include "runtime/exec/window/first_rows.h"

#include <cstring>

namespace headrace::exec {
namespace {

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
  case plan::StateKind::kGroupTable: {
    HR_ASSIGN_OR_RETURN(auto groups, GroupCopy::create(state, account, state.rows.expected));
    return std::unique_ptr<StateCopy>(std::move(groups));
  }
  case plan::StateKind::kSortBuffer:
    return std::unique_ptr<StateCopy>(std::make_unique<SortCopy>(state, account));
  case plan::StateKind::kJoinTable:
    return std::unique_ptr<StateCopy>(std::make_unique<RowBufferCopy>(state, account));
  case plan::StateKind::kWindow:
    if (state.limit > 0) {
      return std::unique_ptr<StateCopy>(std::make_unique<FirstRowsCopy>(state, account));
    }
    return std::unique_ptr<StateCopy>(std::make_unique<SortCopy>(state, account));
  case plan::StateKind::kRowBuffer:
    break;
  }
  // no test: KeptRows make the copies of row buffers, and all other kinds are above
  return makeError(ErrorKind::kInternal,
                   "no copies are made of a state of this kind: ", state.name);
}

Expected<uint8_t *> insertGroup(HrGroupTable *table, uint64_t hash) {
  return static_cast<GroupCopy *>(static_cast<StateCopy *>(table->owner))->insert(hash);
}

Status growRows(HrRowBuffer *buffer) {
  return static_cast<RowBufferCopy *>(static_cast<StateCopy *>(buffer->owner))->grow();
}

} // namespace headrace::exec
