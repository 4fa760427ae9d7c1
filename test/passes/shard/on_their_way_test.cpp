// Exchanges of several steps: who has arrived, and who goes on.
#include "passes/shard/on_their_way.h"

#include "dialects/AllDialects.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace headrace::shard {
namespace {

/// Of each exchange of a function of a table on 2 × 4 ranks: "arrived", "goes on", both or none.
std::vector<std::string> stepsOf(const std::string &body) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  const std::string text = R"(
!t = !frame.table<"k": i64>
!n = !frame.table<"k": i64, "n": i64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("node", 2), ("gpu", 4)]>} {
  func.func @main(%t: !t, %n: !n) {
)" + body + "\n    return\n  }\n}";
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  std::vector<std::string> steps;
  EXPECT_TRUE(module) << text;
  module->walk([&](dist::ExchangeOp exchange) {
    const bool arrived = haveArrived(exchange), on = goOn(exchange);
    steps.push_back(arrived && on ? "both" : arrived ? "arrived" : on ? "goes on" : "none");
  });
  return steps;
}

using Steps = std::vector<std::string>;

TEST(OnTheirWay, OneStepArrives) {
  // Nobody uses its rows: so all of nobody bring them further.
  EXPECT_EQ(stepsOf(R"(%0 = dist.exchange hash %t keys ["k"] over ["node", "gpu"] : !t
                       %1 = dist.exchange gather %0 over ["node", "gpu"] : !t)"),
            (Steps{"arrived", "both"}));
}

TEST(OnTheirWay, TheSecondOfTwoStepsArrives) {
  EXPECT_EQ(stepsOf(R"(
    %0 = dist.exchange hash %t keys ["k"] over ["gpu"] toward ["node", "gpu"] : !t
    %1 = dist.exchange hash %0 keys ["k"] over ["node"] toward ["node", "gpu"] : !t
    %2 = dist.exchange gather %1 over ["node", "gpu"] : !t)"),
            (Steps{"goes on", "arrived", "both"}));
}

TEST(OnTheirWay, GroupsMayBeCombinedBetweenSteps) {
  EXPECT_EQ(stepsOf(R"(
    %0 = dist.exchange hash %n keys ["k"] over ["gpu"] toward ["node", "gpu"] : !n
    %1 = frame.aggregate stage final %0 keys ["k"] measures [#frame.measure<count("n") -> "n">] : !n -> !n
    %2 = dist.exchange hash %1 keys ["k"] over ["node"] toward ["node", "gpu"] : !n
    %3 = dist.exchange gather %2 over ["node", "gpu"] : !n)"),
            (Steps{"goes on", "arrived", "both"}));
}

TEST(OnTheirWay, OtherOpsAndOtherKeysEndTheWay) {
  const char *const first = R"(
    %0 = dist.exchange hash %n keys ["k"] over ["gpu"] toward ["node", "gpu"] : !n)";
  EXPECT_EQ(stepsOf(std::string(first) + R"(
    %1 = dist.exchange hash %0 keys ["n"] over ["node"] toward ["node", "gpu"] : !n
    %2 = dist.exchange gather %1 over ["node", "gpu"] : !n)"),
            (Steps{"none", "none", "both"}));
  EXPECT_EQ(stepsOf(std::string(first) + R"(
    %1 = frame.limit %0 offset 0 count 3 : !n
    %2 = dist.exchange hash %1 keys ["k"] over ["node"] toward ["node", "gpu"] : !n
    %3 = dist.exchange gather %2 over ["node", "gpu"] : !n)"),
            (Steps{"none", "none", "both"}));
}

} // namespace
} // namespace headrace::shard
