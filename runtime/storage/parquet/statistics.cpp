// Footers give rows, ranges and NULLs. Distinct values are estimated from the sizes of a few
// dictionaries.
#include "runtime/storage/parquet/statistics.h"

#include "runtime/base/utf8.h"
#include "runtime/storage/columns/column_type.h"
#include "runtime/storage/parquet/page_header.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace headrace::storage {
namespace {

/// Row groups whose dictionary page headers are looked at, spread over the table.
constexpr size_t kSampledGroups = 4;
/// Read of a column chunk to see the header of its first page.
constexpr uint64_t kPageHeaderBytes = 256;

/// A column of a table, and by file where it is: -1 in one that lacks it.
struct UnitedColumn {
  ParquetColumn column;
  std::vector<int> places;
};

struct GroupOf {
  const ParquetFile *file;
  size_t fileNumber;
  size_t group;
  const ParquetRowGroup &meta() const { return file->footer().rowGroups[group]; }
  /// Null where the file lacks the column.
  const ParquetChunk *chunk(const UnitedColumn &column) const {
    const int place = column.places[fileNumber];
    return place < 0 ? nullptr : &meta().chunks[static_cast<size_t>(place)];
  }
};

/// What the sampled dictionaries of a column say.
struct DictionarySample {
  uint64_t groups = 0;
  uint64_t rows = 0;
  uint64_t entries = 0;
  uint64_t bytes = 0;      ///< plain bytes of the entries
  double distinctMost = 0; ///< largest estimate for the whole column from one group
  bool fallsBack = false;
};

/// How many values a column has of which a random sample of `rows` showed `seen` different ones:
/// solves seen = n (1 - exp(-rows / n)). A sample with (almost) no repetition says only "many".
double extrapolate(double seen, double rows) {
  if (seen <= 1 || seen >= 0.98 * rows) {
    return seen <= 1 ? seen : 50 * rows;
  }
  double low = seen, high = 100 * rows;
  for (int i = 0; i < 60; ++i) {
    double middle = (low + high) / 2;
    (middle * -std::expm1(-rows / middle) < seen ? low : high) = middle;
  }
  return low;
}

/// A row group to look into, and its file.
struct SampledGroup {
  const GroupOf *group;
  std::shared_ptr<const InputFile> input;
};

Expected<std::vector<SampledGroup>> openSample(const std::vector<GroupOf> &groups) {
  std::vector<SampledGroup> sampled;
  const size_t step = std::max<size_t>(1, groups.size() / kSampledGroups);
  for (size_t i = 0; i < groups.size(); i += step) {
    HR_ASSIGN_OR_RETURN(std::shared_ptr<const InputFile> input, groups[i].file->input());
    sampled.push_back({&groups[i], std::move(input)});
  }
  return sampled;
}

/// Bytes of a value in a dictionary's page; a text as long as the least and the greatest are.
double storedWidth(const ParquetColumn &column, const ParquetChunk &chunk) {
  switch (column.stored) {
  case Stored::kInt32:
  case Stored::kFloat:
    return 4;
  case Stored::kInt64:
  case Stored::kDouble:
    return 8;
  case Stored::kFixed:
    return column.fixedBytes;
  default:
    break;
  }
  constexpr double kUnknownText = 8, kLengthBytes = 4;
  const double text = chunk.min && chunk.max
                          ? static_cast<double>(chunk.min->text.size() + chunk.max->text.size()) / 2
                          : kUnknownText;
  return kLengthBytes + std::max(1.0, text);
}

/// Of a remote file its footer alone is read: the size of the dictionary's page is there, and the
/// number of values follows from it, as if it were compressed as well as the rest.
std::optional<PageHeader> guessedHeader(const ParquetColumn &column, const ParquetChunk &chunk) {
  constexpr uint64_t kHeaderBytes = 16;
  if (!chunk.hasDictionary || chunk.encrypted || chunk.dictionaryBytes <= kHeaderBytes) {
    return std::nullopt;
  }
  const double ratio =
      static_cast<double>(chunk.uncompressedBytes) / static_cast<double>(chunk.bytes);
  const double bytes =
      static_cast<double>(chunk.dictionaryBytes - kHeaderBytes) * std::max(1.0, ratio);
  PageHeader header;
  header.kind = PageKind::kDictionary;
  header.uncompressedBytes = static_cast<uint64_t>(bytes);
  header.values = static_cast<uint32_t>(std::max(1.0, bytes / storedWidth(column, chunk)));
  return header;
}

/// The header of a column chunk's first page, if that is its dictionary.
std::optional<PageHeader> dictionaryHeader(const InputFile &input, const ParquetColumn &column,
                                           const ParquetChunk &chunk) {
  if (input.isRemote()) {
    return guessedHeader(column, chunk);
  }
  std::array<uint8_t, kPageHeaderBytes> bytes;
  const uint64_t count = std::min<uint64_t>(chunk.bytes, bytes.size());
  if (!chunk.hasDictionary || chunk.encrypted ||
      !input.read(chunk.begin, count, bytes.data()).ok()) {
    return std::nullopt;
  }
  Expected<PageHeader> header = readPageHeader(bytes.data(), bytes.data() + count);
  return header.ok() && header->kind == PageKind::kDictionary ? std::optional(*header)
                                                              : std::nullopt;
}

DictionarySample sampleDictionaries(const std::vector<SampledGroup> &groups,
                                    const UnitedColumn &column) {
  DictionarySample sample;
  for (const SampledGroup &group : groups) {
    const ParquetRowGroup &meta = group.group->meta();
    const ParquetChunk *found = group.group->chunk(column);
    if (!found) {
      sample.fallsBack = true;
      continue;
    }
    const ParquetChunk &chunk = *found;
    std::optional<PageHeader> header = dictionaryHeader(*group.input, column.column, chunk);
    if (!header) {
      sample.fallsBack = true;
      continue;
    }
    const double rows = static_cast<double>(meta.rows);
    sample.groups += 1;
    sample.rows += meta.rows;
    sample.entries += header->values;
    sample.bytes += header->uncompressedBytes;
    // Codes of ceil(log2(entries)) bits fill the rest of the chunk, unless pages fell back to plain
    // values.
    const double codeBits =
        header->values > 1 ? std::ceil(std::log2(static_cast<double>(header->values))) : 1;
    const double encoded =
        static_cast<double>(header->uncompressedBytes) + rows * (codeBits + 1) / 8 * 1.1 + 4096;
    if (chunk.allDictionary ? !*chunk.allDictionary
                            : static_cast<double>(chunk.uncompressedBytes) > encoded) {
      sample.fallsBack = true;
    }
    sample.distinctMost = std::max(sample.distinctMost, extrapolate(header->values, rows));
  }
  return sample;
}

/// Whether the ranges of the row groups do not overlap: then the numbers of distinct values add up.
bool isClustered(const std::vector<GroupOf> &groups, const UnitedColumn &column) {
  std::vector<std::pair<__int128, __int128>> ranges;
  for (const GroupOf &group : groups) {
    const ParquetChunk *found = group.chunk(column);
    if (!found || !found->min || !found->max) {
      return false;
    }
    const ParquetChunk &chunk = *found;
    ranges.emplace_back(chunk.min->integer, chunk.max->integer);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second) {
      return false;
    }
  }
  return ranges.size() > 1;
}

/// Whether rows come in the order of an integer column, by and large: the ranges of all row groups
/// together are hardly wider than the column's.
bool isOrdered(const std::vector<GroupOf> &groups, const UnitedColumn &column) {
  constexpr double kOverlapMax = 1.3;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double widths = 0;
  for (const GroupOf &group : groups) {
    const ParquetChunk *found = group.chunk(column);
    if (!found || !found->min || !found->max) {
      return false;
    }
    const ParquetChunk &chunk = *found;
    low = std::min(low, static_cast<double>(chunk.min->integer));
    high = std::max(high, static_cast<double>(chunk.max->integer));
    widths += static_cast<double>(chunk.max->integer) - static_cast<double>(chunk.min->integer);
  }
  return groups.size() > 1 && high > low && widths < kOverlapMax * (high - low);
}

nlohmann::json integerJson(__int128 value) {
  if (value < INT64_MIN || value > INT64_MAX) {
    return nullptr;
  }
  return static_cast<int64_t>(value);
}

nlohmann::json valueJson(const ParquetColumn &column, const StatisticsValue &value) {
  switch (column.type.kind) {
  case LogicalKind::kString:
    return value.text;
  case LogicalKind::kF32:
  case LogicalKind::kF64:
    return value.real;
  default:
    return integerJson(value.integer);
  }
}

bool lessThan(const ParquetColumn &column, const StatisticsValue &a, const StatisticsValue &b) {
  switch (column.type.kind) {
  case LogicalKind::kString:
  case LogicalKind::kBinary:
  case LogicalKind::kUuid:
    return a.text < b.text;
  case LogicalKind::kF32:
  case LogicalKind::kF64:
    return a.real < b.real;
  default:
    return a.integer < b.integer;
  }
}

nlohmann::json columnStatistics(const std::vector<GroupOf> &groups,
                                const std::vector<SampledGroup> &sampled,
                                const UnitedColumn &united, size_t index, uint64_t rows) {
  const ParquetColumn &column = united.column;
  std::optional<StatisticsValue> min, max;
  bool minKnown = true, maxKnown = true, nullsKnown = true;
  uint64_t nulls = 0, plainBytes = 0, fileBytes = 0;
  bool allHaveDictionary = !groups.empty();
  for (const GroupOf &group : groups) {
    const ParquetChunk *found = group.chunk(united);
    if (!found) { // NULL in all rows
      nulls += group.meta().rows;
      allHaveDictionary = false;
      continue;
    }
    const ParquetChunk &chunk = *found;
    plainBytes += chunk.uncompressedBytes;
    fileBytes += chunk.bytes;
    allHaveDictionary &= chunk.hasDictionary;
    nullsKnown &= chunk.nulls.has_value();
    nulls += chunk.nulls.value_or(0);
    if (chunk.nulls && *chunk.nulls == group.meta().rows) {
      continue; // only NULLs: no range to know
    }
    minKnown &= chunk.min.has_value();
    maxKnown &= chunk.max.has_value();
    if (chunk.min && (!min || lessThan(column, *chunk.min, *min))) {
      min = chunk.min;
    }
    if (chunk.max && (!max || lessThan(column, *max, *chunk.max))) {
      max = chunk.max;
    }
  }
  if (column.type.kind == LogicalKind::kBinary || column.type.kind == LogicalKind::kUuid) {
    minKnown = maxKnown = false; // JSON has no bytes
  } else if (column.type.kind == LogicalKind::kString) {
    // A text that was cut inside a character does not go into JSON.
    minKnown &= !min || utf8::isValid(min->text);
    maxKnown &= !max || utf8::isValid(max->text);
  }

  nlohmann::json result =
      unknownColumn(index, typeJson(column.type), column.nullable && (!nullsKnown || nulls != 0));
  if (column.isJson) {
    result["json"] = true;
  }
  result["file_bytes"] = nullptr;
  result["ordered"] = column.type.integral() && isOrdered(groups, united);
  if (min && minKnown) {
    result["min"] = valueJson(column, *min);
  }
  if (max && maxKnown) {
    result["max"] = valueJson(column, *max);
  }
  if (nullsKnown) {
    result["nulls"] = nulls;
  }
  if (rows == 0) {
    result["distinct"] = 0;
    return result;
  }

  result["file_bytes"] = static_cast<double>(fileBytes) / static_cast<double>(rows);
  DictionarySample sample = sampleDictionaries(sampled, united);
  double distinct = -1;
  if (sample.groups != 0 && !sample.fallsBack) {
    const double perGroup =
        static_cast<double>(sample.entries) / static_cast<double>(sample.groups);
    const double all = perGroup * static_cast<double>(groups.size());
    result["dictionary_entries"] = static_cast<uint64_t>(all);
    result["all_dictionary"] = allHaveDictionary;
    distinct = groups.size() == 1 || (column.type.integral() && isClustered(groups, united))
                   ? all
                   : sample.distinctMost;
  }
  if (column.type.kind == LogicalKind::kBool) {
    distinct = 2;
  }
  if (column.type.integral() && min && max && minKnown && maxKnown) {
    const double range = static_cast<double>(max->integer - min->integer) + 1;
    distinct = distinct < 0 ? -1 : std::min(distinct, range);
    if (distinct < 0 && range < static_cast<double>(rows)) {
      distinct = range;
    }
  }
  if (distinct >= 0) {
    distinct = std::min(distinct, static_cast<double>(rows - std::min(nulls, rows)));
    result["distinct"] = static_cast<uint64_t>(std::max(distinct, 1.0));
  }
  if (column.type.isHeldAsText()) {
    double bytes = sample.entries != 0
                       ? static_cast<double>(sample.bytes) / static_cast<double>(sample.entries)
                       : static_cast<double>(plainBytes) / static_cast<double>(rows);
    result["average_bytes"] = std::max(0.0, std::round((bytes - 4) * 10) / 10);
  } else {
    result["average_bytes"] = column.type.kind == LogicalKind::kBool ? 1
                              : column.stored == Stored::kInt32 || column.stored == Stored::kFloat
                                  ? 4
                                  : 8;
  }
  return result;
}

/// The columns of all files by name: those of the first, whatever their order in the others, and
/// under union_by_name also those that only others have.
Expected<std::vector<UnitedColumn>> columnsOf(const std::vector<TableFile> &files) {
  std::vector<UnitedColumn> columns;
  const bool unites = files.front().given->unionByName;
  for (size_t f = 0; f < files.size(); ++f) {
    const ParquetFile &file = *files[f].file;
    const auto &own = file.footer().columns;
    for (size_t i = 0; i < own.size() && (f == 0 || unites); ++i) {
      if (std::none_of(columns.begin(), columns.end(), [&](const UnitedColumn &known) {
            return known.column.name == own[i].name;
          })) {
        columns.push_back({own[i], std::vector<int>(files.size(), -1)});
      }
    }
    for (UnitedColumn &known : columns) {
      const int index = file.columnIndex(known.column.name);
      known.places[f] = index;
      if (index < 0) {
        if (!unites && !files[f].given->find(known.column.name)) {
          return makeError(
              ErrorKind::kUser, "the files of a table must have the same columns: ", file.path(),
              " differs from ", files.front().file->path(),
              "; union_by_name=true reads NULL for a missing column: ", known.column.name);
        }
        known.column.nullable = true;
        continue;
      }
      const ParquetColumn &found = own[static_cast<size_t>(index)];
      known.column.nullable |= found.nullable;
      if (widensTo(known.column.type, found.type)) {
        known.column.type = found.type;
      } else if (!widensTo(found.type, known.column.type)) {
        return makeError(ErrorKind::kUser,
                         "the files of a table must have the same types: ", file.path(),
                         " differs from ", files.front().file->path(), ", ", found.type.text(),
                         " and ", known.column.type.text(), ", in column: ", known.column.name);
      }
    }
  }
  for (UnitedColumn &column : columns) { // a union may have found it late
    column.column.nullable |= std::count(column.places.begin(), column.places.end(), -1) != 0;
  }
  return columns;
}

} // namespace

Expected<nlohmann::json> parquetStatistics(const std::vector<TableFile> &files) {
  if (files.empty()) {
    return makeError(ErrorKind::kUser, "a table needs at least one file");
  }
  std::vector<GroupOf> groups;
  uint64_t rows = 0;
  std::vector<FileIdentity> manifest;
  std::vector<std::pair<uint64_t, const GivenColumns *>> given;
  for (size_t f = 0; f < files.size(); ++f) {
    const ParquetFile &file = *files[f].file;
    for (size_t g = 0; g < file.footer().rowGroups.size(); ++g) {
      if (file.footer().rowGroups[g].rows != 0) {
        groups.push_back({&file, f, g});
        rows += file.footer().rowGroups[g].rows;
      }
    }
    manifest.push_back(file.identity());
    given.emplace_back(file.footer().rows, files[f].given.get());
  }
  HR_ASSIGN_OR_RETURN(std::vector<SampledGroup> sampled, openSample(groups));
  HR_ASSIGN_OR_RETURN(std::vector<UnitedColumn> schema, columnsOf(files));
  nlohmann::json columns = nlohmann::json::object(), unsupported = nlohmann::json::object();
  for (size_t i = 0; i < schema.size(); ++i) {
    const ParquetColumn &column = schema[i].column;
    if (column.unsupported.empty()) {
      columns[column.name] = columnStatistics(groups, sampled, schema[i], i, rows);
    } else {
      unsupported[column.name] = column.unsupported;
    }
  }
  describeGiven(given, columns, unsupported);
  return nlohmann::json{{"rows", rows},
                        {"row_groups", groups.size()},
                        {"identity", toJson(manifest)},
                        {"columns", std::move(columns)},
                        {"unsupported", std::move(unsupported)}};
}

} // namespace headrace::storage
