// Rows stay as they are but for the addresses of strings.
#include "runtime/exec/gpu/read_back_copy.h"

#include <cstring>

namespace headrace::exec {

ReadBackCopy::ReadBackCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account,
                           DeviceState::Image image)
    : StateCopy(state, std::move(account)), image_(std::move(image)) {
  void *owner = static_cast<StateCopy *>(this);
  scalar_ = {image_.rowBegin(), owner};
  group_.rows = image_.rows;
  group_.owner = owner;
  rows_.next = rows_.end = image_.rowBegin() + image_.rows * state.rowBytes;
  rows_.rows = image_.rows;
  rows_.rowBytes = state.rowBytes;
  rows_.owner = owner;
}

ReadBackCopy::~ReadBackCopy() { image_.memory.reset(); } // before the account that pays for it

void *ReadBackCopy::abi() {
  switch (state_.kind) {
  case plan::StateKind::kScalar:
    return &scalar_;
  case plan::StateKind::kGroupTable:
    return &group_;
  default:
    return &rows_;
  }
}

Status ReadBackCopy::adopt(uint64_t first, uint64_t count) {
  for (const plan::StateField &field : state_.fields) {
    if (field.type != HR_STRING) {
      continue;
    }
    uint8_t *row = image_.rowBegin() + first * state_.rowBytes;
    for (uint64_t index = 0; index < count; ++index, row += state_.rowBytes) {
      HrString text = {};
      if (!field.nullable || row[field.validOffset] != 0) {
        std::memcpy(&text, row + field.offset, sizeof text);
      }
      const uint64_t offset = reinterpret_cast<uint64_t>(text.data) - image_.heap;
      if (text.length == 0) {
        text.data = image_.heapBegin();
      } else if (offset <= image_.heapBytes && text.length <= image_.heapBytes - offset) {
        text.data = image_.heapBegin() + offset;
      } else {
        // no test: what a broken kernel might give
        return makeError(ErrorKind::kCorrupt,
                         "a GPU left a string outside of its state: ", state_.name);
      }
      std::memcpy(row + field.offset, &text, sizeof text);
    }
  }
  return {};
}

} // namespace headrace::exec
