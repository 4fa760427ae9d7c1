// Intervals in DuckDB's plans. One that is made in an expression is three integers, which what is
// done with it uses; only where it leaves the expression does it become a value.
#include "passes/import/ZonedMoments.h"
#include "passes/import/duckdb/expressions.h"
#include "runtime/base/text_functions.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;
using Arithmetic = ExpressionBuilder::Arithmetic;

bool ExpressionImporter::isInterval(Node expression) {
  StringRef interval = "INTERVAL";
  return expression.get("return_type").get("id").string() == interval ||
         expression.get("value").get("type").get("id").string() == interval;
}

static bool isParameter(Node expression) {
  return expression.get("type").string() == StringRef("BOUND_REF") &&
         expression.get("index").integer() == 0;
}

/// Whether a lambda gives its parameter with intervals normalized: a value, or a struct of all
/// fields, NULL of NULL.
static bool onlyNormalizes(Node lambda) {
  Node body = lambda.get("lambda_expr");
  if (body.get("type").string() != StringRef("CASE_EXPR")) {
    return isParameter(ExpressionImporter::beforeNormalized(body));
  }
  Node fields = body.get("else_expr");
  SmallVector<Node> values = fields.get("children").elements();
  SmallVector<Node> types =
      fields.get("return_type").get("type_info").get("child_types").elements();
  const bool packs = nameOf(fields) == "struct_pack" || nameOf(fields) == "row";
  if (!packs || values.size() != types.size()) {
    return false;
  }
  for (auto [index, value] : llvm::enumerate(values)) {
    Node field = ExpressionImporter::beforeNormalized(value);
    SmallVector<Node> arguments = field.get("children").elements();
    const bool takes = nameOf(field) == "struct_extract_at" || nameOf(field) == "struct_extract";
    if (!takes || arguments.size() != 2 || !isParameter(arguments[0]) ||
        arguments[1].get("value").get("value").integer() != static_cast<int64_t>(index) + 1) {
      return false;
    }
  }
  return true;
}

Node ExpressionImporter::beforeNormalized(Node expression) {
  StringRef name = nameOf(expression);
  const bool ofList = name == "list_transform", ofStruct = name == "invoke";
  if (name != "normalized_interval" && !ofList && !ofStruct) {
    return expression;
  }
  SmallVector<Node> children = expression.get("children").elements();
  if (!ofList && !ofStruct) {
    return children.size() == 1 ? beforeNormalized(children[0]) : expression;
  }
  const bool normalizes = children.size() == 2 && onlyNormalizes(children[ofList ? 1 : 0]);
  return normalizes ? beforeNormalized(children[ofList ? 0 : 1]) : expression;
}

bool ExpressionImporter::makesInterval(Node expression) {
  static constexpr StringRef kNames[] = {"+", "-", "*", "/", "age", "date_trunc", "datetrunc"};
  StringRef name = nameOf(expression), unit = name;
  return expression.get("type").string() == StringRef("BOUND_FUNCTION") && isInterval(expression) &&
         (llvm::is_contained(kNames, name) || (unit.consume_front("to_") && timePart(unit)));
}

FailureOr<SmallVector<Expression>> ExpressionImporter::importComparable(ExpressionBuilder &b,
                                                                        ArrayRef<Node> operands,
                                                                        Location at,
                                                                        int64_t fieldsBefore) {
  const auto nodes = llvm::map_to_vector(operands, beforeNormalized);
  auto isMade = [](Node node) {
    return makesInterval(node) || node.get("type").string() == StringRef("VALUE_CONSTANT");
  };
  if (!llvm::all_of(nodes, isInterval) || !llvm::all_of(nodes, isMade)) {
    return importAll(b, nodes, at, fieldsBefore);
  }
  SmallVector<Interval> intervals;
  Type type = IntegerType::get(context.getContext(), 64);
  for (Node node : nodes) {
    FailureOr<Interval> interval = importInterval(b, node, at, fieldsBefore);
    if (failed(interval)) {
      return failure();
    }
    if (!ExpressionBuilder::integerOf(interval->months)) { // months of 30 days may overflow
      constexpr unsigned kDigits = 38;
      type = frame::DecimalType::get(context.getContext(), kDigits, 0);
    }
    intervals.push_back(std::move(*interval));
  }
  SmallVector<Expression> totals;
  for (const Interval &interval : intervals) {
    totals.push_back(totalOf(b, interval, type, at));
  }
  return totals;
}

FailureOr<Interval> ExpressionImporter::importInterval(ExpressionBuilder &b, Node expression,
                                                       Location otherwise, int64_t fieldsBefore) {
  Location at = text.locate(expression, otherwise);
  Moments moments(b, at);
  StringRef type = expression.get("type").string().value_or("");
  SmallVector<Node> children = expression.get("children").elements();
  if (type == "VALUE_CONSTANT") {
    if (expression.get("value").get("is_null").boolean().value_or(false)) {
      Expression none = b.null(IntegerType::get(context.getContext(), 64), at);
      return Interval{none, none, none};
    }
    std::optional<IntervalParts> parts = intervalIn(expression.get("value").get("value"));
    if (!parts) {
      return expression.fail("expected months, days and microseconds");
    }
    return Interval{moments.number(parts->months), moments.number(parts->days),
                    moments.number(parts->micros)};
  }
  if (!makesInterval(expression)) {
    MaybeExpression value = import(b, expression, otherwise, fieldsBefore);
    return failed(value) ? MaybeInterval(failure()) : moments.partsOf(*value);
  }
  StringRef name = nameOf(expression);
  bool ofIntervals = llvm::all_of(children, isInterval);
  if (children.size() == 1 && ofIntervals && name == "-") {
    FailureOr<Interval> interval = importInterval(b, children[0], at, fieldsBefore);
    if (failed(interval)) {
      return failure();
    }
    return Interval{moments.times(interval->months, -1), moments.times(interval->days, -1),
                    moments.times(interval->micros, -1)};
  }
  if (children.size() == 2 && ofIntervals && (name == "+" || name == "-")) {
    return importSum(b, expression, at, fieldsBefore);
  }
  if (children.size() == 2 && llvm::any_of(children, isInterval) && (name == "*" || name == "/")) {
    return importMultiple(b, expression, at, fieldsBefore);
  }
  if (children.size() == 2 && (name == "date_trunc" || name == "datetrunc")) {
    return importTruncated(b, expression, at, fieldsBefore);
  }
  return importMade(b, expression, at, fieldsBefore);
}

FailureOr<Interval> ExpressionImporter::importSum(ExpressionBuilder &b, Node expression,
                                                  Location at, int64_t fieldsBefore) {
  SmallVector<Node> children = expression.get("children").elements();
  FailureOr<Interval> lhs = importInterval(b, children[0], at, fieldsBefore);
  FailureOr<Interval> rhs = importInterval(b, children[1], at, fieldsBefore);
  if (failed(lhs) || failed(rhs)) {
    return failure();
  }
  Moments moments(b, at);
  auto both = [&](const Expression &x, const Expression &y) {
    return nameOf(expression) == "+" ? moments.plus(x, y) : moments.minus(x, y);
  };
  return Interval{both(lhs->months, rhs->months), both(lhs->days, rhs->days),
                  both(lhs->micros, rhs->micros)};
}

FailureOr<Interval> ExpressionImporter::importMultiple(ExpressionBuilder &b, Node expression,
                                                       Location at, int64_t fieldsBefore) {
  SmallVector<Node> children = expression.get("children").elements();
  bool first = isInterval(children[0]);
  FailureOr<Interval> interval = importInterval(b, children[first ? 0 : 1], at, fieldsBefore);
  MaybeExpression by = import(b, children[first ? 1 : 0], at, fieldsBefore);
  if (failed(interval) || failed(by)) {
    return failure();
  }
  Type i64 = IntegerType::get(context.getContext(), 64);
  const bool divides = nameOf(expression) == "/";
  if (divides || !frame::isInteger(by->type())) { // months become days, and days a time
    Moments moments(b, at);
    Type f64 = Float64Type::get(context.getContext());
    const char *function = divides ? "interval_divide" : "interval_multiply";
    MaybeExpression whole = moments.packed(*interval), list = b.list(f64, *by, at);
    MaybeExpression product =
        failed(whole) || failed(list)
            ? MaybeExpression(failure())
            : b.text(*textFunctionNamed(function), {*whole, *list}, whole->type(), at);
    if (succeeded(product) && frame::isNullable(by->type())) {
      product = b.choose(*b.isNotNull(*by, at), *product, nullptr, at);
    }
    return failed(product) ? MaybeInterval(failure()) : moments.partsOf(*product);
  }
  Expression count = *b.cast(*by, i64, at);
  auto multiple = [&](const Expression &x) {
    return *b.arithmetic(Arithmetic::kMultiply, x, count, i64, at);
  };
  // None of months stays a constant; the microseconds know of NULL.
  auto unlessNone = [&](const Expression &x) {
    return ExpressionBuilder::integerOf(x) == 0 ? x : multiple(x);
  };
  return Interval{unlessNone(interval->months), unlessNone(interval->days),
                  multiple(interval->micros)};
}

FailureOr<Interval> ExpressionImporter::importTruncated(ExpressionBuilder &b, Node expression,
                                                        Location at, int64_t fieldsBefore) {
  SmallVector<Node> children = expression.get("children").elements();
  MaybeExpression name = import(b, children[0], at, fieldsBefore);
  FailureOr<Interval> interval = importInterval(b, children[1], at, fieldsBefore);
  if (failed(name) || failed(interval)) {
    return failure();
  }
  std::optional<StringRef> text = ExpressionBuilder::stringOf(*name);
  std::optional<TimePart> part = text ? timePart(*text) : std::nullopt;
  std::optional<TimeLength> length = part ? lengthOf(*part) : std::nullopt;
  if (!length) {
    (void)context.fail(at, "unsupported date_trunc of an interval: the part must be a constant, "
                           "and have a length");
    return failure();
  }
  Moments moments(b, at);
  auto whole = [&](const Expression &value, int64_t by) {
    return by == 0 ? moments.times(value, 0) : moments.minus(value, moments.modulo(value, by));
  };
  const bool ofDays = length->months > 0, ofTime = ofDays || length->days > 0;
  return Interval{length->months > 0 ? whole(interval->months, length->months) : interval->months,
                  ofDays             ? whole(interval->days, 0)
                  : length->days > 0 ? whole(interval->days, length->days)
                                     : interval->days,
                  ofTime ? whole(interval->micros, 0) : whole(interval->micros, length->micros)};
}

FailureOr<Interval> ExpressionImporter::importMade(ExpressionBuilder &b, Node expression,
                                                   Location at, int64_t fieldsBefore) {
  FailureOr<SmallVector<Expression>> arguments =
      importAll(b, expression.get("children").elements(), at, fieldsBefore);
  if (failed(arguments)) {
    return failure();
  }
  Moments moments(b, at);
  StringRef name = nameOf(expression), unit = name;
  bool ofTimestamps = llvm::all_of(
      *arguments, [](const Expression &each) { return frame::isTimestamp(each.type()); });
  if (name == "-" && arguments->size() == 2 && ofTimestamps) {
    ZonedMoments zoned(b, at);
    if (zoned.isElsewhere(arguments->front())) { // days when clocks show the same, and the rest
      Interval apart = zoned.difference((*arguments)[0], (*arguments)[1]);
      apart.micros = finiteOrError(b, *arguments, apart.micros, at);
      return apart;
    }
    Expression micros = importDifference(b, *arguments, at);
    return Interval{moments.number(0), moments.over(micros, kMicrosOfDay),
                    moments.modulo(micros, kMicrosOfDay)};
  }
  if (name == "age" && ofTimestamps && (arguments->size() == 1 || arguments->size() == 2)) {
    return importAge(b, *arguments, at);
  }
  std::optional<TimePart> part = unit.consume_front("to_") ? timePart(unit) : std::nullopt;
  std::optional<TimeLength> one = part && arguments->size() == 1 ? lengthOf(*part) : std::nullopt;
  if (!one || !frame::isNumeric(arguments->front().type())) {
    (void)context.fail(at, "unsupported function of an interval: " + name);
    return failure();
  }
  Type i64 = IntegerType::get(context.getContext(), 64),
       f64 = Float64Type::get(context.getContext());
  Expression count = arguments->front();
  if (frame::isFloat(count.type())) { // seconds and milliseconds may have a fraction
    Expression length = b.constant(FloatAttr::get(f64, static_cast<double>(one->micros)), f64, at);
    MaybeExpression micros =
        b.arithmetic(Arithmetic::kMultiply, *b.cast(count, f64, at), length, f64, at);
    MaybeExpression whole = failed(micros) ? micros : b.cast(*micros, i64, at);
    return failed(whole) ? FailureOr<Interval>(failure())
                         : Interval{moments.number(0), moments.number(0), *whole};
  }
  count = *b.cast(count, i64, at);
  auto counted = [&](int64_t of) { return of == 0 ? moments.number(0) : moments.times(count, of); };
  return Interval{counted(one->months), counted(one->days), counted(one->micros)};
}

Expression ExpressionImporter::importDifference(ExpressionBuilder &b, Arguments timestamps,
                                                Location at) {
  Moments moments(b, at);
  return finiteOrError(
      b, timestamps, moments.minus(moments.units(timestamps[0]), moments.units(timestamps[1])), at);
}

Expression ExpressionImporter::finiteOrError(ExpressionBuilder &b, Arguments timestamps,
                                             const Expression &micros, Location at) {
  Moments moments(b, at);
  std::optional<Expression> infinite = moments.anyInfinite(timestamps);
  if (!infinite) {
    return micros;
  }
  MaybeExpression error = b.raise(frame::RaiseKind::User,
                                  "infinite timestamps cannot be subtracted", micros.type(), at);
  return *b.choose(*infinite, moments.unlessNull(timestamps, *error), &micros, at);
}

FailureOr<Interval> ExpressionImporter::importAge(ExpressionBuilder &b, Arguments arguments,
                                                  Location at) {
  ZonedMoments moments(b, at);
  if (arguments.size() == 2) {
    return moments.age(arguments[0], arguments[1]);
  }
  FailureOr<int64_t> micros = momentOfQuery("age", at);
  if (failed(micros)) {
    return failure();
  }
  Type type = frame::dropNullable(arguments[0].type()),
       zoned = frame::TimestampType::get(b.getContext(), TimeUnit::kMicrosecond, /*zoned=*/true);
  Expression now = moments.shown(b.integer(*micros, zoned, at));
  MaybeExpression midnight = b.cast(moments.dateOf(now), type, at);
  return failed(midnight)
             ? MaybeInterval(failure())
             : MaybeInterval(moments.Moments::age(*midnight, moments.shown(arguments[0])));
}

Expression ExpressionImporter::totalOf(ExpressionBuilder &b, const Interval &interval, Type type,
                                       Location at) {
  auto times = [&](const Expression &a, int64_t by) {
    return *b.arithmetic(Arithmetic::kMultiply, a, b.integer(by, type, at), type, at);
  };
  auto plus = [&](const Expression &a, const Expression &other) {
    return *b.arithmetic(Arithmetic::kAdd, a, *b.cast(other, type, at), type, at);
  };
  Expression days = plus(times(*b.cast(interval.months, type, at), kDaysOfMonth), interval.days);
  return plus(times(days, kMicrosOfDay), interval.micros);
}

/// A timestamp, date or time moved by an interval.
MaybeExpression ExpressionImporter::moveBy(ExpressionBuilder &b, const Expression &moment,
                                           const Interval &interval, Location at) {
  ZonedMoments moments(b, at);
  if (moments.isElsewhere(moment)) {
    return moments.later(moment, interval);
  }
  if (frame::isTime(moment.type())) { // around the clock
    Expression micros =
        moments.plus(moments.units(moment), moments.modulo(interval.micros, kMicrosOfDay));
    return moments.as(
        moments.modulo(moments.plus(micros, moments.number(kMicrosOfDay)), kMicrosOfDay),
        frame::dropNullable(moment.type()));
  }
  if (isZoned(moment) && ExpressionBuilder::integerOf(interval.months) != 0 &&
      ExpressionBuilder::integerOf(interval.micros) != 0) {
    Expression none = moments.number(0);
    return moments.inOrder(interval, [&](bool timeFirst) -> MaybeExpression {
      if (!timeFirst) {
        return moveAtOnce(b, moment, interval, at);
      }
      MaybeExpression later = moveAtOnce(b, moment, {none, none, interval.micros}, at);
      return failed(later) ? later
                           : moveAtOnce(b, *later, {interval.months, interval.days, none}, at);
    });
  }
  return moveAtOnce(b, moment, interval, at);
}

/// Of a date or timestamp: months, days and a time in this order.
MaybeExpression ExpressionImporter::moveAtOnce(ExpressionBuilder &b, const Expression &moment,
                                               const Interval &interval, Location at) {
  Moments moments(b, at);
  std::optional<int64_t> months = ExpressionBuilder::integerOf(interval.months),
                         days = ExpressionBuilder::integerOf(interval.days),
                         micros = ExpressionBuilder::integerOf(interval.micros);
  if (months && days && micros) {
    return b.shiftDate(moment, *months, *days, *micros, at);
  }
  MaybeExpression moved = !months        ? moments.monthsLater(moment, interval.months)
                          : *months == 0 ? MaybeExpression(moment)
                                         : b.shiftDate(moment, *months, 0, 0, at);
  if (failed(moved)) {
    return moved;
  }
  Expression later = moments.plus(moments.times(interval.days, kMicrosOfDay), interval.micros);
  return moments.orInfinite(
      moment,
      moments.as(moments.plus(moments.units(*moved), later), frame::dropNullable(moment.type())),
      {interval.months, interval.days, interval.micros});
}

/// A part of an interval; nothing if it has no such part.
static std::optional<Expression> partOf(Moments &moments, TimePart part, const Interval &interval) {
  switch (part) {
  case TimePart::kMillennium:
    return moments.over(interval.months, 12'000);
  case TimePart::kCentury:
    return moments.over(interval.months, 1200);
  case TimePart::kDecade:
    return moments.over(interval.months, 120);
  case TimePart::kYear:
    return moments.over(interval.months, 12);
  case TimePart::kQuarter:
    return moments.plus(moments.over(moments.modulo(interval.months, 12), 3), moments.number(1));
  case TimePart::kMonth:
    return moments.modulo(interval.months, 12);
  case TimePart::kDay:
    return interval.days;
  case TimePart::kHour:
    return moments.over(interval.micros, 3600 * kMicrosOfSecond);
  case TimePart::kMinute:
    return moments.over(moments.modulo(interval.micros, 3600 * kMicrosOfSecond),
                        60 * kMicrosOfSecond);
  case TimePart::kSecond:
    return moments.over(moments.modulo(interval.micros, 60 * kMicrosOfSecond), kMicrosOfSecond);
  case TimePart::kMillisecond:
    return moments.over(moments.modulo(interval.micros, 60 * kMicrosOfSecond),
                        kMicrosOfSecond / 1000);
  case TimePart::kMicrosecond:
    return moments.modulo(interval.micros, 60 * kMicrosOfSecond);
  default:
    return std::nullopt;
  }
}

MaybeExpression ExpressionImporter::importPartOfInterval(ExpressionBuilder &b, const Call &call,
                                                         const Interval &interval) {
  Moments moments(b, call.at);
  if (call.name == "epoch") {
    // A year is 365.25 days, a month of it 30.
    constexpr int64_t kYearSeconds = 31'557'600;
    Expression days = moments.plus(moments.times(moments.modulo(interval.months, 12), kDaysOfMonth),
                                   interval.days);
    Expression seconds =
        moments.plus(moments.times(moments.over(interval.months, 12), kYearSeconds),
                     moments.times(days, 86'400));
    constexpr unsigned kDigits = 38; // more than 64 bits of microseconds
    Type wide = frame::DecimalType::get(context.getContext(), kDigits, 0);
    MaybeExpression scaled = b.arithmetic(Arithmetic::kMultiply, *b.cast(seconds, wide, call.at),
                                          b.integer(kMicrosOfSecond, wide, call.at), wide, call.at);
    MaybeExpression micros =
        failed(scaled) ? scaled
                       : b.arithmetic(Arithmetic::kAdd, *scaled,
                                      *b.cast(interval.micros, wide, call.at), wide, call.at);
    if (failed(micros)) {
      return failure();
    }
    Type f64 = Float64Type::get(context.getContext());
    Expression million =
        b.constant(FloatAttr::get(f64, static_cast<double>(kMicrosOfSecond)), f64, call.at);
    return b.arithmetic(Arithmetic::kDivide, *b.cast(*micros, f64, call.at), million, f64, call.at);
  }
  if (call.name == "epoch_ms" || call.name == "epoch_us" || call.name == "epoch_ns") {
    Type i64 = IntegerType::get(context.getContext(), 64);
    if (call.name == "epoch_ms") { // of its days, and of the rest
      Expression days = moments.plus(moments.times(interval.months, kDaysOfMonth), interval.days);
      return moments.plus(moments.times(days, kMicrosOfDay / 1000),
                          moments.over(interval.micros, 1000));
    }
    Expression micros = totalOf(b, interval, i64, call.at);
    return call.name == "epoch_ns" ? moments.times(micros, 1000) : micros;
  }
  if (call.name == "nanosecond" || call.name == "nanoseconds") {
    return moments.times(*partOf(moments, TimePart::kMicrosecond, interval), 1000);
  }
  std::optional<TimePart> part = timePart(call.name);
  std::optional<Expression> value = part ? partOf(moments, *part, interval) : std::nullopt;
  if (!value) {
    return unsupported(call, "not of an interval");
  }
  for (const Expression &other : {interval.months, interval.days, interval.micros}) {
    if (frame::isNullable(other.type())) { // NULL, whatever is known of the part
      value = moments.plus(*value, moments.times(other, 0));
    }
  }
  return b.cast(*value, call.type, call.at);
}

static Interval negated(Moments &moments, Interval interval) {
  for (Expression *part : {&interval.months, &interval.days, &interval.micros}) {
    std::optional<int64_t> constant = ExpressionBuilder::integerOf(*part);
    *part =
        constant && *constant != INT64_MIN ? moments.number(-*constant) : moments.times(*part, -1);
  }
  return interval;
}

/// Without months, by a constant width, it is integer arithmetic.
static std::optional<int64_t> constantWidth(const Interval &interval) {
  std::optional<int64_t> months = ExpressionBuilder::integerOf(interval.months),
                         days = ExpressionBuilder::integerOf(interval.days),
                         micros = ExpressionBuilder::integerOf(interval.micros);
  const bool fits = months == 0 && days && micros && *days >= 0 && *days < INT32_MAX &&
                    *micros >= 0 &&
                    *days * (kMicrosOfDay / kMicrosOfSecond) + *micros / kMicrosOfSecond <
                        INT64_MAX / kMicrosOfSecond &&
                    *days + *micros > 0;
  return fits ? std::optional(*days * kMicrosOfDay + *micros) : std::nullopt;
}

/// By a constant number of months.
static std::optional<int64_t> constantMonths(const Interval &interval) {
  std::optional<int64_t> months = ExpressionBuilder::integerOf(interval.months);
  const bool areAll = months && *months > 0 && ExpressionBuilder::integerOf(interval.days) == 0 &&
                      ExpressionBuilder::integerOf(interval.micros) == 0;
  return areAll ? months : std::nullopt;
}

/// Of timestamps; dates become some and are cut to their day again, times are of 1970-01-01.
MaybeExpression ExpressionImporter::importBucket(ExpressionBuilder &b, const Call &call,
                                                 int64_t fieldsBefore) {
  Moments moments(b, call.at);
  SmallVector<Node> children = call.node.get("children").elements();
  FailureOr<Interval> width = importInterval(b, children[0], call.at, fieldsBefore);
  MaybeExpression moment = import(b, children[1], call.at, fieldsBefore);
  if (failed(width) || failed(moment)) {
    return failure();
  }
  Type given = frame::dropNullable(moment->type());
  const bool isTime = frame::isTime(given) && frame::unitsOfDay(given) == kMicrosOfDay;
  const bool hasOffset = children.size() == 3 && isInterval(children[2]);
  const bool hasOrigin = children.size() == 3 && !hasOffset;
  if (std::optional<int64_t> months = constantMonths(*width);
      months && frame::isDate(given) && !hasOffset) { // also of dates beyond all timestamps
    std::optional<Expression> origin;
    if (hasOrigin) {
      MaybeExpression from = import(b, children[2], call.at, fieldsBefore);
      if (failed(from)) {
        return failure();
      }
      origin = *from;
    }
    return moments.bucketOfMonths(*months, *moment, origin);
  }
  Type timestamp = frame::isDate(given) || isTime ? moments.timestampType() : given;
  auto asTimestamp = [&](const MaybeExpression &value) -> MaybeExpression {
    if (failed(value) || isTime) {
      return failed(value) ? value : moments.as(moments.units(*value), timestamp);
    }
    return castMoment(b, *value, timestamp, Misfit::kRaises, call.at);
  };
  MaybeExpression typed = asTimestamp(moment);
  if (failed(typed)) {
    return failure();
  }
  FailureOr<Interval> offset =
      hasOffset ? importInterval(b, children[2], call.at, fieldsBefore) : *width;
  if (ZonedMoments(b, call.at).isElsewhere(*moment) &&
      (children.size() == 3 || !constantWidth(*width))) {
    return unsupported(call, "of moments with a zone in another zone than UTC only by a constant "
                             "without months");
  }
  MaybeExpression origin =
      hasOrigin ? asTimestamp(import(b, children[2], call.at, fieldsBefore)) : typed;
  if (failed(offset) || failed(origin)) {
    return failure();
  }
  if (!frame::isTimestamp(timestamp) || !frame::isTimestamp(origin->type())) {
    // no test: DuckDB's binder has no other
    return unsupported(call, "only of dates, timestamps and times of microseconds");
  }
  if (hasOffset) {
    typed = moveBy(b, *typed, negated(moments, *offset), call.at);
  }
  std::optional<int64_t> constant = children.size() == 2 ? constantWidth(*width) : std::nullopt;
  MaybeExpression start = failure();
  if (failed(typed)) {
    return failure();
  }
  if (constant) {
    start = moments.bucket(*constant, *typed);
  } else {
    constexpr int64_t kMonday = 10'959 * kMicrosOfDay, kMonth = 10'957 * kMicrosOfDay; // 2000-01
    MaybeExpression packed = moments.packed(*width);
    MaybeExpression isOfMonths =
        b.compare(frame::CompareKind::Ne, width->months, moments.number(0), call.at);
    Expression monday = moments.number(kMonday);
    MaybeExpression from = hasOrigin ? MaybeExpression(moments.units(*origin))
                           : failed(isOfMonths)
                               ? isOfMonths
                               : b.choose(*isOfMonths, moments.number(kMonth), &monday, call.at);
    MaybeExpression found =
        failed(packed) || failed(from)
            ? MaybeExpression(failure())
            : b.text(*headrace::textFunctionNamed("time_bucket"),
                     {*packed, moments.units(*typed), *from}, moments.number(0).type(), call.at);
    start =
        failed(found) ? found : moments.orInfinite(*typed, moments.as(*found, timestamp), *origin);
    start = hasOrigin ? moments.ofFinite(*origin, start) : start;
  }
  if (hasOffset && succeeded(start)) {
    start = moveBy(b, *start, *offset, call.at);
  }
  return failed(start) ? start : castMoment(b, *start, call.type, Misfit::kRaises, call.at);
}

std::optional<MaybeExpression> ExpressionImporter::importWithInterval(ExpressionBuilder &b,
                                                                      const Call &call,
                                                                      int64_t fieldsBefore) {
  if (makesInterval(call.node)) {
    FailureOr<Interval> interval = importInterval(b, call.node, call.at, fieldsBefore);
    return failed(interval) ? MaybeExpression(failure()) : Moments(b, call.at).packed(*interval);
  }
  SmallVector<Node> children = call.node.get("children").elements();
  if (llvm::none_of(children, isInterval)) {
    return std::nullopt;
  }
  const bool isPart = timePart(call.name) || StringRef(call.name).starts_with("epoch_");
  if (children.size() == 1 && isPart) {
    FailureOr<Interval> interval = importInterval(b, children[0], call.at, fieldsBefore);
    return failed(interval) ? MaybeExpression(failure()) : importPartOfInterval(b, call, *interval);
  }
  bool moves = (call.name == "+" || call.name == "-") && children.size() == 2;
  if (call.name == "time_bucket") {
    return importBucket(b, call, fieldsBefore);
  }
  if (!moves) {
    return std::nullopt;
  }
  bool first = isInterval(children[0]);
  FailureOr<Interval> interval = importInterval(b, children[first ? 0 : 1], call.at, fieldsBefore);
  MaybeExpression moment = import(b, children[first ? 1 : 0], call.at, fieldsBefore);
  MaybeExpression typed = failed(moment) ? moment : b.cast(*moment, call.type, call.at);
  if (failed(interval) || failed(typed)) {
    return MaybeExpression(failure());
  }
  Moments moments(b, call.at);
  return moveBy(b, *typed, call.name == "-" ? negated(moments, *interval) : *interval, call.at);
}
