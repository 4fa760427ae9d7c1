// Arrow's typed column readers; their exceptions end here.
#include "runtime/storage/parquet/arrow_pages.h"

#include "runtime/base/interval_values.h"
#include "runtime/base/utf8.h"
#include "runtime/storage/arrow/column_reader.h"
#include "runtime/storage/columns/texts.h"
#include "runtime/storage/parquet/list_levels.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/chunked_array.h>
#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/table.h>
#include <parquet/arrow/reader.h>
#include <parquet/column_reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>

namespace headrace::storage {
namespace {

constexpr int64_t kPageRows = 16 * 1024;

template <typename Value>
void appendPlain(std::vector<uint8_t> &out, const Value *values, int64_t count, uint32_t) {
  const uint8_t *bytes = reinterpret_cast<const uint8_t *>(values);
  out.insert(out.end(), bytes, bytes + static_cast<size_t>(count) * sizeof(Value));
}

void appendPlain(std::vector<uint8_t> &out, const bool *values, int64_t count, uint32_t) {
  out.resize(static_cast<size_t>(count + 7) / 8);
  for (int64_t i = 0; i < count; ++i) {
    out[static_cast<size_t>(i / 8)] |= static_cast<uint8_t>(values[i] << (i % 8));
  }
}

void appendPlain(std::vector<uint8_t> &out, const parquet::ByteArray *values, int64_t count,
                 uint32_t) {
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t *length = reinterpret_cast<const uint8_t *>(&values[i].len);
    out.insert(out.end(), length, length + sizeof values[i].len);
    out.insert(out.end(), values[i].ptr, values[i].ptr + values[i].len);
  }
}

void appendPlain(std::vector<uint8_t> &out, const parquet::FixedLenByteArray *values, int64_t count,
                 uint32_t width) {
  for (int64_t i = 0; i < count; ++i) {
    out.insert(out.end(), values[i].ptr, values[i].ptr + width);
  }
}

template <typename Type>
Status readTyped(parquet::ColumnReader &untyped, const ParquetColumn &column, uint64_t rows,
                 std::vector<PlainPage> &pages) {
  using Value = typename Type::c_type;
  auto &reader = static_cast<parquet::TypedColumnReader<Type> &>(untyped);
  std::unique_ptr<Value[]> values(new Value[kPageRows]);
  std::vector<int16_t> levels(kPageRows);
  while (rows != 0) {
    int64_t count = 0;
    const int64_t taken = reader.ReadBatch(std::min<int64_t>(kPageRows, static_cast<int64_t>(rows)),
                                           levels.data(), nullptr, values.get(), &count);
    if (taken <= 0 || count > taken) {
      return makeError(ErrorKind::kCorrupt, "the column chunk has fewer rows than its row group");
    }
    PlainPage page;
    page.rows = static_cast<uint32_t>(taken);
    page.nulls = static_cast<uint32_t>(taken - count);
    std::vector<uint8_t> plain;
    appendPlain(plain, values.get(), count, column.fixedBytes);
    page.bytes = PaddedBuffer(plain.size());
    if (page.nulls != 0) {
      page.valid = PaddedBuffer(page.rows);
    }
    if (!page.bytes || (page.nulls != 0 && !page.valid)) {
      // no test: it takes more memory than a machine has
      return makeError(ErrorKind::kMemory, "no memory for a page of bytes: ", plain.size());
    }
    if (!plain.empty()) {
      std::memcpy(page.bytes.data(), plain.data(), plain.size());
    }
    if (page.nulls != 0) {
      uint32_t present = 0;
      for (uint32_t i = 0; i < page.rows; ++i) {
        page.valid.data()[i] = levels[i] > 0;
        present += levels[i] > 0;
      }
      if (present != page.rows - page.nulls) {
        // no test: Arrow's reader counts them
        return makeError(ErrorKind::kCorrupt, "definition levels and values do not agree");
      }
    }
    rows -= static_cast<uint64_t>(taken);
    pages.push_back(std::move(page));
  }
  return Status();
}

__int128 bigEndian(const uint8_t *digits, uint32_t length) {
  __int128 value = static_cast<int8_t>(digits[0]) < 0 ? -1 : 0;
  for (uint32_t at = 0; at < length; ++at) {
    value = static_cast<__int128>(static_cast<unsigned __int128>(value) << 8 | digits[at]);
  }
  return value;
}

/// Parquet's interval: months, days and milliseconds, the lowest byte first.
std::string intervalOf(const parquet::FixedLenByteArray &value) {
  uint32_t parts[3];
  std::memcpy(parts, value.ptr, sizeof parts);
  return packedInterval(
      {static_cast<int32_t>(parts[0]), static_cast<int32_t>(parts[1]), int64_t{parts[2]} * 1000});
}

/// A value as bytes of a list; false if it is none of the column's type.
template <typename Value>
bool elementOf(const ParquetColumn &column, const Value &value, std::string &bytes) {
  const ElementCode code = elementCode(column.type);
  auto exact = [&](__int128 number) {
    bytes = ElementBytes::ofInteger(code, inUnits(number, column.factor)).view();
    return true;
  };
  if constexpr (std::is_same_v<Value, parquet::ByteArray>) {
    if (column.type.isTextOrBinary()) {
      bytes.assign(reinterpret_cast<const char *>(value.ptr), value.len);
      return true;
    }
    return value.len > 0 && value.len <= 16 && exact(bigEndian(value.ptr, value.len));
  } else if constexpr (std::is_same_v<Value, parquet::FixedLenByteArray>) {
    if (column.type.isTextOrBinary()) {
      bytes.assign(reinterpret_cast<const char *>(value.ptr), column.fixedBytes);
      return true;
    }
    if (column.type.kind == LogicalKind::kInterval) {
      bytes = intervalOf(value);
      return true;
    }
    return exact(bigEndian(value.ptr, column.fixedBytes));
  } else if constexpr (std::is_floating_point_v<Value>) {
    bytes = ElementBytes::ofReal(code, value).view();
    return true;
  } else if constexpr (std::is_integral_v<Value>) {
    if constexpr (!std::is_same_v<Value, bool>) {
      if (column.isUnsigned) {
        return exact(static_cast<std::make_unsigned_t<Value>>(value));
      }
    }
    return exact(value);
  } else {
    return false;
  }
}

/// Packed values as byte arrays.
Status addLists(std::vector<std::optional<std::string>> lists, std::vector<PlainPage> &pages) {
  if (lists.empty()) {
    return Status();
  }
  PlainPage page;
  page.rows = static_cast<uint32_t>(lists.size());
  std::vector<uint8_t> plain;
  for (const auto &list : lists) {
    page.nulls += list ? 0 : 1;
    if (list) {
      const parquet::ByteArray bytes(static_cast<uint32_t>(list->size()),
                                     reinterpret_cast<const uint8_t *>(list->data()));
      appendPlain(plain, &bytes, 1, 0);
    }
  }
  page.bytes = PaddedBuffer(plain.size());
  if (page.nulls != 0) {
    page.valid = PaddedBuffer(page.rows);
  }
  if (!page.bytes || (page.nulls != 0 && !page.valid)) {
    // no test: it takes more memory than a machine has
    return makeError(ErrorKind::kMemory, "no memory for a page of bytes: ", plain.size());
  }
  std::copy(plain.begin(), plain.end(), page.bytes.data());
  for (size_t row = 0; page.nulls != 0 && row < lists.size(); ++row) {
    page.valid.data()[row] = lists[row].has_value();
  }
  pages.push_back(std::move(page));
  return Status();
}

template <typename Type>
Status readLists(parquet::ColumnReader &untyped, const ListColumn &column, uint64_t rows,
                 std::vector<PlainPage> &pages) {
  using Value = typename Type::c_type;
  auto &reader = static_cast<parquet::TypedColumnReader<Type> &>(untyped);
  std::unique_ptr<Value[]> values(new Value[kPageRows]);
  std::vector<int16_t> definitions(kPageRows), repetitions(kPageRows);
  ListAssembler lists(column);
  uint64_t done = 0;
  auto take = [&] {
    std::vector<std::optional<std::string>> complete = lists.takeRows();
    done += complete.size();
    return addLists(std::move(complete), pages);
  };
  std::string bytes;
  while (reader.HasNext()) {
    int64_t count = 0, used = 0;
    const int64_t taken =
        reader.ReadBatch(kPageRows, definitions.data(), repetitions.data(), values.get(), &count);
    for (int64_t at = 0; at < taken; ++at) {
      const bool isThere = definitions[at] == column.definitionMax;
      if (isThere && (used == count || !elementOf(column.element, values[used++], bytes))) {
        // no test: Arrow's reader counts them
        return makeError(ErrorKind::kCorrupt, "definition levels and values do not agree");
      }
      if (isThere && column.element.type.kind == LogicalKind::kString && !utf8::isValid(bytes)) {
        return notUtf8(bytes, static_cast<uint64_t>(used - 1));
      }
      if (!lists.add(definitions[at], repetitions[at], bytes)) {
        // no test: no writer makes such levels
        return makeError(ErrorKind::kCorrupt, "levels of lists contradict each other");
      }
    }
    if (taken <= 0) {
      break;
    }
    HR_RETURN_IF_ERROR(take());
  }
  lists.end();
  HR_RETURN_IF_ERROR(take());
  return done == rows ? Status()
                      : makeError(ErrorKind::kCorrupt,
                                  "the column chunk has another number of rows than its row group");
}

Status readIntervals(parquet::ColumnReader &untyped, uint64_t rows, std::vector<PlainPage> &pages) {
  auto &reader = static_cast<parquet::TypedColumnReader<parquet::FLBAType> &>(untyped);
  std::unique_ptr<parquet::FixedLenByteArray[]> values(new parquet::FixedLenByteArray[kPageRows]);
  std::vector<int16_t> levels(kPageRows, 1); // which a column without NULL has none of
  const int16_t most = reader.descr()->max_definition_level();
  while (rows != 0) {
    int64_t count = 0, used = 0;
    const int64_t taken = reader.ReadBatch(std::min<int64_t>(kPageRows, static_cast<int64_t>(rows)),
                                           levels.data(), nullptr, values.get(), &count);
    std::vector<std::optional<std::string>> packed;
    for (int64_t row = 0; row < taken; ++row) {
      const bool isThere = levels[static_cast<size_t>(row)] >= most && used < count;
      packed.push_back(isThere ? std::optional(intervalOf(values[used++])) : std::nullopt);
    }
    if (taken <= 0 || used != count) {
      return makeError(ErrorKind::kCorrupt, "the column chunk has fewer rows than its row group");
    }
    rows -= static_cast<uint64_t>(taken);
    HR_RETURN_IF_ERROR(addLists(std::move(packed), pages));
  }
  return Status();
}

/// The pages of a column chunk. Those without values, which writers may leave behind, are passed
/// over: Arrow's readers would take one for the end.
std::unique_ptr<parquet::PageReader> filledPages(parquet::RowGroupReader &group, int column) {
  std::unique_ptr<parquet::PageReader> pages = group.GetColumnPageReader(column);
  pages->set_data_page_filter(
      [](const parquet::DataPageStats &page) { return page.num_values == 0; });
  return pages;
}

/// A row group of which only those are read.
class FilledGroup final : public parquet::RowGroupReader::Contents {
public:
  explicit FilledGroup(std::shared_ptr<parquet::RowGroupReader> group) : group_(std::move(group)) {}

  std::unique_ptr<parquet::PageReader> GetColumnPageReader(int column) override {
    return filledPages(*group_, column);
  }
  const parquet::RowGroupMetaData *metadata() const override { return group_->metadata(); }
  const parquet::ReaderProperties *properties() const override { return &properties_; }

private:
  const std::shared_ptr<parquet::RowGroupReader> group_;
  const parquet::ReaderProperties properties_;
};

/// A file with such row groups.
class FilledPages final : public parquet::ParquetFileReader::Contents {
public:
  explicit FilledPages(std::unique_ptr<parquet::ParquetFileReader> file) : file_(std::move(file)) {}

  void Close() override { file_->Close(); }
  std::shared_ptr<parquet::RowGroupReader> GetRowGroup(int index) override {
    return std::make_shared<parquet::RowGroupReader>(
        std::make_unique<FilledGroup>(file_->RowGroup(index)));
  }
  std::shared_ptr<parquet::FileMetaData> metadata() const override { return file_->metadata(); }
  std::shared_ptr<parquet::PageIndexReader> GetPageIndexReader() override {
    return file_->GetPageIndexReader();
  }
  parquet::BloomFilterReader &GetBloomFilterReader() override {
    return file_->GetBloomFilterReader();
  }

private:
  const std::unique_ptr<parquet::ParquetFileReader> file_;
};

/// A column of structs or maps of a row group, packed.
Status readNested(std::unique_ptr<parquet::ParquetFileReader> whole, size_t rowGroup,
                  const ParquetColumn &column, uint64_t rows, std::vector<PlainPage> &pages) {
  auto file = std::make_unique<parquet::ParquetFileReader>();
  file->Open(std::make_unique<FilledPages>(std::move(whole)));
  parquet::ArrowReaderProperties properties;
  properties.set_pre_buffer(false);              // which Arrow does for its own files alone
  properties.set_arrow_extensions_enabled(true); // as the footer describes it
  arrow::Result<std::unique_ptr<parquet::arrow::FileReader>> reader =
      parquet::arrow::FileReader::Make(arrow::default_memory_pool(), std::move(file), properties);
  std::shared_ptr<arrow::Table> table;
  arrow::Status status =
      reader.ok() ? (*reader)->ReadRowGroup(static_cast<int>(rowGroup), column.leaves, &table)
                  : reader.status();
  if (!status.ok()) {
    return makeError(ErrorKind::kCorrupt, "the column chunk does not decode: ", status.message());
  }
  if (table->num_columns() != 1 || static_cast<uint64_t>(table->num_rows()) != rows) {
    return makeError(ErrorKind::kCorrupt,
                     "the column chunk has another number of rows than its row group");
  }
  for (const std::shared_ptr<arrow::Array> &array : table->column(0)->chunks()) {
    if (const arrow::Status checked = array->ValidateFull(); !checked.ok()) { // texts are UTF-8
      return makeError(ErrorKind::kCorrupt, "a nested value is not valid: ", checked.message());
    }
    const std::unique_ptr<ColumnReader> values = makeReader(*array);
    for (int64_t begin = 0; begin < array->length(); begin += kPageRows) {
      std::vector<std::optional<std::string>> packed;
      for (int64_t row = begin; row < std::min(begin + kPageRows, array->length()); ++row) {
        packed.push_back(values->valid(row) ? std::optional(std::string(values->text(row)))
                                            : std::nullopt);
      }
      HR_RETURN_IF_ERROR(addLists(std::move(packed), pages));
    }
  }
  return Status();
}

/// A file as Arrow reads one. It must outlive it.
class ArrowInput final : public arrow::io::RandomAccessFile {
public:
  explicit ArrowInput(const InputFile &input) : input_(input) {}

  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }
  arrow::Result<int64_t> Tell() const override { return at_; }
  arrow::Status Seek(int64_t at) override {
    at_ = at;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> GetSize() override { return static_cast<int64_t>(input_.bytes()); }
  arrow::Result<int64_t> ReadAt(int64_t at, int64_t bytes, void *out) override {
    bytes = std::clamp<int64_t>(static_cast<int64_t>(input_.bytes()) - at, 0, bytes);
    const Status status = input_.read(static_cast<uint64_t>(at), static_cast<uint64_t>(bytes), out);
    if (!status.ok()) {
      return arrow::Status::IOError(status.message());
    }
    return bytes;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t at, int64_t bytes) override {
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::ResizableBuffer> buffer,
                          arrow::AllocateResizableBuffer(bytes));
    ARROW_ASSIGN_OR_RAISE(int64_t got, ReadAt(at, bytes, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(got));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }
  arrow::Result<int64_t> Read(int64_t bytes, void *out) override {
    ARROW_ASSIGN_OR_RAISE(int64_t got, ReadAt(at_, bytes, out));
    at_ += got;
    return got;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t bytes) override {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer, ReadAt(at_, bytes));
    at_ += buffer->size();
    return buffer;
  }

private:
  const InputFile &input_;
  int64_t at_ = 0;
};

template <typename Type>
Status readAny(parquet::ColumnReader &reader, const ParquetColumn &column, uint64_t rows,
               std::vector<PlainPage> &pages) {
  return column.list ? readLists<Type>(reader, *column.list, rows, pages)
                     : readTyped<Type>(reader, column, rows, pages);
}

std::shared_ptr<parquet::ColumnReader> readerOf(parquet::ParquetFileReader &file, int rowGroup,
                                                int column) {
  const std::shared_ptr<parquet::RowGroupReader> group = file.RowGroup(rowGroup);
  return parquet::ColumnReader::Make(group->metadata()->schema()->Column(column),
                                     filledPages(*group, column));
}

} // namespace

Status readWithArrow(const ParquetFile &file, const InputFile &input, size_t rowGroup,
                     size_t columnIndex, std::vector<PlainPage> &pages) {
  const ParquetColumn &column = file.footer().columns[columnIndex];
  const uint64_t rows = file.footer().rowGroups[rowGroup].rows;
  try {
    auto metadata = std::static_pointer_cast<parquet::FileMetaData>(
        std::const_pointer_cast<void>(file.footer().arrowMetadata));
    auto bytes = std::make_shared<ArrowInput>(input);
    std::unique_ptr<parquet::ParquetFileReader> opened =
        parquet::ParquetFileReader::Open(bytes, parquet::default_reader_properties(), metadata);
    if (!column.leaves.empty()) {
      return readNested(std::move(opened), rowGroup, column, rows, pages);
    }
    const std::shared_ptr<parquet::ColumnReader> reader =
        readerOf(*opened, static_cast<int>(rowGroup), static_cast<int>(columnIndex));
    if (column.type.kind == LogicalKind::kInterval) {
      return readIntervals(*reader, rows, pages);
    }
    switch (column.list ? column.list->element.stored : column.stored) {
    case Stored::kBoolean:
      return readAny<parquet::BooleanType>(*reader, column, rows, pages);
    case Stored::kInt32:
      return readAny<parquet::Int32Type>(*reader, column, rows, pages);
    case Stored::kInt64:
      return readAny<parquet::Int64Type>(*reader, column, rows, pages);
    case Stored::kInt96:
      return readAny<parquet::Int96Type>(*reader, column, rows, pages);
    case Stored::kFloat:
      return readAny<parquet::FloatType>(*reader, column, rows, pages);
    case Stored::kDouble:
      return readAny<parquet::DoubleType>(*reader, column, rows, pages);
    case Stored::kByteArray:
      return readAny<parquet::ByteArrayType>(*reader, column, rows, pages);
    case Stored::kFixed:
      return readAny<parquet::FLBAType>(*reader, column, rows, pages);
    default:
      // no test: columns of other types are refused by the footer
      return makeError(ErrorKind::kUnsupported, "stored type is not supported");
    }
  } catch (const std::exception &error) {
    return makeError(ErrorKind::kCorrupt, "the column chunk does not decode: ", error.what());
  }
}

} // namespace headrace::storage
