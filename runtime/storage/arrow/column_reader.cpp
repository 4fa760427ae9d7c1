// Readers of Arrow arrays, one for each type.
#include "runtime/storage/arrow/column_reader.h"

#include "runtime/base/interval_values.h"
#include "runtime/base/list_values.h"
#include "runtime/storage/columns/column_type.h"

#include <arrow/extension_type.h>
#include <arrow/util/key_value_metadata.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headrace::storage {

/// A unit of Arrow as it is kept: times are of microseconds or nanoseconds, zoned timestamps too,
/// as in DuckDB.
static TimeUnit keptUnit(const arrow::DataType &type) {
  if (type.id() == arrow::Type::TIMESTAMP) {
    const auto &timestamp = static_cast<const arrow::TimestampType &>(type);
    auto unit = static_cast<TimeUnit>(timestamp.unit());
    return timestamp.timezone().empty() ? unit : std::max(unit, TimeUnit::kMicrosecond);
  }
  return std::max(static_cast<TimeUnit>(static_cast<const arrow::TimeType &>(type).unit()),
                  TimeUnit::kMicrosecond);
}

int64_t unitFactor(const arrow::DataType &type) {
  arrow::TimeUnit::type unit = type.id() == arrow::Type::TIMESTAMP
                                   ? static_cast<const arrow::TimestampType &>(type).unit()
                                   : static_cast<const arrow::TimeType &>(type).unit();
  return unitsOfSecond(keptUnit(type)) / unitsOfSecond(static_cast<TimeUnit>(unit));
}

namespace {

constexpr int64_t kMillisecondsPerDay = 86'400'000;

template <typename Array, typename Read> class TypedReader final : public ColumnReader {
public:
  TypedReader(const arrow::Array &array, Read read)
      : array_(static_cast<const Array &>(array)), read_(read) {}
  bool valid(int64_t row) const override { return array_.IsValid(row); }
  __int128 integer(int64_t row) const override {
    if constexpr (std::is_integral_v<decltype(read_(array_, row))> ||
                  sizeof(decltype(read_(array_, row))) == 16) {
      if constexpr (!std::is_same_v<decltype(read_(array_, row)), std::string_view>) {
        return read_(array_, row);
      }
    }
    return 0;
  }
  double real(int64_t row) const override {
    if constexpr (std::is_floating_point_v<decltype(read_(array_, row))>) {
      return read_(array_, row);
    }
    return 0;
  }
  std::string_view text(int64_t row) const override {
    if constexpr (std::is_same_v<decltype(read_(array_, row)), std::string_view>) {
      return read_(array_, row);
    }
    return {};
  }

private:
  const Array &array_;
  Read read_;
};

template <typename Array> std::unique_ptr<ColumnReader> plainReader(const arrow::Array &array) {
  auto read = [](const Array &values, int64_t row) { return values.Value(row); };
  return std::make_unique<TypedReader<Array, decltype(read)>>(array, read);
}

template <typename Array> std::unique_ptr<ColumnReader> textReader(const arrow::Array &array) {
  auto read = [](const Array &values, int64_t row) {
    return std::string_view(values.GetView(row));
  };
  return std::make_unique<TypedReader<Array, decltype(read)>>(array, read);
}

template <typename Array, typename Integer>
std::unique_ptr<ColumnReader> decimalReader(const arrow::Array &array) {
  auto read = [](const Array &values, int64_t row) {
    Integer value;
    std::memcpy(&value, values.GetValue(row), sizeof value);
    return value;
  };
  return std::make_unique<TypedReader<Array, decltype(read)>>(array, read);
}

template <typename Array> std::unique_ptr<ColumnReader> scaledReader(const arrow::Array &array) {
  auto read = [factor = unitFactor(*array.type())](const Array &values, int64_t row) {
    return inUnits(values.Value(row), factor);
  };
  return std::make_unique<TypedReader<Array, decltype(read)>>(array, read);
}

/// A dictionary, read through its indices.
class DictionaryReader final : public ColumnReader {
public:
  explicit DictionaryReader(const arrow::DictionaryArray &array);
  bool valid(int64_t row) const override {
    return array_.IsValid(row) && inRange(row) && dictionary_->valid(array_.GetValueIndex(row));
  }
  __int128 integer(int64_t row) const override {
    return dictionary_->integer(array_.GetValueIndex(row));
  }
  double real(int64_t row) const override { return dictionary_->real(array_.GetValueIndex(row)); }
  std::string_view text(int64_t row) const override {
    return dictionary_->text(array_.GetValueIndex(row));
  }

private:
  bool inRange(int64_t row) const {
    int64_t index = array_.GetValueIndex(row);
    return index >= 0 && index < array_.dictionary()->length();
  }
  const arrow::DictionaryArray &array_;
  std::unique_ptr<ColumnReader> dictionary_;
};

/// Of Arrow's type null: a column of NULLs, whose type nothing says.
class NullReader final : public ColumnReader {
public:
  bool valid(int64_t) const override { return false; }
};

/// An interval of any of Arrow's types, or a duration, packed.
template <typename Array> class IntervalReader final : public ColumnReader {
public:
  explicit IntervalReader(const arrow::Array &array) : array_(static_cast<const Array &>(array)) {}
  bool valid(int64_t row) const override { return array_.IsValid(row); }
  /// Empty if it is too long.
  std::string_view text(int64_t row) const override {
    const std::optional<IntervalParts> value = parts(row);
    packed_ = value ? packedInterval(*value) : std::string();
    return packed_;
  }

private:
  std::optional<IntervalParts> parts(int64_t row) const;

  const Array &array_;
  mutable std::string packed_;
};

template <>
std::optional<IntervalParts>
IntervalReader<arrow::MonthDayNanoIntervalArray>::parts(int64_t row) const {
  const auto value = array_.GetValue(row);
  return IntervalParts{value.months, value.days, value.nanoseconds / 1000};
}
template <>
std::optional<IntervalParts> IntervalReader<arrow::DayTimeIntervalArray>::parts(int64_t row) const {
  const auto value = array_.GetValue(row);
  return IntervalParts{0, value.days, int64_t{value.milliseconds} * 1000};
}
template <>
std::optional<IntervalParts> IntervalReader<arrow::MonthIntervalArray>::parts(int64_t row) const {
  return IntervalParts{array_.Value(row), 0, 0};
}

int64_t unitsOfSecondIn(const arrow::DataType &duration) {
  const auto unit = static_cast<const arrow::DurationType &>(duration).unit();
  return unitsOfSecond(static_cast<TimeUnit>(unit));
}

template <>
std::optional<IntervalParts> IntervalReader<arrow::DurationArray>::parts(int64_t row) const {
  constexpr int64_t kMicros = unitsOfSecond(TimeUnit::kMicrosecond);
  const int64_t units = unitsOfSecondIn(*array_.type());
  return units > kMicros
             ? IntervalParts{0, 0, array_.Value(row) / (units / kMicros)}
             : intervalOf(0, 0, static_cast<__int128>(array_.Value(row)) * (kMicros / units));
}

/// A list, packed.
template <typename Array> class ListReader final : public ColumnReader {
public:
  explicit ListReader(const arrow::Array &array)
      : array_(static_cast<const Array &>(array)), elements_(makeReader(*array_.values())),
        type_(describeField(*static_cast<const arrow::BaseListType &>(*array.type()).value_field())
                  .type),
        code_(elementCode(type_)), numbers_(numbersIn(*array_.values())) {}
  bool valid(int64_t row) const override { return array_.IsValid(row); }
  std::string_view text(int64_t row) const override {
    const int64_t first = array_.value_offset(row);
    const auto size = static_cast<uint64_t>(array_.value_length(row));
    if (numbers_ && size > 0) {
      list_.resize(ListWriter::bytesOf(code_, size, 0));
      ListWriter(list_.data(), code_, static_cast<uint32_t>(size))
          .addAll(code_, numbers_ + first * elementBytes(code_), static_cast<uint32_t>(size));
      return list_;
    }
    bytes_.clear(); // of all elements, one behind the other
    ends_.clear();
    for (uint64_t index = 0; index < size; ++index) {
      const int64_t place = first + static_cast<int64_t>(index);
      if (elements_->valid(place)) {
        append(place);
      }
      ends_.push_back(bytes_.size());
    }
    list_.resize(ListWriter::bytesOf(code_, size, bytes_.size()));
    ListWriter writer(list_.data(), code_, static_cast<uint32_t>(size));
    for (uint64_t index = 0; index < size; ++index) {
      const size_t begin = index == 0 ? 0 : ends_[index - 1];
      const auto element = std::string_view(bytes_).substr(begin, ends_[index] - begin);
      const bool isThere = elements_->valid(first + static_cast<int64_t>(index));
      writer.add(isThere ? std::optional(element) : std::nullopt);
    }
    return list_;
  }

private:
  /// The elements, if they lie there as they do in a list; else null.
  const uint8_t *numbersIn(const arrow::Array &elements) const {
    const arrow::Type::type id = elements.type_id();
    const bool isPlain =
        arrow::is_integer(id) || id == arrow::Type::FLOAT || id == arrow::Type::DOUBLE;
    if (!isPlain || elements.null_count() > 0) {
      return nullptr;
    }
    const auto width = static_cast<const arrow::FixedWidthType &>(*elements.type()).bit_width() / 8;
    const arrow::ArrayData &data = *elements.data();
    return width == static_cast<int>(elementBytes(code_)) && data.buffers[1]
               ? data.buffers[1]->data() + data.offset * width
               : nullptr;
  }

  void append(int64_t place) const {
    bytes_ += type_.isHeldAsText() ? elements_->text(place)
              : type_.real() ? ElementBytes::ofReal(code_, elements_->real(place)).view()
                             : ElementBytes::ofInteger(code_, elements_->integer(place)).view();
  }

  const Array &array_;
  std::unique_ptr<ColumnReader> elements_;
  LogicalType type_;
  ElementCode code_;
  const uint8_t *numbers_;
  mutable std::string bytes_, list_;
  mutable std::vector<size_t> ends_;
};

/// A struct, packed.
class StructReader final : public ColumnReader {
public:
  explicit StructReader(const arrow::StructArray &array) : array_(array) {
    for (int index = 0; index < array.num_fields(); ++index) {
      Field &field = fields_.emplace_back();
      field.array = array.field(index);
      field.reader = makeReader(*field.array);
      field.type = describeField(*array.type()->field(index)).type;
    }
    parts_.resize(fields_.size());
  }
  bool valid(int64_t row) const override { return array_.IsValid(row); }
  std::string_view text(int64_t row) const override {
    std::vector<FieldBytes> bytes;
    for (size_t index = 0; index < fields_.size(); ++index) {
      const auto &[array, reader, type] = fields_[index];
      const ElementCode code = elementCode(type);
      FieldBytes &part = bytes.emplace_back(FieldBytes{code, std::nullopt});
      if (reader->valid(row)) {
        parts_[index] = type.isHeldAsText() ? reader->text(row)
                        : type.real() ? ElementBytes::ofReal(code, reader->real(row)).view()
                                      : ElementBytes::ofInteger(code, reader->integer(row)).view();
        part.bytes = parts_[index];
      }
    }
    packed_ = packedStruct(bytes);
    return packed_;
  }

private:
  struct Field {
    std::shared_ptr<arrow::Array> array;
    std::unique_ptr<ColumnReader> reader;
    LogicalType type;
  };

  const arrow::StructArray &array_;
  std::vector<Field> fields_;
  mutable std::vector<std::string> parts_;
  mutable std::string packed_;
};

} // namespace

std::unique_ptr<ColumnReader> makeReader(const arrow::Array &array) {
  switch (array.type_id()) {
  case arrow::Type::NA:
    return std::make_unique<NullReader>();
  case arrow::Type::BOOL:
    return plainReader<arrow::BooleanArray>(array);
  case arrow::Type::INT8:
    return plainReader<arrow::Int8Array>(array);
  case arrow::Type::INT16:
    return plainReader<arrow::Int16Array>(array);
  case arrow::Type::INT32:
    return plainReader<arrow::Int32Array>(array);
  case arrow::Type::INT64:
    return plainReader<arrow::Int64Array>(array);
  case arrow::Type::UINT8:
    return plainReader<arrow::UInt8Array>(array);
  case arrow::Type::UINT16:
    return plainReader<arrow::UInt16Array>(array);
  case arrow::Type::UINT32:
    return plainReader<arrow::UInt32Array>(array);
  case arrow::Type::UINT64:
    return plainReader<arrow::UInt64Array>(array);
  case arrow::Type::DATE32:
    return plainReader<arrow::Date32Array>(array);
  case arrow::Type::FLOAT:
    return plainReader<arrow::FloatArray>(array);
  case arrow::Type::DOUBLE:
    return plainReader<arrow::DoubleArray>(array);
  case arrow::Type::DATE64: {
    auto read = [](const arrow::Date64Array &values, int64_t row) {
      const int64_t milliseconds = values.Value(row);
      const int64_t days = milliseconds / kMillisecondsPerDay;
      return days - (milliseconds % kMillisecondsPerDay < 0);
    };
    return std::make_unique<TypedReader<arrow::Date64Array, decltype(read)>>(array, read);
  }
  case arrow::Type::TIME32:
    return scaledReader<arrow::Time32Array>(array);
  case arrow::Type::TIME64:
    return plainReader<arrow::Time64Array>(array);
  case arrow::Type::TIMESTAMP:
    return scaledReader<arrow::TimestampArray>(array);
  case arrow::Type::DECIMAL32:
    return decimalReader<arrow::Decimal32Array, int32_t>(array);
  case arrow::Type::DECIMAL64:
    return decimalReader<arrow::Decimal64Array, int64_t>(array);
  case arrow::Type::DECIMAL128:
    return decimalReader<arrow::Decimal128Array, __int128>(array);
  case arrow::Type::STRING:
    return textReader<arrow::StringArray>(array);
  case arrow::Type::LARGE_STRING:
    return textReader<arrow::LargeStringArray>(array);
  case arrow::Type::STRING_VIEW:
    return textReader<arrow::StringViewArray>(array);
  case arrow::Type::BINARY:
    return textReader<arrow::BinaryArray>(array);
  case arrow::Type::LARGE_BINARY:
    return textReader<arrow::LargeBinaryArray>(array);
  case arrow::Type::BINARY_VIEW:
    return textReader<arrow::BinaryViewArray>(array);
  case arrow::Type::FIXED_SIZE_BINARY:
    return textReader<arrow::FixedSizeBinaryArray>(array);
  case arrow::Type::INTERVAL_MONTH_DAY_NANO:
    return std::make_unique<IntervalReader<arrow::MonthDayNanoIntervalArray>>(array);
  case arrow::Type::INTERVAL_DAY_TIME:
    return std::make_unique<IntervalReader<arrow::DayTimeIntervalArray>>(array);
  case arrow::Type::INTERVAL_MONTHS:
    return std::make_unique<IntervalReader<arrow::MonthIntervalArray>>(array);
  case arrow::Type::DURATION:
    return std::make_unique<IntervalReader<arrow::DurationArray>>(array);
  case arrow::Type::DICTIONARY:
    return std::make_unique<DictionaryReader>(static_cast<const arrow::DictionaryArray &>(array));
  case arrow::Type::LIST:
    return std::make_unique<ListReader<arrow::ListArray>>(array);
  case arrow::Type::LARGE_LIST:
    return std::make_unique<ListReader<arrow::LargeListArray>>(array);
  case arrow::Type::FIXED_SIZE_LIST:
    return std::make_unique<ListReader<arrow::FixedSizeListArray>>(array);
  case arrow::Type::MAP:
    return std::make_unique<ListReader<arrow::MapArray>>(array);
  case arrow::Type::EXTENSION:
    return makeReader(*static_cast<const arrow::ExtensionArray &>(array).storage());
  case arrow::Type::STRUCT:
    return std::make_unique<StructReader>(static_cast<const arrow::StructArray &>(array));
  default:
    return nullptr;
  }
}

DictionaryReader::DictionaryReader(const arrow::DictionaryArray &array)
    : array_(array), dictionary_(makeReader(*array.dictionary())) {}

static constexpr std::string_view kUuidExtension = "arrow.uuid";

/// The extension of Arrow, not registered here, that says that the values are not those of the
/// field's type, as far as DuckDB knows it; or nothing.
static std::string otherMeaning(const arrow::Field &field) {
  static constexpr std::string_view kKnown[] = {"arrow.bool8", "arrow.opaque", kUuidExtension,
                                                "geoarrow.wkb"};
  const std::string name =
      field.metadata() ? field.metadata()->Get("ARROW:extension:name").ValueOr("") : "";
  return std::ranges::find(kKnown, name) != std::end(kKnown) ? name : "";
}

TableColumn describeField(const arrow::Field &field) {
  TableColumn column = describeField(field.name(), *field.type());
  if (const std::string meaning = otherMeaning(field); !meaning.empty()) {
    column.unsupported = "type is not supported: " + meaning;
  }
  return column;
}

/// Of a part of something nested.
static TableColumn describeInner(const std::string &name, const arrow::Field &field) {
  const arrow::DataType &type = *field.type();
  TableColumn column = describeField(field);
  column.name = name;
  if (type.id() == arrow::Type::DURATION &&
      unitsOfSecondIn(type) < unitsOfSecond(TimeUnit::kMicrosecond)) {
    column.unsupported = "one that is too long would not be seen";
  }
  return column;
}

TableColumn describeField(const std::string &name, const arrow::DataType &type) {
  TableColumn column;
  column.name = name;
  switch (type.id()) {
  case arrow::Type::BOOL:
    column.type = {LogicalKind::kBool};
    break;
  case arrow::Type::NA: // as DuckDB has it
    column.type = {LogicalKind::kI32};
    break;
  case arrow::Type::INT8:
  case arrow::Type::INT16:
  case arrow::Type::INT32:
  case arrow::Type::INT64:
  case arrow::Type::UINT8:
  case arrow::Type::UINT16:
  case arrow::Type::UINT32:
  case arrow::Type::UINT64:
    column.type = {integerKind(type.bit_width(), arrow::is_unsigned_integer(type.id()))};
    break;
  case arrow::Type::DATE32:
  case arrow::Type::DATE64:
    column.type = {LogicalKind::kDate};
    break;
  case arrow::Type::TIME32:
  case arrow::Type::TIME64:
    column.type = {LogicalKind::kTime};
    column.type.unit = keptUnit(type);
    break;
  case arrow::Type::TIMESTAMP:
    column.type = {LogicalKind::kTimestamp};
    column.type.unit = keptUnit(type);
    column.type.zoned = !static_cast<const arrow::TimestampType &>(type).timezone().empty();
    break;
  case arrow::Type::FLOAT:
    column.type = {LogicalKind::kF32};
    break;
  case arrow::Type::DOUBLE:
    column.type = {LogicalKind::kF64};
    break;
  case arrow::Type::DECIMAL32:
  case arrow::Type::DECIMAL64:
  case arrow::Type::DECIMAL128: {
    const auto &decimal = static_cast<const arrow::DecimalType &>(type);
    column.type = {LogicalKind::kDecimal, decimal.precision(), decimal.scale()};
    if (decimal.scale() < 0) {
      column.unsupported = "decimals with a scale below 0 are not supported: " + type.ToString();
    }
    break;
  }
  case arrow::Type::STRING:
  case arrow::Type::LARGE_STRING:
  case arrow::Type::STRING_VIEW:
    column.type = {LogicalKind::kString};
    break;
  case arrow::Type::BINARY:
  case arrow::Type::LARGE_BINARY:
  case arrow::Type::BINARY_VIEW:
  case arrow::Type::FIXED_SIZE_BINARY:
    column.type = {LogicalKind::kBinary};
    break;
  case arrow::Type::INTERVAL_MONTH_DAY_NANO:
  case arrow::Type::INTERVAL_DAY_TIME:
  case arrow::Type::INTERVAL_MONTHS:
  case arrow::Type::DURATION:
    column.type = {LogicalKind::kInterval};
    break;
  case arrow::Type::DICTIONARY:
    return describeField(name, *static_cast<const arrow::DictionaryType &>(type).value_type());
  case arrow::Type::EXTENSION: { // one that is registered
    const auto &extension = static_cast<const arrow::ExtensionType &>(type);
    if (extension.extension_name() == kUuidExtension) {
      column.type = {LogicalKind::kUuid};
    } else if (extension.extension_name() == "arrow.json") {
      return describeField(name, *extension.storage_type());
    } else {
      column.unsupported = "type is not supported: " + type.ToString();
    }
    break;
  }
  case arrow::Type::LIST:
  case arrow::Type::LARGE_LIST:
  case arrow::Type::FIXED_SIZE_LIST: {
    TableColumn element =
        describeInner(name, *static_cast<const arrow::BaseListType &>(type).value_field());
    column.type = {LogicalKind::kList};
    column.type.children.push_back(element.type);
    if (type.id() == arrow::Type::FIXED_SIZE_LIST) {
      column.type.size =
          static_cast<uint32_t>(static_cast<const arrow::FixedSizeListType &>(type).list_size());
    }
    if (!element.unsupported.empty()) {
      column.unsupported = "type is not supported: " + type.ToString();
    }
    break;
  }
  case arrow::Type::MAP: {
    const auto &map = static_cast<const arrow::MapType &>(type);
    column.type = {LogicalKind::kMap};
    for (const auto &part : {map.key_field(), map.item_field()}) {
      TableColumn described = describeInner(name, *part);
      column.type.children.push_back(described.type);
      if (!described.unsupported.empty()) {
        column.unsupported = "type is not supported: " + type.ToString();
      }
    }
    break;
  }
  case arrow::Type::STRUCT: {
    column.type = {LogicalKind::kStruct};
    std::set<std::string> names;
    for (const std::shared_ptr<arrow::Field> &field : type.fields()) {
      TableColumn described = describeInner(name, *field);
      column.type.children.push_back(described.type);
      column.type.names.push_back(field->name());
      const bool isNew = !field->name().empty() && names.insert(field->name()).second;
      if (!described.unsupported.empty() || !isNew) {
        column.unsupported = "type is not supported: " + type.ToString();
      }
    }
    if (names.empty()) {
      column.unsupported = "type is not supported: " + type.ToString();
    }
    break;
  }
  default:
    column.unsupported = "type is not supported: " + type.ToString();
  }
  return column;
}

} // namespace headrace::storage
