// Rows of one rank, and of the fullest one, from the statistics of all.
#include "passes/analysis/fullest_share.h"
#include "passes/analysis/local_rows.h"

#include "dialects/AllDialects.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <gtest/gtest.h>

namespace headrace::analysis {
namespace {

/// A program on 2 × 4 ranks over a table of 8,000 rows with 40 keys.
class LocalRowsTest : public testing::Test {
protected:
  void parse(const std::string &body) {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<pipe::PipeDialect>(); // of the attributes
    const std::string text = R"(
!t = !frame.table<"k": i64>
!n = !frame.table<"k": i64, "n": i64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("node", 2), ("gpu", 4)]>} {
  func.func @main() {
    %t = frame.scan "t" ["k"] {dist.split = ["node", "gpu"], statistics = {rows = 8000 : i64,
        columns = {k = {min = 0 : i64, max = 1000000 : i64, distinct = 40 : i64}}}} : !t
    )" + body + "\n    return\n  }\n}";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    module->walk([&](mlir::Operation *op) {
      if (op->getNumResults() == 1) {
        tables.push_back(op->getResult(0));
      }
    });
  }
  /// What is expected of each table on a rank.
  std::vector<double> expected() {
    LocalRows rows(8);
    std::vector<double> each;
    for (mlir::Value table : tables) {
      each.push_back(rows.of(table).expected);
    }
    return each;
  }
  mlir::ArrayAttr names(std::vector<llvm::StringRef> of) {
    return mlir::Builder(&context).getStrArrayAttr(of);
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<mlir::Value> tables;
};

using Rows = std::vector<double>;

TEST_F(LocalRowsTest, ExchangesSpreadRowsAndBringThemTogether) {
  parse(R"(%0 = dist.exchange hash %t keys ["k"] over ["node", "gpu"] : !t
           %1 = dist.exchange broadcast %0 over ["gpu"] : !t
           %2 = dist.exchange gather %0 over ["node", "gpu"] : !t)");
  EXPECT_EQ(expected(), (Rows{1000, 1000, 4000, 8000}));
  EXPECT_EQ(LocalRows(8).of(tables[0]).min, 0); // nobody promises an even share
  EXPECT_EQ(LocalRows(8).everywhere(tables[0]).expected, 8000);
}

TEST_F(LocalRowsTest, AStepToOthersSpreadsOverAllWhoGetThem) {
  parse(R"(%0 = dist.exchange hash %t keys ["k"] over ["gpu"] toward ["node", "gpu"] : !t)");
  EXPECT_EQ(expected(), (Rows{1000, 1000}));
}

TEST_F(LocalRowsTest, ARankMaySeeAllGroupsAndTakesAllRowsOfALimit) {
  parse(
      R"(%0 = frame.aggregate stage partial %t keys ["k"] measures [#frame.measure<count_star -> "n">] : !t -> !n
           %1 = frame.limit %t offset 0 count 30 : !t)");
  EXPECT_EQ(expected(), (Rows{1000, 40, 30}));
  EXPECT_EQ(LocalRows(8).ratio(tables[1], tables[0]), 0.04);
}

TEST_F(LocalRowsTest, AttributesAreWholeNumbersInTheirOrder) {
  parse("");
  pipe::CardinalityAttr rows = LocalRows(8).attributeOf(tables[0]);
  EXPECT_EQ(rows.getMin(), 0u);
  EXPECT_EQ(rows.getExpected(), 1000u);
  EXPECT_GE(rows.getP95(), 1000u);
  EXPECT_EQ(rows.getMax(), 8000u); // all may be on one rank
}

TEST_F(LocalRowsTest, TheFullestRankHasTheMostOfTheBinomialCounts) {
  parse("");
  CardinalityAnalysis analysis;
  auto share = [&](double parts) {
    return fullestShare(analysis, tables[0], {mlir::StringAttr::get(&context, "k")}, parts);
  };
  // 40 values among 8 ranks: 1/8 and √(2 ln 8) deviations of √(1/8 · 7/8 / 40).
  EXPECT_DOUBLE_EQ(share(8), 1.0 / 8 + std::sqrt(2 * std::log(8)) * std::sqrt(7.0 / 64 / 40));
  EXPECT_EQ(share(1), 1);
  EXPECT_EQ(fullestShare(analysis, tables[0], {}, 8), 1.0 / 8);
  EXPECT_DOUBLE_EQ(LocalRows(8).fullest(tables[0], names({"k"}), names({"node", "gpu"})),
                   8 * share(8));
  EXPECT_DOUBLE_EQ(LocalRows(8).fullest(tables[0], names({"k"}), names({"gpu"})), 4 * share(4));
}

} // namespace
} // namespace headrace::analysis
