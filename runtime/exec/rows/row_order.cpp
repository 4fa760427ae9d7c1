// A prefix is made of the keys' values as unsigned numbers, one after the other from the highest
// bit on, each behind a bit for NULL if it may be NULL, as far as 64 bits go.
#include "runtime/exec/rows/row_order.h"

#include "runtime/exec/rows/ordered_bits.h"

#include <algorithm>
#include <cstring>

namespace headrace::exec {
namespace {

/// Bits of a value in a prefix.
unsigned bitsOf(HrType type) { return std::min(orderedBitsOf(type), 64u); }

/// Whether those bits are all of the value.
bool holdsAll(HrType type) { return type != HR_I128 && type != HR_STRING; }

/// The value as an unsigned number of bitsOf(type) bits in the same order.
uint64_t orderedValue(HrType type, const uint8_t *at) {
  if (type == HR_I128) { // most are small: what does not fit 64 bits is equal to the last that does
    auto value = std::clamp<__int128>(loadAs<__int128>(at), INT64_MIN, INT64_MAX);
    return static_cast<uint64_t>(value) ^ uint64_t(1) << 63;
  }
  if (type == HR_STRING) {
    auto text = loadAs<HrString>(at);
    uint8_t bytes[8] = {};
    std::memcpy(bytes, text.data, std::min<uint32_t>(text.length, 8));
    uint64_t value;
    std::memcpy(&value, bytes, 8);
    return __builtin_bswap64(value);
  }
  return orderedNumber(type, at);
}

int compareValues(HrType type, const uint8_t *a, const uint8_t *b) {
  auto compare = [&]<typename T>(T) {
    T x = loadAs<T>(a), y = loadAs<T>(b);
    return static_cast<int>(isLess(y, x)) - static_cast<int>(isLess(x, y));
  };
  switch (type) {
  case HR_BOOL:
    return compare(uint8_t());
  case HR_I8:
    return compare(int8_t());
  case HR_I16:
    return compare(int16_t());
  case HR_I32:
    return compare(int32_t());
  case HR_I64:
    return compare(int64_t());
  case HR_I128:
    return compare(static_cast<__int128>(0));
  case HR_F32:
    return compare(float());
  case HR_F64:
    return compare(double());
  case HR_STRING:
    return compare(HrString());
  }
  return 0;
}

} // namespace

RowOrder::RowOrder(const plan::State &state, std::span<const plan::OrderKey> keys) {
  unsigned left = 64;
  for (const plan::OrderKey &key : keys) {
    const plan::StateField &field = state.fields[key.field];
    keys_.push_back({field.type, field.offset, field.nullable, field.validOffset, key.descending,
                     key.nullsFirst});
    unsigned wanted = bitsOf(field.type) + (field.nullable ? 1 : 0);
    if (left > 0) {
      ++prefixKeys_;
    }
    exact_ &= wanted <= left && holdsAll(field.type);
    left -= std::min(wanted, left);
  }
}

uint64_t RowOrder::prefix(const uint8_t *row) const {
  uint64_t prefix = 0;
  unsigned left = 64;
  auto append = [&](uint64_t value, unsigned bits) {
    if (bits <= left) {
      left -= bits;
      prefix |= left == 64 ? 0 : value << left;
    } else {
      prefix |= value >> (bits - left);
      left = 0;
    }
  };
  for (size_t index = 0; index < prefixKeys_ && left > 0; ++index) {
    const Key &key = keys_[index];
    bool valid = !key.nullable || row[key.validOffset] != 0;
    if (key.nullable) {
      append(valid == key.nullsFirst ? 1 : 0, 1);
    }
    unsigned bits = bitsOf(key.type);
    uint64_t value = valid ? orderedValue(key.type, row + key.offset) : 0;
    if (valid && key.descending) {
      value = ~value & (bits == 64 ? UINT64_MAX : (uint64_t(1) << bits) - 1);
    }
    if (left > 0) {
      append(value, bits);
    }
  }
  return prefix;
}

int RowOrder::compare(const uint8_t *a, const uint8_t *b) const {
  for (const Key &key : keys_) {
    if (key.nullable) {
      bool validA = a[key.validOffset] != 0, validB = b[key.validOffset] != 0;
      if (validA != validB) {
        return validA == key.nullsFirst ? 1 : -1;
      }
      if (!validA) {
        continue;
      }
    }
    if (int order = compareValues(key.type, a + key.offset, b + key.offset)) {
      return key.descending ? -order : order;
    }
  }
  return 0;
}

} // namespace headrace::exec
