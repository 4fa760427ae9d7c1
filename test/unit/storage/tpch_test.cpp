// TPC-H files where there are any: HEADRACE_TPCH_DATA names a folder with lineitem.parquet.
#include "test/unit/storage/tables.h"

namespace headrace::storage::testing {
namespace {

TEST(Tpch, LineitemQ6) {
  const char *folder = std::getenv("HEADRACE_TPCH_DATA");
  if (!folder || !std::filesystem::exists(std::string(folder) + "/lineitem.parquet")) {
    GTEST_SKIP() << "HEADRACE_TPCH_DATA names no folder with lineitem.parquet";
  }
  const std::string path = std::string(folder) + "/lineitem.parquet";
  Storage storage;
  auto document = storage.statistics({path});
  ASSERT_TRUE(document.ok()) << document.status().toString();
  const nlohmann::json &columns = (*document)["columns"];
  EXPECT_EQ(columns["l_shipdate"]["type"], typeJson({LogicalKind::kDate}));
  EXPECT_EQ(columns["l_extendedprice"]["type"],
            nlohmann::json::parse(R"({"kind": "decimal", "precision": 15, "scale": 2})"));
  EXPECT_EQ(columns["l_quantity"]["distinct"], 50);
  EXPECT_EQ(columns["l_discount"]["max"], 10);

  plan::Slot slot;
  slot.columns = {{"l_quantity", {LogicalKind::kDecimal, 15, 2}, HR_I16},
                  {"l_extendedprice", {LogicalKind::kDecimal, 15, 2}, HR_I32},
                  {"l_discount", {LogicalKind::kDecimal, 15, 2}, HR_I8},
                  {"l_shipdate", {LogicalKind::kDate}, HR_I16},
                  {"l_comment", {LogicalKind::kString}, HR_STRING}};
  auto source = storage.scan(slot, {path}, *manifestFromJson((*document)["identity"]), {});
  ASSERT_TRUE(source.ok()) << source.status().toString();
  EXPECT_EQ((*source)->rows(), (*document)["rows"].get<uint64_t>());
  auto rows = readAll(**source, slot);
  ASSERT_TRUE(rows.ok()) << rows.status().toString();
  for (const std::string &text : (*rows)[4]) {
    ASSERT_GE(text.size(), 2u);
  }
  for (const std::string &text : (*rows)[0]) {
    int64_t quantity = std::stoll(text);
    ASSERT_TRUE(quantity >= 100 && quantity <= 5000 && quantity % 100 == 0);
  }
}

} // namespace
} // namespace headrace::storage::testing
