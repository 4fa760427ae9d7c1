// Reading, writing and comparing packed lists and structs.
#include "runtime/base/list_values.h"

#include "runtime/base/interval_values.h"
#include "runtime/base/unsigned128.h"
#include "runtime/base/uuid.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace headrace {
namespace {

constexpr uint32_t kHeadBytes = 8;
constexpr uint8_t kZoned = 0x80;
/// Decimals of so many digits have 64 bits.
constexpr int32_t kShortDigits = 18;

template <typename T> T load(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T> void store(T value, char *to) { std::memcpy(to, &value, sizeof value); }

LogicalKind kindOf(ElementCode code) { return static_cast<LogicalKind>(code & 0xff); }

template <typename T> int order(const T &a, const T &b) { return a < b ? -1 : b < a ? 1 : 0; }

/// NaN equals itself and is the largest.
int orderOfReals(double a, double b) {
  return a != a || b != b ? order(a != a, b != b) : order(a, b);
}

int orderOfLists(const ListView &a, const ListView &b) {
  for (uint32_t index = 0; index < std::min(a.size(), b.size()); ++index) {
    int result = order(b.isValid(index), a.isValid(index));
    if (result == 0 && a.isValid(index)) {
      result = compareElements(a.code(index), a.bytes(index), b.bytes(index));
    }
    if (result != 0) {
      return result;
    }
  }
  return order(a.size(), b.size());
}

} // namespace

ElementCode elementCode(const LogicalType &type) {
  const bool timed = type.kind == LogicalKind::kTime || type.kind == LogicalKind::kTimestamp;
  const uint32_t moment = timed ? static_cast<uint32_t>(type.unit) | (type.zoned ? kZoned : 0) : 0;
  return static_cast<uint32_t>(type.kind) | static_cast<uint32_t>(type.precision) << 8 |
         static_cast<uint32_t>(type.scale) << 16 | moment << 24;
}

LogicalType elementType(ElementCode code) {
  LogicalType type;
  type.kind = kindOf(code);
  type.precision = static_cast<int32_t>(code >> 8 & 0xff);
  type.scale = static_cast<int32_t>(code >> 16 & 0xff);
  if (type.kind == LogicalKind::kTime || type.kind == LogicalKind::kTimestamp) {
    type.unit = static_cast<TimeUnit>(code >> 24 & ~uint32_t{kZoned});
    type.zoned = (code >> 24 & kZoned) != 0;
  }
  return type;
}

uint32_t elementBytes(ElementCode code) {
  switch (kindOf(code)) {
  case LogicalKind::kBool:
  case LogicalKind::kI8:
    return 1;
  case LogicalKind::kI16:
  case LogicalKind::kU8: // with a sign, as all integers are
    return 2;
  case LogicalKind::kI32:
  case LogicalKind::kU16:
  case LogicalKind::kF32:
  case LogicalKind::kDate:
    return 4;
  case LogicalKind::kI64:
  case LogicalKind::kU32:
  case LogicalKind::kF64:
  case LogicalKind::kTime:
  case LogicalKind::kTimestamp:
    return 8;
  case LogicalKind::kU64:
  case LogicalKind::kI128:
    return 16;
  case LogicalKind::kDecimal:
    return static_cast<int32_t>(code >> 8 & 0xff) <= kShortDigits ? 8 : 16;
  case LogicalKind::kNone:
  case LogicalKind::kDoubleDouble:
  case LogicalKind::kString:
  case LogicalKind::kBinary:
  case LogicalKind::kInterval:
  case LogicalKind::kU128:
  case LogicalKind::kUuid:
  case LogicalKind::kEnum:
  case LogicalKind::kList:
  case LogicalKind::kStruct:
  case LogicalKind::kMap:
    break;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

ListView::ListView(std::string_view bytes) {
  if (bytes.size() < kHeadBytes) {
    return;
  }
  size_ = load<uint32_t>(bytes.data());
  code_ = load<uint32_t>(bytes.data() + 4);
  width_ = elementBytes(code_);
  valid_ = bytes.data() + kHeadBytes;
  elements_ = valid_ + (uint64_t{size_} + 7) / 8;
  if (code_ == kFieldsCode) {
    codes_ = elements_;
    elements_ += uint64_t{4} * size_;
  }
}

ElementCode ListView::code(uint32_t index) const {
  return codes_ ? load<ElementCode>(codes_ + uint64_t{4} * index) : code_;
}

uint32_t ListView::endOf(uint32_t index) const {
  return load<uint32_t>(elements_ + uint64_t{4} * index);
}

std::string_view ListView::bytes(uint32_t index) const {
  if (width_ != 0) {
    return {elements_ + uint64_t{width_} * index, width_};
  }
  const uint32_t begin = index == 0 ? 0 : endOf(index - 1);
  return {elements_ + uint64_t{4} * size_ + begin, endOf(index) - begin};
}

bool ListView::allValid() const {
  const uint32_t wholeBytes = size_ / 8;
  return std::all_of(valid_, valid_ + wholeBytes, [](char bits) { return bits == '\xff'; }) &&
         (size_ % 8 == 0 || static_cast<uint8_t>(valid_[wholeBytes]) == (1U << size_ % 8) - 1);
}

uint64_t ListView::textBytes() const { return width_ != 0 || size_ == 0 ? 0 : endOf(size_ - 1); }

/// Whether an element of this type may have these bytes.
static bool isElement(std::string_view bytes, const LogicalType &type) {
  switch (type.kind) {
  case LogicalKind::kInterval:
    return bytes.size() == kIntervalBytes;
  case LogicalKind::kU128:
    return bytes.size() == kUnsigned128Bytes;
  case LogicalKind::kUuid:
    return bytes.size() == kUuidBytes;
  case LogicalKind::kList:
  case LogicalKind::kStruct:
  case LogicalKind::kMap:
    return isNestedValue(bytes, type);
  default:
    return true;
  }
}

bool isNestedValue(std::string_view bytes, const LogicalType &type) {
  const bool isStruct = type.kind == LogicalKind::kStruct;
  if (bytes.empty()) {
    return !isStruct && type.size == 0;
  }
  if (bytes.size() < kHeadBytes) {
    return false;
  }
  LogicalType entry{LogicalKind::kStruct}; // of a map
  entry.children = type.children;
  auto typeOf = [&](uint32_t index) -> const LogicalType & {
    return isStruct                          ? type.children[index]
           : type.kind == LogicalKind::kList ? type.children.front()
                                             : entry;
  };
  const auto size = load<uint32_t>(bytes.data()), code = load<uint32_t>(bytes.data() + 4);
  if (size == 0 ||
      (isStruct ? size != type.children.size() : type.size != 0 && size != type.size) ||
      code != (isStruct ? kFieldsCode : elementCode(typeOf(0)))) {
    return false;
  }
  const uint32_t width = elementBytes(code);
  const uint64_t begin = kHeadBytes + (uint64_t{size} + 7) / 8 +
                         (isStruct ? uint64_t{4} * size : 0) +
                         uint64_t{width == 0 ? 4 : width} * size;
  if (bytes.size() < begin || (width != 0 && bytes.size() != begin)) {
    return false;
  }
  const ListView list(bytes);
  uint64_t end = 0;
  for (uint32_t index = 0; width == 0 && index < size; ++index) {
    const uint64_t before = end;
    end = load<uint32_t>(bytes.data() + begin - uint64_t{4} * (size - index));
    if (end < before || end > bytes.size() - begin ||
        (isStruct && list.code(index) != elementCode(typeOf(index)))) {
      return false;
    }
    if (list.isValid(index) && !isElement(list.bytes(index), typeOf(index))) {
      return false;
    }
  }
  return width != 0 || begin + end == bytes.size();
}

uint64_t ListWriter::bytesOf(ElementCode code, uint64_t size, uint64_t textBytes) {
  const uint32_t width = elementBytes(code);
  return size == 0 ? 0
                   : kHeadBytes + (size + 7) / 8 + size * (width == 0 ? 4 : width) +
                         (width == 0 ? textBytes : 0);
}

ListWriter::ListWriter(char *memory, ElementCode code, uint32_t size)
    : width_(elementBytes(code)), valid_(memory + kHeadBytes), next_(memory) {
  if (size == 0) {
    return;
  }
  store(size, memory);
  store(code, memory + 4);
  const uint64_t validBytes = (uint64_t{size} + 7) / 8;
  std::fill_n(valid_, validBytes, '\0');
  next_ = valid_ + validBytes;
  if (width_ == 0) {
    ends_ = next_;
    next_ = texts_ = ends_ + uint64_t{4} * size;
  }
}

uint64_t cutList(char *memory, uint32_t size) {
  const auto before = load<uint32_t>(memory);
  const uint64_t width = elementBytes(load<ElementCode>(memory + 4));
  const char *from = memory + kHeadBytes + (uint64_t{before} + 7) / 8;
  char *to = memory + kHeadBytes + (uint64_t{size} + 7) / 8;
  std::memmove(to, from, width * size);
  store(size, memory);
  return static_cast<uint64_t>(to - memory) + width * size;
}

uint64_t ListWriter::bytesOf(std::span<const ElementCode> codes, uint64_t fieldBytes) {
  return bytesOf(kFieldsCode, codes.size(), fieldBytes) + uint64_t{4} * codes.size();
}

ListWriter::ListWriter(char *memory, std::span<const ElementCode> codes)
    : ListWriter(memory, kFieldsCode, static_cast<uint32_t>(codes.size())) {
  next_ = ends_;
  for (ElementCode code : codes) {
    store(code, next_);
    next_ += sizeof code;
  }
  ends_ = next_;
  next_ = texts_ = ends_ + uint64_t{4} * codes.size();
}

std::string packedStruct(std::span<const FieldBytes> fields) {
  std::vector<ElementCode> codes;
  uint64_t size = 0;
  for (const FieldBytes &field : fields) {
    codes.push_back(field.code);
    size += field.bytes ? field.bytes->size() : 0;
  }
  std::string bytes(ListWriter::bytesOf(codes, size), '\0');
  ListWriter writer(bytes.data(), codes);
  for (const FieldBytes &field : fields) {
    writer.add(field.bytes);
  }
  return bytes;
}

/// As ElementBytes::ofReal has them.
template <typename Real> static char *copyReals(const void *from, uint32_t size, char *to) {
  for (uint32_t index = 0; index < size; ++index) {
    Real value;
    std::memcpy(&value, static_cast<const char *>(from) + index * sizeof value, sizeof value);
    value = value == 0 ? 0 : value;
    value = value != value ? std::numeric_limits<Real>::quiet_NaN() : value;
    std::memcpy(to + index * sizeof value, &value, sizeof value);
  }
  return to + uint64_t{size} * sizeof(Real);
}

void ListWriter::addAll(ElementCode code, const void *numbers, uint32_t size) {
  std::fill_n(valid_, size / 8, '\xff');
  if (size % 8 != 0) {
    valid_[size / 8] = static_cast<char>((1U << (size % 8)) - 1);
  }
  if (elementType(code).real()) {
    next_ = width_ == sizeof(float) ? copyReals<float>(numbers, size, next_)
                                    : copyReals<double>(numbers, size, next_);
  } else {
    next_ = std::copy_n(static_cast<const char *>(numbers), uint64_t{size} * width_, next_);
  }
  index_ = size;
}

void ListWriter::add(std::optional<std::string_view> element) {
  if (element) {
    valid_[index_ / 8] =
        static_cast<char>(static_cast<uint8_t>(valid_[index_ / 8]) | 1 << (index_ % 8));
    next_ = std::copy(element->begin(), element->end(), next_);
  } else {
    next_ = std::fill_n(next_, width_, '\0');
  }
  if (width_ == 0) {
    store(static_cast<uint32_t>(next_ - texts_), ends_ + uint64_t{4} * index_);
  }
  ++index_;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

__int128 integerIn(ElementCode code, std::string_view bytes) {
  switch (elementBytes(code)) {
  case 1:
    return load<int8_t>(bytes.data());
  case 2:
    return load<int16_t>(bytes.data());
  case 4:
    return load<int32_t>(bytes.data());
  case 8:
    return load<int64_t>(bytes.data());
  default:
    return load<__int128>(bytes.data());
  }
}

double realIn(ElementCode code, std::string_view bytes) {
  return kindOf(code) == LogicalKind::kF32 ? load<float>(bytes.data()) : load<double>(bytes.data());
}

ElementBytes ElementBytes::ofInteger(ElementCode code, __int128 value) {
  ElementBytes out;
  out.size_ = elementBytes(code);
  std::memcpy(out.memory_, &value, out.size_); // little-endian: the low bytes
  return out;
}

ElementBytes ElementBytes::ofReal(ElementCode code, double value) {
  ElementBytes out;
  out.size_ = elementBytes(code);
  value = value == 0 ? 0 : value;
  if (kindOf(code) == LogicalKind::kF32) {
    store(value != value ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value),
          out.memory_);
  } else {
    store(value != value ? std::numeric_limits<double>::quiet_NaN() : value, out.memory_);
  }
  return out;
}

int compareElements(ElementCode code, std::string_view a, std::string_view b) {
  switch (kindOf(code)) {
  case LogicalKind::kString:
  case LogicalKind::kBinary:
  case LogicalKind::kU128:
  case LogicalKind::kUuid:
  case LogicalKind::kEnum:
    return order(a.compare(b), 0);
  case LogicalKind::kList:
  case LogicalKind::kStruct:
  case LogicalKind::kMap:
    return orderOfLists(ListView(a), ListView(b));
  case LogicalKind::kInterval:
    return order(intervalParts(a).total(), intervalParts(b).total());
  case LogicalKind::kF32:
  case LogicalKind::kF64:
    return orderOfReals(realIn(code, a), realIn(code, b));
  default:
    return order(integerIn(code, a), integerIn(code, b));
  }
}

double numberIn(ElementCode code, std::string_view bytes) {
  if (elementType(code).real()) {
    return realIn(code, bytes);
  }
  double value = static_cast<double>(integerIn(code, bytes)), units = 1;
  for (int32_t digit = 0; digit < elementType(code).scale; ++digit) {
    units *= 10;
  }
  return value / units;
}

} // namespace headrace
