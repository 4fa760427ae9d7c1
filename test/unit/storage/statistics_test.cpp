// The statistics document: exact where the footer knows, near where it is estimated.
#include "test/unit/storage/tables.h"

namespace headrace::storage::testing {
namespace {

nlohmann::json statisticsOf(const TestTable &test, int64_t rowGroupRows) {
  TemporaryFolder folder;
  const std::string path = folder.file("t.parquet");
  parquet::WriterProperties::Builder builder;
  builder.enable_store_decimal_as_integer();
  writeTable(*test.table, path, rowGroupRows, builder.build());
  Storage storage;
  auto document = storage.statistics({path});
  EXPECT_TRUE(document.ok()) << document.status().toString();
  return *document;
}

TEST(Statistics, RangesTypesAndNulls) {
  std::mt19937_64 random(seed());
  TableOptions options;
  options.rows = 20000;
  options.nullPercent = 10;
  TestTable test = makeTable(options, random);
  nlohmann::json document = statisticsOf(test, 5000);
  EXPECT_EQ(document["rows"], 20000);
  EXPECT_EQ(document["row_groups"], 4);
  ASSERT_EQ(document["columns"].size(), test.slot.columns.size());
  for (size_t c = 0; c < test.slot.columns.size(); ++c) {
    const nlohmann::json &column = document["columns"][test.slot.columns[c].file];
    EXPECT_EQ(column["type"], typeJson(test.slot.columns[c].logical));
    EXPECT_EQ(column["index"], c);
    EXPECT_EQ(column["nulls"], std::count(test.text[c].begin(), test.text[c].end(), kNull));
    EXPECT_EQ(column["nullable"], true);
  }
  const nlohmann::json &columns = document["columns"];
  EXPECT_EQ(columns["int"]["min"], -1000);
  EXPECT_EQ(columns["int"]["max"], 99 * 31 - 1000);
  EXPECT_EQ(columns["decimal_15"]["min"], -50 * 10007);
  EXPECT_EQ(columns["decimal_15"]["max"], 49 * 10007);
  EXPECT_EQ(columns["date"]["min"], 8000);
  EXPECT_EQ(columns["date"]["max"], 8099);
  EXPECT_EQ(columns["unsigned_32"]["max"], 4294967295);
  EXPECT_TRUE(columns["unsigned_64"]["max"].is_null()); // not a 64-bit integer
  EXPECT_EQ(columns["double"]["min"], -10.0);
  EXPECT_EQ(columns["bool"]["max"], 1);
  EXPECT_EQ(columns["string"]["min"], "");
  EXPECT_NEAR(columns["int"]["distinct"].get<double>(), 100, 5);
  EXPECT_NEAR(columns["string"]["distinct"].get<double>(), 91, 5); // the multiples of 11 are one
  EXPECT_EQ(columns["int"]["all_dictionary"], true);
  EXPECT_NEAR(columns["string"]["average_bytes"].get<double>(), 12, 3);
}

TEST(Statistics, NotNullableWithoutNulls) {
  std::mt19937_64 random(seed());
  nlohmann::json document = statisticsOf(makeTable({}, random), 5000);
  EXPECT_EQ(document["columns"]["int"]["nullable"], false);
  EXPECT_EQ(document["columns"]["int"]["nulls"], 0);
}

TEST(Statistics, DistinctOfKeys) {
  // unique: row numbers; random: any of 40,000 keys, in groups of 20,000 rows.
  std::mt19937_64 random(seed());
  arrow::Int64Builder unique, scattered;
  arrow::StringBuilder text;
  for (int i = 0; i < 100000; ++i) {
    int64_t key = static_cast<int64_t>(random() % 40000) * 1000003;
    ASSERT_TRUE(unique.Append(i * 7).ok() && scattered.Append(key).ok() &&
                text.Append("text " + std::to_string(key)).ok());
  }
  TemporaryFolder folder;
  auto table = arrow::Table::Make(
      arrow::schema({arrow::field("unique", arrow::int64()),
                     arrow::field("scattered", arrow::int64()),
                     arrow::field("text", arrow::utf8())}),
      {unique.Finish().ValueOrDie(), scattered.Finish().ValueOrDie(), text.Finish().ValueOrDie()});
  writeTable(*table, folder.file("t.parquet"), 20000);
  Storage storage;
  auto document = storage.statistics({folder.file("t.parquet")});
  ASSERT_TRUE(document.ok());
  EXPECT_NEAR((*document)["columns"]["unique"]["distinct"].get<double>(), 100000, 1000);
  EXPECT_NEAR((*document)["columns"]["scattered"]["distinct"].get<double>(), 40000, 6000);
  EXPECT_NEAR((*document)["columns"]["text"]["distinct"].get<double>(), 40000, 6000);
}

TEST(Statistics, FilesOfATableMustAgree) {
  std::mt19937_64 random(seed());
  TemporaryFolder folder;
  TestTable test = makeTable({}, random);
  writeTable(*test.table, folder.file("a.parquet"), 1000);
  auto fewer = test.table->RemoveColumn(3).ValueOrDie();
  writeTable(*fewer, folder.file("b.parquet"), 1000);
  Storage storage;
  auto document = storage.statistics({folder.file("a.parquet"), folder.file("b.parquet")});
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(document.status().kind(), ErrorKind::kUser);
  EXPECT_NE(document.status().message().find("b.parquet"), std::string::npos);
  EXPECT_FALSE(storage.statistics({}).ok());
}

TEST(Manifest, JsonBothWays) {
  std::vector<FileIdentity> manifest = {{"a.parquet", 123, -5, 0xfedcba9876543210ull},
                                        {"b", 0, 7, 1}};
  auto back = manifestFromJson(nlohmann::json::parse(toJson(manifest).dump()));
  ASSERT_TRUE(back.ok()) << back.status().toString();
  EXPECT_EQ(*back, manifest);
  for (const char *text :
       {"{}", "[1]", "[{}]",
        R"([{"path":"a","bytes":-1,"modified_nanoseconds":0,"footer_hash":"0"}])",
        R"([{"path":"a","bytes":1,"modified_nanoseconds":0,"footer_hash":"xyz"}])",
        R"([{"path":"a","bytes":1,"modified_nanoseconds":0,"footer_hash":""}])"}) {
    auto broken = manifestFromJson(nlohmann::json::parse(text));
    EXPECT_FALSE(broken.ok()) << text;
    EXPECT_EQ(broken.status().kind(), ErrorKind::kCorrupt);
  }
}

} // namespace
} // namespace headrace::storage::testing
