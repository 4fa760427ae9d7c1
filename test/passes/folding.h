// Ops that generate arithmetic, on constants: MLIR folds what they made, which tells what it
// computes.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <gtest/gtest.h>

namespace headrace {

class Folding : public testing::Test {
protected:
  Folding() : builder(&context) {
    context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect>();
    module = mlir::ModuleOp::create(location());
    builder.setInsertionPointToEnd(module->getBody());
    function =
        mlir::func::FuncOp::create(builder, location(), "main", builder.getFunctionType({}, {}));
    builder.setInsertionPointToEnd(function.addEntryBlock());
  }

  mlir::Location location() { return mlir::UnknownLoc::get(&context); }
  mlir::Value integer(int64_t value, unsigned bits = 64) {
    return constant(builder.getIntegerAttr(builder.getIntegerType(bits), value));
  }
  mlir::Value real(double value) { return constant(builder.getF64FloatAttr(value)); }
  mlir::Value constant(mlir::TypedAttr value) {
    return mlir::arith::ConstantOp::create(builder, location(), value);
  }

  /// What values that follow from constants are; null where one does not fold.
  llvm::SmallVector<mlir::TypedAttr> folded(mlir::ValueRange values) {
    auto end = mlir::func::ReturnOp::create(builder, location(), values);
    EXPECT_TRUE(
        succeeded(mlir::applyPatternsGreedily(function, mlir::RewritePatternSet(&context))));
    llvm::SmallVector<mlir::TypedAttr> constants;
    for (mlir::Value value : end.getOperands()) {
      mlir::TypedAttr found;
      EXPECT_TRUE(mlir::matchPattern(value, mlir::m_Constant(&found)));
      constants.push_back(found);
    }
    return constants;
  }
  llvm::SmallVector<int64_t> foldedIntegers(mlir::ValueRange values) {
    llvm::SmallVector<int64_t> numbers;
    for (mlir::TypedAttr constant : folded(values)) {
      auto integer = mlir::dyn_cast_or_null<mlir::IntegerAttr>(constant);
      EXPECT_TRUE(integer);
      numbers.push_back(integer ? integer.getValue().getSExtValue() : -1);
    }
    return numbers;
  }

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
};

} // namespace headrace
