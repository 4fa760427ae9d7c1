// What measures of any front end are made of: conditions become CASEs, variances sums and a count.
#include "passes/import/MeasureParts.h"

#include "passes/import/Deviations.h"
#include "passes/import/Moments.h"
#include "runtime/base/text_functions.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

using Function = frame::AggregateFunction;

/// Sums of months, days and microseconds, and how many there are.
static constexpr int64_t kPartsOfIntervals = 4;

/// `value` where the condition is true, else NULL.
static BuildExpression guarded(const BuildExpression &condition, const BuildExpression &value,
                               Location at) {
  return [=](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression guard = condition(b), counted = value(b);
    if (failed(guard) || failed(counted)) {
      return failure();
    }
    return b.choose(*guard, *counted, nullptr, at);
  };
}

static MaybeExpression one(ExpressionBuilder &b, Location at) {
  return b.integer(1, IntegerType::get(b.getContext(), 64), at);
}

/// A number as a double.
static BuildExpression asReal(const BuildExpression &build, Location at) {
  return [=](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression value = build(b);
    if (failed(value)) {
      return failure();
    }
    if (!frame::isNumeric(value->type())) {
      return b.fail(at, "a variance needs numbers");
    }
    return b.cast(*value, Float64Type::get(b.getContext()), at);
  };
}

/// The product of two doubles with all its digits; of one alone, itself.
static BuildExpression exactly(const BuildExpression &lhs, const BuildExpression &rhs,
                               Location at) {
  return [=](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression value = lhs(b);
    if (failed(value)) {
      return failure();
    }
    Type f64 = Float64Type::get(b.getContext());
    MaybeExpression by = rhs ? rhs(b) : b.constant(FloatAttr::get(f64, 1.0), f64, at);
    return failed(by) ? by : b.exactProduct(*value, *by, at);
  };
}

/// Of two doubles, as a double.
static BuildExpression productOf(const BuildExpression &lhs, const BuildExpression &rhs,
                                 Location at) {
  return [=](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression x = lhs(b), y = rhs(b);
    Type f64 = Float64Type::get(b.getContext());
    return failed(x) || failed(y)
               ? MaybeExpression(failure())
               : b.arithmetic(ExpressionBuilder::Arithmetic::kMultiply, *x, *y, f64, at);
  };
}

size_t MeasureParts::addPart(Function function, Computed argument, Type type, Location at) {
  size_t input = inputs_.size();
  inputs_.push_back(std::move(argument));
  parts_.push_back({function, input, type, at});
  return input;
}

void MeasureParts::addSums(const MeasureRequest &measure) {
  Location at = measure.at;
  auto sum = [&](StringRef name, const BuildExpression &value) {
    return addPart(Function::Sum, {std::nullopt, name.str(), value}, Type(), at);
  };
  BuildExpression last = asReal(measure.arguments.back().build, at);
  if (measure.arguments.size() == 1) {
    size_t values = sum("value", exactly(last, {}, at));
    sum("square", exactly(last, last, at));
    if (measure.formula->powers) {
      BuildExpression square = productOf(last, last, at);
      values = sum("real", last);
      sum("real_square", square);
      sum("cube", productOf(square, last, at));
      sum("fourth", productOf(square, square, at));
    }
    parts_.push_back({Function::Count, values, Type(), at});
    return;
  }
  // Of SQL's (y, x); each is NULL where the other is.
  BuildExpression first = asReal(measure.arguments.front().build, at);
  auto beside = [&](const BuildExpression &value, const BuildExpression &other) {
    BuildExpression isKnown = [=](ExpressionBuilder &b) -> MaybeExpression {
      MaybeExpression known = other(b);
      return failed(known) ? known : b.isNotNull(*known, at);
    };
    return guarded(isKnown, value, at);
  };
  BuildExpression x = beside(last, first), y = beside(first, last);
  sum("x", exactly(x, {}, at));
  sum("y", exactly(y, {}, at));
  sum("square_x", exactly(x, x, at));
  sum("square_y", exactly(y, y, at));
  sum("product", exactly(x, y, at));
  size_t values = sum("real_x", x);
  sum("real_y", y);
  parts_.push_back({Function::Count, values, Type(), at});
}

void MeasureParts::addSumsOfIntervals(const MeasureRequest &measure) {
  Location at = measure.at;
  for (const char *name : {"interval_months", "interval_days", "interval_micros"}) {
    Computed part{
        std::nullopt, name,
        [=, interval = measure.arguments.front().build](ExpressionBuilder &b) -> MaybeExpression {
          MaybeExpression value = interval(b);
          Type i64 = IntegerType::get(b.getContext(), 64);
          return failed(value) ? value
                               : b.text(*headrace::textFunctionNamed(name), *value, i64, at);
        }};
    addPart(Function::Sum, std::move(part), Type(), at);
  }
  parts_.push_back({Function::Count, parts_.back().input, Type(), at});
}

void MeasureParts::addSumOfMoments(const MeasureRequest &measure) {
  Location at = measure.at;
  const bool distinct = measure.function == Function::AvgDistinct;
  Computed units{
      std::nullopt, "units",
      [=, build = measure.arguments.front().build](ExpressionBuilder &b) -> MaybeExpression {
        MaybeExpression moment = build(b);
        return failed(moment) ? moment : MaybeExpression(Moments(b, at).units(*moment));
      }};
  const size_t input = addPart(distinct ? Function::SumDistinct : Function::Sum, std::move(units),
                               IntegerType::get(measure.type.getContext(), 128), at);
  parts_.push_back({distinct ? Function::CountDistinct : Function::Count, input, Type(), at});
}

/// The mean of integers from their sum and number: what is more than half of one counts as one,
/// but less than none is cut off.
static MaybeExpression meanOf(ExpressionBuilder &b, const Expression &sum, const Expression &count,
                              Location at) {
  Type wide = frame::dropNullable(sum.type()), i64 = IntegerType::get(b.getContext(), 64);
  using Arithmetic = ExpressionBuilder::Arithmetic;
  MaybeExpression by = b.cast(count, wide, at);
  MaybeExpression mean = failed(by) ? by : b.arithmetic(Arithmetic::kDivide, sum, *by, wide, at);
  MaybeExpression rest = failed(by) ? by : b.arithmetic(Arithmetic::kModulus, sum, *by, wide, at);
  MaybeExpression half = b.arithmetic(Arithmetic::kDivide, count, b.integer(2, i64, at), i64, at);
  if (failed(mean) || failed(rest) || failed(half)) {
    return failure();
  }
  MaybeExpression whole = b.cast(*mean, i64, at);
  MaybeExpression isMore = b.compare(frame::CompareKind::Gt, *rest, *b.cast(*half, wide, at), at);
  if (failed(whole) || failed(isMore)) {
    return failure();
  }
  MaybeExpression next = b.arithmetic(Arithmetic::kAdd, *whole, b.integer(1, i64, at), i64, at);
  return failed(next) ? next : b.choose(*isMore, *next, &*whole, at);
}

void MeasureParts::add(const MeasureRequest &request) {
  MeasureRequest measure = request;
  wholes_.push_back({parts_.size(), measure.formula, measure.arguments.size(), measure.type,
                     measure.inOrder, measure.meanOfIntervals, measure.meanOfMoments,
                     measure.ofNone});
  Location at = measure.at;
  if (measure.condition) {
    if (measure.arguments.empty()) { // rows are counted as 1s where the condition is true
      measure.function = Function::Count;
      measure.arguments.push_back(
          {std::nullopt, {}, [=](ExpressionBuilder &b) { return one(b, at); }});
    }
    for (Computed &argument : measure.arguments) {
      argument = {std::nullopt, "filtered", guarded(measure.condition, argument.build, at)};
    }
  }
  if (measure.inOrder) {
    ++formulas_;
    addPart(measure.function, measure.arguments.front().with(&ExpressionBuilder::keyed, at), Type(),
            at);
  } else if (measure.meanOfIntervals) {
    ++formulas_;
    addSumsOfIntervals(measure);
  } else if (measure.meanOfMoments) {
    ++formulas_;
    addSumOfMoments(measure);
  } else if (measure.formula) {
    ++formulas_;
    addSums(measure);
  } else if (measure.arguments.empty()) {
    parts_.push_back({measure.function, std::nullopt, measure.type, at});
  } else {
    formulas_ += measure.ofNone ? 1 : 0;
    addPart(measure.function, measure.arguments.front(), measure.type, at);
  }
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

size_t MeasureParts::partsOf(const Whole &whole) {
  return whole.formula->powers  ? Deviations::kPartsOfPowers
         : whole.arguments == 1 ? Deviations::kPartsOfOne
                                : Deviations::kPartsOfTwo;
}

MaybeExpression headrace::import::orValue(ExpressionBuilder &b, const Expression &measure,
                                          std::optional<double> ofNone, Location at) {
  Type real = Float64Type::get(b.getContext());
  return ofNone ? b.coalesce({measure, b.constant(FloatAttr::get(real, *ofNone), real, at)}, at)
                : MaybeExpression(measure);
}

MaybeExpression headrace::import::valueOf(ExpressionBuilder &b, const DeviationFormula &formula,
                                          const Deviations &deviations, Type type, Location at) {
  Expression value = formula.value(deviations).expression();
  if (formula.rowsMin > 0) {
    Type i64 = IntegerType::get(b.getContext(), 64);
    MaybeExpression enough = b.compare(frame::CompareKind::Ge, deviations.rows(),
                                       b.integer(formula.rowsMin, i64, at), at);
    value = *b.choose(*enough, value, nullptr, at);
  }
  return type ? b.cast(value, type, at) : MaybeExpression(value);
}

Computed MeasureParts::finished(size_t measure, int64_t firstField, Location at) const {
  const Whole &whole = wholes_[measure];
  int64_t field = firstField + static_cast<int64_t>(whole.firstPart);
  if (whole.inOrder) {
    return {std::nullopt, "measure",
            [=, type = frame::dropNullable(whole.type)](ExpressionBuilder &b) {
              return b.valueOfKeyed(*b.field(field, at), type, at);
            }};
  }
  if (whole.meanOfIntervals) {
    return {std::nullopt, "mean", [=](ExpressionBuilder &b) -> MaybeExpression {
              SmallVector<Expression> sums;
              for (int64_t part = 0; part < kPartsOfIntervals; ++part) {
                sums.push_back(*b.field(field + part, at));
              }
              return b.text(*headrace::textFunctionNamed("interval_average"), sums,
                            frame::IntervalType::get(b.getContext()), at);
            }};
  }
  if (whole.meanOfMoments) {
    return {std::nullopt, "mean",
            [=, type = frame::dropNullable(whole.type)](ExpressionBuilder &b) -> MaybeExpression {
              MaybeExpression mean = meanOf(b, *b.field(field, at), *b.field(field + 1, at), at);
              return failed(mean) ? mean : MaybeExpression(Moments(b, at).as(*mean, type));
            }};
  }
  if (whole.ofNone) {
    return {std::nullopt, "measure", [=](ExpressionBuilder &b) {
              return orValue(b, *b.field(field, at), whole.ofNone, at);
            }};
  }
  if (!whole.formula) {
    return Computed::ofField(field, at);
  }
  return {std::nullopt, "deviation", [=](ExpressionBuilder &b) -> MaybeExpression {
            Deviations deviations(b, field, partsOf(whole), at);
            return valueOf(b, *whole.formula, deviations, whole.type, at);
          }};
}
