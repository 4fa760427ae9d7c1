// Only what fits is converted; the rest is selected.
#include "passes/lower/code/saturate.h"

#include <cmath>

using namespace mlir;

namespace headrace::lower {

Value emitSaturated(CodeBuilder &builder, Value x, Type integers) {
  Location loc = builder.loc();
  unsigned bits = getElementTypeOrSelf(integers).getIntOrFloatBitWidth();
  auto constant = [&](Type type, auto attribute) -> Value {
    auto vector = dyn_cast<VectorType>(type);
    return arith::ConstantOp::create(builder, loc,
                                     vector ? TypedAttr(DenseElementsAttr::get(vector, attribute))
                                            : TypedAttr(attribute));
  };
  auto real = [&](double value) {
    return constant(x.getType(), builder.getFloatAttr(getElementTypeOrSelf(x.getType()), value));
  };
  auto integer = [&](const APInt &value) {
    return constant(integers, builder.getIntegerAttr(getElementTypeOrSelf(integers), value));
  };
  auto compare = [&](arith::CmpFPredicate predicate, double bound) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, x, real(bound));
  };
  auto select = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  };
  double limit = std::ldexp(1.0, static_cast<int>(bits) - 1); // exact; the first that does not fit
  Value below = compare(arith::CmpFPredicate::OLT, -limit);
  Value above = compare(arith::CmpFPredicate::OGE, limit);
  Value fits = select(compare(arith::CmpFPredicate::ULT, limit), x, real(0));
  fits = select(compare(arith::CmpFPredicate::OGE, -limit), fits, real(0)); // not for NaN
  Value result = arith::FPToSIOp::create(builder, loc, integers, fits);
  result = select(above, integer(APInt::getSignedMaxValue(bits)), result);
  return select(below, integer(APInt::getSignedMinValue(bits)), result);
}

} // namespace headrace::lower
