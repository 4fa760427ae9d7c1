// The type of a column as the user knows it: what compiler, plans, storage, Arrow and statistics
// share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

/// Compiled kernels know the numbers (ElementCode): a new one goes to the end.
enum class LogicalKind : uint8_t {
  kNone, ///< no user sees the column
  kBool,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF32,
  kF64,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kDoubleDouble,
  kString,
  kList,
  kStruct,
  kMap,
  kBinary,
  kInterval,
  kI128,
  kU128,
  kUuid,
  kEnum,
};

struct LogicalKindName {
  LogicalKind value;
  const char *name;
};

/// As texts and JSON call them.
inline constexpr LogicalKindName kLogicalKindNames[] = {
    {LogicalKind::kNone, "none"},
    {LogicalKind::kBool, "i1"},
    {LogicalKind::kI8, "i8"},
    {LogicalKind::kI16, "i16"},
    {LogicalKind::kI32, "i32"},
    {LogicalKind::kI64, "i64"},
    {LogicalKind::kU8, "ui8"},
    {LogicalKind::kU16, "ui16"},
    {LogicalKind::kU32, "ui32"},
    {LogicalKind::kU64, "ui64"},
    {LogicalKind::kF32, "f32"},
    {LogicalKind::kF64, "f64"},
    {LogicalKind::kDecimal, "decimal"},
    {LogicalKind::kDate, "date"},
    {LogicalKind::kTime, "time"},
    {LogicalKind::kTimestamp, "timestamp"},
    {LogicalKind::kDoubleDouble, "double_double"},
    {LogicalKind::kString, "string"},
    {LogicalKind::kList, "list"},
    {LogicalKind::kStruct, "struct"},
    {LogicalKind::kMap, "map"},
    {LogicalKind::kBinary, "binary"},
    {LogicalKind::kInterval, "interval"},
    {LogicalKind::kI128, "i128"},
    {LogicalKind::kU128, "ui128"},
    {LogicalKind::kUuid, "uuid"},
    {LogicalKind::kEnum, "enum"},
};

enum class TimeUnit : uint8_t { kSecond, kMillisecond, kMicrosecond, kNanosecond };

struct TimeUnitName {
  TimeUnit value;
  const char *name;
};

/// As texts and JSON call them.
inline constexpr TimeUnitName kTimeUnitNames[] = {{TimeUnit::kSecond, "s"},
                                                  {TimeUnit::kMillisecond, "ms"},
                                                  {TimeUnit::kMicrosecond, "us"},
                                                  {TimeUnit::kNanosecond, "ns"}};

/// Digits behind the point of a second.
constexpr int digitsOf(TimeUnit unit) { return 3 * static_cast<int>(unit); }
constexpr int64_t unitsOfSecond(TimeUnit unit) {
  int64_t units = 1;
  for (int digit = 0; digit < digitsOf(unit); ++digit) {
    units *= 10;
  }
  return units;
}
constexpr int64_t unitsOfDay(TimeUnit unit) { return 86'400 * unitsOfSecond(unit); }

/// That of 8, 16, 32, 64 or 128 bits.
constexpr LogicalKind integerKind(int bits, bool isUnsigned) {
  switch (bits) {
  case 8:
    return isUnsigned ? LogicalKind::kU8 : LogicalKind::kI8;
  case 16:
    return isUnsigned ? LogicalKind::kU16 : LogicalKind::kI16;
  case 32:
    return isUnsigned ? LogicalKind::kU32 : LogicalKind::kI32;
  case 128:
    return isUnsigned ? LogicalKind::kU128 : LogicalKind::kI128;
  default:
    return isUnsigned ? LogicalKind::kU64 : LogicalKind::kI64;
  }
}

struct LogicalType {
  LogicalKind kind = LogicalKind::kNone;
  int32_t precision = 0; ///< digits of a decimal
  int32_t scale = 0;     ///< those of them behind the point
  TimeUnit unit =
      TimeUnit::kMicrosecond; ///< of a time (since midnight) or a timestamp (since 1970)
  bool zoned = false;         ///< a timestamp is a moment of UTC, not of an unnamed zone
  /// Of a list its elements' type, of a struct its fields', of a map its keys' and its values'.
  std::vector<LogicalType> children;
  /// Of a struct's fields, all empty: they have none; or an enum's texts.
  std::vector<std::string> names;
  uint32_t size = 0; ///< of an array: a list of so many elements; 0: of any

  bool operator==(const LogicalType &) const = default;
  /// An integer inside: integers, scaled decimals, days and moments.
  bool integral() const;
  bool isNested() const { return kind >= LogicalKind::kList && kind <= LogicalKind::kMap; }
  /// Texts and bytes, which are in order as these are.
  bool isTextOrBinary() const {
    return kind == LogicalKind::kString || kind == LogicalKind::kBinary ||
           kind == LogicalKind::kUuid || kind == LogicalKind::kEnum;
  }
  /// A text inside: what is nested (list_values.h), intervals (interval_values.h) and unsigned
  /// integers of 128 bits (unsigned128.h) are one too.
  bool isHeldAsText() const {
    return isTextOrBinary() || isNested() || kind == LogicalKind::kInterval ||
           kind == LogicalKind::kU128;
  }
  bool real() const { return kind == LogicalKind::kF32 || kind == LogicalKind::kF64; }
  /// For people: "decimal<15, 2>", "timestamp<us, zoned>", "struct<a: i64, b: string>".
  std::string text() const;
};

} // namespace headrace
