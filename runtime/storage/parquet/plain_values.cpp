// One loop per stored type; integers up to 64 bits go through the vectorised primitive.
#include "runtime/storage/parquet/plain_values.h"

#include "runtime/abi/type_bytes.h"
#include "runtime/base/binary_functions.h"
#include "runtime/primitives/narrow/narrow.h"
#include "runtime/primitives/string/string.h"
#include "runtime/primitives/string/utf8.h"
#include "runtime/storage/columns/texts.h"

#include <algorithm>
#include <cstring>

namespace headrace::storage {
namespace {

Status tooShort() {
  return makeError(ErrorKind::kCorrupt, "a page holds fewer values than its header says");
}

Status misfit(HrType type, __int128 min, __int128 max) {
  __int128 value = fitsInteger(type, min, min) ? max : min;
  return makeError(ErrorKind::kData, "the plan's statistics promise values that fit ",
                   typeName(type), ", recompile the plan; found: ", integerText(value));
}

/// Values one by one through next(value) -> bool; for decimals of many bytes and unsigned 64-bit
/// integers.
template <typename Next>
Status convertWide(uint64_t count, HrType type, ValueRange &range, void *out, Next next) {
  uint8_t *to = static_cast<uint8_t *>(out);
  const uint32_t width = abi::bytesOf(type);
  for (uint64_t i = 0; i < count; ++i, to += width) {
    __int128 value;
    if (!next(value)) {
      return tooShort();
    }
    if (!fitsInteger(type, value, value)) {
      return misfit(type, value, value);
    }
    range.widen(value, value);
    std::memcpy(to, &value, width); // little-endian: the low bytes
  }
  return Status();
}

__int128 bigEndian(const uint8_t *data, uint64_t bytes) {
  unsigned __int128 value = bytes != 0 && (data[0] & 0x80) ? ~static_cast<unsigned __int128>(0) : 0;
  for (uint64_t i = 0; i < bytes; ++i) {
    value = value << 8 | data[i];
  }
  return static_cast<__int128>(value);
}

Status convertIntegers(primitives::Isa isa, primitives::StoredInteger stored, uint32_t width,
                       const uint8_t *data, uint64_t bytes, uint64_t count, HrType type,
                       ValueRange &range, void *out) {
  if (bytes / width < count) {
    return tooShort();
  }
  if (type == HR_I128) {
    return convertWide(count, type, range, out, [&](__int128 &value) {
      int64_t wide = 0;
      std::memcpy(&wide, data, width);
      value = stored == primitives::StoredInteger::kI32 ? static_cast<int32_t>(wide) : wide;
      data += width;
      return true;
    });
  }
  primitives::IntegerRange found = primitives::narrowIntegers(isa, stored, data, count, type, out);
  if (found.min <= found.max && !fitsInteger(type, found.min, found.max)) {
    return misfit(type, found.min, found.max);
  }
  range.widen(found.min, found.max);
  return Status();
}

/// Integers of another unit.
template <typename Stored>
Status convertScaled(int64_t factor, const uint8_t *data, uint64_t bytes, uint64_t count,
                     HrType type, ValueRange &range, void *out) {
  if (bytes / sizeof(Stored) < count) {
    return tooShort();
  }
  return convertWide(count, type, range, out, [&](__int128 &value) {
    Stored stored;
    std::memcpy(&stored, data, sizeof stored);
    value = inUnits(stored, factor);
    data += sizeof stored;
    return true;
  });
}

/// Nanoseconds of a day, and the day, counted from 4714 BC, as microseconds since 1970.
Status convertInt96(const uint8_t *data, uint64_t bytes, uint64_t count, HrType type,
                    ValueRange &range, void *out) {
  constexpr uint64_t kBytes = 12;
  constexpr __int128 kEpochDay = 2'440'588, kNanoseconds = 1000;
  const __int128 kDay = unitsOfDay(TimeUnit::kMicrosecond);
  if (bytes / kBytes < count) {
    return tooShort();
  }
  return convertWide(count, type, range, out, [&](__int128 &value) {
    int64_t nanoseconds;
    uint32_t day;
    std::memcpy(&nanoseconds, data, sizeof nanoseconds);
    std::memcpy(&day, data + sizeof nanoseconds, sizeof day);
    value = (day - kEpochDay) * kDay + nanoseconds / kNanoseconds;
    data += kBytes;
    return true;
  });
}

/// Plain byte arrays: a length of four bytes, then the bytes.
struct ByteArrays {
  const uint8_t *next, *end;
  bool take(const uint8_t *&data, uint32_t &length) {
    if (end - next < 4) {
      return false;
    }
    std::memcpy(&length, next, 4);
    next += 4;
    if (static_cast<uint64_t>(end - next) < length) {
      return false;
    }
    data = next;
    next += length;
    return true;
  }
};

void cutStrings(uint32_t width, const uint8_t *data, uint64_t count, HrString *out) {
  for (uint64_t i = 0; i < count; ++i, data += width) {
    out[i] = primitives::makeString(data, width);
  }
}

/// `first`: the number of the first of them in its page.
Status checkUtf8(primitives::Isa isa, const HrString *texts, uint64_t count, uint64_t first) {
  for (uint64_t i = 0; i < count; ++i) {
    if (!primitives::isUtf8(isa, texts[i].data, texts[i].length)) {
      return notUtf8({reinterpret_cast<const char *>(texts[i].data), texts[i].length}, first + i);
    }
  }
  return Status();
}

enum class Bytes : uint8_t { kAny, kUtf8 };

Status convertStrings(primitives::Isa isa, const uint8_t *data, uint64_t bytes, uint64_t count,
                      Bytes kind, HrString *out) {
  // So many are looked at together, while they are in the nearest cache.
  constexpr uint64_t kTogether = 128;
  ByteArrays arrays{data, data + bytes};
  for (uint64_t begin = 0; begin < count; begin += kTogether) {
    const uint64_t end = std::min(begin + kTogether, count);
    const uint8_t *const from = arrays.next;
    uint32_t lengths = 0;
    for (uint64_t i = begin; i < end; ++i) {
      const uint8_t *text;
      uint32_t length;
      if (!arrays.take(text, length)) {
        return tooShort();
      }
      uint32_t prefix;
      std::memcpy(&prefix, text, 4); // in the padding at worst
      prefix = length >= 4 ? prefix : prefix & ((1u << (8 * length)) - 1);
      lengths |= length;
      out[i].length = length;
      std::memcpy(out[i].prefix, &prefix, 4);
      out[i].data = text;
    }
    // In one go with the lengths between them, if those are ASCII: no character reaches over one.
    const bool apart = (lengths & 0x80808080) != 0;
    if (kind == Bytes::kUtf8 &&
        (apart || !primitives::isUtf8(isa, from, static_cast<uint64_t>(arrays.next - from)))) {
      HR_RETURN_IF_ERROR(checkUtf8(isa, out + begin, end - begin, begin));
    }
  }
  return Status();
}

Status copyFixed(uint32_t width, const uint8_t *data, uint64_t bytes, uint64_t count, void *out) {
  if (bytes / width < count) {
    return tooShort();
  }
  std::memcpy(out, data, count * width);
  return Status();
}

} // namespace

Status convertPlain(primitives::Isa isa, const ParquetColumn &column, const uint8_t *data,
                    uint64_t bytes, uint64_t count, HrType type, ValueRange &range, void *out) {
  if (count == 0) {
    return Status();
  }
  using primitives::StoredInteger;
  switch (column.stored) {
  case Stored::kBoolean: {
    if (bytes < (count + 7) / 8) {
      return tooShort();
    }
    uint8_t *to = static_cast<uint8_t *>(out);
    for (uint64_t i = 0; i < count; ++i) {
      to[i] = data[i / 8] >> (i % 8) & 1;
    }
    return Status();
  }
  case Stored::kInt32:
    if (column.factor != 1) {
      return convertScaled<int32_t>(column.factor, data, bytes, count, type, range, out);
    }
    return convertIntegers(isa, column.isUnsigned ? StoredInteger::kU32 : StoredInteger::kI32, 4,
                           data, bytes, count, type, range, out);
  case Stored::kInt64:
    if (column.isUnsigned) {
      if (bytes / 8 < count) {
        return tooShort();
      }
      return convertWide(count, type, range, out, [&](__int128 &value) {
        uint64_t stored;
        std::memcpy(&stored, data, 8);
        value = stored;
        data += 8;
        return true;
      });
    }
    if (column.factor != 1) {
      return convertScaled<int64_t>(column.factor, data, bytes, count, type, range, out);
    }
    return convertIntegers(isa, StoredInteger::kI64, 8, data, bytes, count, type, range, out);
  case Stored::kInt96:
    return convertInt96(data, bytes, count, type, range, out);
  case Stored::kFloat:
    return copyFixed(4, data, bytes, count, out);
  case Stored::kDouble:
    return copyFixed(8, data, bytes, count, out);
  case Stored::kFixed:
    if (bytes / column.fixedBytes < count) {
      return tooShort();
    }
    if (column.type.isHeldAsText()) {
      cutStrings(column.fixedBytes, data, count, static_cast<HrString *>(out));
      return Status();
    }
    return convertWide(count, type, range, out, [&](__int128 &value) {
      value = bigEndian(data, column.fixedBytes);
      data += column.fixedBytes;
      return true;
    });
  case Stored::kByteArray:
    if (column.type.isHeldAsText()) {
      return convertStrings(isa, data, bytes, count,
                            column.type.kind == LogicalKind::kString ? Bytes::kUtf8 : Bytes::kAny,
                            static_cast<HrString *>(out));
    } else {
      ByteArrays arrays{data, data + bytes};
      return convertWide(count, type, range, out, [&](__int128 &value) {
        const uint8_t *digits;
        uint32_t length;
        if (!arrays.take(digits, length) || length > 16) {
          return false;
        }
        value = bigEndian(digits, length);
        return true;
      });
    }
  default:
    // no test: columns of other types are refused by the footer
    return makeError(ErrorKind::kUnsupported, "stored type is not supported");
  }
}

} // namespace headrace::storage
