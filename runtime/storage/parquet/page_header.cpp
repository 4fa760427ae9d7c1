// A field of the compact protocol: a byte (id delta << 4 | type), a zigzag id if the delta is 0,
// the value.
#include "runtime/storage/parquet/page_header.h"

namespace headrace::storage {
namespace {

enum WireType : uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kI16 = 4,
  kI32 = 5,
  kI64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
};

/// Reads values; once `ok` is false every further read gives 0.
struct CompactReader {
  const uint8_t *next;
  const uint8_t *end;
  bool ok = true;

  uint8_t byte() {
    if (next == end) {
      ok = false;
      return 0;
    }
    return *next++;
  }

  uint64_t varint() {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      uint8_t part = byte();
      value |= static_cast<uint64_t>(part & 127) << shift;
      if (!(part & 128)) {
        return value;
      }
    }
    ok = false;
    return 0;
  }

  int64_t zigzag() {
    uint64_t value = varint();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }

  void skipBytes(uint64_t count) {
    if (static_cast<uint64_t>(end - next) < count) {
      ok = false;
    } else {
      next += count;
    }
  }

  void skip(uint8_t type, int depth) {
    if (depth > 16) {
      ok = false;
    }
    if (!ok) {
      return;
    }
    switch (type) {
    case kTrue:
    case kFalse:
      return;
    case kByte:
      skipBytes(1);
      return;
    case kI16:
    case kI32:
    case kI64:
      varint();
      return;
    case kDouble:
      skipBytes(8);
      return;
    case kBinary:
      skipBytes(varint());
      return;
    case kList:
    case kSet: {
      uint8_t head = byte();
      uint64_t count = head >> 4;
      count = count == 15 ? varint() : count;
      uint8_t element = head & 15;
      if (element == kTrue || element == kFalse) { // a byte each inside lists
        skipBytes(count);
        return;
      }
      for (uint64_t i = 0; i < count && ok; ++i) {
        skip(element, depth + 1);
      }
      return;
    }
    case kStruct:
      fields([](int64_t, uint8_t) { return false; }, depth + 1);
      return;
    default:
      ok = false;
    }
  }

  /// Calls take(id, type) for each field of a struct; a field it does not take is skipped.
  template <typename Take> void fields(Take take, int depth = 0) {
    int64_t id = 0;
    while (ok) {
      uint8_t head = byte();
      uint8_t type = head & 15;
      if (type == kStop) {
        return;
      }
      id = head >> 4 ? id + (head >> 4) : zigzag();
      if (!take(id, type)) {
        skip(type, depth);
      }
    }
  }
};

} // namespace

Expected<PageHeader> readPageHeader(const uint8_t *next, const uint8_t *end) {
  CompactReader reader{next, end};
  PageHeader header;
  int64_t kind = -1, uncompressed = -1, compressed = -1, values = -1, nulls = 0;
  int64_t definitionBytes = 0, repetitionBytes = 0;
  bool hasBody = false;
  auto isInteger = [](uint8_t type) { return type == kI16 || type == kI32 || type == kI64; };
  auto readV1 = [&](int64_t id, uint8_t type) { // dictionary pages have the first two fields
    if (!isInteger(type) || id < 1 || id > 3) {
      return false;
    }
    int64_t value = reader.zigzag();
    if (id == 1) {
      values = value;
    } else if (id == 2) {
      header.encoding = static_cast<int32_t>(value);
    } else {
      header.levelEncoding = static_cast<int32_t>(value);
    }
    return true;
  };
  auto readV2 = [&](int64_t id, uint8_t type) {
    if (id == 7 && (type == kTrue || type == kFalse)) {
      header.compressed = type == kTrue;
      return true;
    }
    if (!isInteger(type) || id < 1 || id > 6) {
      return false;
    }
    int64_t value = reader.zigzag();
    switch (id) {
    case 1:
      values = value;
      break;
    case 2:
      nulls = value;
      break;
    case 4:
      header.encoding = static_cast<int32_t>(value);
      break;
    case 5:
      definitionBytes = value;
      break;
    case 6:
      repetitionBytes = value;
      break;
    default:
      break;
    }
    return true;
  };
  reader.fields([&](int64_t id, uint8_t type) {
    if (isInteger(type) && id >= 1 && id <= 3) {
      int64_t value = reader.zigzag();
      (id == 1 ? kind : id == 2 ? uncompressed : compressed) = value;
      return true;
    }
    if (type == kStruct && (id == 5 || id == 7)) {
      hasBody = true;
      reader.fields([&](int64_t field, uint8_t fieldType) {
        return (id == 5 || field <= 2) && readV1(field, fieldType);
      });
      return true;
    }
    if (type == kStruct && id == 8) {
      hasBody = true;
      reader.fields(readV2);
      return true;
    }
    return false;
  });
  if (!reader.ok || kind < 0 || uncompressed < 0 || compressed < 0 || uncompressed > INT32_MAX ||
      compressed > INT32_MAX) {
    return makeError(ErrorKind::kCorrupt, "a page header is not readable");
  }
  header.kind = kind == 0   ? PageKind::kData
                : kind == 2 ? PageKind::kDictionary
                : kind == 3 ? PageKind::kDataV2
                            : PageKind::kOther;
  if (header.kind != PageKind::kOther &&
      (!hasBody || values < 0 || values > INT32_MAX || nulls < 0 || nulls > values ||
       definitionBytes < 0 || repetitionBytes < 0 ||
       definitionBytes + repetitionBytes > compressed ||
       definitionBytes + repetitionBytes > uncompressed)) {
    return makeError(ErrorKind::kCorrupt, "a page header has impossible sizes");
  }
  header.uncompressedBytes = static_cast<uint64_t>(uncompressed);
  header.compressedBytes = static_cast<uint64_t>(compressed);
  header.values = values < 0 ? 0 : static_cast<uint32_t>(values);
  header.nulls = static_cast<uint32_t>(nulls);
  header.definitionBytes = static_cast<uint64_t>(definitionBytes);
  header.repetitionBytes = static_cast<uint64_t>(repetitionBytes);
  header.headerBytes = static_cast<uint64_t>(reader.next - next);
  return header;
}

} // namespace headrace::storage
