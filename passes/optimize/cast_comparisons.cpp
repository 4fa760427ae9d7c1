// Comparisons of casts with constants. A cast to a larger type never changes the order of two
// values, so those whose cast is below a constant are those below a value of their own type, which
// is found by halving that type's range.
#include "passes/optimize/cast_comparisons.h"
#include "dialects/frame/FrameConstants.h"
#include "passes/analysis/expression_ranges.h"
#include "passes/analysis/ranges.h"
#include "passes/analysis/scalar_evaluation.h"
#include "passes/optimize/expressions.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::frame;
using namespace headrace::optimize;
using analysis::Int128;
using analysis::Scalar;

namespace {

/// Whether the cast keeps order, and never fails (a timestamp has no place for dates that are
/// 290,000 years away: they compare as what they are).
bool keepsOrder(Type from, Type to) {
  if (isTemporal(from)) {
    return isDate(from) ? isTimestamp(to)
                        : isTemporal(to) && scaleOf(from) <= scaleOf(to) &&
                              isTime(from) == isTime(to) && !isDate(to);
  }
  // One more than the greatest value must be a number, too.
  return ((isInteger(from) && integerBits(from) < 128) || isDecimal(from)) && isWidening(from, to);
}

/// The values of the cast's operand in the order of its results.
class CastOrder {
public:
  explicit CastOrder(CastOp cast)
      : cast_(cast), to_(cast.getResult().getType()),
        all_(*analysis::rangeOfType(cast.getOperand().getType())) {}

  /// The least value whose cast is not below (or, behind it, is above) the constant; one past the
  /// type's largest if there is none.
  Int128 firstNotBelow(const Scalar &constant) const {
    return first([&](int order) { return order >= 0; }, constant);
  }
  Int128 firstAbove(const Scalar &constant) const {
    return first([&](int order) { return order > 0; }, constant);
  }
  Int128 low() const { return all_.low; }
  Int128 high() const { return all_.high; }

private:
  Int128 first(llvm::function_ref<bool(int)> holds, const Scalar &constant) const {
    Int128 low = all_.low, high = all_.high + 1;
    while (low < high) {
      Int128 middle = (low & high) + ((low ^ high) >> 1); // the sum may not fit
      if (holds(orderOf(middle, constant))) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  int orderOf(Int128 value, const Scalar &constant) const {
    analysis::Evaluated result = analysis::evaluateOp(cast_, Scalar{value});
    if (result.failed()) { // too small, too large for the type, but finite
      bool ofInfinity = isInfinite(constant.integer(), to_);
      bool isLess = ofInfinity ? constant.integer() > 0 : value < 0;
      return isLess ? -1 : 1;
    }
    return analysis::compareScalars(result.value, constant);
  }

  CastOp cast_;
  Type to_;
  analysis::Range all_;
};

std::optional<Scalar> constantOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant) {
    return std::nullopt;
  }
  Scalar scalar = analysis::scalarOf(constant.getValue(), value.getType());
  return scalar.isNull() ? std::nullopt : std::optional(scalar);
}

/// Makes comparisons of one value with constants of its type.
class Comparison {
public:
  Comparison(OpBuilder &builder, Location location, Value value, Type wanted)
      : b_(builder), location_(location), value_(value), wanted_(wanted) {}

  /// The comparison, or nothing if the constant is no value of the type.
  Value with(CompareKind kind, Int128 constant) {
    Type type = dropNullable(value_.getType());
    Attribute literal = analysis::literalOf(Scalar{constant}, type);
    if (!literal) {
      return {};
    }
    Value limit = ConstantOp::create(b_, location_, type, literal);
    Type truth = withNullability(b_.getI1Type(), nullabilityOf(value_.getType()));
    return typed(CompareOp::create(b_, location_, truth, kind, value_, limit));
  }

  /// For every value `truth`, for NULL NULL.
  Value always(bool truth) {
    if (isNullable(value_.getType())) {
      return {};
    }
    Attribute literal = analysis::literalOf(Scalar::boolean(truth), wanted_);
    return ConstantOp::create(b_, location_, wanted_, literal);
  }

private:
  Value typed(Value truth) {
    return truth.getType() == wanted_ ? truth
                                      : CastOp::create(b_, location_, wanted_, truth).getResult();
  }

  OpBuilder &b_;
  Location location_;
  Value value_;
  Type wanted_;
};

} // namespace

Value headrace::optimize::compareUncast(OpBuilder &builder, CompareOp compare) {
  CompareKind kind = compare.getKind();
  auto cast = compare.getLhs().getDefiningOp<CastOp>();
  std::optional<Scalar> constant = constantOf(compare.getRhs());
  if (!cast || !constant) {
    kind = analysis::mirrored(kind);
    cast = compare.getRhs().getDefiningOp<CastOp>();
    constant = constantOf(compare.getLhs());
  }
  if (!cast || cast.getOrNull() || !constant || kind == CompareKind::IsNotDistinctFrom ||
      !keepsOrder(cast.getOperand().getType(), cast.getResult().getType())) {
    return {};
  }
  CastOrder order(cast);
  Comparison value(builder, compare.getLoc(), cast.getOperand(), compare.getResult().getType());
  Int128 begin = order.firstNotBelow(*constant), end = order.firstAbove(*constant);
  // Values below `limit`, or from it on.
  auto split = [&](Int128 limit, bool below) {
    if (limit == order.low() || limit > order.high()) {
      return value.always(below == (limit != order.low()));
    }
    return value.with(below ? CompareKind::Lt : CompareKind::Ge, limit);
  };
  switch (kind) {
  case CompareKind::Lt:
    return split(begin, true);
  case CompareKind::Le:
    return split(end, true);
  case CompareKind::Gt:
    return split(end, false);
  case CompareKind::Ge:
    return split(begin, false);
  case CompareKind::Eq:
  case CompareKind::Ne:
    if (begin == end) {
      return value.always(kind == CompareKind::Ne);
    }
    return end - begin == 1 ? value.with(kind, begin) : Value();
  case CompareKind::IsNotDistinctFrom:
    break;
  }
  return {};
}

Value headrace::optimize::compareUncast(OpBuilder &builder, InOp in) {
  auto cast = in.getOperand().getDefiningOp<CastOp>();
  if (!cast || cast.getOrNull() ||
      !keepsOrder(cast.getOperand().getType(), cast.getResult().getType())) {
    return {};
  }
  CastOrder order(cast);
  Type type = dropNullable(cast.getOperand().getType());
  SmallVector<Attribute> values;
  for (Attribute literal : in.getValues()) {
    Scalar value = analysis::scalarOf(literal, in.getOperand().getType());
    Int128 begin = order.firstNotBelow(value), end = order.firstAbove(value);
    if (end - begin > 1) {
      return {};
    }
    if (begin != end) {
      values.push_back(analysis::literalOf(Scalar{begin}, type));
    }
  }
  Type truth = withNullability(builder.getI1Type(), nullabilityOf(cast.getOperand().getType()));
  if (values.empty() || truth != in.getResult().getType()) {
    return {};
  }
  return InOp::create(builder, in.getLoc(), truth, cast.getOperand(), builder.getArrayAttr(values));
}
