// Files that are missing, broken, changed or not what the plan promised: a Status that names file
// and column.
// Sources: runtime/storage/files/identity.cpp, runtime/storage/files/open_file.cpp,
//   runtime/storage/parquet/footer.cpp, runtime/storage/parquet/parquet_file.cpp,
//   runtime/storage/parquet/scan_source.cpp
#include "test/unit/storage/tables.h"

namespace headrace::storage::testing {
namespace {

class ParquetErrorTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::mt19937_64 random(seed());
    test = makeTable({}, random);
    path = folder.file("t.parquet");
    writeTable(*test.table, path, 2000);
  }

  Status scanError(const plan::Slot &slot, const std::vector<FileIdentity> &manifest = {}) {
    auto source = storage.scan(slot, {path}, manifest, {});
    if (!source.ok()) {
      return source.status();
    }
    for (size_t m = 0; m < (*source)->morselCount(); ++m) {
      auto loaded = (*source)->load(m, unlimitedMemory());
      if (!loaded.ok()) {
        return loaded.status();
      }
    }
    return Status();
  }

  /// A slot with the one column `name`.
  plan::Slot slotOf(const std::string &name) {
    plan::Slot slot;
    for (const plan::SlotColumn &column : test.slot.columns) {
      if (column.file == name) {
        slot.columns.push_back(column);
      }
    }
    EXPECT_EQ(slot.columns.size(), 1u);
    return slot;
  }

  void expectError(const Status &status, ErrorKind kind,
                   std::initializer_list<const char *> parts) {
    EXPECT_EQ(status.kind(), kind) << status.toString();
    for (const char *part : parts) {
      EXPECT_NE(status.message().find(part), std::string::npos)
          << part << " is not in: " << status.message();
    }
  }

  TemporaryFolder folder;
  std::string path;
  TestTable test;
  Storage storage;
};

TEST_F(ParquetErrorTest, MissingFile) {
  auto result = storage.statistics({folder.file("none.parquet")});
  ASSERT_FALSE(result.ok());
  expectError(result.status(), ErrorKind::kIo,
              {"cannot open file ", "none.parquet", "No such file"});
}

TEST_F(ParquetErrorTest, NotParquet) {
  for (const char *content :
       {"", "PAR1", "hello, this is a text file", "PAR1 but only at the start"}) {
    std::string other = folder.file("other.parquet");
    writeFile(other, {content, content + std::strlen(content)});
    auto result = storage.statistics({other});
    ASSERT_FALSE(result.ok()) << content;
    expectError(result.status(), ErrorKind::kCorrupt, {"other.parquet"});
  }
  auto result = storage.statistics({std::filesystem::temp_directory_path().string()});
  expectError(result.status(), ErrorKind::kUser, {"not a regular file: "});
  EXPECT_EQ(storage.statistics({}).status().message(), "a table needs at least one file");
}

TEST_F(ParquetErrorTest, EndsOfFiles) {
  const std::vector<char> sound = readFile(path);
  auto messageOf = [&](const auto &change) {
    std::vector<char> bytes = sound;
    change(bytes);
    const std::string other = folder.file("other.parquet");
    std::filesystem::remove(other);
    writeFile(other, bytes);
    return storage.statistics({other}).status().message();
  };
  auto begins = [](const std::string &message, const char *text) {
    EXPECT_EQ(message.rfind(text, 0), 0u) << message;
  };
  begins(messageOf([](auto &bytes) { bytes.back() = 'E'; }), "the file is encrypted: ");
  begins(messageOf([](auto &bytes) { bytes.back() = '2'; }), "not a Parquet file, or cut short: ");
  begins(messageOf([](auto &bytes) { std::fill(bytes.end() - 8, bytes.end() - 4, '\x7f'); }),
         "the footer is longer than the file (is it cut short?): ");
  begins(messageOf([](auto &bytes) { std::fill(bytes.end() - 40, bytes.end() - 8, '\xff'); }),
         "cannot read the footer of ");
  // The footer of a larger file.
  begins(messageOf([](auto &bytes) {
           bytes.erase(bytes.begin() + 4, bytes.begin() + static_cast<int>(bytes.size()) / 2);
         }),
         "a column chunk lies outside of the file (is it cut short?) ");
}

TEST_F(ParquetErrorTest, NamesOfColumnsAreText) {
  auto numbers = test.table->GetColumnByName("long");
  writeTable(
      *arrow::Table::Make(arrow::schema({arrow::field("\xff", numbers->type(), false)}), {numbers}),
      path, 100);
  expectError(storage.statistics({path}).status(), ErrorKind::kCorrupt,
              {"the name of a column is not UTF-8 in ", "column number: 0"});
}

TEST_F(ParquetErrorTest, FilesOfOneTableHaveItsColumns) {
  const std::string other = folder.file("other.parquet");
  writeTable(*test.table->RemoveColumn(0).ValueOrDie(), other, 100);
  expectError(storage.statistics({path, other}).status(), ErrorKind::kUser,
              {"the files of a table must have the same columns: ", "other.parquet"});
}

TEST_F(ParquetErrorTest, Manifests) {
  auto message = [](const char *text) {
    return manifestFromJson(nlohmann::json::parse(text)).status().message();
  };
  EXPECT_EQ(message("{}"), "a manifest must be an array of files, got: object");
  for (const char *entry : {"[3]", R"([{"path": 3}])"}) {
    EXPECT_EQ(message(entry),
              "a manifest entry needs path, bytes, modified_nanoseconds and footer_hash, entry is "
              "number: 0");
  }
  EXPECT_EQ(message(R"([{"path": "p", "bytes": 1, "modified_nanoseconds": 1,
                         "footer_hash": "green"}])"),
            "footer_hash must be hexadecimal, got: green");
}

TEST_F(ParquetErrorTest, UnknownColumn) {
  plan::Slot slot = slotOf("long");
  slot.columns[0].file = "longer";
  expectError(scanError(slot), ErrorKind::kUser, {"t.parquet", "longer"});
}

TEST_F(ParquetErrorTest, OtherType) {
  plan::Slot slot = slotOf("decimal_15");
  slot.columns[0].logical = {LogicalKind::kDecimal, 15, 3};
  expectError(
      scanError(slot), ErrorKind::kMismatch,
      {"t.parquet, column decimal_15 is decimal<15, 2>, the plan was compiled for (recompile): "
       "decimal<15, 3>"});
  slot = slotOf("string");
  slot.columns[0].type = HR_I64;
  expectError(scanError(slot), ErrorKind::kMismatch, {"of type string cannot be read as: i64"});
}

TEST_F(ParquetErrorTest, ValueThatDoesNotFitTheType) {
  plan::Slot slot = slotOf("long");
  slot.columns[0].type = HR_I16;
  expectError(scanError(slot), ErrorKind::kData,
              {"t.parquet", "row group 0", "column long", "i16", "recompile"});
}

TEST_F(ParquetErrorTest, ValueOutsideOfThePromisedRange) {
  plan::Slot slot = slotOf("int");
  slot.columns[0].ranged = true;
  slot.columns[0].min = -1000;
  slot.columns[0].max = 99 * 31 - 1000;
  EXPECT_TRUE(scanError(slot).ok()) << scanError(slot).toString();
  slot.columns[0].max -= 1;
  expectError(scanError(slot), ErrorKind::kData,
              {"t.parquet", "column int", "[-1000, 2068]", "found: 2069"});
}

TEST_F(ParquetErrorTest, NullWherePromisedNone) {
  std::mt19937_64 random(seed());
  TableOptions options;
  options.nullPercent = 20;
  TestTable nullable = makeTable(options, random);
  writeTable(*nullable.table, path, 2000);
  plan::Slot slot = slotOf("date");
  expectError(scanError(slot), ErrorKind::kData, {"t.parquet", "column date", "NULL", "recompile"});
  slot.columns[0].nullable = true;
  EXPECT_TRUE(scanError(slot).ok());
}

TEST_F(ParquetErrorTest, ChangedFileIsRefused) {
  auto document = storage.statistics({path});
  ASSERT_TRUE(document.ok());
  auto manifest = manifestFromJson((*document)["identity"]);
  ASSERT_TRUE(manifest.ok());
  EXPECT_TRUE(scanError(test.slot, *manifest).ok());

  std::mt19937_64 random(seed() + 1);
  TestTable other = makeTable({}, random);
  writeTable(*other.table, path, 1000);
  expectError(scanError(test.slot, *manifest), ErrorKind::kMismatch,
              {"the file has changed since the plan was compiled, recompile: ", "t.parquet"});
  EXPECT_TRUE(scanError(test.slot).ok()); // and the new one is read anew

  manifest->push_back(manifest->front());
  expectError(scanError(test.slot, *manifest), ErrorKind::kMismatch,
              {"was compiled for 2 files (recompile), got: 1"});
}

TEST_F(ParquetErrorTest, FileThatChangesUnderAScan) {
  auto source = storage.scan(test.slot, {path}, {}, {});
  ASSERT_TRUE(source.ok());
  writeTable(*test.table, path, 1000);
  expectError((*source)->load(0, unlimitedMemory()).status(), ErrorKind::kIo,
              {"the file was changed while it was read: ", "t.parquet"});
}

TEST_F(ParquetErrorTest, StructOfHalvesIsUnsupportedTheOthersAreNot) {
  const auto pair = arrow::struct_({arrow::field("a", arrow::float16())});
  arrow::Int32Builder keys;
  ASSERT_TRUE(keys.Append(5).ok());
  auto table = arrow::Table::Make(
      arrow::schema({arrow::field("pair", pair), arrow::field("key", arrow::int32(), false),
                     arrow::field("halves", arrow::float16())}),
      {arrow::MakeArrayOfNull(pair, 1).ValueOrDie(), keys.Finish().ValueOrDie(),
       arrow::MakeArrayOfNull(arrow::float16(), 1).ValueOrDie()});
  writeTable(*table, path, 100);
  auto document = storage.statistics({path});
  ASSERT_TRUE(document.ok()) << document.status().toString();
  EXPECT_TRUE((*document)["columns"].contains("key"));
  EXPECT_EQ((*document)["columns"].size(), 1u);
  EXPECT_EQ((*document)["unsupported"].size(), 2u);
  EXPECT_TRUE((*document)["unsupported"].contains("pair"));
  EXPECT_NE((*document)["unsupported"]["halves"].get<std::string>().find(
                "FIXED_LEN_BYTE_ARRAY (Float16)"),
            std::string::npos);
  plan::Slot slot = slotOf("int");
  slot.columns[0].file = "halves";
  expectError(scanError(slot), ErrorKind::kUnsupported, {"t.parquet", "halves"});
  slot.columns[0].file = "pair";
  expectError(scanError(slot), ErrorKind::kUnsupported,
              {"t.parquet", "pair", "type is not supported: struct<a: halffloat>"});
}

TEST_F(ParquetErrorTest, DamagedPagesAreNamedByTheirByte) {
  for (bool snappy : {false, true}) {
    parquet::WriterProperties::Builder builder;
    builder.compression(snappy ? arrow::Compression::SNAPPY : arrow::Compression::UNCOMPRESSED);
    writeTable(*test.table, path, 2000, builder.build());
    std::vector<char> bytes = readFile(path);
    auto file = ParquetFile::open(path);
    ASSERT_TRUE(file.ok());
    // The string column's dictionary in the second row group: its first text reaches past the page.
    const size_t column = static_cast<size_t>((*file)->columnIndex("string"));
    const ParquetChunk &chunk = (*file)->footer().rowGroups[1].chunks[column];
    const auto *page = reinterpret_cast<const uint8_t *>(bytes.data()) + chunk.begin;
    auto header = readPageHeader(page, page + chunk.bytes);
    ASSERT_TRUE(header.ok());
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(chunk.begin + header->headerBytes), 4,
                '\xff');
    std::filesystem::remove(path);
    writeFile(path, bytes);
    const std::string place =
        "t.parquet, row group 1, column string, page at byte " + std::to_string(chunk.begin);
    expectError(scanError(slotOf("string")), ErrorKind::kCorrupt, {place.c_str()});
  }
}

TEST_F(ParquetErrorTest, TruncatedAnywhere) {
  std::vector<char> bytes = readFile(path);
  std::mt19937_64 random(seed());
  for (int round = 0; round < 60; ++round) {
    std::vector<char> cut(bytes.begin(),
                          bytes.begin() + static_cast<std::ptrdiff_t>(random() % bytes.size()));
    std::string other = folder.file("cut.parquet");
    std::filesystem::remove(other);
    writeFile(other, cut);
    auto result = storage.statistics({other});
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().kind(), ErrorKind::kCorrupt) << result.status().toString();
  }
}

/// Reads every value of every morsel; false: an error. What has loaded must decode.
bool readEverything(Storage &storage, const plan::Slot &slot, const std::string &path) {
  auto document = storage.statistics({path});
  if (document.ok()) {
    document->dump();
  }
  auto source = storage.scan(slot, {path}, {}, {});
  if (!source.ok()) {
    EXPECT_FALSE(source.status().message().empty());
    return false;
  }
  for (size_t m = 0; m < (*source)->morselCount(); ++m) {
    auto loaded = (*source)->load(m, unlimitedMemory());
    if (!loaded.ok()) {
      EXPECT_NE(loaded.status().message().find(".parquet, row group "), std::string::npos)
          << loaded.status().message();
      return false;
    }
    for (size_t c = 0; c < slot.columns.size(); ++c) {
      EXPECT_TRUE(touchColumn((*loaded)->morsel, c, slot.columns[c].type)) << slot.columns[c].file;
    }
  }
  return true;
}

/// Random damage ends in an error or in rows, never in a crash (run under the address sanitizer).
TEST_F(ParquetErrorTest, DamagedBytes) {
  constexpr int kRounds = 600; // of each kind of file
  std::mt19937_64 random(seed());
  int refused = 0, rounds = 0;
  for (int nulls : {0, 20}) {
    for (auto pages : {parquet::ParquetDataPageVersion::V1, parquet::ParquetDataPageVersion::V2}) {
      TableOptions options;
      options.rows = options.batchRows = 400;
      options.nullPercent = nulls;
      TestTable table = makeTable(options, random);
      parquet::WriterProperties::Builder builder;
      builder.compression(nulls ? arrow::Compression::SNAPPY : arrow::Compression::UNCOMPRESSED)
          ->data_page_version(pages)
          ->dictionary_pagesize_limit(700)
          ->data_pagesize(400)
          ->write_batch_size(80);
      if (nulls) { // one column that Arrow decodes
        builder.disable_dictionary("long")->encoding("long",
                                                     parquet::Encoding::DELTA_BINARY_PACKED);
      }
      writeTable(*table.table, path, 300, builder.build());
      std::vector<char> bytes = readFile(path);
      uint32_t footer;
      std::memcpy(&footer, bytes.data() + bytes.size() - 8, 4);
      for (int round = 0; round < kRounds; ++round, ++rounds) {
        std::vector<char> damaged = bytes;
        // Mostly in the pages; sometimes anywhere, or in the footer alone.
        size_t begin = round % 8 == 0 ? bytes.size() - 8 - footer : 0;
        size_t end = round % 4 == 0 ? bytes.size() : bytes.size() - 8 - footer;
        for (uint64_t flips = 1 + random() % 8; flips > 0; --flips) {
          char &byte = damaged[begin + random() % (end - begin)];
          byte = random() % 2 ? static_cast<char>(random())
                              : static_cast<char>(byte ^ (1 << random() % 8));
        }
        std::string other = folder.file("damaged" + std::to_string(round % 2) + ".parquet");
        std::filesystem::remove(other);
        writeFile(other, damaged);
        storage.dropCache();
        refused += !readEverything(storage, table.slot, other);
      }
    }
  }
  EXPECT_GT(refused, rounds / 10);
}

} // namespace
} // namespace headrace::storage::testing
