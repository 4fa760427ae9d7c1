// Short ways for plain integers and numbers with few digits; all else as casts of texts read it.
#include "runtime/storage/csv/csv_column.h"

#include "runtime/abi/type_bytes.h"
#include "runtime/base/moment_pattern.h"
#include "runtime/base/moment_text.h"
#include "runtime/base/utf8.h"
#include "runtime/base/uuid.h"
#include "runtime/primitives/string/string.h"
#include "runtime/primitives/string/text_values.h"
#include "runtime/storage/columns/column_type.h"
#include "runtime/storage/columns/texts.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace headrace::storage {
namespace {

constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Digits with at most one point, at most 18 of them.
struct ShortNumber {
  bool valid = false;
  int64_t digits = 0;
  int behindPoint = 0;

  explicit ShortNumber(std::string_view text) {
    const char *next = text.data(), *const end = next + text.size();
    const bool negative = next != end && *next == '-';
    next += negative;
    if (next == end || end - next > 19) {
      return;
    }
    const char *point = nullptr;
    int count = 0;
    for (; next != end; ++next) {
      const auto digit = static_cast<unsigned>(*next - '0');
      if (digit <= 9) {
        digits = digits * 10 + digit;
        ++count;
      } else if (*next == '.' && !point) {
        point = next;
      } else {
        return;
      }
    }
    behindPoint = point ? static_cast<int>(end - point) - 1 : 0;
    digits = negative ? -digits : digits;
    valid = count != 0 && count <= 18;
  }
};

/// YYYY-MM-DD as days since 1970; the algorithm is Howard Hinnant's days_from_civil.
bool shortDate(std::string_view text, int64_t &days) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
    return false;
  }
  unsigned wrong = 0;
  auto digit = [&](size_t at) {
    const auto value = static_cast<unsigned>(text[at] - '0');
    wrong |= value > 9;
    return value;
  };
  unsigned year = digit(0) * 1000 + digit(1) * 100 + digit(2) * 10 + digit(3);
  const unsigned month = digit(5) * 10 + digit(6), day = digit(8) * 10 + digit(9);
  if (wrong || year == 0 || month < 1 || month > 12 || day < 1 || day > 28) {
    return false; // the last days of a month take the long way
  }
  year -= month <= 2;
  const unsigned era = year / 400, yearOfEra = year - era * 400;
  const unsigned dayOfYear = (153 * (month + (month > 2 ? -3u : 9u)) + 2) / 5 + day - 1;
  const unsigned dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
  days = static_cast<int64_t>(era) * 146'097 + dayOfEra - 719'468;
  return true;
}

HrTextForm formOf(const LogicalType &type) {
  switch (type.kind) {
  case LogicalKind::kBool:
    return HR_TEXT_BOOLEAN;
  case LogicalKind::kF32:
    return HR_TEXT_FLOAT;
  case LogicalKind::kF64:
    return HR_TEXT_DOUBLE;
  case LogicalKind::kDate:
    return HR_TEXT_DATE;
  case LogicalKind::kTime:
    return HR_TEXT_TIME;
  case LogicalKind::kTimestamp:
    return type.zoned ? HR_TEXT_ZONED_TIMESTAMP : HR_TEXT_TIMESTAMP;
  default:
    return HR_TEXT_INTEGER;
  }
}

struct CsvValue {
  std::string_view text; ///< without quotes
  bool quoted = false;
};

class Reader {
public:
  /// `bytes`: the piece; null where whole values are given.
  Reader(const CsvFormat &format, const LogicalType &logical, bool neverNull, uint8_t *bytes)
      : format_(format), logical_(logical), neverNull_(neverNull), bytes_(bytes),
        form_(formOf(logical_)),
        scale_(logical_.kind == LogicalKind::kDecimal ? logical_.scale
               : logical_.kind == LogicalKind::kTime || logical_.kind == LogicalKind::kTimestamp
                   ? digitsOf(logical_.unit)
                   : 0),
        emptyIsNull_(logical_.kind != LogicalKind::kString || format.emptyIsNull()) {}

  CsvValue value(CsvField field) const;
  bool isNull(CsvValue value) const {
    if (neverNull_ || (value.quoted && !format_.quotedNulls)) {
      return false;
    }
    if (value.text.empty()) {
      return emptyIsNull_;
    }
    return std::any_of(format_.nulls.begin(), format_.nulls.end(),
                       [&](const std::string &null) { return value.text == null; });
  }
  bool integer(std::string_view value, __int128 &out) const;
  bool real(std::string_view value, double &out) const;
  /// A text, or a UUID, whose bytes replace it; nothing if it is none.
  std::optional<std::string_view> bytes(std::string_view value) const;

private:
  const CsvFormat &format_;
  /// A number as casts of texts read it; one that the format does not have is none.
  std::string_view plainNumber(std::string_view value) const;
  /// The moment in the format that columns of this type have; nothing if they have none.
  std::optional<bool> formatted(std::string_view value, __int128 &out) const;

  const LogicalType &logical_;
  const bool neverNull_;
  uint8_t *bytes_;
  mutable std::string number_;
  const HrTextForm form_;
  const int32_t scale_;
  const bool emptyIsNull_;
};

CsvValue Reader::value(CsvField field) const {
  const char quote = format_.quote;
  char *begin = reinterpret_cast<char *>(bytes_) + field.begin;
  size_t size = field.end - field.begin;
  if (!quote || size < 2 || *begin != quote) {
    return {{begin, size}, false};
  }
  ++begin;
  size -= 2;
  if (!std::memchr(begin, quote, size)) {
    return {{begin, size}, true};
  }
  char *out = begin;
  for (size_t at = 0; at < size; ++at) {
    *out++ = begin[at];
    at += begin[at] == quote; // the second of two
  }
  return {{begin, static_cast<size_t>(out - begin)}, true};
}

std::string_view Reader::plainNumber(std::string_view value) const {
  if (format_.point == '.' && !format_.thousands) {
    return value;
  }
  number_.clear();
  for (char character : value) {
    if (character == format_.point) {
      number_ += '.';
    } else if (character == '.' && format_.thousands != '.') {
      return ".";
    } else if (character != format_.thousands) {
      number_ += character;
    }
  }
  return number_;
}

std::optional<bool> Reader::formatted(std::string_view value, __int128 &out) const {
  const bool isDate = form_ == HR_TEXT_DATE;
  const bool isTimestamp = form_ == HR_TEXT_TIMESTAMP || form_ == HR_TEXT_ZONED_TIMESTAMP;
  const std::string &format = isDate ? format_.dates : format_.timestamps;
  if ((!isDate && !isTimestamp) || format.empty()) {
    return std::nullopt;
  }
  const TimeUnit unit = isDate ? TimeUnit::kSecond : logical_.unit;
  const std::optional<int64_t> moment = momentIn(value, format, unit);
  if (!moment) {
    return false;
  }
  out = *moment;
  if (isDate && isInfiniteTimestamp(*moment)) {
    out = *moment > 0 ? kInfiniteDate : -kInfiniteDate;
  } else if (isDate) {
    const int64_t day = unitsOfDay(unit);
    out = *moment / day - (*moment % day < 0);
  }
  return true;
}

bool Reader::integer(std::string_view value, __int128 &out) const {
  if (const std::optional<bool> read = formatted(value, out)) {
    return *read;
  }
  if (form_ == HR_TEXT_INTEGER) {
    value = plainNumber(value);
    const ShortNumber number(value);
    if (number.valid && number.behindPoint <= scale_ && scale_ <= 18) {
      out = number.digits;
      for (int digit = number.behindPoint; digit < scale_; ++digit) {
        out *= 10;
      }
      return true;
    }
  }
  int64_t days;
  if (form_ == HR_TEXT_DATE && shortDate(value, days)) {
    out = days;
    return true;
  }
  const HrString whole = primitives::makeString(reinterpret_cast<const uint8_t *>(value.data()),
                                                static_cast<uint32_t>(value.size()));
  return primitives::textParse(form_, &whole, scale_, &out) != 0;
}

bool Reader::real(std::string_view value, double &out) const {
  value = plainNumber(value);
  const ShortNumber number(value);
  if (form_ == HR_TEXT_DOUBLE && number.valid && number.digits < (int64_t{1} << 53) &&
      number.digits > -(int64_t{1} << 53) && number.digits != 0) {
    out = static_cast<double>(number.digits) / kPowers[number.behindPoint]; // both are exact
    return true;
  }
  const HrString whole = primitives::makeString(reinterpret_cast<const uint8_t *>(value.data()),
                                                static_cast<uint32_t>(value.size()));
  if (form_ == HR_TEXT_FLOAT) {
    float narrow = 0;
    const bool valid = primitives::textParse(form_, &whole, 0, &narrow) != 0;
    out = narrow;
    return valid;
  }
  return primitives::textParse(form_, &whole, 0, &out) != 0;
}

std::optional<std::string_view> Reader::bytes(std::string_view value) const {
  if (logical_.kind != LogicalKind::kUuid) {
    return utf8::isValid(value) ? std::optional(value) : std::nullopt;
  }
  const std::optional<UuidBytes> parsed = parseUuid(value);
  if (!parsed) {
    return std::nullopt;
  }
  char *to = reinterpret_cast<char *>(bytes_) + (value.data() - reinterpret_cast<char *>(bytes_));
  std::copy(parsed->begin(), parsed->end(), to);
  return std::string_view(to, parsed->size());
}

/// Whether an integer is one of the type, as the user knows it.
bool isOf(const LogicalType &type, __int128 value) {
  __int128 limit = 0;
  switch (type.kind) {
  case LogicalKind::kI8:
    return fitsInteger(HR_I8, value, value);
  case LogicalKind::kI16:
    return fitsInteger(HR_I16, value, value);
  case LogicalKind::kI32:
    return fitsInteger(HR_I32, value, value);
  case LogicalKind::kI64:
    return fitsInteger(HR_I64, value, value);
  case LogicalKind::kU8:
    return value >= 0 && value <= UINT8_MAX;
  case LogicalKind::kU16:
    return value >= 0 && value <= UINT16_MAX;
  case LogicalKind::kU32:
    return value >= 0 && value <= UINT32_MAX;
  case LogicalKind::kU64:
    return value >= 0 && value <= UINT64_MAX;
  case LogicalKind::kDecimal:
    limit = 1;
    for (int digit = 0; digit < type.precision; ++digit) {
      limit *= 10;
    }
    return value > -limit && value < limit;
  default:
    return true;
  }
}

bool isNeverNull(const CsvFormat &format, const std::string &column) {
  const std::vector<std::string> &names = format.neverNull;
  return std::find(names.begin(), names.end(), column) != names.end();
}

} // namespace

bool readCsvColumn(const CsvFormat &format, const plan::SlotColumn &column,
                   const std::vector<CsvField> &fields, const BufferHandle &text, uint8_t *bytes,
                   EncodedChunk &chunk, CsvMistake &mistake) {
  const Reader reader(format, column.logical, isNeverNull(format, column.file), bytes);
  const uint32_t width = abi::bytesOf(column.type);
  const size_t rows = fields.size();
  PaddedBuffer values(rows * width), valid((rows + 7) / 8);
  if (!values || !valid) {
    // no test: it takes more memory than a machine has
    mistake = {0, "is of a column for which there is no memory", false};
    return false;
  }
  std::memset(valid.data(), 0, valid.bytes());
  uint8_t *out = values.data();
  for (size_t row = 0; row < rows; ++row, out += width) {
    const CsvValue read = reader.value(fields[row]);
    const std::string_view value = read.text;
    if (reader.isNull(read)) {
      chunk.hasNulls = true;
      std::memset(out, 0, width);
      if (column.type == HR_STRING) {
        const HrString none = primitives::makeString(emptyText(), 0);
        std::memcpy(out, &none, sizeof none);
      }
      continue;
    }
    valid.data()[row / 8] |= static_cast<uint8_t>(1 << (row % 8));
    bool right = true;
    if (column.type == HR_STRING) {
      const std::optional<std::string_view> bytesOfValue = reader.bytes(value);
      right = bytesOfValue.has_value();
      const std::string_view kept = bytesOfValue.value_or(std::string_view());
      const HrString made =
          right ? primitives::makeString(reinterpret_cast<const uint8_t *>(kept.data()),
                                         static_cast<uint32_t>(kept.size()))
                : primitives::makeString(emptyText(), 0);
      std::memcpy(out, &made, sizeof made);
    } else if (column.type == HR_F64 || column.type == HR_F32) {
      double real = 0;
      right = reader.real(value, real);
      if (column.type == HR_F64) {
        std::memcpy(out, &real, sizeof real);
      } else {
        const auto narrow = static_cast<float>(real);
        std::memcpy(out, &narrow, sizeof narrow);
      }
    } else {
      __int128 integer = 0;
      right = reader.integer(value, integer) && isOf(column.logical, integer) &&
              fitsInteger(column.type, integer, integer);
      std::memcpy(out, &integer, width); // little-endian: the low bytes
    }
    if (!right) {
      mistake = {row, "is not UTF-8", false};
      if (column.logical.kind != LogicalKind::kString) {
        const std::string shown(utf8::isValid(value) ? value.substr(0, 80) : "");
        mistake = {row, "cannot be read as " + column.logical.text() + ": '" + shown + "'", true};
      }
      return false;
    }
  }
  if (chunk.hasNulls && !column.nullable) {
    mistake = {0, "has a NULL, which the plan was compiled without; recompile", false};
    return false;
  }
  HrSegment segment{};
  segment.rows = static_cast<uint32_t>(rows);
  segment.encoding = HR_VALUES;
  segment.data = values.data();
  segment.bytes = values.bytes();
  if (chunk.hasNulls) {
    segment.validity = valid.data();
    chunk.keep(std::move(valid));
  }
  chunk.keep(std::move(values));
  if (column.type == HR_STRING) {
    chunk.keep(text);
  }
  chunk.segments.push_back(segment);
  chunk.rows = rows;
  chunk.type = column.type;
  return true;
}

CsvCheck::CsvCheck(const CsvFormat &format, size_t column)
    : format_(&format), type_(typeOf(format.types[column])),
      neverNull_(isNeverNull(format, format.columns[column])) {}

bool CsvCheck::holds(std::string_view value, bool quoted) const {
  const Reader reader(*format_, type_, neverNull_, nullptr);
  if (reader.isNull({value, quoted})) {
    return true;
  }
  if (type_.kind == LogicalKind::kUuid) {
    return parseUuid(value).has_value();
  }
  if (type_.isHeldAsText()) {
    return utf8::isValid(value);
  }
  if (type_.real()) {
    double real = 0;
    return reader.real(value, real);
  }
  __int128 integer = 0;
  return reader.integer(value, integer) && isOf(type_, integer);
}

} // namespace headrace::storage
