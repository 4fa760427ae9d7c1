// Sums of two doubles for `!frame.double_double` in generated code, and what variances make of them.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "runtime/base/double_double.h"

namespace headrace::analysis {

using headrace::Computing;
using headrace::DoubleDouble;
using headrace::packed;
using headrace::productOf;
using headrace::sumOf;
using headrace::unpacked;

/// On values of f64, by ops of `arith`.
struct Generating {
  using Number = mlir::Value;
  mlir::OpBuilder &b;
  mlir::Location at;

  mlir::Value add(mlir::Value x, mlir::Value y) const {
    return mlir::arith::AddFOp::create(b, at, x, y);
  }
  mlir::Value subtract(mlir::Value x, mlir::Value y) const {
    return mlir::arith::SubFOp::create(b, at, x, y);
  }
  mlir::Value multiply(mlir::Value x, mlir::Value y) const {
    return mlir::arith::MulFOp::create(b, at, x, y);
  }
  mlir::Value constant(double value) const {
    return mlir::arith::ConstantOp::create(b, at, b.getF64FloatAttr(value));
  }
  /// As `unpacked` and `packed`.
  DoubleDouble<mlir::Value> unpack(mlir::Value bits) const;
  mlir::Value pack(const DoubleDouble<mlir::Value> &parts) const;
};

template <class Number> struct Deviations {
  Number scaled; ///< count · (sum of squared deviations from the mean) = count · squares − sum²
  Number least;  ///< below this it is what rounding left of equal values
};

template <class On>
Deviations<typename On::Number> deviationsOf(const On &on, const DoubleDouble<typename On::Number> &sum,
                                     const DoubleDouble<typename On::Number> &squares,
                                     typename On::Number count) {
  auto scaled = productOf(on, squares.high, count);
  scaled.low = on.add(scaled.low, on.multiply(squares.low, count));
  auto square = productOf(on, sum.high, sum.high);
  auto cross = on.multiply(sum.high, sum.low);
  square.low = on.add(square.low, on.add(cross, cross));
  auto minus = on.constant(-1);
  constexpr double kNoise = 0x1p-96; // sums of 106 bits, of a million values and more
  return {sumOf(on, scaled, {on.multiply(square.high, minus), on.multiply(square.low, minus)}).high,
          on.multiply(scaled.high, on.constant(kNoise))};
}

} // namespace headrace::analysis
