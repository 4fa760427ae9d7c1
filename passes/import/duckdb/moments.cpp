// Calls of functions of dates and times in DuckDB's plans, by name.
#include "passes/import/Moments.h"
#include "passes/import/duckdb/expressions.h"

#include "dialects/frame/FrameConstants.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;
using Arithmetic = ExpressionBuilder::Arithmetic;

/// "UTC", "GMT", and "UTC+2", "GMT-05:30" and the like, as microseconds.
static std::optional<int64_t> offsetOf(StringRef zone) {
  if (!zone.consume_front_insensitive("UTC") && !zone.consume_front_insensitive("GMT")) {
    return std::nullopt;
  }
  if (zone.empty()) {
    return 0;
  }
  int64_t sign = zone.front() == '-' ? -1 : 1;
  if (!zone.consume_front("-") && !zone.consume_front("+")) {
    return std::nullopt;
  }
  auto [hours, minutes] = zone.split(':');
  unsigned hour = 0, minute = 0;
  if (hours.getAsInteger(10, hour) || hour > 23 ||
      (zone.contains(':') &&
       (minutes.size() != 2 || minutes.getAsInteger(10, minute) || minute > 59))) {
    return std::nullopt;
  }
  return sign * (hour * 60 + minute) * 60 * kMicrosOfSecond;
}

MaybeExpression ExpressionImporter::atZone(ExpressionBuilder &b, const Call &call,
                                           Arguments arguments) {
  std::optional<StringRef> zone = ExpressionBuilder::stringOf(arguments[0]);
  std::optional<int64_t> offset = zone ? offsetOf(*zone) : std::nullopt;
  if (!offset) {
    return unsupported(call, "the zone must be UTC, GMT, or an offset such as 'UTC+2'");
  }
  auto timestamp = dyn_cast<frame::TimestampType>(frame::dropNullable(arguments[1].type()));
  if (!timestamp) {
    // no test: DuckDB's binder has the function for timestamps only
    return unsupported(call, "only timestamps have a zone");
  }
  // A moment shows a later hour in the east; what a clock there shows was earlier.
  int64_t shift = timestamp.getZoned() ? *offset : -*offset;
  Type micros = frame::TimestampType::get(timestamp.getContext(), TimeUnit::kMicrosecond,
                                          timestamp.getZoned());
  MaybeExpression moment = b.cast(arguments[1], micros, call.at);
  if (failed(moment)) {
    return failure();
  }
  MaybeExpression moved = b.shiftDate(*moment, 0, 0, shift, call.at);
  return failed(moved) ? moved : b.cast(*moved, call.type, call.at);
}

std::optional<MaybeExpression>
ExpressionImporter::importPart(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  std::optional<TimePart> part = timePart(call.name);
  if (!part || arguments.size() != 1 || !frame::isTemporal(arguments[0].type())) {
    return std::nullopt;
  }
  MaybeExpression value = Moments(b, call.at).part(*part, arguments[0]);
  return failed(value) ? value : b.cast(*value, call.type, call.at);
}

/// Functions that begin with the name of a part.
std::optional<MaybeExpression>
ExpressionImporter::importByPart(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  bool truncates = call.name == "date_trunc" || call.name == "datetrunc";
  bool counts = call.name == "date_diff" || call.name == "datediff";
  bool elapsed = call.name == "date_sub" || call.name == "datesub";
  if (!(truncates && arguments.size() == 2) && !((counts || elapsed) && arguments.size() == 3)) {
    return std::nullopt;
  }
  std::optional<StringRef> name = ExpressionBuilder::stringOf(arguments[0]);
  if (!name) {
    return MaybeExpression(unsupported(call, "the part must be a constant"));
  }
  std::optional<TimePart> part = timePart(*name);
  if (!part) {
    // no test: DuckDB's binder refuses other names
    return MaybeExpression(unsupported(call, "there is no such part: " + *name));
  }
  Moments moments(b, call.at);
  MaybeExpression value = truncates ? moments.truncated(*part, arguments[1])
                          : counts  ? moments.boundaries(*part, arguments[1], arguments[2])
                                    : moments.elapsed(*part, arguments[1], arguments[2]);
  return failed(value) ? value : b.cast(*value, call.type, call.at);
}

/// strftime, whose arguments may stand in either order.
std::optional<MaybeExpression>
ExpressionImporter::importFormat(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  if (call.name != "strftime" || arguments.size() != 2) {
    return std::nullopt;
  }
  bool momentFirst = !frame::isString(arguments[0].type());
  std::optional<StringRef> format = ExpressionBuilder::stringOf(arguments[momentFirst ? 1 : 0]);
  if (!format) {
    return MaybeExpression(unsupported(call, "the format must be a constant"));
  }
  return Moments(b, call.at).formatted(*format, arguments[momentFirst ? 0 : 1]);
}

/// Timestamps, dates and times from numbers, and numbers from them.
std::optional<MaybeExpression> ExpressionImporter::importNumberOfMoment(ExpressionBuilder &b,
                                                                        const Call &call,
                                                                        Arguments arguments) {
  Moments moments(b, call.at);
  auto isOf = [&](StringRef name, size_t count) {
    return call.name == name && arguments.size() == count;
  };
  bool fromInteger = arguments.size() == 1 && frame::isInteger(arguments[0].type());
  if (isOf("to_timestamp", 1)) {
    Type f64 = Float64Type::get(context.getContext());
    Expression million =
        b.constant(FloatAttr::get(f64, static_cast<double>(kMicrosOfSecond)), f64, call.at);
    MaybeExpression scaled =
        b.arithmetic(Arithmetic::kMultiply, arguments[0], million, f64, call.at);
    MaybeExpression whole =
        failed(scaled) ? scaled
                       : b.cast(*scaled, IntegerType::get(context.getContext(), 64), call.at);
    return failed(whole) ? whole : moments.as(*whole, call.type);
  }
  if (fromInteger && call.name == "epoch_ms") {
    return moments.as(moments.times(arguments[0], 1000), call.type);
  }
  if (fromInteger && (call.name == "make_timestamp" || call.name == "make_timestamptz")) {
    return moments.as(arguments[0], call.type);
  }
  if (isOf("make_date", 3)) {
    return MaybeExpression(b.makeDate(arguments[0], arguments[1], arguments[2], call.at));
  }
  if (isOf("make_time", 3)) {
    return moments.time(arguments[0], arguments[1], arguments[2]);
  }
  if (isOf("make_timestamp", 6)) {
    MaybeExpression time = moments.time(arguments[3], arguments[4], arguments[5]);
    MaybeExpression midnight = b.cast(b.makeDate(arguments[0], arguments[1], arguments[2], call.at),
                                      moments.timestampType(), call.at);
    if (failed(time) || failed(midnight)) {
      return MaybeExpression(failure());
    }
    return moments.as(moments.plus(moments.units(*midnight), moments.units(*time)), call.type);
  }
  auto unit = llvm::StringSwitch<std::optional<TimeUnit>>(call.name)
                  .Case("epoch_ms", TimeUnit::kMillisecond)
                  .Case("epoch_us", TimeUnit::kMicrosecond)
                  .Case("epoch_ns", TimeUnit::kNanosecond)
                  .Default(std::nullopt);
  if (!unit || arguments.size() != 1 || !frame::isTemporal(arguments[0].type())) {
    return std::nullopt;
  }
  Expression moment = arguments[0];
  if (frame::isDate(moment.type())) {
    MaybeExpression midnight = b.cast(moment, moments.timestampType(), call.at);
    if (failed(midnight)) {
      return midnight;
    }
    moment = *midnight;
  }
  int64_t from = frame::unitsOfDay(moment.type()) / 86'400, to = unitsOfSecond(*unit);
  if (from > to && frame::isTimestamp(moment.type())) { // rounded, as a cast
    Type coarse = frame::TimestampType::get(context.getContext(), *unit, /*zoned=*/false);
    return MaybeExpression(moments.units(*b.cast(moment, coarse, call.at)));
  }
  Expression units = moments.units(moment);
  return MaybeExpression(from <= to ? moments.times(units, to / from)
                                    : moments.floorOver(units, from / to));
}

/// The moment of the query.
std::optional<MaybeExpression> ExpressionImporter::importClock(ExpressionBuilder &b,
                                                               const Call &call) {
  static constexpr StringRef kNames[] = {"current_date",
                                         "today",
                                         "now",
                                         "get_current_timestamp",
                                         "transaction_timestamp",
                                         "current_localtimestamp",
                                         "current_localtime"};
  if (!llvm::is_contained(kNames, call.name)) {
    return std::nullopt;
  }
  if (!options.nowMicroseconds) {
    return MaybeExpression(unsupported(call, "the moment of the query is not given"));
  }
  Expression now =
      b.integer(*options.nowMicroseconds, Moments(b, call.at).timestampType(), call.at);
  return b.cast(now, call.type, call.at); // zones are UTC
}

std::optional<MaybeExpression> ExpressionImporter::importDateFunction(ExpressionBuilder &b,
                                                                      const Call &call,
                                                                      Arguments arguments) {
  if (std::optional<MaybeExpression> clock = importClock(b, call)) {
    return clock;
  }
  for (auto import :
       {&ExpressionImporter::importPart, &ExpressionImporter::importByPart,
        &ExpressionImporter::importFormat, &ExpressionImporter::importNumberOfMoment}) {
    if (std::optional<MaybeExpression> result = (this->*import)(b, call, arguments)) {
      return result;
    }
  }
  if (call.name == "timezone" && arguments.size() == 2) {
    return atZone(b, call, arguments);
  }
  if (arguments.size() != 1 || !frame::isTemporal(arguments[0].type())) {
    return std::nullopt;
  }
  Moments moments(b, call.at);
  if (call.name == "last_day") {
    return moments.lastDay(arguments[0]);
  }
  if (call.name == "dayname") {
    return moments.dayName(arguments[0]);
  }
  if (call.name == "monthname") {
    return moments.monthName(arguments[0]);
  }
  return std::nullopt;
}
