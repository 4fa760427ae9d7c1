// Numbers of operators travel in locations, through whatever passes fuse.
#include "passes/analysis/operator_location.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

namespace headrace::analysis {
namespace {

using Numbers = llvm::SmallVector<int32_t, 1>;

TEST(OperatorLocation, NumbersOfFusedOpsAreKeptInTheirOrder) {
  mlir::MLIRContext context;
  const mlir::Location place = mlir::FileLineColLoc::get(&context, "query", 3, 7);
  const mlir::Location first = withOperator(place, 5), second = withOperator(place, 2);
  auto named = [&](mlir::Location of) -> mlir::Location {
    return mlir::NameLoc::get(mlir::StringAttr::get(&context, "x"), of);
  };
  EXPECT_EQ(operatorsOf(place), Numbers());
  EXPECT_EQ(operatorOf(place), -1);
  EXPECT_EQ(operatorOf(first), 5);
  EXPECT_EQ(withoutOperator(first), place);
  EXPECT_EQ(withoutOperator(place), place);
  const mlir::Location fused =
      mlir::FusedLoc::get({first, place, second, withOperator(named(place), 5)}, {}, &context);
  EXPECT_EQ(operatorsOf(fused), (Numbers{5, 2}));
  EXPECT_EQ(operatorOf(fused), 5);
  EXPECT_EQ(operatorOf(named(second)), 2);
}

TEST(OperatorLocation, OtherMetadataIsNoNumber) {
  mlir::MLIRContext context;
  const mlir::Location place = mlir::UnknownLoc::get(&context);
  const mlir::Location named =
      mlir::FusedLoc::get({place}, mlir::StringAttr::get(&context, "note"), &context);
  EXPECT_EQ(operatorOf(named), -1);
  EXPECT_EQ(withoutOperator(named), named);
}

} // namespace
} // namespace headrace::analysis
