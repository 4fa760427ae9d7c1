// What all copies of states have in common.
#include "runtime/exec/rows/state_copy.h"

#include <cstring>

namespace headrace::exec {
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

Status growRows(HrRowBuffer *buffer) {
  return static_cast<RowBufferCopy *>(static_cast<StateCopy *>(buffer->owner))->grow();
}

} // namespace headrace::exec
