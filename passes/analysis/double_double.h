// Arithmetic on the unevaluated sum of two doubles (Dekker 1971), for `!frame.double_double`:
// written once for numbers and for the code that is generated. Without fused multiply-add, so that
// every instruction set gives the same bits. A part that is infinite makes the whole NaN.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace headrace::analysis {

template <class Number> struct DoubleDouble {
  Number high, low;
};

/// On doubles.
struct Computing {
  using Number = double;
  static double add(double a, double b) { return a + b; }
  static double subtract(double a, double b) { return a - b; }
  static double multiply(double a, double b) { return a * b; }
  static double constant(double value) { return value; }
};

/// From and to the 128 bits of a column: the greater part in the upper half.
DoubleDouble<double> unpacked(__int128 bits);
__int128 packed(const DoubleDouble<double> &parts);

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

/// The same sum with the greater part rounded from it; |high| >= |low|.
template <class On>
DoubleDouble<typename On::Number> renormalized(const On &on, typename On::Number high,
                                               typename On::Number low) {
  auto sum = on.add(high, low);
  return {sum, on.subtract(low, on.subtract(sum, high))};
}

template <class On>
DoubleDouble<typename On::Number> sumOf(const On &on, const DoubleDouble<typename On::Number> &a,
                                        const DoubleDouble<typename On::Number> &b) {
  auto sum = on.add(a.high, b.high);
  auto second = on.subtract(sum, a.high);
  auto lost = on.add(on.subtract(a.high, on.subtract(sum, second)), on.subtract(b.high, second));
  return renormalized(on, sum, on.add(lost, on.add(a.low, b.low)));
}

/// The exact product of two doubles, unless it leaves their range.
template <class On>
DoubleDouble<typename On::Number> productOf(const On &on, typename On::Number a,
                                            typename On::Number b) {
  using Number = typename On::Number;
  constexpr double kSplitter = 134217729; // 2^27 + 1: halves of 26 bits
  auto upper = [&](Number x) {
    Number scaled = on.multiply(x, on.constant(kSplitter));
    return on.subtract(scaled, on.subtract(scaled, x));
  };
  Number product = on.multiply(a, b), aHigh = upper(a), bHigh = upper(b);
  Number aLow = on.subtract(a, aHigh), bLow = on.subtract(b, bHigh);
  Number lost = on.subtract(on.multiply(aHigh, bHigh), product);
  lost = on.add(lost, on.multiply(aHigh, bLow));
  lost = on.add(lost, on.multiply(aLow, bHigh));
  return {product, on.add(lost, on.multiply(aLow, bLow))};
}

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
