// One run of one code, whatever the number of rows.
#include "runtime/storage/columns/given_columns.h"

#include "model/plan/names.h"
#include "runtime/abi/type_bytes.h"
#include "runtime/primitives/string/string.h"
#include "runtime/storage/columns/column_type.h"
#include "runtime/storage/columns/texts.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

namespace headrace::storage {
namespace {

constexpr std::string_view kMark = "?{\"format\":\"";

template <typename T> bool holds(plan::BoundKind op, const T &value, const T &literal) {
  switch (op) {
  case plan::BoundKind::kEq:
    return value == literal;
  case plan::BoundKind::kLt:
    return value < literal;
  case plan::BoundKind::kLe:
    return value <= literal;
  case plan::BoundKind::kGt:
    return value > literal;
  case plan::BoundKind::kGe:
    return value >= literal;
  }
  return true;
}

Expected<GivenColumn> givenColumn(const nlohmann::json &given) {
  const nlohmann::json &type = given.at("type");
  GivenColumn column;
  column.name = given.at("name").get<std::string>();
  const auto kind = plan::enumOf<LogicalKind>(type.at("kind").get<std::string>());
  column.type.kind = kind.value_or(LogicalKind::kNone);
  if (type.contains("unit")) {
    column.type.unit =
        plan::enumOf<TimeUnit>(type["unit"].get<std::string>()).value_or(TimeUnit::kMicrosecond);
  }
  column.value = given.at("value");
  column.counts = given.value("counts", false);
  const bool isText = column.type.kind == LogicalKind::kString;
  if (!(isText || column.type.integral()) ||
      !(column.value.is_null() || column.value.is_string() == isText)) {
    // no test: the package writes them
    return makeError(ErrorKind::kUser,
                     "not the value of a column that a file is given: ", given.dump());
  }
  return column;
}

/// The one value of a chunk as its dictionary.
std::shared_ptr<const EncodedDictionary> dictionaryOf(const GivenColumn *column, HrType type) {
  const uint32_t width = abi::bytesOf(type);
  auto dictionary = std::make_shared<EncodedDictionary>();
  dictionary->entries = 1;
  dictionary->values = PaddedBuffer(width);
  std::memset(dictionary->values.data(), 0, width);
  if (type == HR_STRING) {
    HrString text = primitives::makeString(emptyText(), 0);
    if (column) {
      const auto &value = column->value.get_ref<const std::string &>();
      PaddedBuffer bytes(value.size());
      std::memcpy(bytes.data(), value.data(), value.size());
      text = primitives::makeString(bytes.data(), static_cast<uint32_t>(value.size()));
      dictionary->texts = std::make_shared<const PaddedBuffer>(std::move(bytes));
    }
    std::memcpy(dictionary->values.data(), &text, sizeof text);
  } else if (column) {
    const __int128 value = column->integer();
    std::memcpy(dictionary->values.data(), &value, width); // little-endian: the low bytes
    dictionary->widen(value, value);
  }
  return dictionary;
}

/// A run of code 0 as Parquet writes it: rows << 1, seven bits a byte, and the code.
PaddedBuffer runOf(uint64_t rows) {
  PaddedBuffer run(12);
  uint8_t *out = run.data();
  std::memset(out, 0, run.bytes());
  for (uint64_t header = rows << 1; header != 0; header >>= 7) {
    *out++ = static_cast<uint8_t>((header & 0x7f) | (header >= 0x80 ? 0x80 : 0));
  }
  return run;
}

} // namespace

Expected<Address> Address::of(const std::string &text) {
  Address address;
  const size_t mark = text.find(kMark);
  address.path = text.substr(0, mark);
  if (mark != std::string::npos) {
    address.reader = nlohmann::json::parse(text.substr(mark + 1), nullptr, false);
    if (address.reader.is_discarded()) {
      return makeError(ErrorKind::kUser, "what a file means is not JSON: ", text.substr(mark + 1));
    }
    if (const auto version = address.reader.find("version"); version != address.reader.end()) {
      address.version.emplace();
      address.version->bytes = version->value("bytes", uint64_t{0});
      address.version->modifiedNanoseconds = version->value("modified_nanoseconds", int64_t{0});
      address.version->tag = version->value("tag", "");
    }
  }
  return address;
}

bool GivenColumn::canSatisfy(const plan::Bound &bound) const {
  if (counts) {
    return true;
  }
  if (value.is_null()) {
    return false; // a comparison with NULL is never true
  }
  return type.kind == LogicalKind::kString
             ? holds(bound.op, value.get_ref<const std::string &>(), bound.text)
             : holds(bound.op, integer(), static_cast<__int128>(bound.integer));
}

Expected<GivenColumns> GivenColumns::of(const nlohmann::json &reader) {
  GivenColumns given;
  if (reader.is_null()) {
    return given;
  }
  try {
    given.unionByName = reader.value("union_by_name", false);
    for (const nlohmann::json &each : reader.value("given", nlohmann::json::array())) {
      HR_ASSIGN_OR_RETURN(GivenColumn column, givenColumn(each));
      given.columns.push_back(std::move(column));
    }
    return given;
  } catch (const nlohmann::json::exception &error) {
    // no test: the package writes them
    return makeError(ErrorKind::kUser, "what a file is given does not parse: ", error.what());
  }
}

const GivenColumn *GivenColumns::find(const std::string &name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const GivenColumn &each) { return each.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

bool GivenColumns::canSatisfy(const std::vector<plan::Bound> &bounds) const {
  return std::all_of(bounds.begin(), bounds.end(), [&](const plan::Bound &bound) {
    const GivenColumn *column = find(bound.column);
    return !column || column->canSatisfy(bound);
  });
}

void describeGiven(const std::vector<std::pair<uint64_t, const GivenColumns *>> &perFile,
                   nlohmann::json &columns, nlohmann::json &unsupported) {
  size_t next = columns.size() + unsupported.size();
  for (const GivenColumn &wanted : perFile.front().second->columns) {
    std::set<nlohmann::json> values;
    uint64_t rows = 0, nulls = 0, bytes = 0, most = 0;
    for (const auto &[rowsOfFile, given] : perFile) {
      const nlohmann::json &value = given->find(wanted.name)->value;
      rows += rowsOfFile;
      most = std::max(most, rowsOfFile);
      if (wanted.counts) {
        values.insert(0);
        values.insert(std::max<uint64_t>(rowsOfFile, 1) - 1);
      } else if (value.is_null()) {
        nulls += rowsOfFile;
      } else if (rowsOfFile != 0) {
        values.insert(value);
        bytes += value.is_string() ? value.get_ref<const std::string &>().size() * rowsOfFile : 0;
      }
    }
    const size_t index =
        columns.contains(wanted.name) ? columns[wanted.name]["index"].get<size_t>() : next++;
    nlohmann::json column = unknownColumn(index, typeJson(wanted.type), nulls != 0);
    if (!values.empty()) {
      column["min"] = *values.begin();
      column["max"] = *values.rbegin();
    }
    column["nulls"] = nulls;
    column["distinct"] = rows == 0 ? 0 : wanted.counts ? most : std::max<size_t>(1, values.size());
    column["average_bytes"] =
        wanted.type.kind == LogicalKind::kString
            ? static_cast<double>(bytes) / static_cast<double>(std::max<uint64_t>(1, rows - nulls))
            : 8;
    columns[wanted.name] = std::move(column);
    unsupported.erase(wanted.name);
  }
}

/// Numbers from `place` on.
static Expected<HeldChunkHandle> countedChunk(HrType type, uint64_t place, uint64_t rows,
                                              Reservation &memory) {
  const uint32_t width = abi::bytesOf(type);
  const uint64_t bytes = rows * width + HR_PADDING;
  HR_ASSIGN_OR_RETURN(Charge charge, Charge::take(memory, static_cast<int64_t>(bytes)));
  PaddedBuffer data(rows * width);
  if (!data) {
    // no test: it takes more memory than a machine has
    return makeError(ErrorKind::kMemory, "no memory for the numbers of rows, bytes: ", bytes);
  }
  uint8_t *out = data.data();
  for (uint64_t row = place; row < place + rows; ++row, out += width) {
    const auto number = static_cast<__int128>(row);
    std::memcpy(out, &number, width); // little-endian: the low bytes
  }
  auto chunk = std::make_shared<EncodedChunk>();
  HrSegment segment{};
  segment.rows = static_cast<uint32_t>(rows);
  segment.encoding = HR_VALUES;
  segment.data = data.data();
  segment.bytes = data.bytes();
  if (rows != 0) {
    chunk->widen(static_cast<int64_t>(place), static_cast<int64_t>(place + rows - 1));
  }
  chunk->type = type;
  chunk->rows = rows;
  chunk->segments.push_back(segment);
  chunk->keep(std::move(data));
  chunk->bytes = bytes;
  return std::make_shared<const HeldChunk>(HeldChunk{std::move(charge), std::move(chunk)});
}

Expected<HeldChunkHandle> givenChunk(const GivenColumn *column, HrType type, uint64_t place,
                                     uint64_t rows, Reservation &memory) {
  if (column && column->counts) {
    return countedChunk(type, place, rows, memory);
  }
  if (column && column->value.is_null()) {
    column = nullptr;
  }
  const bool isByte = type == HR_BOOL; // has no codes
  const uint64_t text =
      column && type == HR_STRING ? column->value.get_ref<const std::string &>().size() : 0;
  const uint64_t bytes = 4 * HR_PADDING + text + (column ? 0 : rows / 8) + (isByte ? rows : 0);
  HR_ASSIGN_OR_RETURN(Charge charge, Charge::take(memory, static_cast<int64_t>(bytes)));
  auto chunk = std::make_shared<EncodedChunk>();
  PaddedBuffer data = isByte ? PaddedBuffer(rows) : runOf(rows);
  PaddedBuffer valid(column ? 0 : (rows + 7) / 8);
  if (!data || !valid) {
    // no test: it takes more memory than a machine has
    return makeError(ErrorKind::kMemory, "no memory for a column of one value, bytes: ", bytes);
  }
  HrSegment segment{};
  segment.rows = static_cast<uint32_t>(rows);
  segment.encoding = isByte ? HR_VALUES : HR_CODES;
  segment.bitWidth = isByte ? 0 : 1;
  if (isByte) {
    std::memset(data.data(), column && column->integer() != 0, rows);
  } else {
    chunk->table = dictionaryOf(column, type);
    chunk->dictionary = chunk->table->values.data();
    chunk->dictionaryCount = 1;
    chunk->widen(chunk->table->min, chunk->table->max);
  }
  segment.data = data.data();
  segment.bytes = data.bytes();
  if (!column) {
    std::memset(valid.data(), 0, valid.bytes());
    segment.validity = valid.data();
    chunk->hasNulls = rows != 0;
  }
  chunk->type = type;
  chunk->rows = rows;
  chunk->segments.push_back(segment);
  chunk->keep(std::move(data));
  chunk->keep(std::move(valid));
  chunk->bytes = bytes;
  return std::make_shared<const HeldChunk>(HeldChunk{std::move(charge), std::move(chunk)});
}

} // namespace headrace::storage
