// Files written by Arrow come back row by row: every type, codec, page version, NULLs, dictionary
// fallback.
// Sources: runtime/storage/parquet/chunk_reader.cpp, runtime/storage/parquet/group_parts.cpp,
//   runtime/storage/parquet/page_index.cpp
#include "test/unit/storage/tables.h"

#include <arrow/util/compression.h>

#include <atomic>
#include <map>
#include <thread>

namespace headrace::storage::testing {
namespace {

struct Variant {
  std::string name;
  int nullPercent;
  uint64_t distinct;
  parquet::ParquetDataPageVersion pages;
  arrow::Compression::type codec;
  bool dictionary;
  int64_t dictionaryBytes; ///< limit: above it the writer falls back to plain pages
};

std::vector<Variant> variants() {
  using parquet::ParquetDataPageVersion;
  std::vector<Variant> all;
  for (auto codec : {arrow::Compression::UNCOMPRESSED, arrow::Compression::SNAPPY,
                     arrow::Compression::GZIP, arrow::Compression::BROTLI, arrow::Compression::ZSTD,
                     arrow::Compression::LZ4, arrow::Compression::LZ4_HADOOP}) {
    if (!arrow::util::Codec::IsAvailable(codec)) {
      continue;
    }
    for (int nulls : {0, 30}) {
      for (auto pages : {ParquetDataPageVersion::V1, ParquetDataPageVersion::V2}) {
        std::string name = arrow::util::Codec::GetCodecAsString(codec) +
                           (nulls ? "_nulls" : "_full") +
                           (pages == ParquetDataPageVersion::V1 ? "_v1" : "_v2");
        const bool main = codec == arrow::Compression::SNAPPY;
        all.push_back({name + "_dictionary", nulls, 100, pages, codec, true, 1 << 20});
        if (main) {
          all.push_back({name + "_plain", nulls, 3000, pages, codec, false, 1 << 20});
          all.push_back({name + "_fallback", nulls, 3000, pages, codec, true, 2000});
          all.push_back({name + "_constant", nulls, 1, pages, codec, true, 1 << 20});
          all.push_back({name + "_almostnull", nulls ? 99 : 0, 50, pages, codec, true, 1 << 20});
        }
      }
    }
  }
  all.push_back(
      {"allnull", 100, 5, ParquetDataPageVersion::V1, arrow::Compression::SNAPPY, true, 1 << 20});
  return all;
}

std::shared_ptr<parquet::WriterProperties> propertiesOf(const Variant &variant) {
  parquet::WriterProperties::Builder builder;
  builder.compression(variant.codec)
      ->data_page_version(variant.pages)
      ->dictionary_pagesize_limit(variant.dictionaryBytes)
      ->encoding(parquet::Encoding::PLAIN)
      ->data_pagesize(4000)
      ->write_batch_size(500)
      ->enable_store_decimal_as_integer();
  variant.dictionary ? builder.enable_dictionary() : builder.disable_dictionary();
  return builder.build();
}

class ParquetScanTest : public ::testing::TestWithParam<Variant> {};

TEST_P(ParquetScanTest, ComesBack) {
  const Variant &variant = GetParam();
  std::mt19937_64 random(seed());
  TableOptions options;
  options.rows = 7001;
  options.nullPercent = variant.nullPercent;
  options.distinct = variant.distinct;
  TestTable test = makeTable(options, random);
  TemporaryFolder folder;
  const std::string path = folder.file("t.parquet");
  writeTable(*test.table, path, 3000, propertiesOf(variant));

  for (uint64_t cacheBytes : {uint64_t{0}, uint64_t{1} << 30}) {
    Storage storage(StorageOptions{cacheBytes});
    for (int pass = 0; pass < 2; ++pass) { // the second from the cache, where there is one
      auto source = storage.scan(test.slot, {path}, {}, {});
      ASSERT_TRUE(source.ok()) << source.status().toString();
      EXPECT_EQ((*source)->morselCount(), 3u);
      auto rows = readAll(**source, test.slot);
      ASSERT_TRUE(rows.ok()) << rows.status().toString();
      expectSame(*rows, test.text, test.slot);
    }
  }
}

TEST_P(ParquetScanTest, PiecesOfRowGroupsHaveTheSameRows) {
  const Variant &variant = GetParam();
  std::mt19937_64 random(seed());
  TableOptions options;
  options.rows = options.batchRows = 12'000;
  options.nullPercent = variant.nullPercent;
  TestTable test = makeTable(options, random);
  TemporaryFolder folder;
  const std::string path = folder.file("t.parquet");
  writeTable(*test.table, path, 7000, propertiesOf(variant));
  test.slot.pieceRows = 2000;
  for (uint64_t cacheBytes : {uint64_t{0}, uint64_t{1} << 30}) {
    Storage storage({.cacheBytesMax = cacheBytes});
    for (int pass = 0; pass < 2; ++pass) {
      auto source = storage.scan(test.slot, {path}, {}, {});
      ASSERT_TRUE(source.ok()) << source.status().toString();
      EXPECT_EQ((*source)->morselCount(), 7u); // of 7,000 and 5,000 rows, by 2,048
      auto rows = readAll(**source, test.slot);
      ASSERT_TRUE(rows.ok()) << rows.status().toString();
      expectSame(*rows, test.text, test.slot);
    }
    if (cacheBytes == 0) { // each page is read once a scan
      const uint64_t read = storage.counters().fileBytesRead;
      EXPECT_LE(read, 2 * std::filesystem::file_size(path));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, ParquetScanTest, ::testing::ValuesIn(variants()),
                         [](const auto &info) { return info.param.name; });

/// A file of one row group whose pages reach over several pieces of 1,024 rows.
class PiecesOfOneGroup : public ::testing::Test {
protected:
  void SetUp() override {
    std::mt19937_64 random(seed());
    TableOptions options;
    options.rows = options.batchRows = 30'000;
    test = makeTable(options, random);
    test.slot.pieceRows = 1024;
    path = folder.file("t.parquet");
    parquet::WriterProperties::Builder builder;
    builder.data_pagesize(16'000)->write_batch_size(500)->compression(arrow::Compression::SNAPPY);
    writeTable(*test.table, path, 30'000, builder.build());
  }

  TestTable test;
  TemporaryFolder folder;
  std::string path;
};

TEST_F(PiecesOfOneGroup, WorkersShareIt) {
  Storage storage({.cacheBytesMax = 0});
  for (int round = 0; round < 5; ++round) {
    auto source = storage.scan(test.slot, {path}, {}, {});
    ASSERT_TRUE(source.ok());
    std::vector<std::vector<std::vector<std::string>>> rows(
        (*source)->morselCount(), std::vector<std::vector<std::string>>(test.slot.columns.size()));
    std::atomic<size_t> next{0};
    std::vector<std::thread> workers;
    for (int w = 0; w < 4; ++w) {
      workers.emplace_back([&] {
        for (size_t m; (m = next.fetch_add(1)) < rows.size();) {
          auto loaded = (*source)->load(m, unlimitedMemory());
          ASSERT_TRUE(loaded.ok()) << loaded.status().toString();
          for (size_t c = 0; c < rows[m].size(); ++c) {
            ASSERT_TRUE(decodeColumn((*loaded)->morsel, c, test.slot.columns[c].type, rows[m][c]));
          }
        }
      });
    }
    for (std::thread &worker : workers) {
      worker.join();
    }
    std::vector<std::vector<std::string>> all(test.slot.columns.size());
    for (const auto &morsel : rows) {
      for (size_t c = 0; c < all.size(); ++c) {
        all[c].insert(all[c].end(), morsel[c].begin(), morsel[c].end());
      }
    }
    expectSame(all, test.text, test.slot);
    // Nobody reads what another has read.
    EXPECT_LE(storage.counters().fileBytesRead,
              static_cast<uint64_t>(round + 1) * std::filesystem::file_size(path));
  }
}

/// What is kept of pieces of one size is not taken for those of another.
TEST_F(PiecesOfOneGroup, PlansCutItAsTheyLike) {
  Storage storage;
  for (uint32_t rows : {1024, 4096, 1024, 1024, 4096, 4096, 3000}) {
    test.slot.pieceRows = rows;
    auto source = storage.scan(test.slot, {path}, {}, {});
    ASSERT_TRUE(source.ok());
    auto read = readAll(**source, test.slot);
    ASSERT_TRUE(read.ok()) << read.status().toString();
    expectSame(*read, test.text, test.slot);
  }
  EXPECT_GT(storage.counters().cacheHits, 0u);
}

TEST_F(PiecesOfOneGroup, RanksShareIt) {
  Storage storage({.cacheBytesMax = 0});
  std::vector<std::vector<std::string>> all(test.slot.columns.size());
  for (uint32_t rank = 0; rank < 4; ++rank) {
    auto source = storage.scan(test.slot, {path}, {}, {rank, 4});
    ASSERT_TRUE(source.ok());
    EXPECT_NEAR(static_cast<double>((*source)->rows()), 7500, 1024);
    auto rows = readAll(**source, test.slot);
    ASSERT_TRUE(rows.ok()) << rows.status().toString();
    for (size_t c = 0; c < all.size(); ++c) {
      all[c].insert(all[c].end(), (*rows)[c].begin(), (*rows)[c].end());
    }
  }
  expectSame(all, test.text, test.slot);
}

TEST_F(PiecesOfOneGroup, MemoryIsChargedAndCanBeAskedForAgain) {
  Storage storage({.cacheBytesMax = 0});
  auto source = storage.scan(test.slot, {path}, {}, {});
  ASSERT_TRUE(source.ok());
  constexpr int64_t kLimit = int64_t{4} << 20;
  Budget budget({.limitBytes = kLimit});
  Reservation memory = *budget.reserve({.operatorName = "scan"});
  std::vector<std::vector<std::string>> all(test.slot.columns.size());
  int refusals = 0;
  for (size_t m = 0; m < (*source)->morselCount(); ++m) {
    Reservation others = *budget.reserve(
        {.operatorName = "sort", .minimumBytes = kLimit - budget.reservedBytes() - 100});
    auto loaded = (*source)->load(m, memory);
    if (!loaded.ok()) { // else all that it needs is there for its neighbours already
      EXPECT_EQ(loaded.status().kind(), ErrorKind::kMemory);
      ++refusals;
      others.release();
      loaded = (*source)->load(m, memory);
    }
    ASSERT_TRUE(loaded.ok()) << loaded.status().toString();
    EXPECT_GT(memory.chargedBytes(), 0);
    for (size_t c = 0; c < all.size(); ++c) {
      ASSERT_TRUE(decodeColumn((*loaded)->morsel, c, test.slot.columns[c].type, all[c]));
    }
  }
  EXPECT_GT(refusals, 1);
  expectSame(all, test.text, test.slot);
  EXPECT_EQ(memory.chargedBytes(), 0); // the last morsel took all with it
}

TEST(ParquetScan, DecimalsInFixedBytesAndRleBools) {
  std::mt19937_64 random(seed());
  for (int nulls : {0, 25}) {
    TableOptions options;
    options.rows = 2500;
    options.nullPercent = nulls;
    TestTable test = makeTable(options, random);
    TemporaryFolder folder;
    const std::string path = folder.file("t.parquet");
    parquet::WriterProperties::Builder builder;
    builder.disable_dictionary()
        ->encoding("bool", parquet::Encoding::RLE)
        ->data_page_version(parquet::ParquetDataPageVersion::V2);
    builder.version(parquet::ParquetVersion::PARQUET_2_6);
    writeTable(*test.table, path, 1000, builder.build());
    Storage storage;
    auto source = storage.scan(test.slot, {path}, {}, {});
    ASSERT_TRUE(source.ok()) << source.status().toString();
    auto rows = readAll(**source, test.slot);
    ASSERT_TRUE(rows.ok()) << rows.status().toString();
    expectSame(*rows, test.text, test.slot);
  }
}

TEST(ParquetScan, OtherEncodingsGoThroughArrow) {
  using parquet::Encoding;
  std::mt19937_64 random(seed());
  for (int nulls : {0, 25}) {
    for (auto pages : {parquet::ParquetDataPageVersion::V1, parquet::ParquetDataPageVersion::V2}) {
      TableOptions options;
      options.rows = 40'000;
      options.batchRows = 40'000;
      options.nullPercent = nulls;
      TestTable test = makeTable(options, random);
      TemporaryFolder folder;
      const std::string path = folder.file("t.parquet");
      parquet::WriterProperties::Builder builder;
      builder.disable_dictionary()->data_page_version(pages)->compression(
          arrow::Compression::SNAPPY);
      for (const char *name :
           {"int", "int_as_16", "date", "long", "long_as_8", "long_as_128", "unsigned_32"}) {
        builder.encoding(name, Encoding::DELTA_BINARY_PACKED);
      }
      builder.encoding("string", Encoding::DELTA_BYTE_ARRAY)
          ->encoding("double", Encoding::BYTE_STREAM_SPLIT)
          ->encoding("float", Encoding::BYTE_STREAM_SPLIT)
          ->encoding("decimal_38", Encoding::BYTE_STREAM_SPLIT)
          ->encoding("bool", Encoding::RLE);
      writeTable(*test.table, path, 30'000, builder.build());
      Storage storage;
      auto source = storage.scan(test.slot, {path}, {}, {});
      ASSERT_TRUE(source.ok()) << source.status().toString();
      auto rows = readAll(**source, test.slot);
      ASSERT_TRUE(rows.ok()) << rows.status().toString();
      expectSame(*rows, test.text, test.slot);
    }
  }
}

TEST(ParquetScan, EncodedPagesStayEncoded) {
  std::mt19937_64 random(seed());
  TestTable test = makeTable({}, random);
  TemporaryFolder folder;
  const std::string path = folder.file("t.parquet");
  writeTable(*test.table, path, 10000);
  Storage storage;
  auto source = storage.scan(test.slot, {path}, {}, {});
  ASSERT_TRUE(source.ok());
  auto loaded = (*source)->load(0, unlimitedMemory());
  ASSERT_TRUE(loaded.ok());
  for (size_t c = 0; c < test.slot.columns.size(); ++c) {
    const HrColumn &column = (*loaded)->columns[c];
    const HrType type = test.slot.columns[c].type;
    // Codes of 7 bits are not much smaller than bytes, so those are decoded once.
    EXPECT_EQ(column.segments[0].encoding, type == HR_BOOL ? HR_BITMAP
                                           : type == HR_I8 ? HR_VALUES
                                                           : HR_CODES);
    EXPECT_EQ(column.segments[0].validity, nullptr);
  }
}

/// Texts that outgrow the dictionary of their row group: later pieces are plain, though texts may
/// point into it.
TEST(ParquetScan, ANumberSaysWhichDictionaryThereIs) {
  std::mt19937_64 random(seed());
  TableOptions options;
  options.rows = options.batchRows = 30'000;
  options.distinct = 5000;
  TestTable test = makeTable(options, random);
  TemporaryFolder folder;
  const std::string path = folder.file("t.parquet");
  parquet::WriterProperties::Builder builder;
  builder.data_pagesize(16'000)->write_batch_size(500)->dictionary_pagesize_limit(8000);
  writeTable(*test.table, path, 15'000, builder.build());
  test.slot.pieceRows = 1024;
  Storage storage({.cacheBytesMax = 0});
  auto source = storage.scan(test.slot, {path}, {}, {});
  ASSERT_TRUE(source.ok());
  std::map<uint32_t, uint32_t> entries; // of dictionaries by number
  size_t coded = 0, plain = 0;
  std::vector<MorselHandle> held; // so that no dictionary goes
  for (size_t piece = 0; piece < (*source)->morselCount(); ++piece) {
    auto loaded = (*source)->load(piece, unlimitedMemory());
    ASSERT_TRUE(loaded.ok());
    held.push_back(*loaded);
    for (size_t c = 0; c < test.slot.columns.size(); ++c) {
      if (test.slot.columns[c].type != HR_STRING) {
        continue;
      }
      const HrColumn &column = (*loaded)->columns[c];
      EXPECT_EQ(column.dictionaryId != 0, column.dictionary != nullptr);
      ++(column.dictionary ? coded : plain);
      if (column.dictionary) {
        EXPECT_EQ(entries.emplace(column.dictionaryId, column.dictionaryCount).first->second,
                  column.dictionaryCount);
      }
    }
  }
  EXPECT_GT(coded, 0u);
  EXPECT_GT(plain, 0u);
  EXPECT_GE(entries.size(), 2u); // one a row group
}

TEST(ParquetScan, LargeDictionariesAreDecodedIntoOneSegment) {
  std::mt19937_64 random(seed());
  TableOptions options;
  options.rows = options.batchRows = 30'000;
  options.distinct = 9'000;
  TestTable test = makeTable(options, random);
  TemporaryFolder folder;
  const std::string path = folder.file("t.parquet");
  parquet::WriterProperties::Builder builder;
  builder.data_pagesize(4000)->write_batch_size(500)->enable_store_decimal_as_integer();
  writeTable(*test.table, path, 30'000, builder.build());
  Storage storage;
  auto source = storage.scan(test.slot, {path}, {}, {});
  ASSERT_TRUE(source.ok());
  auto loaded = (*source)->load(0, unlimitedMemory());
  ASSERT_TRUE(loaded.ok());
  for (size_t c = 0; c < test.slot.columns.size(); ++c) {
    const std::string &name = test.slot.columns[c].file;
    const HrColumn &column = (*loaded)->columns[c];
    if (name == "int" || name == "long_as_32" || name == "date") {
      EXPECT_EQ(column.segmentCount, 1u) << name;
      EXPECT_EQ(column.segments[0].encoding, HR_VALUES) << name;
      EXPECT_EQ(column.dictionaryCount, 0u) << name;
    } else if (name == "string") {
      EXPECT_GT(column.segmentCount, 5u);
      EXPECT_EQ(column.segments[0].encoding, HR_CODES);
      EXPECT_GT(column.dictionaryCount, 0u);
    }
  }
  auto rows = readAll(**source, test.slot);
  ASSERT_TRUE(rows.ok()) << rows.status().toString();
  expectSame(*rows, test.text, test.slot);
}

TEST(ParquetScan, FewValuesInShortRunsBecomeOneSegment) {
  constexpr int kRows = 40'000;
  std::mt19937_64 random(seed());
  for (bool nulls : {false, true}) { // in the middle: pages of values between those of codes
    arrow::StringBuilder words;
    arrow::Int64Builder numbers;
    std::vector<std::string> expectedWords, expectedNumbers;
    for (int i = 0, value = 0; i < kRows; ++i) {
      value = i % 11 == 0 ? static_cast<int>(random() % 3) : value;
      if (nulls && i > kRows / 2 && i < kRows / 2 + 40) {
        ASSERT_TRUE(words.AppendNull().ok() && numbers.AppendNull().ok());
        expectedWords.push_back(kNull);
        expectedNumbers.push_back(kNull);
        continue;
      }
      expectedWords.push_back("'word " + std::to_string(value) + "'");
      expectedNumbers.push_back(std::to_string(value * 1'000'000'000'000));
      ASSERT_TRUE(words.Append("word " + std::to_string(value)).ok());
      ASSERT_TRUE(numbers.Append(value * 1'000'000'000'000).ok());
    }
    auto table = arrow::Table::Make(arrow::schema({arrow::field("word", arrow::utf8()),
                                                   arrow::field("number", arrow::int64())}),
                                    {words.Finish().ValueOrDie(), numbers.Finish().ValueOrDie()});
    TemporaryFolder folder;
    const std::string path = folder.file("t.parquet");
    parquet::WriterProperties::Builder builder;
    builder.data_pagesize(300)->write_batch_size(1000);
    writeTable(*table, path, kRows, builder.build());
    plan::Slot slot;
    slot.columns = {{"word", {LogicalKind::kString}, HR_STRING, nulls},
                    {"number", {LogicalKind::kI64}, HR_I64, nulls}};
    Storage storage;
    auto source = storage.scan(slot, {path}, {}, {});
    ASSERT_TRUE(source.ok()) << source.status().toString();
    auto loaded = (*source)->load(0, unlimitedMemory());
    ASSERT_TRUE(loaded.ok()) << loaded.status().toString();
    for (const HrColumn &column : (*loaded)->columns) {
      EXPECT_EQ(column.segmentCount, nulls ? 3u : 1u);
      EXPECT_EQ(column.segments[0].encoding, HR_CODES);
      EXPECT_EQ(column.segments[0].bitWidth, 2);
    }
    auto rows = readAll(**source, slot);
    ASSERT_TRUE(rows.ok()) << rows.status().toString();
    expectSame(*rows, {expectedWords, expectedNumbers}, slot);
  }
}

TEST(ParquetScan, SeveralFilesAndRanksCoverEachRowOnce) {
  std::mt19937_64 random(seed());
  TemporaryFolder folder;
  std::vector<std::string> paths;
  std::vector<std::vector<std::string>> expected;
  plan::Slot slot;
  for (int f = 0; f < 3; ++f) {
    TableOptions options;
    options.rows = 1000 + 777 * static_cast<uint64_t>(f);
    TestTable test = makeTable(options, random);
    paths.push_back(folder.file("t" + std::to_string(f) + ".parquet"));
    writeTable(*test.table, paths.back(), 400);
    slot = test.slot;
    expected.resize(test.text.size());
    for (size_t c = 0; c < test.text.size(); ++c) {
      expected[c].insert(expected[c].end(), test.text[c].begin(), test.text[c].end());
    }
  }
  Storage storage;
  for (uint32_t size : {1u, 2u, 3u, 4u, 50u}) {
    std::vector<std::vector<std::string>> all(slot.columns.size());
    for (uint32_t rank = 0; rank < size; ++rank) {
      auto source = storage.scan(slot, paths, {}, {rank, size});
      ASSERT_TRUE(source.ok()) << source.status().toString();
      auto rows = readAll(**source, slot);
      ASSERT_TRUE(rows.ok()) << rows.status().toString();
      for (size_t c = 0; c < all.size(); ++c) {
        all[c].insert(all[c].end(), (*rows)[c].begin(), (*rows)[c].end());
      }
    }
    expectSame(all, expected, slot);
  }
}

TEST(ParquetScan, NoRowsNoColumns) {
  std::mt19937_64 random(seed());
  TemporaryFolder folder;
  TableOptions options;
  options.rows = 0;
  TestTable empty = makeTable(options, random);
  writeTable(*empty.table, folder.file("empty.parquet"), 100);
  Storage storage;
  auto source = storage.scan(empty.slot, {folder.file("empty.parquet")}, {}, {});
  ASSERT_TRUE(source.ok()) << source.status().toString();
  EXPECT_EQ((*source)->morselCount(), 0u);
  EXPECT_EQ((*source)->rows(), 0u);

  TestTable test = makeTable({}, random);
  writeTable(*test.table, folder.file("t.parquet"), 2000);
  plan::Slot none;
  none.name = "t";
  source = storage.scan(none, {folder.file("t.parquet")}, {}, {});
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->rows(), 5000u);
  auto loaded = (*source)->load(1, unlimitedMemory());
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ((*loaded)->morsel.rows, 2000u);
  EXPECT_EQ((*loaded)->morsel.columnCount, 0u);
}

TEST(ParquetScan, BoundsPruneRowGroups) {
  // 10 row groups of 100 rows, key = row number; strings alike.
  arrow::Int64Builder keys;
  arrow::StringBuilder names;
  arrow::DoubleBuilder reals;
  for (int i = 0; i < 1000; ++i) {
    char name[8];
    std::snprintf(name, sizeof name, "n%04d", i);
    ASSERT_TRUE(keys.Append(i).ok() && names.Append(name).ok() && reals.Append(i).ok());
  }
  auto table = arrow::Table::Make(
      arrow::schema({arrow::field("key", arrow::int64(), false),
                     arrow::field("name", arrow::utf8(), false),
                     arrow::field("real", arrow::float64(), false)}),
      {keys.Finish().ValueOrDie(), names.Finish().ValueOrDie(), reals.Finish().ValueOrDie()});
  TemporaryFolder folder;
  const std::string path = folder.file("t.parquet");
  writeTable(*table, path, 100);
  Storage storage;
  auto survivors = [&](std::vector<plan::Bound> bounds) {
    plan::Slot slot;
    slot.bounds = std::move(bounds);
    auto source = storage.scan(slot, {path}, {}, {});
    EXPECT_TRUE(source.ok());
    return (*source)->morselCount();
  };
  using plan::BoundKind;
  auto integer = [](BoundKind op, int64_t value) { return plan::Bound{"key", op, value, 0, ""}; };
  EXPECT_EQ(survivors({}), 10u);
  EXPECT_EQ(survivors({integer(BoundKind::kEq, 250)}), 1u);
  EXPECT_EQ(survivors({integer(BoundKind::kEq, 1000)}), 0u);
  EXPECT_EQ(survivors({integer(BoundKind::kLt, 100)}), 1u);
  EXPECT_EQ(survivors({integer(BoundKind::kLe, 100)}), 2u);
  EXPECT_EQ(survivors({integer(BoundKind::kGt, 899)}), 1u);
  EXPECT_EQ(survivors({integer(BoundKind::kGe, 899)}), 2u);
  EXPECT_EQ(survivors({integer(BoundKind::kGe, 300), integer(BoundKind::kLt, 500)}), 2u);
  EXPECT_EQ(survivors({{"name", BoundKind::kEq, 0, 0, "n0555"}}), 1u);
  EXPECT_EQ(survivors({{"name", BoundKind::kGe, 0, 0, "n0800"}}), 2u);
  EXPECT_EQ(survivors({{"real", BoundKind::kLt, 0, 150.0, ""}}), 2u);
  EXPECT_EQ(survivors({{"real", BoundKind::kGt, 0, 5000.0, ""}}), 10u); // a NaN might be there
}

} // namespace
} // namespace headrace::storage::testing
