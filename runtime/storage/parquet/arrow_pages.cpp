// Arrow's typed column readers; their exceptions end here.
#include "runtime/storage/parquet/arrow_pages.h"

#include <arrow/io/file.h>
#include <parquet/column_reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>

#include <algorithm>
#include <cstring>
#include <exception>

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
        return makeError(ErrorKind::kCorrupt, "definition levels and values do not agree");
      }
    }
    rows -= static_cast<uint64_t>(taken);
    pages.push_back(std::move(page));
  }
  return Status();
}

} // namespace

Status readWithArrow(const ParquetFile &file, size_t rowGroup, size_t columnIndex,
                     std::vector<PlainPage> &pages) {
  const ParquetColumn &column = file.footer().columns[columnIndex];
  const uint64_t rows = file.footer().rowGroups[rowGroup].rows;
  try {
    auto metadata = std::static_pointer_cast<parquet::FileMetaData>(
        std::const_pointer_cast<void>(file.footer().arrowMetadata));
    arrow::Result<std::shared_ptr<arrow::io::ReadableFile>> bytes =
        arrow::io::ReadableFile::Open(file.path());
    if (!bytes.ok()) {
      return makeError(ErrorKind::kIo, "cannot open file ", bytes.status().message());
    }
    std::unique_ptr<parquet::ParquetFileReader> opened =
        parquet::ParquetFileReader::Open(*bytes, parquet::default_reader_properties(), metadata);
    std::shared_ptr<parquet::ColumnReader> reader =
        opened->RowGroup(static_cast<int>(rowGroup))->Column(static_cast<int>(columnIndex));
    switch (column.stored) {
    case Stored::kBoolean:
      return readTyped<parquet::BooleanType>(*reader, column, rows, pages);
    case Stored::kInt32:
      return readTyped<parquet::Int32Type>(*reader, column, rows, pages);
    case Stored::kInt64:
      return readTyped<parquet::Int64Type>(*reader, column, rows, pages);
    case Stored::kInt96:
      return readTyped<parquet::Int96Type>(*reader, column, rows, pages);
    case Stored::kFloat:
      return readTyped<parquet::FloatType>(*reader, column, rows, pages);
    case Stored::kDouble:
      return readTyped<parquet::DoubleType>(*reader, column, rows, pages);
    case Stored::kByteArray:
      return readTyped<parquet::ByteArrayType>(*reader, column, rows, pages);
    case Stored::kFixed:
      return readTyped<parquet::FLBAType>(*reader, column, rows, pages);
    default:
      // no test: columns of other types are refused by the footer
      return makeError(ErrorKind::kUnsupported, "stored type is not supported");
    }
  } catch (const std::exception &error) {
    return makeError(ErrorKind::kCorrupt, "the column chunk does not decode: ", error.what());
  }
}

} // namespace headrace::storage
