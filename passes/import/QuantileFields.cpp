// Quantiles as DuckDB computes them, so that they are equal to the last digit.
#include "passes/import/QuantileFields.h"

#include "passes/import/Moments.h"
#include "runtime/base/text_functions.h"

#include <cmath>

using namespace mlir;
using namespace headrace::import;
using headrace::QuantileKind;
namespace frame = headrace::frame;

/// Of a number that has one: of all but decimals of many digits.
static Real real(ExpressionBuilder &b, const Expression &number, Location at) {
  return {b, *b.cast(number, Float64Type::get(b.getContext()), at), at};
}

Real QuantileFields::place(ExpressionBuilder &b) const {
  Real count = real(b, *b.field(firstField_ + 1, at_), at_);
  if (quantile_.kind != QuantileKind::kDiscrete) {
    return (count - 1) * count.constant(quantile_.share.number());
  }
  // Without those behind it, one at least.
  Real behind = count - count * count.constant(quantile_.share.number());
  if (quantile_.share.isExact()) {
    auto [part, whole] = quantile_.share;
    behind = count * count.constant(static_cast<double>(whole - part)) /
             count.constant(static_cast<double>(whole));
  }
  Real last = count - behind.apply(frame::NumberFunction::Floor);
  Expression first = last.constant(1).expression();
  return Real(b, *b.extreme(ExpressionBuilder::Extreme::kGreatest, {last.expression(), first}, at_),
              at_) -
         1;
}

MaybeExpression QuantileFields::isAt(ExpressionBuilder &b) const {
  Real row = real(b, *b.field(firstField_, at_), at_) - 1;
  Real wanted = place(b).apply(frame::NumberFunction::Floor);
  return b.compare(frame::CompareKind::Eq, row.expression(), wanted.expression(), at_);
}

MaybeExpression QuantileFields::stepped(ExpressionBuilder &b, const Expression &value,
                                        const Real &share) const {
  Moments moments(b, at_);
  MaybeExpression low = moments.microsOf(value),
                  high = moments.microsOf(*b.field(firstField_ + 2, at_));
  if (failed(low) || failed(high)) {
    return failure();
  }
  Real way = real(b, moments.minus(*high, *low), at_) * share;
  MaybeExpression step = b.cast(way.apply(frame::NumberFunction::Round).expression(),
                                IntegerType::get(b.getContext(), 64), at_);
  return failed(step) ? step : moments.intervalOf(moments.plus(*low, *step));
}

MaybeExpression QuantileFields::between(ExpressionBuilder &b, const Expression &value,
                                        Type type) const {
  const bool isRounded = quantile_.kind == QuantileKind::kRounded;
  Moments moments(b, at_);
  Real at = place(b);
  Real part = at - at.apply(frame::NumberFunction::Floor);
  Expression isBetween =
      *b.compare(frame::CompareKind::Gt, part.expression(), part.constant(0).expression(), at_);
  if (isRounded && (frame::isDate(value.type()) || frame::isTimestamp(value.type()))) {
    // Nothing lies between infinities.
    using Connective = ExpressionBuilder::Connective;
    Expression differs =
        *b.compare(frame::CompareKind::Ne, value, *b.field(firstField_ + 2, at_), at_);
    Expression finite = *b.negation(*moments.isInfinite(value), at_);
    Expression may = *b.connect(Connective::kOr, {differs, finite}, at_);
    isBetween = *b.connect(Connective::kAnd, {isBetween, may}, at_);
  }
  if (isRounded && frame::isInterval(type)) {
    MaybeExpression mixed = stepped(b, value, part);
    return failed(mixed) ? mixed : b.choose(isBetween, *mixed, &value, at_);
  }
  auto number = [&](const Expression &of) {
    return real(b, isRounded ? moments.units(of) : of, at_);
  };
  Real low = number(value), high = number(*b.field(firstField_ + 2, at_));
  std::optional<Real> found;
  if (isRounded) {
    found = fused(low, part.constant(1) - part, high * part).apply(frame::NumberFunction::Round);
  } else if (auto decimal =
                 dyn_cast<frame::DecimalType>(type)) { // of their units, which doubles hold
    Real units = low.constant(std::pow(10.0, decimal.getScale()));
    Real least = (low * units).apply(frame::NumberFunction::Round);
    Real most = (high * units).apply(frame::NumberFunction::Round);
    found = fused(most - least, part, least).apply(frame::NumberFunction::Truncate) / units;
  } else if (type.isF64()) {
    found = fused(low, part.constant(1) - part, high * part);
  } else {
    found = fused(high - low, part, low);
  }
  MaybeExpression exactly = b.cast(value, type, at_);
  MaybeExpression mixed =
      b.cast(found->expression(), isRounded ? IntegerType::get(b.getContext(), 64) : type, at_);
  if (isRounded && succeeded(mixed)) {
    mixed = moments.as(*mixed, type);
  }
  if (failed(exactly) || failed(mixed)) {
    return failure();
  }
  return b.choose(isBetween, *mixed, &*exactly, at_);
}

MaybeExpression headrace::import::quantileOfList(ExpressionBuilder &b, const Expression &list,
                                                 const Quantile &quantile, Type type, Location at) {
  Type i64 = IntegerType::get(b.getContext(), 64);
  auto integer = [&](int64_t value) { return b.integer(value, i64, at); };
  MaybeExpression one =
      b.text(*headrace::textFunctionNamed("list_quantile"),
             {list, integer(quantile.share.part), integer(quantile.share.whole),
              integer(quantile.descending), integer(static_cast<int64_t>(quantile.kind))},
             frame::ListType::get(frame::dropNullable(type)), at);
  return failed(one) ? one : b.element(*one, integer(1), at);
}

MaybeExpression headrace::import::quantilesOfList(ExpressionBuilder &b, const Expression &list,
                                                  ArrayRef<Quantile> quantiles, Type type,
                                                  Location at) {
  Type element = cast<frame::ListType>(frame::dropNullable(type)).getElementType();
  SmallVector<Expression> found;
  for (const Quantile &quantile : quantiles) {
    MaybeExpression one = quantileOfList(b, list, quantile, element, at);
    if (failed(one)) {
      return failure();
    }
    found.push_back(*one);
  }
  MaybeExpression all = b.list(element, found, at);
  MaybeExpression any = b.isNotNull(list, at);
  return failed(all) || failed(any) ? MaybeExpression(failure())
                                    : b.choose(*any, *all, nullptr, at);
}

std::optional<SignedShare> headrace::import::shareOf(Attribute constant, Type type) {
  SignedShare found{};
  if (auto real = dyn_cast_or_null<FloatAttr>(constant)) {
    const double value = real.getValueAsDouble();
    found = {headrace::QuantileShare::ofReal(std::abs(value)), value < 0};
  } else {
    auto integer = dyn_cast_or_null<IntegerAttr>(constant);
    auto decimal = dyn_cast<frame::DecimalType>(frame::dropNullable(type));
    constexpr unsigned kDigitsMax = 18;
    if (!integer || !integer.getValue().isSignedIntN(64) ||
        (decimal && decimal.getScale() > kDigitsMax)) {
      return std::nullopt;
    }
    const int64_t units = integer.getValue().getSExtValue();
    int64_t whole = 1;
    for (unsigned digit = 0; decimal && digit < decimal.getScale(); ++digit) {
      whole *= 10;
    }
    found = {{units == INT64_MIN ? -1 : std::abs(units), whole}, units < 0};
  }
  return found.share.isInside() ? std::optional(found) : std::nullopt;
}

QuantileKind headrace::import::quantileKind(QuantileKind wanted, Type type) {
  Type value = frame::dropNullable(type);
  if (wanted != QuantileKind::kBetween || isa<FloatType, frame::DecimalType>(value)) {
    return wanted;
  }
  const bool isMoment = frame::isTimestamp(value) || frame::isInterval(value) ||
                        (frame::isTime(value) && frame::unitsOfDay(value) == kMicrosOfDay);
  return isMoment ? QuantileKind::kRounded : QuantileKind::kDiscrete;
}

Quantile headrace::import::medianOf(Type type) {
  return {.share = {1, 2}, .descending = false, .kind = quantileKind(QuantileKind::kBetween, type)};
}

MaybeExpression headrace::import::deviationOfList(ExpressionBuilder &b, const Expression &list,
                                                  Type type, Location at) {
  const bool isOfMoments = frame::isInterval(type);
  Type element = cast<frame::ListType>(frame::dropNullable(list.type())).getElementType();
  Type apartType = frame::dropNullable(type), middleType = isOfMoments ? element : apartType;
  constexpr unsigned kDigitsMax = 38;
  if (auto decimal = dyn_cast<frame::DecimalType>(apartType)) { // two are further apart
    apartType = middleType = frame::DecimalType::get(
        b.getContext(), std::min<unsigned>(decimal.getPrecision() + 1, kDigitsMax),
        decimal.getScale());
  }
  Type number = isOfMoments ? Type(IntegerType::get(b.getContext(), 64)) : middleType;
  MaybeExpression middle = quantileOfList(b, list, medianOf(middleType), middleType, at);
  if (failed(middle)) {
    return failure();
  }
  ExpressionBuilder::Lambda distance{.text = "distance from the median",
                                     .fields = {},
                                     .soFar = {},
                                     .place = {},
                                     .captures = {*middle},
                                     .body = {}};
  auto field = [&](StringRef name, Type of) {
    distance.fields.push_back({StringAttr::get(b.getContext(), name), frame::addNullable(of)});
    return static_cast<int64_t>(distance.fields.size()) - 1;
  };
  distance.element = field("value", element);
  distance.firstCapture = field("median", middle->type());
  distance.body = [=, captured = distance.firstCapture,
                   value = distance.element](ExpressionBuilder &inside) -> MaybeExpression {
    Expression median = *inside.field(captured, at);
    MaybeExpression given = inside.cast(*inside.field(value, at), middleType, at);
    Moments moments(inside, at);
    MaybeExpression apart =
        failed(given) ? given
        : isOfMoments ? MaybeExpression(moments.minus(moments.units(*given), moments.units(median)))
                      : inside.arithmetic(ExpressionBuilder::Arithmetic::kSubtract, *given, median,
                                          number, at);
    MaybeExpression far =
        failed(apart) ? apart
                      : inside.number(frame::NumberFunction::Abs, *apart, std::nullopt, number, at);
    far = failed(far) || !isOfMoments ? far : moments.intervalOf(*far);
    return failed(far) ? far : inside.list(apartType, *far, at);
  };
  MaybeExpression distances = b.flatMap(list, distance, frame::ListType::get(apartType), at);
  MaybeExpression found = failed(distances)
                              ? distances
                              : quantileOfList(b, *distances, medianOf(apartType), apartType, at);
  return failed(found) ? found : b.cast(*found, type, at);
}
