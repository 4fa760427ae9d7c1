// One function for each type of Arrow, over those of its values that are there.
#include "runtime/storage/parquet/write/leaf_values.h"

#include "runtime/storage/columns/column_type.h"

#include <arrow/array/array_dict.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace headrace::storage {
namespace {

constexpr int kDigitsMax = 38;

uint64_t countOf(const LeafRows &leaf) { return leaf.isWhole ? leaf.entries : leaf.places.size(); }

template <typename Function> void forEachPlace(const LeafRows &leaf, Function function) {
  if (leaf.isWhole) {
    for (int64_t i = 0; i < static_cast<int64_t>(leaf.entries); ++i) {
      function(i);
    }
  } else {
    for (int64_t place : leaf.places) {
      function(place);
    }
  }
}

Status unsupported(const arrow::DataType &type) {
  return makeError(ErrorKind::kUnsupported, "unsupported type of a column: ", type.ToString());
}

template <typename Number, typename Array>
std::span<const Number> readNumbers(const LeafRows &leaf, ValueRoom &room) {
  const auto &array = static_cast<const Array &>(*leaf.values);
  using Stored = std::decay_t<decltype(array.Value(0))>;
  if (std::is_same_v<Stored, Number> && leaf.isWhole) {
    return {reinterpret_cast<const Number *>(array.raw_values()), leaf.entries};
  }
  room.bytes.resize(countOf(leaf) * sizeof(Number));
  auto *next = reinterpret_cast<Number *>(room.bytes.data());
  // What has no sign keeps its bits.
  forEachPlace(leaf, [&](int64_t place) { *next++ = static_cast<Number>(array.Value(place)); });
  return {reinterpret_cast<const Number *>(room.bytes.data()), countOf(leaf)};
}

/// Times and timestamps of seconds, which Parquet has as milliseconds.
template <typename Number, typename Array>
Expected<std::span<const Number>> readMoments(const LeafRows &leaf, arrow::TimeUnit::type unit,
                                              ValueRoom &room) {
  const std::span<const Number> read = readNumbers<Number, Array>(leaf, room);
  if (unit != arrow::TimeUnit::SECOND) {
    return read;
  }
  std::vector<uint8_t> made(read.size_bytes());
  auto *next = reinterpret_cast<Number *>(made.data());
  for (Number seconds : read) {
    const __int128 milliseconds = inUnits(seconds, 1000);
    *next = static_cast<Number>(milliseconds);
    if (*next++ != milliseconds) {
      return makeError(ErrorKind::kData, "too many seconds for Parquet's milliseconds: ", seconds);
    }
  }
  room.bytes.swap(made);
  return std::span(reinterpret_cast<const Number *>(room.bytes.data()), read.size());
}

template <typename Number>
std::span<const Number> readDecimals(const LeafRows &leaf, ValueRoom &room) {
  const auto &array = static_cast<const arrow::Decimal128Array &>(*leaf.values);
  room.bytes.resize(countOf(leaf) * sizeof(Number));
  auto *next = reinterpret_cast<Number *>(room.bytes.data());
  forEachPlace(leaf,
               [&](int64_t place) { std::memcpy(next++, array.GetValue(place), sizeof(Number)); });
  return {reinterpret_cast<const Number *>(room.bytes.data()), countOf(leaf)};
}

template <typename Array> void addViews(const LeafRows &leaf, ValueRoom &room) {
  const auto &array = static_cast<const Array &>(*leaf.values);
  forEachPlace(leaf, [&](int64_t place) { room.views.push_back(array.GetView(place)); });
}

/// Of the texts of a dictionary.
Status addNames(const LeafRows &leaf, ValueRoom &room) {
  const auto &array = static_cast<const arrow::DictionaryArray &>(*leaf.values);
  if (array.dictionary()->type_id() != arrow::Type::STRING) {
    return unsupported(*array.type());
  }
  const auto &names = static_cast<const arrow::StringArray &>(*array.dictionary());
  forEachPlace(leaf, [&](int64_t place) {
    room.views.push_back(names.GetView(array.GetValueIndex(place)));
  });
  return Status();
}

/// Views of values of `width` bytes each in room.bytes.
void addFixedViews(uint64_t count, size_t width, ValueRoom &room) {
  for (uint64_t i = 0; i < count; ++i) {
    room.views.emplace_back(reinterpret_cast<const char *>(room.bytes.data()) + i * width, width);
  }
}

Status addDecimals(const LeafRows &leaf, size_t width, ValueRoom &room) {
  const auto &array = static_cast<const arrow::Decimal128Array &>(*leaf.values);
  const int precision = static_cast<const arrow::Decimal128Type &>(*array.type()).precision();
  room.bytes.resize(countOf(leaf) * width);
  uint8_t *next = room.bytes.data();
  const uint8_t *wide = nullptr;
  forEachPlace(leaf, [&](int64_t place) {
    const uint8_t *value = array.GetValue(place);
    if (precision == kDigitsMax && !arrow::Decimal128(value).FitsInPrecision(kDigitsMax)) {
      wide = value;
    }
    for (size_t byte = 0; byte < width; ++byte) {
      *next++ = value[width - 1 - byte];
    }
  });
  if (wide) {
    return makeError(ErrorKind::kData, "a number has more than ", kDigitsMax,
                     " digits: ", arrow::Decimal128(wide).ToIntegerString());
  }
  addFixedViews(countOf(leaf), width, room);
  return Status();
}

Status addIntervals(const LeafRows &leaf, size_t width, ValueRoom &room) {
  constexpr int64_t kMillisecondsPerDay = 86'400'000, kNanosecondsPerMillisecond = 1'000'000;
  const auto &array = static_cast<const arrow::MonthDayNanoIntervalArray &>(*leaf.values);
  room.bytes.resize(countOf(leaf) * width);
  uint8_t *next = room.bytes.data();
  bool fits = true;
  forEachPlace(leaf, [&](int64_t place) {
    const arrow::MonthDayNanoIntervalType::MonthDayNanos value = array.GetValue(place);
    const int64_t milliseconds = value.nanoseconds / kNanosecondsPerMillisecond;
    fits &= value.months >= 0 && value.days >= 0 && value.nanoseconds >= 0;
    // Whole days are days, as in DuckDB's files.
    for (int64_t part : {int64_t{value.months}, value.days + milliseconds / kMillisecondsPerDay,
                         milliseconds % kMillisecondsPerDay}) {
      const auto stored = static_cast<uint32_t>(part);
      std::memcpy(next, &stored, sizeof stored);
      next += sizeof stored;
    }
  });
  if (!fits) {
    return makeError(ErrorKind::kData, "Parquet has no negative intervals");
  }
  addFixedViews(countOf(leaf), width, room);
  return Status();
}

Status addBytes(const LeafRows &leaf, size_t width, ValueRoom &room) {
  switch (leaf.values->type_id()) {
  case arrow::Type::STRING:
    addViews<arrow::StringArray>(leaf, room);
    return Status();
  case arrow::Type::BINARY:
    addViews<arrow::BinaryArray>(leaf, room);
    return Status();
  case arrow::Type::LARGE_STRING:
    addViews<arrow::LargeStringArray>(leaf, room);
    return Status();
  case arrow::Type::LARGE_BINARY:
    addViews<arrow::LargeBinaryArray>(leaf, room);
    return Status();
  case arrow::Type::STRING_VIEW:
    addViews<arrow::StringViewArray>(leaf, room);
    return Status();
  case arrow::Type::FIXED_SIZE_BINARY:
    addViews<arrow::FixedSizeBinaryArray>(leaf, room);
    return Status();
  case arrow::Type::DICTIONARY:
    return addNames(leaf, room);
  case arrow::Type::DECIMAL128:
    return addDecimals(leaf, width, room);
  case arrow::Type::INTERVAL_MONTH_DAY_NANO:
    return addIntervals(leaf, width, room);
  default:
    return unsupported(*leaf.values->type());
  }
}

} // namespace

template <>
Expected<std::span<const int32_t>> numbersOf<int32_t>(const LeafRows &leaf, ValueRoom &room) {
  switch (leaf.values->type_id()) {
  case arrow::Type::INT8:
    return readNumbers<int32_t, arrow::Int8Array>(leaf, room);
  case arrow::Type::UINT8:
    return readNumbers<int32_t, arrow::UInt8Array>(leaf, room);
  case arrow::Type::INT16:
    return readNumbers<int32_t, arrow::Int16Array>(leaf, room);
  case arrow::Type::UINT16:
    return readNumbers<int32_t, arrow::UInt16Array>(leaf, room);
  case arrow::Type::INT32:
    return readNumbers<int32_t, arrow::Int32Array>(leaf, room);
  case arrow::Type::UINT32:
    return readNumbers<int32_t, arrow::UInt32Array>(leaf, room);
  case arrow::Type::DATE32:
    return readNumbers<int32_t, arrow::Date32Array>(leaf, room);
  case arrow::Type::TIME32:
    return readMoments<int32_t, arrow::Time32Array>(
        leaf, static_cast<const arrow::Time32Type &>(*leaf.values->type()).unit(), room);
  case arrow::Type::DECIMAL128:
    return readDecimals<int32_t>(leaf, room);
  default:
    return unsupported(*leaf.values->type());
  }
}

template <>
Expected<std::span<const int64_t>> numbersOf<int64_t>(const LeafRows &leaf, ValueRoom &room) {
  switch (leaf.values->type_id()) {
  case arrow::Type::INT64:
    return readNumbers<int64_t, arrow::Int64Array>(leaf, room);
  case arrow::Type::UINT64:
    return readNumbers<int64_t, arrow::UInt64Array>(leaf, room);
  case arrow::Type::TIME64:
    return readNumbers<int64_t, arrow::Time64Array>(leaf, room);
  case arrow::Type::TIMESTAMP:
    return readMoments<int64_t, arrow::TimestampArray>(
        leaf, static_cast<const arrow::TimestampType &>(*leaf.values->type()).unit(), room);
  case arrow::Type::DECIMAL128:
    return readDecimals<int64_t>(leaf, room);
  default:
    return unsupported(*leaf.values->type());
  }
}

template <>
Expected<std::span<const float>> numbersOf<float>(const LeafRows &leaf, ValueRoom &room) {
  return readNumbers<float, arrow::FloatArray>(leaf, room);
}

template <>
Expected<std::span<const double>> numbersOf<double>(const LeafRows &leaf, ValueRoom &room) {
  return readNumbers<double, arrow::DoubleArray>(leaf, room);
}

template <>
Expected<std::span<const uint8_t>> numbersOf<uint8_t>(const LeafRows &leaf, ValueRoom &room) {
  const auto &array = static_cast<const arrow::BooleanArray &>(*leaf.values);
  room.bytes.resize(countOf(leaf));
  uint8_t *next = room.bytes.data();
  forEachPlace(leaf, [&](int64_t place) { *next++ = array.Value(place) ? 1 : 0; });
  return std::span<const uint8_t>(room.bytes);
}

Expected<std::span<const std::string_view>>
bytesOf(const LeafRows &leaf, const parquet::ColumnDescriptor &column, ValueRoom &room) {
  room.views.clear();
  room.views.reserve(countOf(leaf));
  HR_RETURN_IF_ERROR(addBytes(leaf, static_cast<size_t>(std::max(column.type_length(), 0)), room));
  return std::span<const std::string_view>(room.views);
}

} // namespace headrace::storage
