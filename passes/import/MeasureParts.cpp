// What measures of any front end are made of: conditions become CASEs, variances sums and a count.
#include "passes/import/MeasureParts.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

/// `value` where the condition is true, else NULL; an absent value is 1.
static BuildExpression guarded(const BuildExpression &condition,
                               const std::optional<Computed> &value, Location at) {
  return [=](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression guard = condition(b);
    if (failed(guard)) {
      return failure();
    }
    MaybeExpression counted =
        value ? value->build(b) : b.integer(1, IntegerType::get(b.getContext(), 64), at);
    return failed(counted) ? counted : b.choose(*guard, *counted, nullptr, at);
  };
}

/// A number as a double (by 1.0), or its square, with all digits.
static BuildExpression exactly(const BuildExpression &build, bool squared, Location at) {
  return [=](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression value = build(b);
    if (failed(value)) {
      return failure();
    }
    if (!frame::isNumeric(value->type())) {
      return b.fail(at, "a variance needs numbers");
    }
    Type f64 = Float64Type::get(b.getContext());
    MaybeExpression real = b.cast(*value, f64, at);
    if (failed(real)) {
      return failure();
    }
    return b.exactProduct(*real, squared ? *real : b.constant(FloatAttr::get(f64, 1.0), f64, at),
                          at);
  };
}

/// The value of a spread from its sums.
static MaybeExpression spreadOf(ExpressionBuilder &b, MeasureRequest::Spread spread,
                                const Expression &sum, const Expression &squares,
                                const Expression &count, Location at) {
  using Arithmetic = ExpressionBuilder::Arithmetic;
  Type f64 = Float64Type::get(b.getContext()), i64 = IntegerType::get(b.getContext(), 64);
  auto real = [&](double value) { return b.constant(FloatAttr::get(f64, value), f64, at); };
  auto compute = [&](Arithmetic op, const Expression &lhs, const Expression &rhs) {
    return *b.arithmetic(op, lhs, rhs, f64, at); // numbers both
  };
  Expression around = b.squaredDeviations(sum, squares, count, at);
  Expression n = *b.cast(count, f64, at);
  Expression divisor = spread.sample ? compute(Arithmetic::kSubtract, n, real(1)) : n;
  Expression value = compute(Arithmetic::kDivide, around, divisor);
  if (spread.root) {
    value = *b.number(frame::NumberFunction::Sqrt, value, std::nullopt, f64, at);
  }
  // Too few values have none.
  MaybeExpression enough =
      b.compare(frame::CompareKind::Ge, count, b.integer(spread.sample ? 2 : 1, i64, at), at);
  return b.choose(*enough, value, nullptr, at);
}

void MeasureParts::addPart(frame::AggregateFunction function, std::optional<Computed> argument,
                           Type type, Location at) {
  std::optional<size_t> position;
  if (argument) {
    position = inputs_.size();
    inputs_.push_back(std::move(*argument));
  }
  parts_.push_back({function, position, type, at});
}

void MeasureParts::add(const MeasureRequest &measure) {
  wholes_.push_back({parts_.size(), measure.spread});
  frame::AggregateFunction function = measure.function;
  std::optional<Computed> argument = measure.argument;
  if (measure.condition) {
    argument = Computed{std::nullopt, "filtered",
                        guarded(measure.condition, measure.argument, measure.at)};
    if (function == frame::AggregateFunction::CountStar) {
      function = frame::AggregateFunction::Count; // of a 1 where the condition is true
    }
  }
  if (!measure.spread) {
    addPart(function, argument, measure.type, measure.at);
    return;
  }
  ++spreads_;
  Computed value{std::nullopt, "value", exactly(argument->build, /*squared=*/false, measure.at)};
  Computed square{std::nullopt, "square", exactly(argument->build, /*squared=*/true, measure.at)};
  addPart(frame::AggregateFunction::Sum, value, Type(), measure.at);
  addPart(frame::AggregateFunction::Sum, square, Type(), measure.at);
  parts_.push_back(
      {frame::AggregateFunction::Count, parts_[parts_.size() - 2].input, Type(), measure.at});
}

FailureOr<Type> MeasureParts::typeOf(const Part &part, Type input, frame::Grouping grouping,
                                     ImportContext &context) {
  Type type = frame::measureType(part.function, input, grouping, context.getContext());
  if (!type) {
    return context.fail(part.at, "unsupported input type of " +
                                     frame::stringifyAggregateFunction(part.function));
  }
  return part.type
             ? frame::withNullability(frame::dropNullable(part.type), frame::nullabilityOf(type))
             : type;
}

Computed MeasureParts::finished(size_t measure, int64_t firstField, Location at) const {
  const Whole &whole = wholes_[measure];
  int64_t field = firstField + static_cast<int64_t>(whole.firstPart);
  if (!whole.spread) {
    return {field, {}, {}};
  }
  MeasureRequest::Spread spread = *whole.spread;
  return {std::nullopt, spread.root ? "stddev" : "variance",
          [=](ExpressionBuilder &b) -> MaybeExpression {
            return spreadOf(b, spread, *b.field(field, at), *b.field(field + 1, at),
                            *b.field(field + 2, at), at);
          }};
}
