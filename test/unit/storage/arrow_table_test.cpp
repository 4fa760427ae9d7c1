// Arrow data through the C stream interface gives the same rows as the files.
// Sources: runtime/storage/arrow/column_reader.cpp
#include "runtime/storage/arrow/table_part.h"
#include "runtime/storage/arrow/united_statistics.h"
#include "test/unit/storage/tables.h"

#include <arrow/c/bridge.h>

namespace headrace::storage::testing {
namespace {

Expected<std::shared_ptr<const ArrowTable>>
importTable(const std::shared_ptr<arrow::Table> &table) {
  ArrowArrayStream stream;
  auto reader = std::make_shared<arrow::TableBatchReader>(table);
  EXPECT_TRUE(arrow::ExportRecordBatchReader(reader, &stream).ok());
  return ArrowTable::import(&stream);
}

TEST(ArrowTable, ComesBack) {
  std::mt19937_64 random(seed());
  for (int nulls : {0, 30, 100}) {
    TableOptions options;
    options.rows = 9000;
    options.batchRows = 4000;
    options.nullPercent = nulls;
    TestTable test = makeTable(options, random);
    auto imported = importTable(test.table);
    ASSERT_TRUE(imported.ok()) << imported.status().toString();
    for (uint32_t size : {1u, 2u, 5u}) {
      std::vector<std::vector<std::string>> all(test.text.size());
      for (uint32_t rank = 0; rank < size; ++rank) {
        auto source = (*imported)->scan(test.slot, {rank, size});
        ASSERT_TRUE(source.ok()) << source.status().toString();
        auto rows = readAll(**source, test.slot);
        ASSERT_TRUE(rows.ok()) << rows.status().toString();
        for (size_t c = 0; c < all.size(); ++c) {
          all[c].insert(all[c].end(), (*rows)[c].begin(), (*rows)[c].end());
        }
      }
      expectSame(all, test.text, test.slot);
    }
  }
}

TEST(ArrowTable, LargeBatchesAreCutAndTheSourceOutlivesTheTable) {
  std::mt19937_64 random(seed());
  TableOptions options;
  options.rows = 300'000;
  options.batchRows = 300'000;
  TestTable test = makeTable(options, random);
  plan::Slot slot;
  slot.columns = {test.slot.columns[2], test.slot.columns.back()};
  std::unique_ptr<MorselSource> source;
  {
    auto imported = importTable(test.table);
    ASSERT_TRUE(imported.ok());
    auto scanned = (*imported)->scan(slot, {});
    ASSERT_TRUE(scanned.ok());
    source = std::move(*scanned);
  }
  EXPECT_EQ(source->morselCount(), 3u);
  auto rows = readAll(*source, slot);
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[0], test.text[2]);
  EXPECT_EQ((*rows)[1], test.text.back());
}

TEST(ArrowTable, Statistics) {
  std::mt19937_64 random(seed());
  TableOptions options;
  options.rows = 9000;
  options.nullPercent = 10;
  TestTable test = makeTable(options, random);
  auto imported = importTable(test.table);
  ASSERT_TRUE(imported.ok());
  const nlohmann::json &document = (*imported)->statistics();
  EXPECT_EQ(document["rows"], 9000);
  for (size_t c = 0; c < test.slot.columns.size(); ++c) {
    const nlohmann::json &column = document["columns"][test.slot.columns[c].file];
    EXPECT_EQ(column["type"], typeJson(test.slot.columns[c].logical));
    EXPECT_EQ(column["nulls"], std::count(test.text[c].begin(), test.text[c].end(), kNull));
  }
  EXPECT_EQ(document["columns"]["int"]["min"], -1000);
  EXPECT_EQ(document["columns"]["int"]["max"], 99 * 31 - 1000);
  EXPECT_EQ(document["columns"]["int"]["distinct"], 100);
  EXPECT_EQ(document["columns"]["string"]["min"], "");
}

TEST(ArrowTable, DictionariesAndLargeStrings) {
  arrow::StringDictionaryBuilder words(arrow::default_memory_pool());
  arrow::LargeStringBuilder large;
  std::vector<std::string> expectedWords, expectedLarge;
  for (int i = 0; i < 500; ++i) {
    if (i % 7 == 0) {
      ASSERT_TRUE(words.AppendNull().ok());
      expectedWords.push_back(kNull);
    } else {
      std::string word = "word " + std::to_string(i % 13);
      ASSERT_TRUE(words.Append(word).ok());
      expectedWords.push_back("'" + word + "'");
    }
    ASSERT_TRUE(large.Append(std::to_string(i)).ok());
    expectedLarge.push_back("'" + std::to_string(i) + "'");
  }
  auto array = words.Finish().ValueOrDie();
  auto table = arrow::Table::Make(arrow::schema({arrow::field("word", array->type()),
                                                 arrow::field("large", arrow::large_utf8())}),
                                  {array, large.Finish().ValueOrDie()});
  auto imported = importTable(table);
  ASSERT_TRUE(imported.ok());
  plan::Slot slot;
  slot.columns = {{"word", {LogicalKind::kString}, HR_STRING, true},
                  {"large", {LogicalKind::kString}, HR_STRING}};
  auto source = (*imported)->scan(slot, {});
  ASSERT_TRUE(source.ok());
  auto rows = readAll(**source, slot);
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[0], expectedWords);
  EXPECT_EQ((*rows)[1], expectedLarge);
}

TEST(ArrowTable, RareLayoutsOfKnownTypes) {
  arrow::Date64Builder dates;
  arrow::Decimal32Builder small(arrow::decimal32(7, 2));
  arrow::Decimal64Builder middle(arrow::decimal64(17, 2));
  arrow::DictionaryBuilder<arrow::Int64Type> numbers;
  arrow::DictionaryBuilder<arrow::DoubleType> reals;
  std::vector<std::vector<std::string>> expected(5);
  for (int i = 0; i < 300; ++i) {
    const int64_t value = i % 50 - 20;
    if (i % 9 == 0) {
      ASSERT_TRUE(dates.AppendNull().ok() && small.AppendNull().ok() && middle.AppendNull().ok() &&
                  numbers.AppendNull().ok() && reals.AppendNull().ok());
      for (auto &column : expected) {
        column.push_back(kNull);
      }
      continue;
    }
    ASSERT_TRUE(dates.Append(value * 86'400'000).ok() &&
                small.Append(arrow::Decimal32(static_cast<int32_t>(value))).ok() &&
                middle.Append(arrow::Decimal64(value * 1'000'000'000)).ok() &&
                numbers.Append(value * 3).ok() &&
                reals.Append(static_cast<double>(value) / 2).ok());
    expected[0].push_back(std::to_string(value));
    expected[1].push_back(std::to_string(value));
    expected[2].push_back(std::to_string(value * 1'000'000'000));
    expected[3].push_back(std::to_string(value * 3));
    expected[4].push_back(std::to_string(static_cast<double>(value) / 2));
  }
  arrow::ArrayVector arrays = {dates.Finish().ValueOrDie(), small.Finish().ValueOrDie(),
                               middle.Finish().ValueOrDie(), numbers.Finish().ValueOrDie(),
                               reals.Finish().ValueOrDie()};
  arrow::FieldVector fields;
  for (size_t i = 0; i < arrays.size(); ++i) {
    fields.push_back(arrow::field(std::to_string(i), arrays[i]->type()));
  }
  auto imported = importTable(arrow::Table::Make(arrow::schema(fields), arrays));
  ASSERT_TRUE(imported.ok()) << imported.status().toString();
  plan::Slot slot;
  slot.columns = {{"0", {LogicalKind::kDate}, HR_I16, true},
                  {"1", {LogicalKind::kDecimal, 7, 2}, HR_I32, true},
                  {"2", {LogicalKind::kDecimal, 17, 2}, HR_I64, true},
                  {"3", {LogicalKind::kI64}, HR_I8, true},
                  {"4", {LogicalKind::kF64}, HR_F64, true}};
  auto source = (*imported)->scan(slot, {});
  ASSERT_TRUE(source.ok()) << source.status().toString();
  auto rows = readAll(**source, slot);
  ASSERT_TRUE(rows.ok()) << rows.status().toString();
  expectSame(*rows, expected, slot);
}

/// Gives one batch, then an error if that was sound.
class OneBatch : public arrow::RecordBatchReader {
public:
  explicit OneBatch(std::shared_ptr<arrow::RecordBatch> batch) : batch_(std::move(batch)) {}
  std::shared_ptr<arrow::Schema> schema() const override { return batch_->schema(); }
  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch> *batch) override {
    *batch = batch_;
    return given_++ ? arrow::Status::IOError("the disk is gone") : arrow::Status::OK();
  }

private:
  std::shared_ptr<arrow::RecordBatch> batch_;
  int given_ = 0;
};

TEST(ArrowTable, StreamsThatFail) {
  auto messageOf = [](const std::shared_ptr<arrow::Buffer> &offsets) {
    auto texts = arrow::ArrayData::Make(arrow::utf8(), 2,
                                        {nullptr, offsets, arrow::Buffer::FromString("abcd")});
    ArrowArrayStream stream;
    auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("s", arrow::utf8())}), 2,
                                          std::vector{texts});
    EXPECT_TRUE(arrow::ExportRecordBatchReader(std::make_shared<OneBatch>(batch), &stream).ok());
    return ArrowTable::import(&stream).status().message();
  };
  const std::vector<int32_t> sound = {0, 2, 4};
  EXPECT_EQ(messageOf(arrow::Buffer::Wrap(sound)).find("the Arrow stream failed: "), 0u);
  // A struct that has more rows than its field.
  auto field =
      arrow::ArrayData::Make(arrow::int32(), 1, {nullptr, arrow::Buffer::FromString("four")});
  auto type = arrow::struct_({arrow::field("a", arrow::int32())});
  auto structs = arrow::ArrayData::Make(type, 2, {nullptr}, {field});
  auto batch =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("s", type)}), 2, std::vector{structs});
  ArrowArrayStream shorter;
  EXPECT_TRUE(arrow::ExportRecordBatchReader(std::make_shared<OneBatch>(batch), &shorter).ok());
  EXPECT_EQ(ArrowTable::import(&shorter).status().message().find(
                "the Arrow stream has an invalid batch: "),
            0u);
  ArrowArrayStream released{};
  EXPECT_EQ(
      ArrowTable::import(&released).status().message().find("cannot import the Arrow stream: "),
      0u);
}

TEST(ArrowTable, BrokenPromises) {
  std::mt19937_64 random(seed());
  TableOptions options;
  options.nullPercent = 20;
  TestTable test = makeTable(options, random);
  auto imported = importTable(test.table);
  ASSERT_TRUE(imported.ok());
  auto errorOf = [&](plan::SlotColumn column) {
    plan::Slot slot;
    slot.name = "t";
    slot.columns = {std::move(column)};
    auto source = (*imported)->scan(slot, {});
    return source.ok() ? (*source)->load(0, unlimitedMemory()).status() : source.status();
  };
  EXPECT_EQ(errorOf({"none", {LogicalKind::kI32}, HR_I32, true}).kind(), ErrorKind::kUser);
  EXPECT_EQ(errorOf({"int", {LogicalKind::kI64}, HR_I64, true}).message(),
            "Arrow table t, column int is i32, the plan was compiled for "
            "(recompile): i64");
  EXPECT_EQ(errorOf({"int", {LogicalKind::kI32}, HR_F64, true}).message(),
            "Arrow table t, column int of type i32 cannot be read as: f64");
  EXPECT_EQ(errorOf({"int", {LogicalKind::kI32}, HR_I32, false}).message(),
            "Arrow table, column int: there is a NULL, which the plan was compiled without; "
            "recompile");
  EXPECT_EQ(errorOf({"int", {LogicalKind::kI32}, HR_I8, true}).kind(), ErrorKind::kData);
  EXPECT_EQ(errorOf({"int", {LogicalKind::kI32}, HR_I32, true, true, 0, 100}).kind(),
            ErrorKind::kData);
  EXPECT_TRUE(errorOf({"int", {LogicalKind::kI32}, HR_I32, true, true, -1000, 5000}).ok());
  // 0 stands under NULLs and does not count as a value.
  EXPECT_TRUE(errorOf({"date", {LogicalKind::kDate}, HR_I32, true, true, 8000, 8100}).ok());
}

/// Tables of these rows on ranks, of a table of all columns.
std::vector<std::shared_ptr<const ArrowTable>>
partsOf(const TestTable &test, const std::vector<std::pair<int64_t, int64_t>> &slices) {
  std::vector<std::shared_ptr<const ArrowTable>> parts;
  for (auto [first, rows] : slices) {
    parts.push_back(*importTable(test.table->Slice(first, rows)));
  }
  return parts;
}

TEST(PartedTable, EachRankReadsItsRowsByTheirNumbers) {
  std::mt19937_64 random(seed());
  TestTable test = makeTable({.rows = 1000, .nullPercent = 20, .batchRows = 300}, random);
  auto rows = partsOf(test, {{0, 400}, {400, 0}, {400, 600}});
  auto table = partedTable({{0, 0, rows[0]}, {1, 400, rows[1]}, {2, 400, rows[2]}}, 3, "a");
  EXPECT_EQ(table->statistics(), nlohmann::json({{"part_of", "a"}}));
  std::vector<std::vector<std::string>> all(test.text.size());
  uint64_t place = 0;
  for (uint32_t rank = 0; rank < 3; ++rank) {
    auto source = table->scan(test.slot, {rank, 3, Reach::kAll});
    ASSERT_TRUE(source.ok()) << source.status().toString();
    EXPECT_EQ((*source)->reach(), Reach::kShare);
    for (size_t m = 0; m < (*source)->morselCount(); ++m) {
      auto morsel = (*source)->load(m, unlimitedMemory());
      ASSERT_TRUE(morsel.ok());
      EXPECT_EQ((*morsel)->place, place);
      place += (*morsel)->morsel.rows;
    }
    auto read = readAll(**source, test.slot);
    ASSERT_TRUE(read.ok()) << read.status().toString();
    for (size_t c = 0; c < all.size(); ++c) {
      all[c].insert(all[c].end(), (*read)[c].begin(), (*read)[c].end());
    }
  }
  expectSame(all, test.text, test.slot);
}

TEST(PartedTable, OtherPartsAreRefused) {
  std::mt19937_64 random(seed());
  TestTable test = makeTable({.rows = 10}, random);
  auto table = partedTable({{1, 0, partsOf(test, {{0, 10}})[0]}}, 3, "a");
  for (Share share : {Share{0, 3}, Share{1, 2}, Share{0, 1}}) {
    auto source = table->scan(test.slot, share);
    ASSERT_FALSE(source.ok());
    EXPECT_EQ(source.status().kind(), ErrorKind::kUser);
    EXPECT_NE(source.status().message().find("lie on 3 ranks, each of which reads its own"),
              std::string::npos)
        << source.status().message();
  }
}

/// The same as of all rows in one table, but for what is estimated.
TEST(PartedTable, StatisticsAreThoseOfTheWhole) {
  std::mt19937_64 random(seed());
  for (int nulls : {0, 30, 100}) {
    TestTable test = makeTable({.rows = 900, .nullPercent = nulls}, random);
    nlohmann::json whole = (*importTable(test.table))->statistics();
    std::vector<nlohmann::json> parts;
    for (const auto &part : partsOf(test, {{0, 0}, {0, 300}, {300, 1}, {301, 599}})) {
      parts.push_back(part->statistics());
    }
    nlohmann::json united = unitedStatistics(parts);
    EXPECT_EQ(united["rows"], 900u);
    for (auto &[name, column] : whole["columns"].items()) {
      for (const char *key : {"index", "type", "nullable", "min", "max", "nulls"}) {
        EXPECT_EQ(united["columns"][name][key], column[key]) << name << " " << key;
      }
      EXPECT_LE(united["columns"][name]["distinct"], 900u);
    }
  }
}

/// Batches of several tables, in any order, under bounds that hold for all of these tables.
TEST(ArrowTable, BatchesOfSeveralAreOneTable) {
  std::mt19937_64 random(seed());
  TestTable test = makeTable({.rows = 900, .nullPercent = 30}, random);
  auto parts = partsOf(test, {{0, 500}, {500, 400}});
  auto joined = ArrowTable::joined(parts, std::vector<ChosenBatch>{{1, 0}, {0, 0}});
  auto source = joined->scan(test.slot, {});
  ASSERT_TRUE(source.ok()) << source.status().toString();
  EXPECT_EQ((*source)->rows(), 900u);
  EXPECT_EQ(joined->statistics()["rows"], 900u);
  auto rows = readAll(**source, test.slot);
  ASSERT_TRUE(rows.ok()) << rows.status().toString();
  for (size_t c = 0; c < test.text.size(); ++c) {
    std::vector<std::string> wanted(test.text[c].begin() + 500, test.text[c].end());
    wanted.insert(wanted.end(), test.text[c].begin(), test.text[c].begin() + 500);
    EXPECT_EQ((*rows)[c], wanted);
  }
  auto less = ArrowTable::joined(parts, std::vector<ChosenBatch>{{1, 0}});
  EXPECT_EQ(less->statistics()["rows"], 400u);
  EXPECT_EQ(less->statistics()["columns"]["int"]["min"],
            joined->statistics()["columns"]["int"]["min"]);
  EXPECT_LE(less->statistics()["columns"]["int"]["distinct"], 400u);
}

TEST(PartedTable, DistinctValuesAddUpWhereMostDiffer) {
  auto part = [](uint64_t rows, uint64_t distinct, nlohmann::json min) {
    nlohmann::json column{{"index", 0},
                          {"min", std::move(min)},
                          {"max", 9},
                          {"nulls", 0},
                          {"distinct", distinct},
                          {"nullable", false},
                          {"ordered", false},
                          {"average_bytes", rows == 10 ? 4.0 : 8.0}};
    return nlohmann::json{
        {"rows", rows}, {"row_groups", 1}, {"columns", {{"a", std::move(column)}}}};
  };
  auto united = [](const std::vector<nlohmann::json> &parts) {
    return unitedStatistics(parts)["columns"]["a"];
  };
  EXPECT_EQ(united({part(10, 9, 1), part(30, 20, 2)})["distinct"], 29u);
  EXPECT_EQ(united({part(10, 3, 1), part(30, 4, 2)})["distinct"], 4u);
  EXPECT_EQ(united({part(10, 3, 1), part(30, 4, 2)})["average_bytes"], 7.0);
  EXPECT_EQ(united({part(10, 3, 5), part(30, 4, 2)})["min"], 2);
  // A bound that one part does not know, nobody does.
  EXPECT_TRUE(united({part(10, 3, nullptr), part(30, 4, 2)})["min"].is_null());
  EXPECT_TRUE(united({part(10, 3, 1), part(30, 4, nullptr)})["min"].is_null());
}

} // namespace
} // namespace headrace::storage::testing
