// Dates and timestamps where clocks show a zone's time.
#include "passes/import/ZonedMoments.h"

#include "dialects/frame/FrameConstants.h"
#include "runtime/base/text_functions.h"
#include "runtime/base/zone_rules.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::import;
namespace frame = headrace::frame;
using Compare = frame::CompareKind;

static bool isNanoseconds(Type type) {
  return frame::unitsOfDay(type) == 86'400 * unitsOfSecond(TimeUnit::kNanosecond);
}

static bool isOffset(TimePart part) {
  return part == TimePart::kTimezone || part == TimePart::kTimezoneHour ||
         part == TimePart::kTimezoneMinute;
}

bool ZonedMoments::isElsewhere(const Expression &moment) {
  return isZoned(moment) && !b_.zones().session().empty();
}

bool ZonedMoments::holdsElsewhere(Type type) {
  bool found = false;
  type.walk([&](frame::TimestampType timestamp) { found |= timestamp.getZoned(); });
  return found && !b_.zones().session().empty();
}

static Expression constantRules(ExpressionBuilder &b, const std::string &rules, Location at) {
  Type binary = frame::BinaryType::get(b.getContext());
  return b.constant(frame::literalAttr(rules, binary), binary, at);
}

Expression ZonedMoments::rules() {
  return constantRules(b_, *b_.zones().rulesOf(b_.zones().session()), at_);
}

Expression ZonedMoments::moved(const Expression &given, StringRef offset, const Expression &rules,
                               int64_t sign) {
  Type type = frame::dropNullable(given.type());
  const bool isFine = isNanoseconds(type);
  Expression moment = given;
  if (!isFine) {
    type = frame::TimestampType::get(b_.getContext(), TimeUnit::kMicrosecond, isZoned(given));
    moment = *b_.cast(given, type, at_);
  }
  Expression micros = isFine ? floorOver(units(moment), 1000) : units(moment);
  MaybeExpression seconds =
      b_.text(*textFunctionNamed(offset), {micros, rules}, micros.type(), at_);
  const int64_t perSecond = frame::unitsOfDay(type) / 86'400;
  return *orInfinite(moment, as(plus(units(moment), times(*seconds, sign * perSecond)), type),
                     {rules});
}

Expression ZonedMoments::shown(const Expression &moment) {
  return isElsewhere(moment) ? moved(moment, "zone_offset", rules(), 1) : moment;
}

Expression ZonedMoments::momentOf(const Expression &shown) {
  return isElsewhere(shown) ? moved(shown, "zone_clock_offset", rules(), -1) : shown;
}

MaybeExpression ZonedMoments::offsetOf(const Expression &moment) {
  return b_.text(*textFunctionNamed("zone_offset"), {units(inMicros(moment)), rules()},
                 number(0).type(), at_);
}

//===----------------------------------------------------------------------===//
// Parts and differences
//===----------------------------------------------------------------------===//

MaybeExpression ZonedMoments::part(TimePart part, const Expression &moment) {
  if (!isElsewhere(moment) || part == TimePart::kEpoch) {
    return Moments::part(part, moment);
  }
  if (!isOffset(part)) {
    return Moments::part(part, shown(moment));
  }
  MaybeExpression seconds = offsetOf(moment);
  if (failed(seconds)) {
    return failure();
  }
  return ofFinite(moment, part == TimePart::kTimezone       ? *seconds
                          : part == TimePart::kTimezoneHour ? over(*seconds, 3600)
                                                            : modulo(over(*seconds, 60), 60));
}

/// What ICU finds first: where clocks never show its beginning, its time of day is the later one.
static std::optional<TimePart> foundFirst(TimePart part) {
  switch (part) {
  case TimePart::kMillennium:
  case TimePart::kCentury:
  case TimePart::kDecade:
    return TimePart::kYear;
  case TimePart::kQuarter:
    return TimePart::kMonth;
  default:
    return std::nullopt;
  }
}

MaybeExpression ZonedMoments::truncated(TimePart part, const Expression &moment) {
  std::optional<TimeLength> length = lengthOf(part);
  if (!isElsewhere(moment) || !length) {
    return Moments::truncated(part, moment);
  }
  Expression clock = shown(moment);
  MaybeExpression start = Moments::truncated(part, clock);
  if (failed(start)) {
    return failure();
  }
  if (length->micros > 0 && length->micros < 3600 * kMicrosOfSecond) { // as far ahead as before
    return orInfinite(moment, as(minus(units(moment), minus(units(clock), units(*start))),
                                 frame::dropNullable(moment.type())));
  }
  std::optional<TimePart> before = foundFirst(part);
  if (!before) {
    return momentOf(*start);
  }
  MaybeExpression coarse = Moments::truncated(*before, clock);
  if (failed(coarse)) {
    return failure();
  }
  Expression later = minus(units(shown(momentOf(*coarse))), units(*coarse));
  return orInfinite(moment,
                    momentOf(as(plus(units(*start), later), frame::dropNullable(start->type()))));
}

MaybeExpression ZonedMoments::boundaries(TimePart part, const Expression &from,
                                         const Expression &to) {
  if (!isElsewhere(from) || !lengthOf(part)) {
    return Moments::boundaries(part, from, to);
  }
  if (part == TimePart::kIsoYear) {
    return Moments::boundaries(part, shown(from), shown(to));
  }
  // Weeks are counted by days, whatever day they begin on.
  const TimePart cut = part == TimePart::kWeek ? TimePart::kDay : part;
  MaybeExpression first = truncated(cut, inMicros(from)), last = truncated(cut, inMicros(to));
  return failed(first) || failed(last) ? MaybeExpression(failure()) : elapsed(part, *first, *last);
}

MaybeExpression ZonedMoments::elapsed(TimePart part, const Expression &from, const Expression &to) {
  std::optional<TimeLength> length = lengthOf(part);
  if (!isElsewhere(from) || !length || length->micros > 0) {
    return Moments::elapsed(part, from, to);
  }
  if (length->months > 0) {
    return ofFinite({from, to}, over(monthsBetween(from, to), length->months));
  }
  MaybeExpression days = daysBetween(from, to);
  return failed(days) ? days : ofFinite({from, to}, over(*days, length->days));
}

Interval ZonedMoments::difference(const Expression &to, const Expression &from) {
  // From the earlier to the later; then with its sign.
  auto is = [&](const Expression &value, const Expression &otherwise) {
    return choose(Compare::Lt, to, from, value, otherwise);
  };
  Expression early = is(to, from), late = is(from, to);
  Expression days = *daysBetween(early, late);
  Expression micros = minus(units(late), units(*daysLater(early, days)));
  return {number(0), is(times(days, -1), days), is(times(micros, -1), micros)};
}

Interval ZonedMoments::age(const Expression &to, const Expression &from) {
  return Moments::age(shown(to), shown(from));
}

Expression ZonedMoments::monthsBetween(const Expression &from, const Expression &to) {
  // ICU, which DuckDB asks, counts milliseconds, and sees whether months later it is beyond.
  Type type = frame::dropNullable(from.type());
  Expression start = as(times(floorOver(units(from), 1000), 1000), type),
             end = as(times(over(units(to), 1000), 1000), type);
  auto is = [&](const Expression &back, const Expression &forward) {
    return choose(Compare::Lt, end, start, back, forward);
  };
  Expression months = *Moments::elapsed(TimePart::kMonth, shown(start), shown(end)),
             one = is(number(-1), number(1));
  auto unlessBeyond = [&](const Expression &count, const Expression &otherwise) {
    Expression reached = monthsLater(start, count);
    Expression beyond = is(minus(units(end), units(reached)), minus(units(reached), units(end)));
    return choose(Compare::Gt, beyond, number(0), otherwise, count);
  };
  return unlessBeyond(plus(months, one), unlessBeyond(months, minus(months, one)));
}

MaybeExpression ZonedMoments::daysBetween(const Expression &from, const Expression &to) {
  // ICU, which DuckDB asks, counts milliseconds.
  Expression first = times(floorOver(units(inMicros(from)), 1000), 1000),
             last = times(over(units(inMicros(to)), 1000), 1000);
  return b_.text(*textFunctionNamed("zone_days_between"), {first, last, rules()}, first.type(),
                 at_);
}

MaybeExpression ZonedMoments::inOrder(const Interval &interval,
                                      llvm::function_ref<MaybeExpression(bool)> built) {
  bool isKnown = true, isBack = false;
  SmallVector<Expression> conditions;
  for (const Expression &part : {interval.months, interval.days, interval.micros}) {
    std::optional<int64_t> constant = ExpressionBuilder::integerOf(part);
    isKnown &= constant.has_value();
    isBack |= constant.value_or(0) < 0;
    if (!constant) {
      conditions.push_back(*b_.compare(Compare::Lt, part, number(0), at_));
    }
  }
  auto isNone = [](const Expression &part) { return ExpressionBuilder::integerOf(part) == 0; };
  if (isKnown || isBack || isNone(interval.micros) ||
      (isNone(interval.months) && isNone(interval.days))) {
    return built(/*timeFirst=*/isBack);
  }
  MaybeExpression back = built(true), forward = built(false);
  MaybeExpression any = b_.connect(ExpressionBuilder::Connective::kOr, conditions, at_);
  return failed(back) || failed(forward) || failed(any) ? MaybeExpression(failure())
                                                        : b_.choose(*any, *back, &*forward, at_);
}

//===----------------------------------------------------------------------===//
// Later, and texts
//===----------------------------------------------------------------------===//

MaybeExpression ZonedMoments::daysLater(const Expression &moment, const Expression &days) {
  Expression micros = units(moment);
  MaybeExpression later =
      b_.text(*textFunctionNamed("zone_days_later"), {micros, days, rules()}, micros.type(), at_);
  return failed(later) ? later : as(*later, frame::dropNullable(moment.type()));
}

Expression ZonedMoments::monthsLater(const Expression &moment, const Expression &months) {
  Expression moved =
      *orInfinite(moment, momentOf(Moments::monthsLater(shown(moment), months)), months);
  return choose(Compare::Eq, months, number(0), moment, moved);
}

MaybeExpression ZonedMoments::later(const Expression &moment, const Interval &interval) {
  Type type = frame::dropNullable(moment.type());
  auto isNone = [](const Expression &part) { return ExpressionBuilder::integerOf(part) == 0; };
  auto byDays = [&](Expression start) -> MaybeExpression {
    start = isNone(interval.months) ? start : monthsLater(start, interval.months);
    return isNone(interval.days) ? MaybeExpression(start) : daysLater(start, interval.days);
  };
  auto byTime = [&](const MaybeExpression &start) {
    return failed(start) || isNone(interval.micros)
               ? start
               : orInfinite(*start, as(plus(units(*start), interval.micros), type),
                            interval.micros);
  };
  auto built = [&](bool timeFirst) -> MaybeExpression {
    MaybeExpression later = timeFirst ? byDays(*byTime(moment)) : byTime(byDays(moment));
    return failed(later) ? later
                         : MaybeExpression(unlessNull(
                               {interval.months, interval.days, interval.micros}, *later));
  };
  return inOrder(interval, built);
}

MaybeExpression ZonedMoments::printed(const Expression &moment) {
  Type string = frame::StringType::get(b_.getContext());
  if (!isNanoseconds(frame::dropNullable(moment.type()))) {
    return b_.text(*textFunctionNamed("zoned_print"), {units(moment), rules()}, string, at_);
  }
  Type plain = frame::TimestampType::get(b_.getContext(), TimeUnit::kNanosecond, /*zoned=*/false);
  MaybeExpression clock = b_.cast(as(units(shown(moment)), plain), string, at_);
  MaybeExpression seconds = offsetOf(moment);
  if (failed(clock) || failed(seconds)) {
    return failure();
  }
  Expression offset = *b_.text(*textFunctionNamed("zone_offset_print"), *seconds, string, at_);
  return orInfinite(moment, b_.text(*textFunctionNamed("concat"), {*clock, offset}, string, at_));
}

MaybeExpression ZonedMoments::parsed(const Expression &text, frame::TimestampType type,
                                     ExpressionBuilder::Misfit misfit) {
  Type i1 = IntegerType::get(b_.getContext(), 1);
  MaybeExpression micros =
      b_.text(*textFunctionNamed("zoned_parse"), {text, rules()}, number(0).type(), at_);
  if (failed(micros)) {
    return failure();
  }
  MaybeExpression moment = as(*micros, zonedMicros());
  if (misfit == ExpressionBuilder::Misfit::kNull) {
    MaybeExpression fits = b_.text(*textFunctionNamed("zoned_fits"), {text, rules()}, i1, at_);
    moment = failed(fits) ? fits : b_.choose(*fits, *moment, nullptr, at_);
  }
  return failed(moment) ? moment : inUnits(type, *moment, text, misfit);
}

MaybeExpression ZonedMoments::inUnits(frame::TimestampType type, const Expression &moment,
                                      const Expression &text, ExpressionBuilder::Misfit misfit) {
  if (!isNanoseconds(type)) {
    return moment;
  }
  Type plain = frame::TimestampType::get(b_.getContext(), TimeUnit::kNanosecond, /*zoned=*/false);
  MaybeExpression digits = b_.cast(text, plain, at_, misfit);
  MaybeExpression whole = b_.cast(moment, type, at_, misfit);
  if (failed(digits) || failed(whole)) {
    return failure();
  }
  Expression behind = minus(units(*digits), times(floorOver(units(*digits), 1000), 1000));
  return orInfinite(*whole, as(plus(units(*whole), behind), type));
}

frame::TimestampType ZonedMoments::zonedMicros() {
  return frame::TimestampType::get(b_.getContext(), TimeUnit::kMicrosecond, /*zoned=*/true);
}

std::optional<Expression> ZonedMoments::parsedByName(const Expression &text,
                                                     frame::TimestampType type) {
  std::optional<StringRef> constant = ExpressionBuilder::stringOf(text);
  auto [shown, name] = constant.value_or("").trim().rsplit(' ');
  const bool isTime = shown.contains(':') && !name.contains(':');
  std::optional<std::string> rules = isTime ? b_.zones().rulesOf(name) : std::nullopt;
  std::optional<int64_t> micros =
      rules ? parseZoned({shown.data(), shown.size()}, *rules) : std::nullopt;
  if (!micros) {
    return std::nullopt;
  }
  StringAttr clock = StringAttr::get(b_.getContext(), shown);
  return *inUnits(type, b_.integer(*micros, zonedMicros(), at_),
                  b_.constant(clock, frame::dropNullable(text.type()), at_),
                  ExpressionBuilder::Misfit::kRaises);
}

MaybeExpression ZonedMoments::formatted(StringRef format, const Expression &moment) {
  if (!isElsewhere(moment)) {
    return Moments::formatted(format, moment);
  }
  MaybeExpression seconds = offsetOf(moment);
  if (failed(seconds)) {
    return failure();
  }
  zoneName_ = b_.zones().session().str();
  offsetText_ = *b_.text(*textFunctionNamed("zone_offset_print"), *seconds,
                         frame::StringType::get(b_.getContext()), at_);
  return Moments::formatted(format, shown(moment));
}

//===----------------------------------------------------------------------===//
// Any zone
//===----------------------------------------------------------------------===//

MaybeExpression ZonedMoments::atZone(const Expression &zone, const Expression &given) {
  if (ExpressionBuilder::isNullConstant(zone)) {
    return b_.null(given.type(), at_);
  }
  std::optional<StringRef> name = ExpressionBuilder::stringOf(zone);
  MaybeExpression rules = failure();
  if (name) {
    std::optional<std::string> known = b_.zones().rulesOf(*name);
    if (!known) {
      return b_.fail(at_, "unknown time zone: " + *name);
    }
    rules = constantRules(b_, *known, at_);
  } else {
    rules =
        b_.text(*textFunctionNamed("zone_rules"), {zone, constantRules(b_, b_.zones().all(), at_)},
                frame::BinaryType::get(b_.getContext()), at_);
  }
  if (failed(rules)) {
    return failure();
  }
  // A moment shows a later hour in the east; what a clock there shows was earlier.
  std::optional<int32_t> fixed = name ? fixedOffset(*name) : std::nullopt;
  if (fixed && !isNanoseconds(frame::dropNullable(given.type()))) {
    Type micros =
        frame::TimestampType::get(b_.getContext(), TimeUnit::kMicrosecond, isZoned(given));
    MaybeExpression moment = b_.cast(given, micros, at_);
    const int64_t shift = (isZoned(given) ? *fixed : -*fixed) * kMicrosOfSecond;
    return failed(moment) ? moment : b_.shiftDate(*moment, 0, 0, shift, at_);
  }
  return isZoned(given) ? moved(given, "zone_offset", *rules, 1)
                        : moved(given, "zone_clock_offset", *rules, -1);
}
