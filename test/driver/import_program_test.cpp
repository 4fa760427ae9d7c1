// Programs as text: what is none, and statistics for scans that have none.
#include "passes/driver/import_program.h"

#include "dialects/AllDialects.h"
#include "dialects/frame/FrameOps.h"

#include <gtest/gtest.h>

namespace headrace::driver {
namespace {

class ImportMlir : public testing::Test {
protected:
  ImportMlir() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    options.statistics["t"] = R"({"rows": 1000, "columns": {"a": {"min": 3, "max": 7}}})";
  }
  mlir::MLIRContext context;
  CompileOptions options;
  CompileError error;
};

TEST_F(ImportMlir, a_text_that_is_no_module_is_the_users_error) {
  EXPECT_FALSE(importMlir(&context, "func.func @main( {", options, error));
  EXPECT_EQ(error.kind, ErrorKind::kUser);
  EXPECT_NE(error.message, "");
}

TEST_F(ImportMlir, scans_get_statistics_that_they_do_not_have) {
  auto module = importMlir(&context, R"(func.func @main() {
    %0 = frame.scan "t" ["a"] : !frame.table<"a": i64>
    %1 = frame.scan "t" ["a"] {statistics = {rows = 5 : i64, columns = {}}} : !frame.table<"a": i64>
    %2 = frame.scan "u" ["a"] : !frame.table<"a": i64>
    return
  })",
                           options, error);
  ASSERT_TRUE(module) << error.message;
  std::vector<int64_t> rows;
  module->walk([&](frame::ScanOp scan) {
    auto known = scan.getStatistics();
    rows.push_back(known ? known->getAs<mlir::IntegerAttr>("rows").getInt() : -1);
  });
  EXPECT_EQ(rows, (std::vector<int64_t>{1000, 5, -1}));
}

TEST(ImportSql, errors_have_the_kind_and_the_place_of_the_importers) {
  import::ImportError refused;
  refused.kind = import::ImportError::Kind::kUnsupported;
  refused.message = "no such thing";
  refused.position = 7;
  refused.length = 3;
  const CompileError placed = compileError(refused);
  EXPECT_EQ(placed.kind, ErrorKind::kUnsupported);
  EXPECT_EQ(placed.message, "no such thing"); // its place is a number
  EXPECT_EQ(placed.position, 7u);
  EXPECT_EQ(placed.length, 3u);
  mlir::MLIRContext context;
  import::ImportError error;
  EXPECT_FALSE(importSql(&context, {SqlQuery::Format::kDuckdb, "{", "select 1"}, {}, error));
  EXPECT_FALSE(importSql(&context, {SqlQuery::Format::kSubstrait, "[]"}, {}, error));
  EXPECT_NE(error.text(), "");
}

} // namespace
} // namespace headrace::driver
