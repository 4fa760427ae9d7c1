// Tables as files: CSV as DuckDB writes it, and Arrow's own format, read back by Arrow.
#include "runtime/storage/arrow/ipc_file.h"
#include "runtime/storage/csv/csv_writer.h"
#include "runtime/storage/files/byte_sink.h"
#include "test/unit/storage/tables.h"

#include <arrow/c/bridge.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/json/from_string.h>
#include <fstream>

namespace headrace::storage::testing {
namespace {

std::shared_ptr<arrow::Table> tableOf(const std::vector<std::shared_ptr<arrow::Field>> &fields,
                                      const std::vector<std::string> &columns) {
  arrow::ArrayVector arrays;
  for (size_t i = 0; i < fields.size(); ++i) {
    arrays.push_back(arrow::json::ArrayFromJSONString(fields[i]->type(), columns[i]).ValueOrDie());
  }
  return arrow::Table::Make(arrow::schema(fields), arrays);
}

ArrowArrayStream streamOf(const std::shared_ptr<arrow::Table> &table) {
  ArrowArrayStream stream;
  auto reader = std::make_shared<arrow::TableBatchReader>(table);
  EXPECT_TRUE(arrow::ExportRecordBatchReader(reader, &stream).ok());
  return stream;
}

std::string textOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class TableWriters : public ::testing::Test {
protected:
  std::string csv(const std::shared_ptr<arrow::Table> &table, CsvOutput output = {}) {
    output.path = path;
    output.name = "the result";
    ArrowArrayStream stream = streamOf(table);
    Expected<uint64_t> rows = writeCsv(&stream, output);
    EXPECT_TRUE(rows.ok()) << rows.status().message();
    EXPECT_EQ(*rows, static_cast<uint64_t>(table->num_rows()));
    return textOf(path);
  }
  const std::string path = ::testing::TempDir() + "table-" + std::to_string(::getpid());
};

TEST_F(TableWriters, TextsAreQuotedWhereTheyReadAsSomethingElse) {
  auto table = tableOf({arrow::field("a,b", arrow::utf8()), arrow::field("n", arrow::int64())},
                       {R"(["x", "", null, "a\"b", "a,b", "a\nb"])", "[1, -2, null, 4, 5, 6]"});
  EXPECT_EQ(csv(table), "\"a,b\",n\nx,1\n\"\",-2\n,\n\"a\"\"b\",4\n\"a,b\",5\n\"a\nb\",6\n");
  EXPECT_EQ(csv(table, {.separator = ";", .header = false}),
            "x;1\n\"\";-2\n;\n\"a\"\"b\";4\na,b;5\n\"a\nb\";6\n");
  EXPECT_EQ(csv(table, {.separator = "-", .header = false}).substr(0, 11), "x-1\n\"\"-\"-2\"");
}

TEST_F(TableWriters, ValuesAreTextsAsCastsMakeThem) {
  auto table =
      tableOf({arrow::field("b", arrow::boolean()), arrow::field("f", arrow::float64()),
               arrow::field("d", arrow::decimal128(10, 2)), arrow::field("day", arrow::date32()),
               arrow::field("t", arrow::timestamp(arrow::TimeUnit::MICRO)),
               arrow::field("l", arrow::list(arrow::int32()))},
              {"[true, false]", "[0.5, null]", R"(["-12.50", "0.01"])", "[0, -1]",
               "[1500000, null]", "[[1, null], []]"});
  EXPECT_EQ(csv(table, {.header = false}),
            "true,0.5,-12.50,1970-01-01,1970-01-01 00:00:01.5,\"[1, NULL]\"\n"
            "false,,0.01,1969-12-31,,[]\n");
}

TEST_F(TableWriters, ThreadsKeepTheOrderOfRows) {
  std::string numbers, lines;
  for (int row = 0; row < 50'000; ++row) {
    numbers += (row == 0 ? "[" : ",") + std::to_string(row);
    lines += std::to_string(row) + "\n";
  }
  auto table = tableOf({arrow::field("n", arrow::int32())}, {numbers + "]"});
  EXPECT_EQ(csv(table, {.header = false, .threads = 4}), lines);
}

TEST_F(TableWriters, CsvRefusesWhatItCannotWrite) {
  auto other = tableOf({arrow::field("x", arrow::decimal128(5, -2))}, {"[null]"});
  ArrowArrayStream stream = streamOf(other);
  const Status status = writeCsv(&stream, {.path = path}).status();
  EXPECT_EQ(status.kind(), ErrorKind::kUnsupported);
  EXPECT_EQ(status.message(), "CSV, column x: decimals with a scale below 0 are not supported: "
                              "decimal128(5, -2)");
  stream = streamOf(tableOf({arrow::field("n", arrow::int32())}, {"[1]"}));
  const Status absent =
      writeCsv(&stream, {.path = "/no/such/folder/x.csv", .name = "the result"}).status();
  EXPECT_EQ(absent.kind(), ErrorKind::kIo);
  EXPECT_EQ(absent.message(), "cannot write the result: No such file or directory");
}

TEST_F(TableWriters, FilesTakeBytesAndSayWhatTheSystemSays) {
  auto sink = FileSink::open(path, "the result");
  ASSERT_TRUE(sink.ok());
  EXPECT_TRUE((*sink)->write("ab").ok());
  EXPECT_TRUE((*sink)->write("").ok());
  EXPECT_TRUE((*sink)->write("c").ok());
  EXPECT_TRUE((*sink)->close().ok());
  EXPECT_EQ(textOf(path), "abc");
  auto full = FileSink::open("/dev/full", "the result");
  ASSERT_TRUE(full.ok());
  const Status status = (*full)->write("x");
  EXPECT_EQ(status.kind(), ErrorKind::kIo);
  EXPECT_EQ(status.message(), "cannot write the result: No space left on device");
}

TEST_F(TableWriters, ArrowReadsItsFormat) {
  std::mt19937_64 random(seed());
  TableOptions options;
  options.rows = 9000;
  options.batchRows = 4000;
  options.nullPercent = 30;
  const TestTable test = makeTable(options, random);
  ArrowArrayStream stream = streamOf(test.table);
  const Status written = writeIpcFile(&stream, path);
  ASSERT_TRUE(written.ok()) << written.message();
  EXPECT_EQ(stream.release, nullptr);
  auto file = arrow::io::ReadableFile::Open(path).ValueOrDie();
  auto read = arrow::ipc::RecordBatchFileReader::Open(file).ValueOrDie()->ToTable().ValueOrDie();
  EXPECT_TRUE(read->Equals(*test.table));
  stream = streamOf(test.table);
  const Status absent = writeIpcFile(&stream, "/no/such/folder/x.arrow");
  EXPECT_EQ(absent.kind(), ErrorKind::kIo);
  EXPECT_EQ(stream.release, nullptr);
}

} // namespace
} // namespace headrace::storage::testing
