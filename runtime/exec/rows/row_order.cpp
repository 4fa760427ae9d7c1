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

/// Most are small: what does not fit 64 bits is equal to the last that does.
uint64_t orderedStart(__int128 value) {
  return static_cast<uint64_t>(std::clamp<__int128>(value, INT64_MIN, INT64_MAX)) ^ uint64_t(1)
                                                                                        << 63;
}

/// The first eight bytes of a text with HR_PADDING behind it.
uint64_t textStart(const uint8_t *text, uint32_t length) {
  if (length == 0) {
    return 0;
  }
  const unsigned beyond = 64 - 8 * std::min(length, 8u);
  return __builtin_bswap64(loadAs<uint64_t>(text)) >> beyond << beyond;
}

bool isSet(const uint8_t *bits, size_t index) { return (bits[index / 8] >> (index % 8) & 1) != 0; }

/// The value as an unsigned number of bitsOf(type) bits in the same order.
uint64_t orderedValue(HrType type, const uint8_t *at) {
  if (type == HR_I128) {
    return orderedStart(loadAs<__int128>(at));
  }
  if (type == HR_STRING) {
    const auto text = loadAs<HrString>(at);
    return textStart(text.data, text.length);
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
  int left = 64;
  for (const plan::OrderKey &key : keys) {
    const plan::StateField &field = state.fields[key.field];
    const int bits = static_cast<int>(bitsOf(field.type)), nullBits = field.nullable ? 1 : 0;
    if (left > 0) {
      ++prefixKeys_;
    }
    exact_ &= bits + nullBits <= left && holdsAll(field.type);
    keys_.push_back({field.type, field.offset, field.nullable, field.validOffset, key.descending,
                     key.nullsFirst, bitsOf(field.type), std::max(left - nullBits - bits, -bits),
                     std::max(left - 1, 0)});
    left = std::max(left - bits - nullBits, 0);
  }
}

uint64_t RowOrder::prefix(const uint8_t *row) const {
  uint64_t prefix = 0;
  for (const Key &key : std::span(keys_).first(prefixKeys_)) {
    const bool valid = !key.nullable || row[key.validOffset] != 0;
    prefix |= key.nullBit(valid);
    prefix |= valid ? key.valueBits(orderedValue(key.type, row + key.offset)) : 0;
  }
  return prefix;
}

/// `ordered` of a row's number is its value as an ordered number.
template <typename Ordered>
void RowOrder::addKey(const Key &key, const HrSegment &column, uint32_t begin,
                      std::span<uint64_t> prefixes, Ordered ordered) {
  if (!column.validity) {
    const uint64_t nullBit = key.nullBit(true);
    for (size_t i = 0; i < prefixes.size(); ++i) {
      prefixes[i] |= nullBit | key.valueBits(ordered(begin + i));
    }
    return;
  }
  for (size_t i = 0; i < prefixes.size(); ++i) {
    const bool valid = isSet(column.validity, begin + i);
    prefixes[i] |= key.nullBit(valid) | (valid ? key.valueBits(ordered(begin + i)) : 0);
  }
}

void RowOrder::prefixes(std::span<const HrSegment *const> keys, uint32_t begin,
                        std::span<uint64_t> prefixes) const {
  std::ranges::fill(prefixes, 0);
  for (size_t index = 0; index < prefixKeys_; ++index) {
    const Key &key = keys_[index];
    const HrSegment &column = *keys[index];
    const auto *data = static_cast<const uint8_t *>(column.data);
    auto add = [&](auto ordered) { addKey(key, column, begin, prefixes, ordered); };
    switch (key.type) {
    case HR_BOOL:
      add([&](size_t row) { return static_cast<uint64_t>(isSet(data, row)); });
      break;
    case HR_I8:
      add([&](size_t row) { return orderedNumber(HR_I8, data + row); });
      break;
    case HR_I16:
      add([&](size_t row) { return orderedNumber(HR_I16, data + row * 2); });
      break;
    case HR_I32:
      add([&](size_t row) { return orderedNumber(HR_I32, data + row * 4); });
      break;
    case HR_F32:
      add([&](size_t row) { return orderedNumber(HR_F32, data + row * 4); });
      break;
    case HR_I64:
      add([&](size_t row) { return orderedNumber(HR_I64, data + row * 8); });
      break;
    case HR_F64:
      add([&](size_t row) { return orderedNumber(HR_F64, data + row * 8); });
      break;
    case HR_I128:
      add([&](size_t row) { return orderedStart(loadAs<__int128>(data + row * 16)); });
      break;
    case HR_STRING:
      add([&](size_t row) {
        const auto *ends = static_cast<const uint32_t *>(column.data) + row;
        return textStart(column.heap + ends[0], ends[1] - ends[0]);
      });
    }
  }
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
