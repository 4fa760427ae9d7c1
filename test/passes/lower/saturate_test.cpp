// Floats to integers: toward zero, and what does not fit to the nearest that does.
#include "passes/lower/code/saturate.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "test/passes/folding.h"

#include <cmath>
#include <limits>

namespace headrace::lower {
namespace {

class Saturate : public Folding {
protected:
  Saturate() {
    context.loadDialect<mlir::LLVM::LLVMDialect>();
    mlir::OpBuilder outside(&context);
    outside.setInsertionPointToEnd(module->getBody());
    auto type = mlir::LLVM::LLVMFunctionType::get(mlir::LLVM::LLVMVoidType::get(&context), {});
    kernel = mlir::LLVM::LLVMFuncOp::create(outside, location(), "kernel", type);
    kernel.addEntryBlock(outside);
  }
  /// Of values in the function whose constants fold.
  llvm::SmallVector<int64_t> integersOf(llvm::ArrayRef<double> values, unsigned bits) {
    CodeBuilder code(kernel, location());
    code.setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
    llvm::SmallVector<mlir::Value> made;
    for (double value : values) {
      made.push_back(emitSaturated(code, real(value), builder.getIntegerType(bits)));
    }
    return foldedIntegers(made);
  }
  mlir::LLVM::LLVMFuncOp kernel;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_F(Saturate, Narrow) {
  EXPECT_EQ(
      integersOf({1.9, -1.9, 127, 127.5, 128, -128.9, -129, kInfinity, -kInfinity, NAN, -0.0}, 8),
      (llvm::SmallVector<int64_t>{1, -1, 127, 127, 127, -128, -128, 127, -128, 0, 0}));
}

TEST_F(Saturate, WiderThanAFloatIsExact) {
  const double below = std::nextafter(0x1p63, 0);
  EXPECT_EQ(integersOf({0x1p63, below, -0x1p63, -0x1p64, 1e300, NAN}, 64),
            (llvm::SmallVector<int64_t>{INT64_MAX, static_cast<int64_t>(below), INT64_MIN,
                                        INT64_MIN, INT64_MAX, 0}));
}

} // namespace
} // namespace headrace::lower
