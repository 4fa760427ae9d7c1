// Arrow record batches as morsels. Arrow's C++ library imports the C data interface and names the
// types.
#include "runtime/storage/arrow/arrow_table.h"

#include "runtime/abi/type_bytes.h"
#include "runtime/base/check.h"
#include "runtime/base/utf8.h"
#include "runtime/primitives/hash/hash.h"
#include "runtime/primitives/narrow/narrow.h"
#include "runtime/primitives/string/string.h"
#include "runtime/storage/arrow/column_reader.h"
#include "runtime/storage/arrow/united_statistics.h"
#include "runtime/storage/columns/column_type.h"
#include "runtime/storage/columns/decoders.h"
#include "runtime/storage/columns/encoded_chunk.h"
#include "runtime/storage/columns/held_chunk.h"
#include "runtime/storage/columns/share.h"
#include "runtime/storage/columns/texts.h"

#include <arrow/array.h>
#include <arrow/c/bridge.h>
#include <arrow/extension_type.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <string_view>
#include <unordered_set>

namespace headrace::storage {
namespace {

constexpr uint64_t kMorselRowsMax = 128 * 1024;
/// Rows whose values are looked at to estimate the number of distinct ones.
constexpr uint64_t kDistinctSampleRows = 32 * 1024;

using Batches = std::vector<std::shared_ptr<arrow::RecordBatch>>;

/// Integers that lie in memory as the vectorised primitive wants them, without NULLs; null data:
/// not so.
struct RawIntegers {
  const uint8_t *data = nullptr; ///< of the array's first row
  primitives::StoredInteger stored = primitives::StoredInteger::kI32;
  uint32_t width = 4;
};

RawIntegers rawIntegers(const arrow::Array &array) {
  RawIntegers raw;
  switch (array.type_id()) {
  case arrow::Type::INT32:
  case arrow::Type::DATE32:
    break;
  case arrow::Type::UINT32:
    raw.stored = primitives::StoredInteger::kU32;
    break;
  case arrow::Type::TIMESTAMP:
    if (unitFactor(*array.type()) != 1) {
      return raw;
    }
    [[fallthrough]];
  case arrow::Type::TIME64:
  case arrow::Type::INT64:
    raw.stored = primitives::StoredInteger::kI64;
    raw.width = 8;
    break;
  default:
    return raw;
  }
  if (array.null_count() == 0 && array.data()->buffers[1]) {
    raw.data = array.data()->buffers[1]->data() + array.offset() * raw.width;
  }
  return raw;
}

primitives::IntegerRange rangeOf(const RawIntegers &raw, uint64_t rows) {
  constexpr uint64_t kBlock = 1024;
  int64_t unused[kBlock];
  primitives::IntegerRange range;
  for (uint64_t done = 0; done < rows; done += kBlock) {
    primitives::IntegerRange part =
        primitives::narrowIntegers(Decoders::get().isa, raw.stored, raw.data + done * raw.width,
                                   std::min(kBlock, rows - done), HR_I64, unused);
    range.min = std::min(range.min, part.min);
    range.max = std::max(range.max, part.max);
  }
  return range;
}

// ---- statistics ----

/// The number of distinct values of `rows`, from `seen` different ones in a sample.
double extrapolateDistinct(double seen, double sampled, double rows) {
  if (sampled >= rows || seen <= 1) {
    return seen;
  }
  if (seen >= 0.98 * sampled) {
    return rows;
  }
  double low = seen, high = rows;
  for (int i = 0; i < 60; ++i) {
    double middle = (low + high) / 2;
    (middle * -std::expm1(-sampled / middle) < seen ? low : high) = middle;
  }
  return low;
}

/// Of a value that is no text, as a file would keep it.
int averageBytes(LogicalKind kind) {
  switch (kind) {
  case LogicalKind::kBool:
  case LogicalKind::kI8:
  case LogicalKind::kU8:
    return 1;
  case LogicalKind::kI16:
  case LogicalKind::kU16:
    return 2;
  case LogicalKind::kI32:
  case LogicalKind::kU32:
  case LogicalKind::kDate:
  case LogicalKind::kF32:
    return 4;
  default:
    return 8;
  }
}

nlohmann::json columnStatistics(const Batches &batches, const TableColumn &column, int index,
                                uint64_t rows) {
  const bool text = column.type.isHeldAsText();
  const bool real = column.type.real();
  __int128 min = 1, max = 0;
  double realMin = INFINITY, realMax = -INFINITY;
  std::string textMin, textMax;
  bool any = false, hasNan = false;
  uint64_t nulls = 0, textBytes = 0, sampled = 0, row = 0;
  std::unordered_set<uint64_t> seen;
  const uint64_t stride = std::max<uint64_t>(1, rows / kDistinctSampleRows);
  for (const auto &batch : batches) {
    auto reader = makeReader(*batch->column(index));
    const RawIntegers raw = rawIntegers(*batch->column(index));
    if (raw.data) { // the range of all rows at once, and below only the rows of the sample
      primitives::IntegerRange range = rangeOf(raw, static_cast<uint64_t>(batch->num_rows()));
      min = !any || range.min < min ? range.min : min;
      max = !any || range.max > max ? range.max : max;
      any = true;
    }
    for (int64_t i = 0; i < batch->num_rows(); ++i, ++row) {
      if (raw.data && row % stride != 0) {
        continue;
      }
      if (!reader->valid(i)) {
        ++nulls;
        continue;
      }
      uint64_t hash;
      if (text) {
        std::string_view value = reader->text(i);
        textBytes += value.size();
        if (!any || value < textMin) {
          textMin = value;
        }
        if (!any || value > textMax) {
          textMax = value;
        }
        hash = std::hash<std::string_view>{}(value);
      } else if (real) {
        double value = reader->real(i);
        hasNan |= value != value;
        realMin = value < realMin ? value : realMin;
        realMax = value > realMax ? value : realMax;
        hash = primitives::hashDouble(value);
      } else {
        __int128 value = reader->integer(i);
        min = !any || value < min ? value : min;
        max = !any || value > max ? value : max;
        hash = primitives::hashInteger128(value);
      }
      any = true;
      if (row % stride == 0) {
        ++sampled;
        seen.insert(hash);
      }
    }
  }
  nlohmann::json result = unknownColumn(index, typeJson(column.type), nulls != 0);
  result["nulls"] = nulls;
  const double valid = static_cast<double>(rows - nulls);
  double distinct =
      extrapolateDistinct(static_cast<double>(seen.size()), static_cast<double>(sampled), valid);
  if (any && text) {
    const bool ordered = column.type.kind == LogicalKind::kString;     // other bytes say nothing
    if (ordered && utf8::isValid(textMin) && utf8::isValid(textMax)) { // else not for JSON
      result["min"] = textMin;
      result["max"] = textMax;
    }
    result["average_bytes"] = std::round(static_cast<double>(textBytes) / valid * 10) / 10;
  } else if (any && real) {
    if (!hasNan) {
      result["min"] = realMin;
      result["max"] = realMax;
    }
  } else if (any && min >= INT64_MIN && max <= INT64_MAX) {
    result["min"] = static_cast<int64_t>(min);
    result["max"] = static_cast<int64_t>(max);
    distinct = std::min(distinct, static_cast<double>(max) - static_cast<double>(min) + 1);
  }
  result["distinct"] = static_cast<uint64_t>(distinct);
  if (!text) {
    result["average_bytes"] = averageBytes(column.type.kind);
  }
  return result;
}

// ---- morsels ----

struct Slice {
  const arrow::RecordBatch *batch;
  int64_t offset;
  uint64_t rows;
  uint64_t firstRow;
  uint64_t place; ///< of its first row in the table
};

class ConvertedColumn {
public:
  ConvertedColumn(const arrow::Array &array, const TableColumn &column,
                  const plan::SlotColumn &promise, int64_t offset, uint64_t rows,
                  Reservation &memory)
      : array_(array), reader_(makeReader(array)), column_(column), promise_(promise),
        offset_(offset), rows_(rows), memory_(memory) {}

  Expected<HeldChunkHandle> convert();

private:
  Status charge(uint64_t bytes);
  Status convertTexts(HrString *out);
  Status convertIntegers(void *out);
  Status fail(const std::string &text) const {
    return makeError(ErrorKind::kData, "Arrow table, column ", column_.name, ": ", text);
  }
  int64_t at(uint64_t row) const { return offset_ + static_cast<int64_t>(row); }

  const arrow::Array &array_;
  std::unique_ptr<ColumnReader> reader_;
  const TableColumn &column_;
  const plan::SlotColumn &promise_;
  int64_t offset_;
  uint64_t rows_;
  Reservation &memory_;
  Charge charge_;
  std::vector<uint8_t> valid_; ///< by row
  std::shared_ptr<EncodedChunk> chunk_ = std::make_shared<EncodedChunk>();
};

Status ConvertedColumn::charge(uint64_t bytes) {
  HR_ASSIGN_OR_RETURN(Charge charge, Charge::take(memory_, static_cast<int64_t>(bytes)));
  charge_.add(std::move(charge));
  return Status();
}

Status ConvertedColumn::convertTexts(HrString *out) {
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < rows_; ++i) {
    bytes += valid_[i] ? reader_->text(at(i)).size() : 0;
  }
  HR_RETURN_IF_ERROR(charge(bytes));
  PaddedBuffer heap(bytes);
  if (!heap) {
    // no test: it takes more memory than a machine has
    return makeError(ErrorKind::kMemory, "no memory for the text of a column, bytes: ", bytes);
  }
  uint8_t *next = heap.data();
  for (uint64_t i = 0; i < rows_; ++i) {
    if (!valid_[i]) {
      out[i] = primitives::makeString(emptyText(), 0);
      continue;
    }
    std::string_view text = reader_->text(at(i));
    if (text.empty() && column_.type.kind == LogicalKind::kInterval) {
      return fail("a duration has more than 64 bits of microseconds");
    }
    if (!text.empty()) {
      std::memcpy(next, text.data(), text.size());
    }
    out[i] = primitives::makeString(next, static_cast<uint32_t>(text.size()));
    next += text.size();
  }
  chunk_->keep(std::move(heap));
  return Status();
}

Status ConvertedColumn::convertIntegers(void *out) {
  const uint32_t width = abi::bytesOf(promise_.type);
  const RawIntegers raw = rawIntegers(array_);
  if (raw.data && promise_.type != HR_I128) {
    primitives::IntegerRange range = primitives::narrowIntegers(
        Decoders::get().isa, raw.stored, raw.data + offset_ * raw.width, rows_, promise_.type, out);
    chunk_->widen(range.min, range.max);
  } else {
    uint8_t *to = static_cast<uint8_t *>(out);
    for (uint64_t i = 0; i < rows_; ++i, to += width) {
      __int128 value = valid_[i] ? reader_->integer(at(i)) : 0;
      std::memcpy(to, &value, width); // little-endian: the low bytes
      if (valid_[i]) {
        chunk_->widen(value, value);
      }
    }
  }
  if (chunk_->min > chunk_->max) {
    return Status();
  }
  if (!fitsInteger(promise_.type, chunk_->min, chunk_->max) ||
      (promise_.ranged && (chunk_->min < promise_.min || chunk_->max > promise_.max))) {
    return fail("values are outside of what the plan was compiled for, recompile; they are in [" +
                integerText(chunk_->min) + ", " + integerText(chunk_->max) + "]");
  }
  return Status();
}

Expected<HeldChunkHandle> ConvertedColumn::convert() {
  const uint32_t width = abi::bytesOf(promise_.type);
  HR_RETURN_IF_ERROR(charge(rows_ * width + rows_ + rows_ / 8)); // values, bytes and bits of NULLs
  PaddedBuffer data(rows_ * width);
  if (!data) {
    // no test: it takes more memory than a machine has
    return makeError(ErrorKind::kMemory, "no memory for a column, rows: ", rows_);
  }
  uint64_t nulls = 0;
  valid_.resize(rows_);
  for (uint64_t i = 0; i < rows_; ++i) {
    valid_[i] = reader_->valid(at(i));
    nulls += !valid_[i];
  }
  if (nulls != 0 && !promise_.nullable) {
    return fail("there is a NULL, which the plan was compiled without; recompile");
  }
  if (promise_.type == HR_STRING) {
    HR_RETURN_IF_ERROR(convertTexts(reinterpret_cast<HrString *>(data.data())));
  } else if (promise_.type == HR_F64) {
    double *out = reinterpret_cast<double *>(data.data());
    for (uint64_t i = 0; i < rows_; ++i) {
      out[i] = valid_[i] ? reader_->real(at(i)) : 0;
    }
  } else if (promise_.type == HR_F32) {
    float *out = reinterpret_cast<float *>(data.data());
    for (uint64_t i = 0; i < rows_; ++i) {
      out[i] = valid_[i] ? static_cast<float>(reader_->real(at(i))) : 0;
    }
  } else {
    HR_RETURN_IF_ERROR(convertIntegers(data.data()));
  }
  HrSegment segment{};
  segment.rows = static_cast<uint32_t>(rows_);
  segment.encoding = HR_VALUES;
  segment.data = data.data();
  segment.bytes = data.bytes();
  if (nulls != 0) {
    PaddedBuffer bits((rows_ + 7) / 8);
    if (!bits) {
      // no test: it takes more memory than a machine has
      return makeError(ErrorKind::kMemory, "no memory for a column, rows: ", rows_);
    }
    std::memset(bits.data(), 0, bits.bytes());
    for (uint64_t i = 0; i < rows_; ++i) {
      bits.data()[i / 8] |= static_cast<uint8_t>(valid_[i] << (i % 8));
    }
    segment.validity = bits.data();
    chunk_->hasNulls = true;
    chunk_->keep(std::move(bits));
  }
  chunk_->keep(std::move(data));
  chunk_->segments.push_back(segment);
  chunk_->rows = rows_;
  chunk_->type = promise_.type;
  return std::make_shared<const HeldChunk>(HeldChunk{std::move(charge_), std::move(chunk_)});
}

struct TableData {
  Batches batches;
  std::vector<TableColumn> columns;
  nlohmann::json statistics;
};

class ArrowSource final : public MorselSource {
public:
  std::shared_ptr<const TableData> table;
  plan::Slot slot;
  std::vector<int> columns;
  std::vector<Slice> slices;
  uint64_t totalRows = 0;
  MorselRange own;

  size_t morselCount() const override { return slices.size(); }
  uint64_t rows(size_t index) const override { return slices[index].rows; }
  uint64_t rows() const override { return totalRows; }
  MorselRange share() const override { return own; }

  Expected<MorselHandle> load(size_t index, Reservation &memory) const override {
    const Slice &slice = slices[index];
    auto loaded = std::make_shared<LoadedMorsel>();
    loaded->columns.reserve(columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      ConvertedColumn column(*slice.batch->column(columns[i]),
                             table->columns[static_cast<size_t>(columns[i])], slot.columns[i],
                             slice.offset, slice.rows, memory);
      HR_ASSIGN_OR_RETURN(HeldChunkHandle held, column.convert());
      loaded->columns.push_back(held->chunk->column());
      loaded->bytes += held->chunk->bytes;
      loaded->pins.push_back(std::move(held));
    }
    loaded->morsel.rows = static_cast<uint32_t>(slice.rows);
    loaded->morsel.columnCount = static_cast<uint32_t>(loaded->columns.size());
    loaded->morsel.columns = loaded->columns.data();
    loaded->morsel.firstRow = slice.firstRow;
    loaded->place = slice.place;
    return MorselHandle(std::move(loaded));
  }
};

class ImportedTable final : public ArrowTable {
public:
  explicit ImportedTable(std::shared_ptr<const TableData> data) : data_(std::move(data)) {}
  const nlohmann::json &statistics() const override { return data_->statistics; }
  Expected<std::unique_ptr<MorselSource>> scan(const plan::Slot &slot, Share share) const override;
  const TableData &data() const { return *data_; }

private:
  std::shared_ptr<const TableData> data_;
};

/// Whether a column is what a plan was compiled for. Integers of 128 bits are decimals in Arrow,
/// and fields without names have some; a plan that reads what another one made knows better.
static bool isOf(const LogicalType &stored, const LogicalType &wanted) {
  if (wanted.kind == LogicalKind::kI128) {
    return stored == LogicalType{LogicalKind::kDecimal, 38, 0};
  }
  LogicalType same = stored;
  same.children = wanted.children;
  if (wanted.kind == LogicalKind::kStruct && wanted.names.front().empty()) {
    same.names = wanted.names;
  }
  return same == wanted && std::equal(stored.children.begin(), stored.children.end(),
                                      wanted.children.begin(), wanted.children.end(), isOf);
}

Expected<std::unique_ptr<MorselSource>> ImportedTable::scan(const plan::Slot &slot,
                                                            Share share) const {
  auto source = std::make_unique<ArrowSource>();
  source->table = data_;
  source->slot = slot;
  for (const plan::SlotColumn &wanted : slot.columns) {
    auto found =
        std::find_if(data_->columns.begin(), data_->columns.end(),
                     [&](const TableColumn &column) { return column.name == wanted.file; });
    if (found == data_->columns.end()) {
      return makeError(ErrorKind::kUser, "Arrow table ", slot.name,
                       " has no column: ", wanted.file);
    }
    if (!found->unsupported.empty()) {
      return makeError(ErrorKind::kUnsupported, "Arrow table ", slot.name, ", column ", wanted.file,
                       ": ", found->unsupported);
    }
    if (!isOf(found->type, wanted.logical)) {
      return makeError(ErrorKind::kMismatch, "Arrow table ", slot.name, ", column ", wanted.file,
                       " is ", found->type.text(),
                       ", the plan was compiled for (recompile): ", wanted.logical.text());
    }
    if (!canBe(found->type, wanted.type)) {
      return makeError(ErrorKind::kMismatch, "Arrow table ", slot.name, ", column ", wanted.file,
                       " of type ", found->type.text(),
                       " cannot be read as: ", typeName(wanted.type));
    }
    source->columns.push_back(static_cast<int>(found - data_->columns.begin()));
  }
  std::vector<uint64_t> rows;
  uint64_t place = 0;
  for (const auto &batch : data_->batches) {
    const uint64_t total = static_cast<uint64_t>(batch->num_rows());
    for (uint64_t offset = 0; offset < total; offset += kMorselRowsMax) {
      const uint64_t count = std::min(kMorselRowsMax, total - offset);
      source->slices.push_back({batch.get(), static_cast<int64_t>(offset), count, 0, place});
      rows.push_back(count);
      place += count;
    }
  }
  source->own = takeShare(source->slices, rows, share, source->totalRows);
  return std::unique_ptr<MorselSource>(std::move(source));
}

/// Arrow's own type for texts that are JSON.
bool isJson(const arrow::DataType &type) {
  return type.id() == arrow::Type::EXTENSION &&
         static_cast<const arrow::ExtensionType &>(type).extension_name() == "arrow.json";
}

} // namespace

Expected<std::shared_ptr<const ArrowTable>> ArrowTable::import(ArrowArrayStream *stream) {
  try {
    auto reader = arrow::ImportRecordBatchReader(stream);
    if (!reader.ok()) {
      return makeError(ErrorKind::kUser,
                       "cannot import the Arrow stream: ", reader.status().message());
    }
    auto data = std::make_shared<TableData>();
    for (const auto &field : (*reader)->schema()->fields()) {
      data->columns.push_back(describeField(*field));
    }
    uint64_t rows = 0;
    for (;;) {
      std::shared_ptr<arrow::RecordBatch> batch;
      arrow::Status status = (*reader)->ReadNext(&batch);
      if (!status.ok()) {
        return makeError(ErrorKind::kUser, "the Arrow stream failed: ", status.message());
      }
      if (!batch) {
        break;
      }
      status = batch->Validate();
      if (!status.ok()) {
        return makeError(ErrorKind::kCorrupt,
                         "the Arrow stream has an invalid batch: ", status.message());
      }
      rows += static_cast<uint64_t>(batch->num_rows());
      if (batch->num_rows() != 0) {
        data->batches.push_back(std::move(batch));
      }
    }
    nlohmann::json columns = nlohmann::json::object(), unsupported = nlohmann::json::object();
    for (size_t i = 0; i < data->columns.size(); ++i) {
      TableColumn &column = data->columns[i];
      if (columns.contains(column.name) || unsupported.contains(column.name)) {
        return makeError(ErrorKind::kUnsupported,
                         "a table whose columns have one name cannot be read; rename_columns "
                         "gives others: ",
                         column.name);
      }
      if (column.unsupported.empty()) {
        columns[column.name] = columnStatistics(data->batches, column, static_cast<int>(i), rows);
        if (isJson(*(*reader)->schema()->field(static_cast<int>(i))->type())) {
          columns[column.name]["json"] = true;
        }
      } else {
        unsupported[column.name] = column.unsupported;
      }
    }
    data->statistics = {{"rows", rows},
                        {"row_groups", data->batches.size()},
                        {"columns", std::move(columns)},
                        {"unsupported", std::move(unsupported)}};
    return std::shared_ptr<const ArrowTable>(std::make_shared<ImportedTable>(std::move(data)));
  } catch (const std::exception &error) {
    return makeError(ErrorKind::kUser, "cannot import the Arrow stream: ", error.what());
  }
}

std::shared_ptr<const ArrowTable>
ArrowTable::joined(std::span<const std::shared_ptr<const ArrowTable>> tables,
                   std::span<const ChosenBatch> batches) {
  auto data = std::make_shared<TableData>();
  std::vector<const TableData *> sources;
  std::vector<nlohmann::json> documents;
  for (const std::shared_ptr<const ArrowTable> &table : tables) {
    const auto *imported = dynamic_cast<const ImportedTable *>(table.get());
    HR_CHECK(imported);
    sources.push_back(&imported->data());
    documents.push_back(imported->statistics());
  }
  data->columns = sources.front()->columns;
  uint64_t rows = 0;
  for (const ChosenBatch &chosen : batches) {
    data->batches.push_back(sources.at(chosen.table)->batches.at(chosen.batch));
    rows += static_cast<uint64_t>(data->batches.back()->num_rows());
  }
  data->statistics = unitedStatistics(documents);
  data->statistics["rows"] = rows;
  data->statistics["row_groups"] = data->batches.size();
  for (auto &[name, column] : data->statistics["columns"].items()) {
    for (const char *count : {"nulls", "distinct"}) {
      column[count] = std::min(column[count].get<uint64_t>(), rows);
    }
  }
  return std::make_shared<ImportedTable>(std::move(data));
}

} // namespace headrace::storage
