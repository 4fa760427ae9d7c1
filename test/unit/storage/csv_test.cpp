// CSV files of random texts and numbers: read as they were written, by any number of ranks; damaged
// ones are errors or other rows.
// Sources: runtime/storage/csv/csv_column.cpp, runtime/storage/csv/csv_encoding.cpp,
// runtime/storage/csv/csv_file.cpp,
// runtime/storage/csv/csv_format.cpp, runtime/storage/csv/plain_form.cpp,
// runtime/storage/csv/byte_reader.cpp, runtime/base/unnamed_file.cpp
#include "runtime/storage/csv/csv_source.h"
#include "test/unit/storage/tables.h"

namespace headrace::storage {
namespace {

using namespace testing;

struct RandomFile {
  std::string text;
  std::vector<std::vector<std::string>> columns; ///< a text, a number
};

/// With quotes where they are needed, and where they are not; line ends of both kinds.
RandomFile makeFile(std::mt19937_64 &random, size_t rows, char separator, bool returns) {
  static const std::vector<std::string> kParts = {
      "a", "bc", "\xc3\xa9", "\"", "\n", "\r\n", " ", ",", "|", "long text without anything in it"};
  RandomFile file{std::string("s") + separator + "n\n", std::vector<std::vector<std::string>>(2)};
  for (size_t row = 0; row < rows; ++row) {
    std::string value;
    for (size_t part = random() % 4; part > 0; --part) {
      value += kParts[random() % kParts.size()];
    }
    const bool special = value.find_first_of("\"\r\n") != std::string::npos ||
                         value.find(separator) != std::string::npos;
    if (special || random() % 5 == 0) {
      file.text += '"';
      for (char character : value) {
        file.text += character;
        file.text.append(character == '"', '"');
      }
      file.text += '"';
    } else {
      file.text += value;
    }
    const std::string number =
        std::to_string(static_cast<int64_t>(random() % 2'000'001) - 1'000'000);
    file.text += separator + number + (returns ? "\r\n" : "\n");
    file.columns[0].push_back("'" + value + "'"); // as valueText shows it
    file.columns[1].push_back(number);
  }
  if (random() % 2 == 0) { // no line end behind the last record
    file.text.resize(file.text.size() - (returns ? 2 : 1));
  }
  return file;
}

std::string addressOf(const std::string &path, char separator) {
  const nlohmann::ordered_json options = {{"format", "csv"},
                                          {"delim", std::string(1, separator)},
                                          {"quote", "\""},
                                          {"header", true},
                                          {"skip", 0},
                                          {"nullstr", nlohmann::json::array({"no null"})},
                                          {"columns",
                                           {{{"name", "s"}, {"type", {{"kind", "string"}}}},
                                            {{"name", "n"}, {"type", {{"kind", "i64"}}}}}}};
  return path + "?" + options.dump();
}

plan::Slot slotOf(const std::vector<std::string> &columns) {
  plan::Slot slot;
  slot.name = "t";
  for (const std::string &name : columns) {
    plan::SlotColumn &column = slot.columns.emplace_back();
    column.file = name;
    column.logical = {name == "s" ? LogicalKind::kString : LogicalKind::kI64};
    column.type = name == "s" ? HR_STRING : HR_I64;
    column.nullable = true;
  }
  return slot;
}

void write(const std::string &path, const std::string &text) {
  writeFile(path, std::vector<char>(text.begin(), text.end()));
}

/// The rows that so many ranks read, one rank after another.
std::vector<std::vector<std::string>> readBy(uint32_t ranks, const plan::Slot &slot,
                                             const CsvFiles &files) {
  std::vector<std::vector<std::string>> all(slot.columns.size());
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    auto source = makeCsvSource(slot, files, Share{rank, ranks});
    EXPECT_TRUE(source.ok()) << source.status().toString();
    auto rows = readAll(**source, slot);
    EXPECT_TRUE(rows.ok()) << rows.status().toString();
    for (size_t column = 0; rows.ok() && column < all.size(); ++column) {
      all[column].insert(all[column].end(), (*rows)[column].begin(), (*rows)[column].end());
    }
  }
  return all;
}

TEST(Csv, RandomFilesAreReadAsTheyWereWritten) {
  TemporaryFolder folder;
  std::mt19937_64 random(seed());
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    const char separator = ",|"[random() % 2];
    const RandomFile file = makeFile(random, random() % 300, separator, random() % 2 == 0);
    const std::string path = folder.file("t" + std::to_string(trial) + ".csv");
    write(path, file.text);
    auto opened = CsvFile::open(*Address::of(addressOf(path, separator)));
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    const CsvFiles files = {*opened};
    EXPECT_EQ(readBy(1, slotOf({"s", "n"}), files), file.columns);
    EXPECT_EQ(readBy(1, slotOf({"n"}), files).front(), file.columns[1]);
    EXPECT_EQ(csvStatistics(files)["rows"], file.columns[0].size());
  }
}

TEST(Csv, ThePlainFormHasTheSameRows) {
  TemporaryFolder folder;
  std::mt19937_64 random(seed());
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    const RandomFile file = makeFile(random, random() % 300, '|', random() % 2 == 0);
    const std::string path = folder.file("t" + std::to_string(trial) + ".csv");
    write(path, file.text);
    Address address = *Address::of(addressOf(path, ','));
    nlohmann::json &dialect = address.reader["dialect"];
    dialect["delim"] = "|";
    dialect["quote"] = dialect["escape"] = "\"";
    dialect["returns"] = false;
    dialect["encoding"] = nullptr;
    dialect["pads"] = trial % 2 == 0;
    dialect["drops"] = trial % 3 == 0;
    auto opened = CsvFile::open(address);
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    EXPECT_EQ(readBy(2, slotOf({"s", "n"}), {*opened}), file.columns);
  }
}

TEST(Csv, PiecesAreSharedByRanks) {
  TemporaryFolder folder;
  std::mt19937_64 random(seed());
  const RandomFile file = makeFile(random, 400'000, ',', false);
  const std::string path = folder.file("large.csv");
  write(path, file.text);
  auto opened = CsvFile::open(*Address::of(addressOf(path, ',')));
  ASSERT_TRUE(opened.ok()) << opened.status().toString();
  ASSERT_GT((*opened)->pieces().size(), 4u);
  for (uint32_t ranks : {1u, 2u, 5u}) {
    EXPECT_TRUE(readBy(ranks, slotOf({"s", "n"}), {*opened}) == file.columns) << ranks;
  }
}

TEST(Csv, DamagedFilesAreErrorsOrOtherRows) {
  TemporaryFolder folder;
  std::mt19937_64 random(seed());
  int errors = 0;
  for (int trial = 0; trial < 500; ++trial) {
    SCOPED_TRACE(trial);
    RandomFile file = makeFile(random, 1 + random() % 100, ',', random() % 2 == 0);
    for (size_t damages = 1 + random() % 3; damages > 0; --damages) {
      file.text[random() % file.text.size()] = ",\"\n\r\xff\0x"[random() % 7];
    }
    const std::string path = folder.file("d" + std::to_string(trial) + ".csv");
    write(path, file.text);
    auto opened = CsvFile::open(*Address::of(addressOf(path, ',')));
    if (!opened.ok()) {
      EXPECT_EQ(opened.status().kind(), ErrorKind::kData) << opened.status().toString();
      ++errors;
      continue;
    }
    auto source = makeCsvSource(slotOf({"s", "n"}), {*opened}, Share{});
    ASSERT_TRUE(source.ok());
    auto rows = readAll(**source, slotOf({"s", "n"}));
    if (!rows.ok()) {
      EXPECT_EQ(rows.status().kind(), ErrorKind::kData) << rows.status().toString();
      ++errors;
    }
  }
  EXPECT_GT(errors, 100);
}

TEST(Csv, AFileThatChangedIsNotRead) {
  TemporaryFolder folder;
  const std::string path = folder.file("t.csv");
  write(path, "s,n\na,1\n");
  auto opened = CsvFile::open(*Address::of(addressOf(path, ',')));
  ASSERT_TRUE(opened.ok());
  EXPECT_TRUE((*opened)->isCurrent());
  write(path, "s,n\na,1\nb,22\n");
  EXPECT_FALSE((*opened)->isCurrent());
  auto source = makeCsvSource(slotOf({"n"}), {*opened}, Share{});
  ASSERT_TRUE(source.ok());
  auto rows = readAll(**source, slotOf({"n"}));
  EXPECT_EQ(rows.status().kind(), ErrorKind::kIo);
  EXPECT_NE(rows.status().message().find("the file has changed while it was read"),
            std::string::npos);
}

} // namespace
} // namespace headrace::storage
