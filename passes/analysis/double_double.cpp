// The two doubles of a column's 128 bits, in generated code.
#include "passes/analysis/double_double.h"

using namespace mlir;

namespace headrace::analysis {

DoubleDouble<Value> Generating::unpack(Value bits) const {
  Type narrow = b.getI64Type(), real = b.getF64Type();
  Value shift = arith::ConstantOp::create(b, at, b.getIntegerAttr(bits.getType(), 64));
  Value upper = arith::ShRUIOp::create(b, at, bits, shift);
  auto part = [&](Value half) -> Value {
    return arith::BitcastOp::create(b, at, real, arith::TruncIOp::create(b, at, narrow, half));
  };
  return {part(upper), part(bits)};
}

Value Generating::pack(const DoubleDouble<Value> &parts) const {
  Type wide = b.getIntegerType(128);
  auto half = [&](Value part) -> Value {
    Value bits = arith::BitcastOp::create(b, at, b.getI64Type(), part);
    return arith::ExtUIOp::create(b, at, wide, bits);
  };
  Value shift = arith::ConstantOp::create(b, at, b.getIntegerAttr(wide, 64));
  return arith::OrIOp::create(b, at, arith::ShLIOp::create(b, at, half(parts.high), shift),
                              half(parts.low));
}

} // namespace headrace::analysis
