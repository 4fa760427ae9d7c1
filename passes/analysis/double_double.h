// Sums of two doubles for `!frame.double_double` in generated code, and what variances make of
// them.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "runtime/base/double_double.h"

namespace headrace::analysis {

using headrace::Computing;
using headrace::DoubleDouble;
using headrace::nearestReal;
using headrace::packed;
using headrace::powerOfTenInTwoParts;
using headrace::productOf;
using headrace::quotientOf;
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
  mlir::Value divide(mlir::Value x, mlir::Value y) const {
    return mlir::arith::DivFOp::create(b, at, x, y);
  }
  mlir::Value constant(double value) const {
    return mlir::arith::ConstantOp::create(b, at, b.getF64FloatAttr(value));
  }
  /// As `unpacked` and `packed`.
  DoubleDouble<mlir::Value> unpack(mlir::Value bits) const;
  mlir::Value pack(const DoubleDouble<mlir::Value> &parts) const;
};

template <class Number> struct Deviations {
  Number scaled; ///< count · comoment = count · products − sum · other
  Number least;  ///< what is nearer to 0 is what rounding left of equal values
};

template <class On>
Deviations<typename On::Number>
deviationsOf(const On &on, const DoubleDouble<typename On::Number> &sum,
             const DoubleDouble<typename On::Number> &other,
             const DoubleDouble<typename On::Number> &products, typename On::Number count) {
  auto scaled = productOf(on, products.high, count);
  scaled.low = on.add(scaled.low, on.multiply(products.low, count));
  auto square = productOf(on, sum.high, other.high);
  auto cross = on.add(on.multiply(sum.high, other.low), on.multiply(sum.low, other.high));
  square.low = on.add(square.low, cross);
  auto minus = on.constant(-1);
  constexpr double kNoise = 0x1p-96; // sums of 106 bits, of a million values and more
  return {sumOf(on, scaled, {on.multiply(square.high, minus), on.multiply(square.low, minus)}).high,
          on.multiply(scaled.high, on.constant(kNoise))};
}

} // namespace headrace::analysis
