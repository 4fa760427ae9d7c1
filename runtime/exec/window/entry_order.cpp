// Entries of rows, and their order.
#include "runtime/exec/window/entry_order.h"

#include <cstring>

namespace headrace::exec {
namespace {

std::vector<plan::OrderKey> keysOf(const plan::State &state) {
  std::vector<plan::OrderKey> keys;
  for (size_t index = 0; index < state.fields.size(); ++index) {
    if (state.fields[index].combine == plan::Combine::kKey) {
      keys.push_back({static_cast<int32_t>(index), false, false});
    }
  }
  return keys;
}

/// Whether the partition keys are none, or one number of at most 64 bits, whose hash is a
/// permutation (primitives/hash/hash.h). A NULL's hash is that of some number.
bool isHashedOneToOne(const plan::State &state) {
  std::vector<plan::OrderKey> keys = keysOf(state);
  if (keys.size() != 1) {
    return keys.empty();
  }
  const plan::StateField &key = state.fields[keys.front().field];
  return !key.nullable && key.type != HR_STRING && key.type != HR_I128;
}

} // namespace

EntryOrder::EntryOrder(const plan::State &state)
    : order_(state, state.order), keys_(state, keysOf(state)), hashed_(!keysOf(state).empty()),
      hashDecides_(isHashedOneToOne(state)) {}

Entry EntryOrder::entryOf(uint8_t *row) const {
  uint64_t hash = 0;
  if (hashed_) {
    std::memcpy(&hash, row, sizeof hash);
  }
  return {hash, order_.prefix(row), row};
}

bool EntryOrder::isBefore(const Entry &a, const Entry &b) const {
  if (a.key() != b.key()) {
    return a.key() < b.key();
  }
  return !order_.isExact() && order_.compare(a.row, b.row) < 0;
}

bool EntryOrder::isBeforeByKeys(const Entry &a, const Entry &b) const {
  int partition = a.hash == b.hash ? keys_.compare(a.row, b.row) : 0;
  return partition != 0 ? partition < 0 : isBefore(a, b);
}

} // namespace headrace::exec
