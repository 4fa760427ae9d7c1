// Key rows: a value and a byte that says whether it is one, for each key.
#include "runtime/exec/range/order_keys.h"

#include "runtime/abi/type_bytes.h"
#include "runtime/exec/rows/field_values.h"

namespace headrace::exec {
namespace {

/// A key's value and its byte of validity are within so many bytes.
constexpr uint32_t kKeyBytes = 32;

std::vector<plan::OrderKey> byPosition(std::vector<plan::OrderKey> order) {
  for (size_t key = 0; key < order.size(); ++key) {
    order[key].field = static_cast<int32_t>(key);
  }
  return order;
}

} // namespace

plan::State OrderKeys::stateOf(const plan::Schema &schema,
                               const std::vector<plan::OrderKey> &order) {
  plan::State state;
  for (const plan::OrderKey &key : order) {
    plan::StateField field;
    field.type = schema.columns[key.field].type;
    field.offset = state.rowBytes;
    field.nullable = schema.columns[key.field].nullable;
    field.validOffset = state.rowBytes + kKeyBytes - 1;
    state.fields.push_back(field);
    state.rowBytes += kKeyBytes;
  }
  return state;
}

OrderKeys::OrderKeys(const plan::Schema &schema, const std::vector<plan::OrderKey> &order)
    : state_(stateOf(schema, order)), order_(state_, byPosition(order)) {
  for (const plan::OrderKey &key : order) {
    own_.push_back(static_cast<int32_t>(columns_.size()));
    columns_.push_back(key.field);
    schema_.columns.push_back(schema.columns[key.field]);
  }
}

void OrderKeys::prefixes(const Chunk &chunk, uint32_t begin, std::span<uint64_t> prefixes) const {
  std::vector<const HrSegment *> keys;
  for (size_t key = 0; key < order_.prefixKeys(); ++key) {
    keys.push_back(&chunk.segments[columns_[key]]);
  }
  order_.prefixes(keys, begin, prefixes);
}

void OrderKeys::read(const Chunk &chunk, std::span<const int32_t> columns, uint32_t row,
                     uint8_t *to) const {
  for (size_t key = 0; key < columns.size(); ++key) {
    const plan::StateField &field = state_.fields[key];
    const HrSegment &segment = chunk.segments[columns[key]];
    const auto *data = static_cast<const uint8_t *>(segment.data);
    auto bit = [&](const uint8_t *bits) { return (bits[row / 8] >> (row % 8) & 1) != 0; };
    uint8_t *at = to + field.offset;
    if (field.type == HR_BOOL) {
      *at = bit(data) ? 1 : 0;
    } else if (field.type == HR_STRING) {
      const auto *offsets = static_cast<const uint32_t *>(segment.data);
      HrString text{};
      text.data = segment.heap + offsets[row];
      text.length = offsets[row + 1] - offsets[row];
      storeAs(at, text);
    } else {
      uint64_t width = abi::bytesOf(field.type);
      std::memcpy(at, data + row * width, width);
    }
    setValid(field, to, !segment.validity || bit(segment.validity));
  }
}

} // namespace headrace::exec
