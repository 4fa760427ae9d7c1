// Each kind of state has a copy of its own; scalars are too small for a file.
#include "runtime/exec/state/make_state_copy.h"

#include "runtime/exec/group/group_copy.h"
#include "runtime/exec/sort/sort_copy.h"
#include "runtime/exec/window/first_rows.h"

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

Expected<std::unique_ptr<StateCopy>>
makeStateCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account, Copies copies) {
  switch (state.kind) {
  case plan::StateKind::kScalar:
    return initialized<ScalarCopy>(state, account);
  case plan::StateKind::kGroupTable: {
    HR_ASSIGN_OR_RETURN(auto groups,
                        GroupCopy::create(state, account, state.rows.expected, copies));
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

} // namespace headrace::exec
