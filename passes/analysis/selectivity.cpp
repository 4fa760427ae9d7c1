// Selectivity of predicates and the distribution of expressions, from the columns' estimates.
#include "passes/analysis/cardinality.h"
#include "passes/analysis/expression_ranges.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace headrace;
using namespace headrace::analysis;
using namespace headrace::frame;

namespace {

// What is assumed where nothing is known.
constexpr double kUnknownRange = 1.0 / 3;
constexpr double kUnknownCompare = 0.5; // two columns against each other
constexpr double kUnknownBoolean = 0.5;
constexpr double kPrefixPattern = 0.05;
constexpr double kInfixPattern = 0.08;
// A predicate is never taken to be certainly false: statistics of computed columns are guesses.
constexpr double kSelectivityMin = 1e-4;
constexpr double kDaysPerYear = 365.2425;

double scaleFactor(Type type) {
  auto decimal = dyn_cast<DecimalType>(dropNullable(type));
  return decimal ? std::pow(10.0, decimal.getScale()) : 1.0;
}

std::optional<double> literalValue(Attribute value, Type type) {
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    // i1 is 0 or 1, not -1.
    return isBoolean(type) ? integer.getValue().getZExtValue()
                           : integer.getValue().signedRoundToDouble() / scaleFactor(type);
  }
  if (auto real = dyn_cast<FloatAttr>(value)) {
    return real.getValueAsDouble();
  }
  return std::nullopt;
}

double clampSelectivity(double value) { return std::clamp(value, kSelectivityMin, 1.0); }

/// The share of a column's values in [low, high], uniformly spread between its bounds. `distinct`
/// values are points, so both ends count.
double shareBetween(const ColumnEstimate &column, double low, double high) {
  auto isKnown = [](std::optional<double> bound) { return bound && std::isfinite(*bound); };
  if (!isKnown(column.low) || !isKnown(column.high)) {
    bool bothEnds = std::isfinite(low) && std::isfinite(high);
    return bothEnds ? kUnknownRange / 2 : kUnknownRange;
  }
  low = std::max(low, *column.low);
  high = std::min(high, *column.high);
  if (low > high) {
    return kSelectivityMin;
  }
  double width = *column.high - *column.low;
  double step = column.distinct > 1 ? width / (column.distinct - 1) : 0;
  if (width + step <= 0) {
    return 1;
  }
  return std::clamp((high - low + step) / (width + step), kSelectivityMin, 1.0);
}

/// An interval that a conjunction leaves of one scalar.
struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// `scalar <kind> literal` as an interval of the scalar, if the comparison is one with a known
/// number.
struct Bound {
  Value scalar;
  Interval interval;
};
enum class Equality { kAsBound, kIgnored };
std::optional<Bound> boundOf(CompareOp compare, ColumnLookup columns,
                             Equality forEquality = Equality::kIgnored) {
  CompareKind kind = compare.getKind();
  Value scalar = compare.getLhs();
  Value other = compare.getRhs();
  if (scalar.getDefiningOp<ConstantOp>()) {
    std::swap(scalar, other);
    kind = mirrored(kind);
  }
  ColumnEstimate limit = estimateExpression(other, columns);
  if (!limit.low || limit.low != limit.high) {
    return std::nullopt;
  }
  // Where values are whole steps apart, a strict comparison ends one step earlier.
  double step = isFloat(scalar.getType()) ? 0 : 1 / scaleFactor(scalar.getType());
  switch (kind) {
  case CompareKind::Lt:
    return Bound{scalar, {Interval().low, *limit.high - step}};
  case CompareKind::Le:
    return Bound{scalar, {Interval().low, *limit.high}};
  case CompareKind::Gt:
    return Bound{scalar, {*limit.low + step, Interval().high}};
  case CompareKind::Ge:
    return Bound{scalar, {*limit.low, Interval().high}};
  case CompareKind::Eq:
    return forEquality == Equality::kAsBound
               ? std::optional(Bound{scalar, {*limit.low, *limit.high}})
               : std::nullopt;
  default:
    return std::nullopt;
  }
}

double compareSelectivity(CompareOp compare, ColumnLookup columns) {
  ColumnEstimate lhs = estimateExpression(compare.getLhs(), columns);
  ColumnEstimate rhs = estimateExpression(compare.getRhs(), columns);
  double present = (1 - lhs.nullFraction) * (1 - rhs.nullFraction);
  switch (compare.getKind()) {
  case CompareKind::Eq:
  case CompareKind::IsNotDistinctFrom:
    return present / std::max({lhs.distinct, rhs.distinct, 1.0});
  case CompareKind::Ne:
    return present * (1 - 1 / std::max({lhs.distinct, rhs.distinct, 2.0}));
  default:
    break;
  }
  if (std::optional<Bound> bound = boundOf(compare, columns)) {
    ColumnEstimate column = estimateExpression(bound->scalar, columns);
    double share = shareBetween(column, bound->interval.low, bound->interval.high);
    return present * share;
  }
  bool sourcesDiffer = lhs.source != rhs.source;
  return present * (sourcesDiffer ? kUnknownRange : kUnknownCompare);
}

double likeSelectivity(LikeOp like) {
  StringRef pattern = like.getPattern();
  if (pattern.find_first_of("%_") == StringRef::npos) {
    return 0.001;
  }
  double one = pattern.starts_with("%") ? kInfixPattern : kPrefixPattern;
  // Each further piece between wildcards makes the pattern more selective.
  SmallVector<StringRef> pieces;
  pattern.split(pieces, '%', -1, false);
  double all = one;
  for (size_t piece = 1; piece < pieces.size(); ++piece) {
    all *= 0.3;
  }
  return pieces.empty() ? 1 : all;
}

/// Several bounds on one scalar are one interval; everything else is taken to be independent.
double andSelectivity(AndOp op, ColumnLookup columns) {
  SmallVector<Value> conjuncts = flattened<AndOp>(op);
  llvm::MapVector<Value, std::pair<Interval, SmallVector<CompareOp, 2>>> intervals;
  double product = 1;
  for (Value conjunct : conjuncts) {
    auto compare = conjunct.getDefiningOp<CompareOp>();
    std::optional<Bound> bound = compare ? boundOf(compare, columns) : std::nullopt;
    if (!bound) {
      product *= selectivityOf(conjunct, columns);
      continue;
    }
    auto &[interval, compares] = intervals[bound->scalar];
    interval.low = std::max(interval.low, bound->interval.low);
    interval.high = std::min(interval.high, bound->interval.high);
    compares.push_back(compare);
  }
  for (auto &[scalar, bounds] : intervals) {
    auto &[interval, compares] = bounds;
    if (compares.size() == 1) {
      product *= compareSelectivity(compares.front(), columns);
      continue;
    }
    ColumnEstimate column = estimateExpression(scalar, columns);
    product *= (1 - column.nullFraction) * shareBetween(column, interval.low, interval.high);
  }
  return product;
}

ColumnEstimate constantEstimate(Attribute value, Type type) {
  ColumnEstimate result;
  result.nullFraction = isa<UnitAttr>(value) ? 1 : 0;
  result.low = result.high = literalValue(value, type);
  if (auto text = dyn_cast<StringAttr>(value)) {
    result.bytes = text.size();
  }
  return result;
}

using Corners = std::optional<std::pair<double, double>>;
Corners combineBounds(const ColumnEstimate &a, const ColumnEstimate &b,
                      llvm::function_ref<double(double, double)> combine) {
  if (!a.low || !a.high || !b.low || !b.high) {
    return std::nullopt;
  }
  double corners[] = {combine(*a.low, *b.low), combine(*a.low, *b.high), combine(*a.high, *b.low),
                      combine(*a.high, *b.high)};
  auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  if (!std::isfinite(*low) || !std::isfinite(*high)) {
    return std::nullopt;
  }
  return std::pair(*low, *high);
}

Corners arithmeticBounds(Operation *op, const ColumnEstimate &a, const ColumnEstimate &b) {
  return llvm::TypeSwitch<Operation *, Corners>(op)
      .Case([&](AddOp) { return combineBounds(a, b, std::plus<double>()); })
      .Case([&](SubtractOp) { return combineBounds(a, b, std::minus<double>()); })
      .Case([&](MultiplyOp) { return combineBounds(a, b, std::multiplies<double>()); })
      .Default([](Operation *) { return std::nullopt; });
}

ColumnEstimate extractEstimate(ExtractOp extract, ColumnEstimate date) {
  date.setComputed();
  date.bytes = 4;
  if (extract.getField() == DateField::Year) {
    if (date.low && date.high) {
      date.low = 1970 + std::floor(*date.low / kDaysPerYear);
      date.high = 1970 + std::floor(*date.high / kDaysPerYear);
    }
    date.distinct = std::min(date.distinct, date.low ? *date.high - *date.low + 1 : 100.0);
  } else {
    date.low = 1;
    date.high = extract.getField() == DateField::Month ? 12 : 31;
    date.distinct = std::min(date.distinct, *date.high);
  }
  date.domain = date.distinct;
  return date;
}

/// Whole numbers of numbers that lie between bounds.
void limitToWhole(ColumnEstimate &result, const ColumnEstimate &numbers) {
  if (numbers.low && numbers.high) {
    result.low = std::floor(*numbers.low);
    result.high = std::ceil(*numbers.high);
    result.distinct = std::min(result.distinct, *result.high - *result.low + 1);
    result.domain = result.distinct;
  }
}

/// The hull of some branches: bounds, sum of the distinct values.
ColumnEstimate unionEstimate(ArrayRef<ColumnEstimate> branches) {
  ColumnEstimate result = branches.front();
  for (const ColumnEstimate &branch : branches.drop_front()) {
    result.distinct += branch.distinct;
    bool bounded = result.low && branch.low && result.high && branch.high;
    result.low = bounded ? std::optional(std::min(*result.low, *branch.low)) : std::nullopt;
    result.high = bounded ? std::optional(std::max(*result.high, *branch.high)) : std::nullopt;
    result.nullFraction = std::max(result.nullFraction, branch.nullFraction);
    result.bytes = std::max(result.bytes, branch.bytes);
  }
  result.setComputed();
  result.domain = result.distinct;
  return result;
}

/// The operands whose estimates that of the scalar rests on.
ValueRange sourcesOf(Value scalar) {
  Operation *op = scalar.getDefiningOp();
  if (!op || isa<ScalarSubqueryOp>(op)) {
    return {};
  }
  if (auto conditional = dyn_cast<CaseOp>(op)) {
    return op->getOperands().drop_front(conditional.getConditions().size());
  }
  bool isTruth = isBoolean(scalar.getType()) && !isa<CoalesceOp, CastOp>(op);
  return isTruth ? ValueRange() : ValueRange(op->getOperands());
}

/// The estimate of a scalar from those of its sources.
ColumnEstimate estimateOf(Value scalar, ColumnLookup columns,
                          llvm::function_ref<const ColumnEstimate &(Value)> known) {
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    const ColumnEstimate *column = columns(argument);
    return column ? *column : ColumnEstimate();
  }
  Operation *op = scalar.getDefiningOp();
  auto operand = [&](unsigned index) { return known(op->getOperand(index)); };
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    return constantEstimate(constant.getValue(), constant.getResult().getType());
  }
  if (auto cast = dyn_cast<CastOp>(op)) {
    ColumnEstimate result = operand(0);
    Type from = cast.getOperand().getType(), to = cast.getResult().getType();
    if (isString(from) != isString(to) ||
        ((isTimestamp(from) || isTimestamp(to)) && !isSameValueType(from, to))) {
      result.low = result.high = std::nullopt;
    }
    if (isFloat(from) && isInteger(to)) {
      limitToWhole(result, operand(0));
    }
    return result;
  }
  if (auto extract = dyn_cast<ExtractOp>(op)) {
    return extractEstimate(extract, operand(0));
  }
  if (isa<CaseOp, CoalesceOp>(op)) {
    SmallVector<ColumnEstimate> branches;
    for (Value value : sourcesOf(scalar)) {
      branches.push_back(known(value));
    }
    return unionEstimate(branches);
  }
  ColumnEstimate result;
  if (isa<ScalarSubqueryOp>(op)) {
    return result; // one value, not known
  }
  if (isBoolean(scalar.getType())) {
    result.distinct = 2;
    result.bytes = 1.0 / 8;
    return result;
  }
  // Anything else takes its values from those of its operands.
  for (Value value : op->getOperands()) {
    const ColumnEstimate &part = known(value);
    result.distinct = std::max(result.distinct, 1.0) * std::max(part.distinct, 1.0);
    result.nullFraction = 1 - (1 - result.nullFraction) * (1 - part.nullFraction);
    result.bytes = std::max(result.bytes, part.bytes);
  }
  if (auto substring = dyn_cast<SubstringOp>(op)) {
    // A length that is known bounds the text.
    constexpr double kUnknown = 8;
    auto constant =
        substring.getLength() ? substring.getLength().getDefiningOp<ConstantOp>() : ConstantOp();
    auto length = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
    double characters =
        length ? std::max<double>(static_cast<double>(length.getInt()), 0) : kUnknown;
    result.distinct = std::min(result.distinct, std::pow(10.0, std::min(characters, 8.0)));
    result.bytes = std::min(result.bytes, characters);
  }
  if (auto math = dyn_cast<MathOp>(op); math && math.getFunction() == "scramble") {
    result.low = 0;
    result.high = 0x1p52; // bits
  }
  if (auto number = dyn_cast<NumberOp>(op)) {
    const NumberFunction function = number.getFunction();
    if (!number.getDigits() && function != NumberFunction::Abs &&
        function != NumberFunction::Sqrt) {
      limitToWhole(result, operand(0));
    }
  }
  if (op->getNumOperands() == 2) {
    if (Corners corners = arithmeticBounds(op, operand(0), operand(1))) {
      result.low = corners->first;
      result.high = corners->second;
    }
  }
  result.domain = result.distinct;
  return result;
}

} // namespace

ColumnEstimate headrace::analysis::estimateExpression(Value scalar, ColumnLookup columns) {
  // Sources first, each once, however deep the expression is.
  llvm::DenseMap<Value, std::unique_ptr<ColumnEstimate>> known;
  auto estimate = [&](Value value) -> const ColumnEstimate & { return *known.find(value)->second; };
  SmallVector<Value> open{scalar};
  while (!open.empty()) {
    Value value = open.back();
    size_t before = open.size();
    for (Value source : sourcesOf(value)) {
      if (!known.contains(source)) {
        open.push_back(source);
      }
    }
    if (open.size() == before) {
      open.pop_back();
      if (!known.contains(value)) {
        known[value] = std::make_unique<ColumnEstimate>(estimateOf(value, columns, estimate));
      }
    }
  }
  return estimate(scalar);
}

double headrace::analysis::selectivityOf(Value predicate, ColumnLookup columns) {
  Operation *op = predicate.getDefiningOp();
  if (!op) {
    return kUnknownBoolean;
  }
  double result =
      llvm::TypeSwitch<Operation *, double>(op)
          .Case([&](ConstantOp constant) {
            auto value = dyn_cast<IntegerAttr>(constant.getValue());
            return value && value.getValue().isOne() ? 1.0 : kSelectivityMin;
          })
          .Case([&](AndOp conjunction) { return andSelectivity(conjunction, columns); })
          .Case([&](OrOp disjunction) {
            double none = 1;
            for (Value operand : flattened<OrOp>(disjunction)) {
              none *= 1 - selectivityOf(operand, columns);
            }
            return 1 - none;
          })
          .Case([&](NotOp negation) { return 1 - selectivityOf(negation.getOperand(), columns); })
          .Case([&](CompareOp compare) { return compareSelectivity(compare, columns); })
          .Case([&](InOp in) {
            ColumnEstimate operand = estimateExpression(in.getOperand(), columns);
            return std::min(1.0, in.getValues().size() / std::max(operand.distinct, 1.0));
          })
          .Case([&](IsNullOp isNull) {
            return estimateExpression(isNull.getOperand(), columns).nullFraction;
          })
          .Case([&](LikeOp like) { return likeSelectivity(like); })
          .Default([](Operation *) { return kUnknownBoolean; });
  return clampSelectivity(result);
}

void headrace::analysis::narrowColumns(
    Value predicate, ColumnLookup columns,
    llvm::function_ref<ColumnEstimate *(BlockArgument)> narrowed) {
  SmallVector<Value> conjuncts = flattened<AndOp>(predicate);
  for (Value conjunct : conjuncts) {
    auto compare = conjunct.getDefiningOp<CompareOp>();
    std::optional<Bound> bound =
        compare ? boundOf(compare, columns, Equality::kAsBound) : std::nullopt;
    auto argument = bound ? dyn_cast<BlockArgument>(bound->scalar) : BlockArgument();
    ColumnEstimate *column = argument ? narrowed(argument) : nullptr;
    if (!column || !column->low || !column->high) {
      continue;
    }
    double share = compare.getKind() == CompareKind::Eq
                       ? 1 / std::max(column->distinct, 1.0)
                       : shareBetween(*column, bound->interval.low, bound->interval.high);
    column->low = std::max(*column->low, bound->interval.low);
    column->high = std::max(std::min(*column->high, bound->interval.high), *column->low);
    column->distinct = std::max(column->distinct * share, 1.0);
    column->domain = std::max(column->domain * share, 1.0);
  }
}
