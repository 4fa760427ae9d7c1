// Arrow's Parquet library reads the footer; its exceptions end here.
#include "runtime/storage/parquet/footer.h"

#include "runtime/base/utf8.h"
#include "runtime/storage/arrow/column_reader.h"

#include <arrow/type.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/schema.h>
#include <parquet/statistics.h>
#include <parquet/types.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <string_view>

namespace headrace::storage {
namespace {

constexpr uint64_t kGuessedFooterBytes = 64 << 10;

std::string bracketed(const std::string &text) { return "(" + text + ")"; }

/// Nanoseconds stay what they are, all others become microseconds, as in DuckDB.
void describeUnit(parquet::LogicalType::TimeUnit::unit unit, ParquetColumn &column) {
  constexpr int64_t kOfMillisecond = 1000;
  column.type.unit = unit == parquet::LogicalType::TimeUnit::NANOS ? TimeUnit::kNanosecond
                                                                   : TimeUnit::kMicrosecond;
  column.factor = unit == parquet::LogicalType::TimeUnit::MILLIS ? kOfMillisecond : 1;
}

void describeTimestamp(const parquet::TimestampLogicalType &timestamp, ParquetColumn &column) {
  column.type = {LogicalKind::kTimestamp};
  describeUnit(timestamp.time_unit(), column);
  // Files of before zones say nothing of them.
  column.type.zoned = timestamp.is_adjusted_to_utc() && !timestamp.is_from_converted_type();
}

/// What the values of a column are.
ParquetColumn describeValues(const parquet::ColumnDescriptor &descriptor) {
  ParquetColumn column;
  column.stored = static_cast<Stored>(descriptor.physical_type());
  const auto &logical = descriptor.logical_type();
  const bool plain = !logical || logical->is_none();
  auto refuse = [&] {
    column.unsupported =
        "type is not supported: " + parquet::TypeToString(descriptor.physical_type()) + " " +
        bracketed(logical ? logical->ToString() : "None");
  };
  if (logical && logical->is_decimal()) {
    const auto &decimal = static_cast<const parquet::DecimalLogicalType &>(*logical);
    column.type = {LogicalKind::kDecimal, decimal.precision(), decimal.scale()};
    column.fixedBytes =
        column.stored == Stored::kFixed ? static_cast<uint32_t>(descriptor.type_length()) : 0;
    const bool storedFits =
        column.stored == Stored::kInt32 || column.stored == Stored::kInt64 ||
        column.stored == Stored::kByteArray ||
        (column.stored == Stored::kFixed && column.fixedBytes >= 1 && column.fixedBytes <= 16);
    if (!storedFits || decimal.precision() > 38) {
      refuse();
    }
    return column;
  }
  switch (column.stored) {
  case Stored::kBoolean:
    column.type = {LogicalKind::kBool};
    break;
  case Stored::kInt32:
    column.type = {LogicalKind::kI32};
    if (logical && logical->is_date()) {
      column.type = {LogicalKind::kDate};
    } else if (logical && logical->is_time()) {
      column.type = {LogicalKind::kTime};
      describeUnit(static_cast<const parquet::TimeLogicalType &>(*logical).time_unit(), column);
    } else if (logical && logical->is_int()) {
      const auto &integer = static_cast<const parquet::IntLogicalType &>(*logical);
      column.isUnsigned = !integer.is_signed();
      column.type = {integerKind(integer.bit_width(), column.isUnsigned)};
    } else if (!plain) {
      refuse();
    }
    break;
  case Stored::kInt64:
    column.type = {LogicalKind::kI64};
    if (logical && logical->is_timestamp()) {
      describeTimestamp(static_cast<const parquet::TimestampLogicalType &>(*logical), column);
    } else if (logical && logical->is_time()) {
      column.type = {LogicalKind::kTime};
      describeUnit(static_cast<const parquet::TimeLogicalType &>(*logical).time_unit(), column);
    } else if (logical && logical->is_int()) {
      column.isUnsigned = !static_cast<const parquet::IntLogicalType &>(*logical).is_signed();
      column.type = {integerKind(64, column.isUnsigned)};
    } else if (!plain) {
      refuse();
    }
    break;
  case Stored::kInt96: // nothing else was ever stored so
    column.type = {LogicalKind::kTimestamp};
    break;
  case Stored::kFloat:
    column.type = {LogicalKind::kF32};
    break;
  case Stored::kDouble:
    column.type = {LogicalKind::kF64};
    break;
  case Stored::kByteArray:
    column.type = {plain ? LogicalKind::kBinary : LogicalKind::kString};
    column.isJson = logical && logical->is_JSON();
    if (!plain && !(logical->is_string() || logical->is_enum() || column.isJson)) {
      refuse();
    }
    break;
  case Stored::kFixed:
    column.type = {logical && logical->is_interval() ? LogicalKind::kInterval
                   : logical && logical->is_UUID()   ? LogicalKind::kUuid
                                                     : LogicalKind::kBinary};
    column.fixedBytes = static_cast<uint32_t>(std::max(descriptor.type_length(), 0));
    if ((!plain && column.type.kind == LogicalKind::kBinary) || column.fixedBytes == 0) {
      refuse();
    }
    break;
  default:
    refuse();
  }
  return column;
}

/// The lists around the values; none if something else is there: a struct or a map. A list is a
/// group around a repeated group of one field, or (old) of a repeated value; or a repeated value.
std::vector<ListColumn::Level> listsAround(const parquet::schema::Node &leaf) {
  std::vector<const parquet::schema::Node *> path; // from the column to the values
  for (const parquet::schema::Node *node = &leaf; node->parent(); node = node->parent()) {
    path.insert(path.begin(), node);
  }
  std::vector<ListColumn::Level> levels;
  int16_t definition = 0;
  for (size_t at = 0; at < path.size(); ++at) {
    const parquet::schema::Node &node = *path[at];
    if (node.is_repeated()) {
      levels.push_back({definition, static_cast<int16_t>(definition + 1)});
    }
    definition += node.is_required() ? 0 : 1;
    if (node.is_primitive()) {
      continue;
    }
    const auto &group = static_cast<const parquet::schema::GroupNode &>(node);
    const bool isList = node.logical_type() && node.logical_type()->is_list();
    // What old writers call so is itself the element, a struct.
    const bool isElement =
        node.name() == "array" || (at > 0 && node.name() == path[at - 1]->name() + "_tuple");
    const bool wraps =
        isList ? path[at + 1]->is_repeated() : node.is_repeated() && at > 0 && !isElement;
    if (group.field_count() != 1 || !wraps) {
      return {};
    }
  }
  return levels;
}

/// Until describeNested has seen it. No test: Arrow has a type for every schema that it opens.
constexpr const char *kOtherNested = "nested columns that Arrow cannot read are not supported";

ParquetColumn describeColumn(const parquet::ColumnDescriptor &descriptor) {
  const std::vector<std::string> path = descriptor.path()->ToDotVector();
  ParquetColumn values = describeValues(descriptor);
  values.name = path.front(); // as the user calls it
  if (path.size() == 1 && descriptor.max_repetition_level() == 0) {
    values.nullable = descriptor.max_definition_level() > 0;
    values.stored = values.type.kind == LogicalKind::kInterval ? Stored::kByteArray : values.stored;
    return values;
  }
  ParquetColumn column;
  column.name = path.front();
  auto list = std::make_shared<ListColumn>();
  list->levels = listsAround(*descriptor.schema_node());
  if (list->levels.empty() || values.stored == Stored::kInt96) {
    column.unsupported = kOtherNested;
    return column;
  }
  column.unsupported = values.unsupported;
  column.type = values.type;
  for (size_t depth = 0; depth < list->levels.size(); ++depth) {
    LogicalType outer{LogicalKind::kList};
    outer.children.push_back(std::move(column.type));
    column.type = std::move(outer);
  }
  column.stored = Stored::kByteArray;
  column.nullable = list->levels.front().list > 0;
  list->definitionMax = descriptor.max_definition_level();
  list->element = std::move(values);
  column.list = std::move(list);
  return column;
}

/// With lists for arrays: Parquet has none, and DuckDB does not ask the schema of Arrow that a file
/// may have.
void forgetSizes(LogicalType &type) {
  type.size = 0;
  std::for_each(type.children.begin(), type.children.end(), forgetSizes);
}

/// Columns that are more than lists of values, as Arrow has them.
void describeNested(const parquet::FileMetaData &meta, std::vector<ParquetColumn> &columns) {
  const parquet::SchemaDescriptor &schema = *meta.schema();
  const bool any = std::any_of(columns.begin(), columns.end(), [](const ParquetColumn &column) {
    return column.unsupported == kOtherNested;
  });
  std::shared_ptr<arrow::Schema> fields;
  parquet::ArrowReaderProperties properties;
  properties.set_arrow_extensions_enabled(true); // which say what UUIDs are
  if (!any ||
      !parquet::arrow::FromParquetSchema(&schema, properties, meta.key_value_metadata(), &fields)
           .ok()) {
    return;
  }
  std::map<int, ParquetColumn *> firsts; // by field
  for (int leaf = 0; leaf < schema.num_columns(); ++leaf) {
    ParquetColumn &column = columns[static_cast<size_t>(leaf)];
    const parquet::schema::Node &root = *schema.GetColumnRoot(leaf);
    const int field = schema.group_node()->FieldIndex(root);
    auto first = firsts.find(field);
    if (first != firsts.end()) {
      first->second->leaves.push_back(leaf);
    } else if (column.unsupported == kOtherNested && field >= 0 && field < fields->num_fields()) {
      TableColumn described = describeField(column.name, *fields->field(field)->type());
      column.type = described.type;
      forgetSizes(column.type);
      column.unsupported = described.unsupported;
      column.stored = Stored::kByteArray;
      column.nullable = root.is_optional();
      column.leaves = {leaf};
      first = firsts.emplace(field, &column).first;
    }
    // Arrow reads them as bytes.
    if (first != firsts.end() && schema.Column(leaf)->logical_type()->is_interval()) {
      first->second->unsupported = "intervals in structs and maps of Parquet are not supported";
    }
  }
}

std::optional<StatisticsValue> decodeStatistics(const ParquetColumn &column,
                                                const std::string &bytes) {
  StatisticsValue value;
  auto load = [&]<typename T>(T &out) {
    if (bytes.size() != sizeof out) {
      return false;
    }
    std::memcpy(&out, bytes.data(), sizeof out);
    return true;
  };
  switch (column.stored) {
  case Stored::kBoolean: {
    uint8_t bit;
    if (!load(bit)) {
      return std::nullopt;
    }
    value.integer = bit & 1;
    return value;
  }
  case Stored::kInt32: {
    int32_t integer;
    if (!load(integer)) {
      return std::nullopt;
    }
    value.integer =
        column.isUnsigned ? static_cast<__int128>(static_cast<uint32_t>(integer)) : integer;
    value.integer = inUnits(value.integer, column.factor);
    return value;
  }
  case Stored::kInt64: {
    int64_t integer;
    if (!load(integer)) {
      return std::nullopt;
    }
    value.integer =
        column.isUnsigned ? static_cast<__int128>(static_cast<uint64_t>(integer)) : integer;
    value.integer = inUnits(value.integer, column.factor);
    return value;
  }
  case Stored::kFloat: {
    float real;
    if (!load(real) || real != real) {
      return std::nullopt;
    }
    value.real = real;
    return value;
  }
  case Stored::kDouble:
    if (!load(value.real) || value.real != value.real) {
      return std::nullopt;
    }
    return value;
  case Stored::kByteArray:
  case Stored::kFixed:
    if (column.type.isTextOrBinary()) {
      value.text = bytes;
      return value;
    }
    if (bytes.empty() || bytes.size() > 16) { // decimal, big-endian
      return std::nullopt;
    }
    value.integer = static_cast<int8_t>(bytes[0]) < 0 ? -1 : 0;
    for (char byte : bytes) {
      value.integer = static_cast<__int128>(static_cast<unsigned __int128>(value.integer) << 8 |
                                            static_cast<uint8_t>(byte));
    }
    return value;
  default:
    return std::nullopt;
  }
}

Status describeChunk(const ParquetColumn &column, const parquet::ColumnChunkMetaData &meta,
                     uint64_t rows, uint64_t fileBytes, const std::string &path,
                     ParquetChunk &chunk) {
  if (rows == 0) {
    return Status(); // writers leave the places of empty chunks unset
  }
  int64_t begin = meta.data_page_offset();
  chunk.hasDictionary = meta.has_dictionary_page() && meta.dictionary_page_offset() > 0;
  if (chunk.hasDictionary && meta.dictionary_page_offset() < begin) {
    chunk.dictionaryBytes = static_cast<uint64_t>(begin - meta.dictionary_page_offset());
    begin = meta.dictionary_page_offset();
  }
  const int64_t bytes = meta.total_compressed_size();
  if (begin < 4 || bytes < 0 || static_cast<uint64_t>(begin) > fileBytes - kTailBytes ||
      static_cast<uint64_t>(bytes) > fileBytes - kTailBytes - static_cast<uint64_t>(begin)) {
    return makeError(ErrorKind::kCorrupt,
                     "a column chunk lies outside of the file (is it cut short?) ", path,
                     ", column: ", column.name);
  }
  chunk.begin = static_cast<uint64_t>(begin);
  chunk.bytes = static_cast<uint64_t>(bytes);
  chunk.uncompressedBytes = meta.total_uncompressed_size() > 0
                                ? static_cast<uint64_t>(meta.total_uncompressed_size())
                                : 0;
  chunk.encrypted = meta.crypto_metadata() != nullptr;
  switch (meta.compression()) { // Arrow's numbers are not the format's
  case parquet::Compression::UNCOMPRESSED:
    chunk.codec = 0;
    break;
  case parquet::Compression::SNAPPY:
    chunk.codec = 1;
    break;
  case parquet::Compression::GZIP:
    chunk.codec = 2;
    break;
  case parquet::Compression::LZO:
    chunk.codec = 3;
    break;
  case parquet::Compression::BROTLI:
    chunk.codec = 4;
    break;
  case parquet::Compression::LZ4_HADOOP:
    chunk.codec = 5;
    break;
  case parquet::Compression::ZSTD:
    chunk.codec = 6;
    break;
  case parquet::Compression::LZ4:
    chunk.codec = 7;
    break;
  default:
    chunk.codec = -1;
  }
  if (!meta.encoding_stats().empty()) {
    bool all = chunk.hasDictionary;
    for (const parquet::PageEncodingStats &stats : meta.encoding_stats()) {
      const bool data = stats.page_type == parquet::PageType::DATA_PAGE ||
                        stats.page_type == parquet::PageType::DATA_PAGE_V2;
      if (data && stats.encoding != parquet::Encoding::RLE_DICTIONARY &&
          stats.encoding != parquet::Encoding::PLAIN_DICTIONARY) {
        all = false;
      }
    }
    chunk.allDictionary = all;
  } else if (!chunk.hasDictionary) {
    chunk.allDictionary = false;
  }
  if (column.isPacked()) { // what is said of the values says nothing of the lists
    chunk.hasDictionary = false;
    chunk.allDictionary = false;
  } else if (column.unsupported.empty() && !chunk.encrypted) {
    if (auto stats = meta.encoded_statistics()) {
      if (stats->has_min) {
        chunk.min = decodeStatistics(column, stats->min());
      }
      if (stats->has_max) {
        chunk.max = decodeStatistics(column, stats->max());
      }
      if (stats->has_null_count && stats->null_count >= 0) {
        chunk.nulls = static_cast<uint64_t>(stats->null_count);
      }
      if (stats->has_distinct_count && stats->distinct_count > 0) {
        chunk.distinct = static_cast<uint64_t>(stats->distinct_count);
      }
    }
  }
  if (!column.nullable) {
    chunk.nulls = 0;
  }
  return Status();
}

} // namespace

Expected<std::vector<uint8_t>> readFooter(const InputFile &file) {
  const std::string &path = file.path();
  const uint64_t bytes = file.bytes();
  char magic[3] = {};
  if (bytes >= 12 && file.isRemote()) {
    std::memcpy(magic, "PAR", sizeof magic); // the one at the end says it, too
  } else if (bytes >= 12) {
    HR_RETURN_IF_ERROR(file.read(0, sizeof magic, magic));
  }
  if (std::memcmp(magic, "PAR", sizeof magic) != 0) {
    return makeError(ErrorKind::kCorrupt, "not a Parquet file: ", path);
  }
  // Nearly always with the first read.
  std::vector<uint8_t> end(std::min(bytes, kGuessedFooterBytes));
  HR_RETURN_IF_ERROR(file.read(bytes - end.size(), end.size(), end.data()));
  const std::string_view tail(reinterpret_cast<const char *>(end.data() + end.size() - 4), 4);
  if (tail == "PARE") {
    return makeError(ErrorKind::kUnsupported, "the file is encrypted: ", path);
  }
  if (tail != "PAR1") {
    return makeError(ErrorKind::kCorrupt, "not a Parquet file, or cut short: ", path);
  }
  uint32_t length;
  std::memcpy(&length, end.data() + end.size() - kTailBytes, 4);
  if (length > bytes - 12) {
    return makeError(ErrorKind::kCorrupt,
                     "the footer is longer than the file (is it cut short?): ", path);
  }
  std::vector<uint8_t> footer(length);
  if (length <= end.size() - kTailBytes) {
    std::memcpy(footer.data(), end.data() + end.size() - kTailBytes - length, length);
  } else {
    HR_RETURN_IF_ERROR(file.read(bytes - kTailBytes - length, length, footer.data()));
  }
  return footer;
}

Expected<ParquetFooter> parseFooter(const std::vector<uint8_t> &bytes, uint64_t fileBytes,
                                    const std::string &path, PlainBytes plainBytes) {
  try {
    auto length = static_cast<uint32_t>(bytes.size());
    std::shared_ptr<parquet::FileMetaData> meta =
        parquet::FileMetaData::Make(bytes.data(), &length);
    if (meta->is_encryption_algorithm_set()) {
      return makeError(ErrorKind::kUnsupported, "the file is encrypted: ", path);
    }
    ParquetFooter footer;
    for (int i = 0; i < meta->num_columns(); ++i) {
      footer.columns.push_back(describeColumn(*meta->schema()->Column(i)));
      ParquetColumn &column = footer.columns.back();
      if (plainBytes == PlainBytes::kText && column.type.kind == LogicalKind::kBinary &&
          !column.isPacked()) {
        column.type = {LogicalKind::kString};
      }
      if (!utf8::isValid(footer.columns.back().name)) {
        return makeError(ErrorKind::kCorrupt, "the name of a column is not UTF-8 in ", path,
                         ", column number: ", i);
      }
    }
    describeNested(*meta, footer.columns);
    std::set<std::string_view> names;
    for (int i = 0; i < meta->schema()->group_node()->field_count(); ++i) {
      const std::string &name = meta->schema()->group_node()->field(i)->name();
      if (!names.insert(name).second) {
        return makeError(ErrorKind::kUnsupported,
                         "a table whose columns have one name cannot be read: ", path,
                         ", column: ", name);
      }
    }
    for (int g = 0; g < meta->num_row_groups(); ++g) {
      std::unique_ptr<parquet::RowGroupMetaData> groupMeta = meta->RowGroup(g);
      if (groupMeta->num_rows() < 0 || groupMeta->num_rows() > INT32_MAX ||
          groupMeta->num_columns() != meta->num_columns()) {
        return makeError(ErrorKind::kCorrupt, "row group ", g, " of ", path,
                         " has an impossible number of rows: ", groupMeta->num_rows());
      }
      ParquetRowGroup group;
      group.rows = static_cast<uint64_t>(groupMeta->num_rows());
      for (int i = 0; i < meta->num_columns(); ++i) {
        std::unique_ptr<parquet::ColumnChunkMetaData> chunkMeta = groupMeta->ColumnChunk(i);
        ParquetChunk chunk;
        const ParquetColumn &column = footer.columns[static_cast<size_t>(i)];
        if (!chunkMeta->file_path().empty()) {
          return makeError(ErrorKind::kUnsupported,
                           "columns in other files are not supported: ", path);
        }
        HR_RETURN_IF_ERROR(describeChunk(column, *chunkMeta, group.rows, fileBytes, path, chunk));
        group.chunks.push_back(std::move(chunk));
      }
      for (const ParquetColumn &column : footer.columns) { // packed, 8 bytes more a field
        uint64_t bytes = 0;
        for (int leaf : column.leaves) {
          bytes += group.chunks[static_cast<size_t>(leaf)].uncompressedBytes + 8 * group.rows;
        }
        if (!column.leaves.empty()) {
          group.chunks[static_cast<size_t>(column.leaves.front())].uncompressedBytes = bytes;
        }
      }
      footer.rows += group.rows;
      footer.rowGroups.push_back(std::move(group));
    }
    footer.arrowMetadata = std::move(meta);
    return footer;
  } catch (const std::exception &error) {
    return makeError(ErrorKind::kCorrupt, "cannot read the footer of ", path, ", at byte ",
                     fileBytes - kTailBytes - bytes.size(), ": ", error.what());
  }
}

} // namespace headrace::storage
