// What stands behind the path in an address, and columns of one value.
#include "runtime/storage/columns/given_columns.h"

#include "runtime/abi/kernel.h"

#include <gtest/gtest.h>

namespace headrace::storage {
namespace {

constexpr const char *kReader = R"(?{"format":"parquet","given":[
  {"name":"year","type":{"kind":"i64"},"value":2024},
  {"name":"day","type":{"kind":"date"},"value":null},
  {"name":"file","type":{"kind":"string"},"value":"b"}]})";

GivenColumns given() { return *GivenColumns::of(Address::of(std::string("x") + kReader)->reader); }

plan::Bound boundOf(const char *column, plan::BoundKind op, int64_t integer,
                    const char *text = "") {
  plan::Bound bound;
  bound.column = column;
  bound.op = op;
  bound.integer = integer;
  bound.text = text;
  return bound;
}

TEST(GivenColumns, AnAddressIsAPathAndWhatItsBytesMean) {
  EXPECT_EQ(Address::of("a?b.parquet")->path, "a?b.parquet");
  EXPECT_TRUE(Address::of("a?b.parquet")->reader.is_null());
  EXPECT_EQ(Address::of(std::string("a?b") + kReader)->path, "a?b");
  EXPECT_FALSE(Address::of(std::string("a") + kReader)->isCsv());
  EXPECT_TRUE(Address::of(R"(a?{"format":"csv"})")->isCsv());
  EXPECT_EQ(Address::of(R"(a?{"format":"csv")").status().message(),
            R"(what a file means is not JSON: {"format":"csv")");
}

TEST(GivenColumns, RulesOutWhatNoRowSatisfies) {
  using plan::BoundKind;
  EXPECT_TRUE(given().canSatisfy({boundOf("year", BoundKind::kEq, 2024)}));
  EXPECT_TRUE(given().canSatisfy({boundOf("year", BoundKind::kLe, 2024)}));
  EXPECT_FALSE(given().canSatisfy({boundOf("year", BoundKind::kLt, 2024)}));
  EXPECT_FALSE(given().canSatisfy({boundOf("year", BoundKind::kGe, 2025)}));
  EXPECT_FALSE(given().canSatisfy(
      {boundOf("other", BoundKind::kEq, 1), boundOf("year", BoundKind::kGt, 2024)}));
  EXPECT_FALSE(given().canSatisfy({boundOf("day", BoundKind::kLt, 1)})); // NULL
  EXPECT_TRUE(given().canSatisfy({boundOf("file", BoundKind::kGt, 0, "a")}));
  EXPECT_FALSE(given().canSatisfy({boundOf("file", BoundKind::kEq, 0, "c")}));
}

TEST(GivenColumns, DescribesWhatSeveralFilesAreGiven) {
  GivenColumns one = given(), other = given();
  other.columns[0].value = 2023;
  other.columns[1].value = 7;
  nlohmann::json columns = {{"day", {{"index", 0}}}, {"k", {{"index", 1}}}};
  nlohmann::json unsupported = {{"file", "a map"}};
  describeGiven({{10, &one}, {5, &other}}, columns, unsupported);
  EXPECT_TRUE(unsupported.empty());
  EXPECT_EQ(columns["day"]["index"], 0);
  EXPECT_EQ(columns["day"]["nulls"], 10);
  EXPECT_EQ(columns["day"]["nullable"], true);
  EXPECT_EQ(columns["year"]["index"], 3);
  EXPECT_EQ(columns["year"]["min"], 2023);
  EXPECT_EQ(columns["year"]["max"], 2024);
  EXPECT_EQ(columns["year"]["distinct"], 2);
  EXPECT_EQ(columns["year"]["nullable"], false);
  EXPECT_EQ(columns["file"]["average_bytes"], 1);
}

} // namespace
} // namespace headrace::storage
