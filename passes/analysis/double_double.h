// Sums of two doubles for `!frame.double_double` in generated code.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "runtime/base/double_double.h"

namespace headrace::analysis {

using headrace::Computing;
using headrace::deviationsOf;
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

} // namespace headrace::analysis
