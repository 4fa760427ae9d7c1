// Pages that contradict themselves, their column or the footer: each is refused with its place. The
// pages are written over those of a sound file, whose footer stays as it is.
// Sources: runtime/storage/parquet/plain_values.cpp, runtime/storage/parquet/arrow_pages.cpp,
//   runtime/storage/parquet/coded_pages.cpp
#include "test/unit/storage/tables.h"

namespace headrace::storage::testing {
namespace {

enum class Kind : int32_t { kData = 0, kIndex = 1, kDictionary = 2 };
constexpr int32_t kPlain = 0, kRle = 3, kDelta = 5, kRleDictionary = 8;
constexpr int32_t kRows = 100;

/// A page as Thrift's compact protocol writes its header; by default the sizes are those of
/// `content`.
struct Page {
  Kind kind = Kind::kData;
  int32_t values = kRows;
  int32_t encoding = kPlain;
  std::string content = std::string(16 * kRows, '\0');
  int64_t uncompressed = -1;
  int64_t compressed = -1;

  std::string bytes() const {
    std::string out;
    const auto size = static_cast<int64_t>(content.size());
    integer(out, 1, static_cast<int64_t>(kind));
    integer(out, 1, uncompressed < 0 ? size : uncompressed);
    integer(out, 1, compressed < 0 ? size : compressed);
    out += kind == Kind::kDictionary ? '\x4c' : '\x2c'; // the struct: field 7, or 5
    integer(out, 1, values);
    integer(out, 1, encoding);
    if (kind == Kind::kData) {
      integer(out, 1, kRle);
      integer(out, 1, kRle);
    }
    out += std::string(2, '\0');
    return out + content;
  }

private:
  static void integer(std::string &out, int step, int64_t value) {
    out += static_cast<char>(step << 4 | 5);
    for (auto bits = static_cast<uint64_t>(value << 1 ^ value >> 63);; bits >>= 7) {
      out += static_cast<char>(bits < 128 ? bits : bits | 128);
      if (bits < 128) {
        return;
      }
    }
  }
};

struct Damage {
  const char *column;
  std::vector<Page> pages;
  const char *message;
};

void PrintTo(const Damage &damage, std::ostream *out) { *out << damage.message; }

std::string lengthAnd(uint32_t length, const std::string &rest) {
  return std::string(reinterpret_cast<const char *>(&length), 4) + rest;
}

std::shared_ptr<arrow::Table> table() {
  arrow::Int64Builder numbers, some;
  arrow::StringBuilder texts;
  arrow::BooleanBuilder flags;
  for (int i = 0; i < kRows; ++i) {
    EXPECT_TRUE(numbers.Append(i).ok() && texts.Append(std::string(32, 'a')).ok());
    EXPECT_TRUE((i % 2 ? some.Append(i) : some.AppendNull()).ok() && flags.Append(i % 3 == 0).ok());
  }
  return arrow::Table::Make(arrow::schema({arrow::field("number", arrow::int64(), false),
                                           arrow::field("some", arrow::int64()),
                                           arrow::field("text", arrow::utf8(), false),
                                           arrow::field("flag", arrow::boolean(), false)}),
                            {numbers.Finish().ValueOrDie(), some.Finish().ValueOrDie(),
                             texts.Finish().ValueOrDie(), flags.Finish().ValueOrDie()});
}

class DamagedPage : public ::testing::TestWithParam<Damage> {
protected:
  std::string errorOf(const std::string &column, const std::string &pages,
                      arrow::Compression::type codec = arrow::Compression::UNCOMPRESSED) {
    TemporaryFolder folder;
    const std::string path = folder.file("t.parquet");
    parquet::WriterProperties::Builder builder;
    builder.compression(codec)->disable_dictionary();
    writeTable(*table(), path, kRows, builder.build());
    std::vector<char> bytes = readFile(path);
    auto file = ParquetFile::open(path);
    const auto index = static_cast<size_t>((*file)->columnIndex(column));
    // What comes after this column is overwritten too, and not read.
    const uint64_t begin = (*file)->footer().rowGroups[0].chunks[index].begin;
    std::copy(pages.begin(), pages.end(), bytes.begin() + static_cast<std::ptrdiff_t>(begin));
    std::filesystem::remove(path);
    writeFile(path, bytes);
    plan::SlotColumn wanted;
    wanted.file = column;
    wanted.nullable = column == "some";
    wanted.logical.kind = column == "text"   ? LogicalKind::kString
                          : column == "flag" ? LogicalKind::kBool
                                             : LogicalKind::kI64;
    wanted.type = column == "text" ? HR_STRING : column == "flag" ? HR_BOOL : HR_I64;
    plan::Slot slot;
    slot.columns.push_back(wanted);
    Storage storage;
    auto source = storage.scan(slot, {path}, {}, {});
    if (!source.ok()) {
      return source.status().message();
    }
    auto loaded = (*source)->load(0, unlimitedMemory());
    return loaded.ok() ? "" : loaded.status().message();
  }
};

TEST_P(DamagedPage, is_refused) {
  std::string pages;
  for (const Page &page : GetParam().pages) {
    pages += page.bytes();
  }
  const std::string message = errorOf(GetParam().column, pages);
  const std::string end = std::string(": ") + GetParam().message;
  EXPECT_NE(message.find(std::string("column ") + GetParam().column + ", page at byte "),
            std::string::npos)
      << message;
  EXPECT_EQ(message.substr(message.size() - std::min(message.size(), end.size())), end);
}

const Page kWords{Kind::kDictionary, 2, kPlain, std::string(16, '\1')};

INSTANTIATE_TEST_SUITE_P(
    Storage, DamagedPage,
    ::testing::Values(
        Damage{
            "number", {{.compressed = 1 << 20}}, "a page reaches past the end of its column chunk"},
        Damage{"number",
               {{.values = 1, .content = std::string(8, '\0')}, kWords},
               "a dictionary page does not come first"},
        Damage{"number",
               {{.content = std::string(800, '\0'), .uncompressed = 801}},
               "the sizes of an uncompressed page differ"},
        Damage{"number",
               {{.content = std::string(8, '\0'), .uncompressed = 1 << 30}},
               "a page claims to be larger than its column chunk"},
        Damage{"number", {{.values = -1, .content = ""}}, "a page header has impossible sizes"},
        Damage{"number",
               {{.content = std::string(8, '\0')}},
               "a page holds fewer values than its header says"},
        Damage{"number",
               {{.encoding = kRleDictionary, .content = std::string(8, '\1')}},
               "a page needs a dictionary, and there is none"},
        Damage{"number",
               {kWords, {.encoding = kRleDictionary, .content = std::string(8, '\x21')}},
               "a page has codes of an impossible width"},
        Damage{"number",
               {kWords, {.encoding = kRleDictionary, .content = ""}},
               "a page has codes of an impossible width"},
        Damage{"number",
               {kWords, {.encoding = kRleDictionary, .content = "\1\1"}},
               "a page of codes does not decode"},
        Damage{"number",
               {{Kind::kDictionary, 100, kPlain, std::string(8, '\1')},
                {.encoding = kRleDictionary, .content = std::string(8, '\1')}},
               "a dictionary has more entries than bytes"},
        Damage{"some", {{.content = "\1"}}, "a page is too short for its definition levels"},
        Damage{"some",
               {{.content = lengthAnd(9, "\1")}},
               "definition levels reach past the end of their page"},
        Damage{"some",
               {{.content = lengthAnd(0, std::string(100, '\0'))}},
               "a page of levels or bools does not decode"},
        Damage{"text",
               {{.content = std::string(8, '\0')}},
               "a page holds fewer values than its header says"},
        Damage{"flag",
               {{Kind::kDictionary, 2, kPlain, ""}, {.content = ""}},
               "a column of bools has a dictionary"},
        Damage{"flag", {{.encoding = kRle, .content = "\1"}}, "a page of bools is too short"},
        Damage{"flag",
               {{.encoding = kRle, .content = lengthAnd(9, "\1")}},
               "bools reach past the end of their page"},
        Damage{"flag", {{.content = "\1"}}, "a page holds fewer values than its header says"}));

TEST_F(DamagedPage, what_arrow_reads_and_cannot) {
  Page page{.encoding = kDelta, .content = std::string(40, '\xff')};
  EXPECT_NE(errorOf("number", page.bytes()).find("the column chunk does not decode: "),
            std::string::npos)
      << errorOf("number", page.bytes());
}

TEST_F(DamagedPage, headers_that_are_none) {
  EXPECT_NE(errorOf("number", std::string(16, '\xff')).find("a page header is not readable"),
            std::string::npos);
}

TEST_F(DamagedPage, bytes_that_do_not_decompress) {
  Page page{.content = std::string(40, '\xff'), .uncompressed = 800};
  EXPECT_NE(errorOf("number", page.bytes(), arrow::Compression::SNAPPY)
                .find("the page does not decompress (snappy)"),
            std::string::npos);
  for (auto codec : {arrow::Compression::ZSTD, arrow::Compression::GZIP}) {
    EXPECT_NE(errorOf("number", page.bytes(), codec).find("a page does not decompress ("),
              std::string::npos);
  }
}

} // namespace
} // namespace headrace::storage::testing
