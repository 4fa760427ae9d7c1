// Lists, structs and maps as they are kept: packed bytes, so that whatever holds, moves, hashes and
// compares texts does so with them.
#pragma once

#include "runtime/base/logical_type.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headrace {

/// What a list says of its elements' type, in 32 bits: kind, precision, scale, and unit with zone
/// (of which the highest bit tells), a byte each from the lowest on. 0: of an empty list.
using ElementCode = uint32_t;

ElementCode elementCode(const LogicalType &type);
/// That type; of what is nested without its children.
LogicalType elementType(ElementCode code);
/// Bytes of an element; 0: texts and what is nested, which have any number.
uint32_t elementBytes(ElementCode code);

/// A list that lies in memory:
///
///   | n: u32 | code: u32 | valid: n bits, from the lowest | n elements of elementBytes |
///   | n: u32 | code: u32 | valid | end of each text: n * u32 | texts, one behind the other |
///
/// A struct is a list of its fields, each with a code of its own, which are all held as texts are:
///
///   | n: u32 | kFieldsCode | valid | code of each: n * u32 | end of each: n * u32 | fields |
///
/// A map is the list of its entries, structs of a key and a value.
///
/// All bytes follow from the elements: bits behind the last one and what is under NULL are 0, NaN
/// is the one of the hash, −0 is 0, an empty list has no bytes at all. So equal lists of one type
/// are equal bytes.
inline constexpr ElementCode kFieldsCode = static_cast<ElementCode>(LogicalKind::kStruct) | 1 << 8;

/// Whether bytes of anyone are a list, struct or map of that type, from the first to the last byte.
bool isNestedValue(std::string_view bytes, const LogicalType &type);

class ListView {
public:
  ListView() = default;
  /// Of bytes that ListWriter wrote.
  explicit ListView(std::string_view bytes);

  uint32_t size() const { return size_; }
  ElementCode code() const { return code_; }
  /// That of an element: another for each field of a struct.
  ElementCode code(uint32_t index) const;
  bool isValid(uint32_t index) const {
    return (static_cast<uint8_t>(valid_[index / 8]) >> (index % 8) & 1) != 0;
  }
  /// Its bytes; those of NULL are zeros or none.
  std::string_view bytes(uint32_t index) const;
  /// Its bytes; nothing if it is NULL.
  std::optional<std::string_view> element(uint32_t index) const {
    return isValid(index) ? std::optional(bytes(index)) : std::nullopt;
  }
  /// Bytes of all texts.
  uint64_t textBytes() const;
  /// Whether no element is NULL.
  bool allValid() const;

private:
  uint32_t endOf(uint32_t index) const;

  uint32_t size_ = 0, width_ = 0;
  ElementCode code_ = 0;
  const char *valid_ = nullptr, *codes_ = nullptr, *elements_ = nullptr;
};

/// Shows all elements that are not NULL.
template <typename Visit> void eachValid(const ListView &list, Visit visit) {
  for (uint32_t index = 0; index < list.size(); ++index) {
    if (list.isValid(index)) {
      visit(list.bytes(index));
    }
  }
}

/// Writes a list into memory of `bytesOf`: all of its elements, in order.
class ListWriter {
public:
  /// `textBytes`: of all texts together.
  static uint64_t bytesOf(ElementCode code, uint64_t size, uint64_t textBytes);

  ListWriter(char *memory, ElementCode code, uint32_t size);
  /// The same of a struct with fields of these codes.
  static uint64_t bytesOf(std::span<const ElementCode> codes, uint64_t fieldBytes);
  ListWriter(char *memory, std::span<const ElementCode> codes);
  /// Bytes as those of ListView; nothing for NULL.
  void add(std::optional<std::string_view> element);
  /// All elements at once, none of them NULL: numbers as Arrow has them.
  void addAll(ElementCode code, const void *numbers, uint32_t size);
  char *end() const { return next_; }

private:
  uint32_t index_ = 0, width_;
  char *valid_, *ends_ = nullptr, *texts_ = nullptr;
  char *next_;
};

/// Makes a list in memory, with elements of fixed width, one of its first `size` (at least one)
/// elements, and gives how many bytes it has then.
uint64_t cutList(char *memory, uint32_t size);

/// What the bytes of a struct are made of: the code and the bytes of each field, or none.
struct FieldBytes {
  ElementCode code = 0;
  std::optional<std::string_view> bytes;
};
std::string packedStruct(std::span<const FieldBytes> fields);

/// Elements that are numbers: integers, decimals, moments and booleans in one, floats in another.
__int128 integerIn(ElementCode code, std::string_view bytes);
/// Either as a double, a decimal divided by its scale.
double numberIn(ElementCode code, std::string_view bytes);
double realIn(ElementCode code, std::string_view bytes);

/// An element as bytes: a number, with what it has in memory.
class ElementBytes {
public:
  static ElementBytes ofInteger(ElementCode code, __int128 value);
  static ElementBytes ofReal(ElementCode code, double value);
  std::string_view view() const { return {memory_, size_}; }

private:
  char memory_[16] = {};
  uint32_t size_ = 0;
};

/// The order of two elements of one code: below, equal, above as -1, 0, 1. Texts bytewise, NaN the
/// largest number, intervals by their microseconds, lists and structs by their first elements that
/// differ, of which NULL is the largest.
int compareElements(ElementCode code, std::string_view a, std::string_view b);

} // namespace headrace
