// Both functions rest on e^x - 1 = 2^n (1 + p(r)) - 1 with x = n ln 2 + r, |r| <= ln 2 / 2, p a
// Taylor polynomial.
#include "passes/lower/code/vector_math.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace headrace::lower {

namespace {

struct Format {
  int64_t mantissaBits;
  int64_t bias;
  int degree;            ///< first dropped term is below half a unit in the last place
  double ln2High;        ///< short enough that n * ln2High is exact
  double ln2Low;         ///< ln 2 - ln2High
  double roundToInt;     ///< 1.5 * 2^mantissaBits: adding it rounds to the nearest integer
  double expMin, expMax; ///< beyond these e^x is 0 or infinity
  double tanhMax;        ///< from here on tanh is 1
};
constexpr Format kF32{23, 127, 7, 0x1.62ep-1, 0x1.0bfbe8e7bcd5ep-15, 0x1.8p23, -104, 89, 10};
constexpr Format kF64{52,   1023, 13, 0x1.62e42fefa2p-1, 0x1.9ef35793c7673p-41, 0x1.8p52,
                      -746, 710,  20};

/// Arithmetic on one value type. Products may be contracted into additions, nothing else is
/// reordered.
class Arithmetic {
public:
  Arithmetic(CodeBuilder &builder, Type type)
      : b_(builder), type_(type), format_(getElementTypeOrSelf(type).isF32() ? kF32 : kF64),
        integers_(
            withElement(b_.getIntegerType(getElementTypeOrSelf(type).getIntOrFloatBitWidth()))) {}

  const Format &format() const { return format_; }
  Value real(double value) {
    return arith::ConstantOp::create(
        b_, b_.loc(), splat(type_, b_.getFloatAttr(getElementTypeOrSelf(type_), value)));
  }
  Value integer(int64_t value) {
    return arith::ConstantOp::create(
        b_, b_.loc(), splat(integers_, b_.getIntegerAttr(getElementTypeOrSelf(integers_), value)));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b_, b_.loc(), x, y, contract()); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b_, b_.loc(), x, y, contract()); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b_, b_.loc(), x, y, contract()); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b_, b_.loc(), x, y); }
  /// NaN stays NaN.
  Value clamp(Value x, double low, double high) {
    x = arith::MaximumFOp::create(b_, b_.loc(), x, real(low));
    return arith::MinimumFOp::create(b_, b_.loc(), x, real(high));
  }

  struct Reduced {
    Value n;          ///< integers
    Value polynomial; ///< e^r - 1
  };
  Reduced reduce(Value x) {
    Value magic = real(format_.roundToInt);
    // No contraction here: the rounding of this sum is the point.
    Value scaled = arith::MulFOp::create(b_, b_.loc(), x, real(0x1.71547652b82fep+0));
    Value shifted = arith::AddFOp::create(b_, b_.loc(), scaled, magic);
    Value whole = arith::SubFOp::create(b_, b_.loc(), shifted, magic);
    Value n = arith::SubIOp::create(b_, b_.loc(), bits(shifted), bits(magic));
    Value r = sub(sub(x, mul(whole, real(format_.ln2High))), mul(whole, real(format_.ln2Low)));
    double factorial = 1;
    for (int k = 2; k <= format_.degree; ++k) {
      factorial *= k;
    }
    Value sum = real(1 / factorial);
    for (int k = format_.degree; k > 2; --k) {
      factorial /= k;
      sum = add(mul(sum, r), real(1 / factorial));
    }
    return {n, add(mul(mul(r, r), sum), r)};
  }
  /// 2^k for k within the normal numbers.
  Value power(Value k) {
    Value biased = arith::AddIOp::create(b_, b_.loc(), k, integer(format_.bias));
    Value shifted = arith::ShLIOp::create(b_, b_.loc(), biased, integer(format_.mantissaBits));
    return arith::BitcastOp::create(b_, b_.loc(), type_, shifted);
  }
  Value half(Value k) { return arith::ShRSIOp::create(b_, b_.loc(), k, integer(1)); }

private:
  arith::FastMathFlagsAttr contract() {
    return arith::FastMathFlagsAttr::get(b_.getContext(), arith::FastMathFlags::contract);
  }
  Type withElement(Type element) {
    auto vector = dyn_cast<VectorType>(type_);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value bits(Value x) { return arith::BitcastOp::create(b_, b_.loc(), integers_, x); }
  static TypedAttr splat(Type type, Attribute value) {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? TypedAttr(DenseElementsAttr::get(vector, value)) : cast<TypedAttr>(value);
  }

  CodeBuilder &b_;
  Type type_;
  const Format &format_;
  Type integers_;
};

} // namespace

Value emitExp(CodeBuilder &builder, Value x) {
  Arithmetic a(builder, x.getType());
  auto [n, polynomial] = a.reduce(a.clamp(x, a.format().expMin, a.format().expMax));
  // Two steps, so that results near the ends of the range do not pass through an infinite or zero
  // power.
  Value lower = a.half(n);
  Value upper = arith::SubIOp::create(builder, builder.loc(), n, lower);
  return a.mul(a.mul(a.add(a.real(1), polynomial), a.power(lower)), a.power(upper));
}

Value emitTanh(CodeBuilder &builder, Value x) {
  Arithmetic a(builder, x.getType());
  Value magnitude = math::AbsFOp::create(builder, builder.loc(), x);
  Value doubled = a.mul(a.clamp(magnitude, 0, a.format().tanhMax), a.real(2));
  auto [n, polynomial] = a.reduce(doubled);
  // tanh y = (e^2y - 1) / (e^2y + 1); e^2y - 1 without cancellation where y is small.
  Value power = a.power(n);
  Value expMinusOne = a.add(a.mul(polynomial, power), a.sub(power, a.real(1)));
  Value result = a.div(expMinusOne, a.add(expMinusOne, a.real(2)));
  return math::CopySignOp::create(builder, builder.loc(), result, x);
}

} // namespace headrace::lower
