// Test tables: random columns of every type as Arrow arrays and as text, Parquet files made of
// them, and the rows that a source delivers, as text again.
#pragma once

#include "runtime/abi/type_bytes.h"
#include "runtime/storage/parquet/chunk_loader.h"
#include "runtime/storage/storage.h"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace headrace::storage::testing {

inline uint64_t seed() {
  const char *text = std::getenv("HEADRACE_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 20251121;
}

/// A folder of its own for each test, gone afterwards.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "headrace-storage-XXXXXX").string();
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string &name) const { return (path_ / name).string(); }

private:
  std::filesystem::path path_;
};

inline const std::string kNull = "NULL";

struct TestTable {
  std::shared_ptr<arrow::Table> table;
  std::vector<std::vector<std::string>> text; ///< by column, by row
  plan::Slot slot;                            ///< promises the narrowest types
};

struct TableOptions {
  uint64_t rows = 5000;
  int nullPercent = 0;     ///< 0: the fields are not nullable
  uint64_t distinct = 100; ///< values a column
  uint64_t batchRows = 5000;
};

template <typename Builder, typename Make>
void addColumn(TestTable &test, std::vector<std::shared_ptr<arrow::Field>> &fields,
               std::vector<std::shared_ptr<arrow::ChunkedArray>> &columns,
               const TableOptions &options, std::mt19937_64 &random, const std::string &name,
               std::shared_ptr<arrow::DataType> type, const LogicalType &logical, HrType promised,
               Make make) {
  arrow::ArrayVector arrays;
  std::vector<std::string> text;
  for (uint64_t begin = 0; begin < options.rows || arrays.empty(); begin += options.batchRows) {
    Builder builder(type, arrow::default_memory_pool());
    for (uint64_t i = begin; i < std::min(options.rows, begin + options.batchRows); ++i) {
      if (static_cast<int>(random() % 100) < options.nullPercent) {
        EXPECT_TRUE(builder.AppendNull().ok());
        text.push_back(kNull);
      } else {
        text.push_back(make(builder, random() % options.distinct));
      }
    }
    arrays.push_back(builder.Finish().ValueOrDie());
  }
  fields.push_back(arrow::field(name, type, options.nullPercent > 0));
  columns.push_back(std::make_shared<arrow::ChunkedArray>(arrays, type));
  test.text.push_back(std::move(text));
  plan::SlotColumn column;
  column.file = name;
  column.logical = logical;
  column.type = promised;
  column.nullable = options.nullPercent > 0;
  test.slot.columns.push_back(column);
}

inline TestTable makeTable(const TableOptions &options, std::mt19937_64 &random) {
  TestTable test;
  test.slot.name = "t";
  test.slot.kind = plan::SlotKind::kTable;
  std::vector<std::shared_ptr<arrow::Field>> fields;
  std::vector<std::shared_ptr<arrow::ChunkedArray>> columns;
  auto add = [&]<typename Builder>(const std::string &name, std::shared_ptr<arrow::DataType> type,
                                   const LogicalType &logical, HrType promised, auto make) {
    addColumn<Builder>(test, fields, columns, options, random, name, type, logical, promised, make);
  };
  auto integer = []<typename T>(auto scale) {
    return [scale](auto &builder, uint64_t v) {
      T value = static_cast<T>(scale(static_cast<int64_t>(v)));
      EXPECT_TRUE(builder.Append(value).ok());
      return std::to_string(+value);
    };
  };
  auto small = [](int64_t v) { return v % 200 - 100; };
  auto medium = [](int64_t v) { return v * 31 - 1000; };
  auto large = [](int64_t v) { return v * 1'000'003 - 500'000'000; };
  add.operator()<arrow::Int8Builder>("tiny", arrow::int8(), {LogicalKind::kI8}, HR_I8,
                                     integer.operator()<int8_t>(small));
  add.operator()<arrow::Int32Builder>(
      "int_as_16", arrow::int32(), {LogicalKind::kI32}, HR_I16,
      integer.operator()<int32_t>([=](int64_t v) { return small(v) * 300; }));
  add.operator()<arrow::Int32Builder>("int", arrow::int32(), {LogicalKind::kI32}, HR_I32,
                                      integer.operator()<int32_t>(medium));
  add.operator()<arrow::UInt16Builder>(
      "unsigned_16", arrow::uint16(), {LogicalKind::kU16}, HR_I32,
      integer.operator()<uint16_t>([](int64_t v) { return 65535 - v; }));
  add.operator()<arrow::UInt32Builder>(
      "unsigned_32", arrow::uint32(), {LogicalKind::kU32}, HR_I64,
      integer.operator()<uint32_t>([](int64_t v) { return 4294967295 - v; }));
  add.operator()<arrow::UInt64Builder>(
      "unsigned_64", arrow::uint64(), {LogicalKind::kU64}, HR_I128,
      integer.operator()<uint64_t>([](int64_t v) { return -1 - v; }));
  add.operator()<arrow::Int64Builder>("long_as_8", arrow::int64(), {LogicalKind::kI64}, HR_I8,
                                      integer.operator()<int64_t>(small));
  add.operator()<arrow::Int64Builder>("long_as_32", arrow::int64(), {LogicalKind::kI64}, HR_I32,
                                      integer.operator()<int64_t>(medium));
  add.operator()<arrow::Int64Builder>("long", arrow::int64(), {LogicalKind::kI64}, HR_I64,
                                      integer.operator()<int64_t>(large));
  add.operator()<arrow::Int64Builder>("long_as_128", arrow::int64(), {LogicalKind::kI64}, HR_I128,
                                      integer.operator()<int64_t>(large));
  add.operator()<arrow::Date32Builder>(
      "date", arrow::date32(), {LogicalKind::kDate}, HR_I16,
      integer.operator()<int32_t>([](int64_t v) { return 8000 + v % 3000; }));
  auto decimal = [](int64_t scale, bool wide) {
    return [scale, wide](arrow::Decimal128Builder &builder, uint64_t v) {
      __int128 value = static_cast<__int128>(static_cast<int64_t>(v) - 50) * scale;
      value = wide ? value * 1'000'000'000'000 : value;
      arrow::Decimal128 stored(static_cast<int64_t>(value >> 64), static_cast<uint64_t>(value));
      EXPECT_TRUE(builder.Append(stored).ok());
      return integerText(value);
    };
  };
  add.operator()<arrow::Decimal128Builder>("decimal_5", arrow::decimal128(5, 2),
                                           {LogicalKind::kDecimal, 5, 2}, HR_I16,
                                           [&](arrow::Decimal128Builder &builder, uint64_t v) {
                                             return decimal(1, false)(builder, v % 300);
                                           });
  add.operator()<arrow::Decimal128Builder>("decimal_15", arrow::decimal128(15, 2),
                                           {LogicalKind::kDecimal, 15, 2}, HR_I64,
                                           decimal(10'007, false));
  add.operator()<arrow::Decimal128Builder>("decimal_15_as_32", arrow::decimal128(15, 2),
                                           {LogicalKind::kDecimal, 15, 2}, HR_I32,
                                           decimal(7, false));
  add.operator()<arrow::Decimal128Builder>("decimal_38", arrow::decimal128(38, 4),
                                           {LogicalKind::kDecimal, 38, 4}, HR_I128,
                                           decimal(1'000'000'007, true));
  auto real = []<typename T>() {
    return [](auto &builder, uint64_t v) {
      T value = static_cast<T>(v) / 4 - 10;
      EXPECT_TRUE(builder.Append(value).ok());
      return std::to_string(static_cast<double>(value));
    };
  };
  add.operator()<arrow::FloatBuilder>("float", arrow::float32(), {LogicalKind::kF32}, HR_F32,
                                      real.operator()<float>());
  add.operator()<arrow::DoubleBuilder>("double", arrow::float64(), {LogicalKind::kF64}, HR_F64,
                                       real.operator()<double>());
  add.operator()<arrow::BooleanBuilder>("bool", arrow::boolean(), {LogicalKind::kBool}, HR_BOOL,
                                        [](arrow::BooleanBuilder &builder, uint64_t v) {
                                          EXPECT_TRUE(builder.Append(v % 3 == 0).ok());
                                          return std::to_string(v % 3 == 0);
                                        });
  add.operator()<arrow::StringBuilder>(
      "string", arrow::utf8(), {LogicalKind::kString}, HR_STRING,
      [](arrow::StringBuilder &builder, uint64_t v) {
        std::string text = v % 11 == 0 ? "" : std::string(v % 23, 'x') + std::to_string(v);
        EXPECT_TRUE(builder.Append(text).ok());
        return "'" + text + "'";
      });
  test.table =
      arrow::Table::Make(arrow::schema(fields), columns, static_cast<int64_t>(options.rows));
  return test;
}

inline void writeTable(
    const arrow::Table &table, const std::string &path, int64_t rowGroupRows,
    std::shared_ptr<parquet::WriterProperties> properties = parquet::default_writer_properties()) {
  auto sink = arrow::io::FileOutputStream::Open(path).ValueOrDie();
  arrow::Status status = parquet::arrow::WriteTable(table, arrow::default_memory_pool(), sink,
                                                    rowGroupRows, properties);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_TRUE(sink->Close().ok());
}

inline std::string valueText(const uint8_t *data, HrType type) {
  auto load = [&]<typename T>() {
    T value;
    std::memcpy(&value, data, sizeof value);
    return value;
  };
  switch (type) {
  case HR_BOOL:
    return std::to_string(*data);
  case HR_I8:
    return std::to_string(load.operator()<int8_t>());
  case HR_I16:
    return std::to_string(load.operator()<int16_t>());
  case HR_I32:
    return std::to_string(load.operator()<int32_t>());
  case HR_I64:
    return std::to_string(load.operator()<int64_t>());
  case HR_I128:
    return integerText(load.operator()<__int128>());
  case HR_F32:
    return std::to_string(static_cast<double>(load.operator()<float>()));
  case HR_F64:
    return std::to_string(load.operator()<double>());
  case HR_STRING: {
    HrString text = load.operator()<HrString>();
    return "'" + std::string(reinterpret_cast<const char *>(text.data), text.length) + "'";
  }
  }
  return "?";
}

/// Appends the rows of a morsel's column; false if it does not decode (corrupt files).
inline bool decodeColumn(const HrMorsel &morsel, size_t index, HrType type,
                         std::vector<std::string> &out) {
  const HrImports &imports = Decoders::get().imports;
  auto decode = [&](uint32_t width) {
    return width == 1   ? imports.hr_decode_8_
           : width == 2 ? imports.hr_decode_16_
           : width == 4 ? imports.hr_decode_32_
           : width == 8 ? imports.hr_decode_64_
                        : imports.hr_decode_128_;
  };
  const uint32_t width = abi::bytesOf(type);
  HrCursor cursor;
  imports.hr_cursor_open_(&cursor, &morsel.columns[index]);
  uint64_t rows = 0;
  while (uint32_t run = rows < morsel.rows ? imports.hr_cursor_run_(&cursor) : 0) {
    const uint32_t step =
        std::min({run, uint32_t{HR_TILE_ROWS}, morsel.rows - static_cast<uint32_t>(rows)});
    std::vector<uint8_t> values(uint64_t{step} * width), valid(step);
    if (imports.hr_decode_validity_(&cursor, step, valid.data()) != HR_OK ||
        decode(width)(&cursor, step, values.data()) != HR_OK) {
      return false;
    }
    for (uint32_t i = 0; i < step; ++i) {
      if (!valid[i]) { // the value under NULL is 0
        for (uint32_t b = 0; b < (type == HR_STRING ? 4 : width); ++b) {
          EXPECT_EQ(values[i * width + b], 0);
        }
      }
      out.push_back(valid[i] ? valueText(values.data() + uint64_t{i} * width, type) : kNull);
    }
    rows += step;
  }
  EXPECT_EQ(rows, morsel.rows);
  return true;
}

/// Decodes a morsel's column and reads all bytes of its texts. False: it does not decode.
inline bool touchColumn(const HrMorsel &morsel, size_t index, HrType type) {
  const HrColumn &column = morsel.columns[index];
  uint64_t sum = 0;
  for (uint32_t s = 0; s < column.segmentCount; ++s) {
    const HrSegment &segment = column.segments[s];
    const uint64_t width = abi::bytesOf(type);
    std::vector<uint8_t> values(segment.rows * width);
    if (!Decoders::get().decode(segment, column.dictionary, column.dictionaryCount,
                                static_cast<uint32_t>(width), values.data())) {
      return false;
    }
    for (uint64_t i = 0; type == HR_STRING && i < segment.rows; ++i) {
      HrString text;
      std::memcpy(&text, values.data() + i * width, sizeof text);
      sum = std::accumulate(text.data, text.data + text.length, sum);
    }
  }
  return sum != UINT64_MAX;
}

/// For tests in which memory is not what matters.
inline Reservation &unlimitedMemory() {
  static Budget budget({.limitBytes = int64_t{1} << 50});
  static Reservation reservation = *budget.reserve({.operatorName = "test"});
  return reservation;
}

/// All rows of a source by column, or the first error.
inline Expected<std::vector<std::vector<std::string>>> readAll(const MorselSource &source,
                                                               const plan::Slot &slot) {
  std::vector<std::vector<std::string>> text(slot.columns.size());
  uint64_t firstRow = 0;
  for (size_t m = 0; m < source.morselCount(); ++m) {
    HR_ASSIGN_OR_RETURN(MorselHandle loaded, source.load(m, unlimitedMemory()));
    EXPECT_EQ(loaded->morsel.firstRow, firstRow);
    EXPECT_EQ(loaded->morsel.rows, source.rows(m));
    firstRow += loaded->morsel.rows;
    for (size_t c = 0; c < slot.columns.size(); ++c) {
      if (!decodeColumn(loaded->morsel, c, slot.columns[c].type, text[c])) {
        return makeError(ErrorKind::kCorrupt, "a column does not decode");
      }
    }
  }
  EXPECT_EQ(firstRow, source.rows());
  return text;
}

inline void expectSame(const std::vector<std::vector<std::string>> &actual,
                       const std::vector<std::vector<std::string>> &expected,
                       const plan::Slot &slot) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t c = 0; c < actual.size(); ++c) {
    ASSERT_EQ(actual[c].size(), expected[c].size()) << slot.columns[c].file;
    for (size_t i = 0; i < actual[c].size(); ++i) {
      ASSERT_EQ(actual[c][i], expected[c][i])
          << slot.columns[c].file << " row " << i << " seed " << seed();
    }
  }
}

inline std::vector<char> readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void writeFile(const std::string &path, const std::vector<char> &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

} // namespace headrace::storage::testing
