// The table of functions of dates and times, and what they are made of.
#include "passes/import/DateFunctions.h"

#include "dialects/frame/FrameConstants.h"
#include "passes/import/ZonedMoments.h"
#include "runtime/base/name_list.h"
#include "runtime/base/text_functions.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::import;
namespace frame = headrace::frame;
using Arithmetic = ExpressionBuilder::Arithmetic;

namespace {

// What the table writes.
struct Moment : Expression {};
struct Day : Expression {};
struct Timestamp : Expression {};
struct Integer : Expression {};
struct Number : Expression {};
using Part = TimePart;
struct Format : StringRef {};
struct Zone : Expression {};

/// The values of one call.
class Dates : public ZonedMoments {
public:
  using ZonedMoments::ZonedMoments;

  MaybeExpression date(const Expression &year, const Expression &month, const Expression &day) {
    return b_.makeDate(year, month, day, at_);
  }
  /// -44, which is 44 BC, as a year of those that have a year 0.
  Expression yearOfEras(const Expression &year) {
    Expression isBefore = *b_.compare(frame::CompareKind::Lt, year, number(0), at_);
    return *b_.choose(isBefore, plus(year, number(1)), &year, at_);
  }
  MaybeExpression timestamp(const MaybeExpression &date, const MaybeExpression &time) {
    if (failed(date) || failed(time)) {
      return failure();
    }
    MaybeExpression midnight = b_.cast(*date, timestampType(), at_);
    return failed(midnight) ? midnight : plus(units(*midnight), units(*time));
  }
  /// The moment when the session's clocks show it.
  MaybeExpression moment(const MaybeExpression &date, const MaybeExpression &time) {
    Type zoned = frame::TimestampType::get(b_.getContext(), TimeUnit::kMicrosecond, true);
    MaybeExpression shown = timestamp(date, time);
    return failed(shown) ? shown : momentOf(as(*shown, zoned));
  }
  /// Likewise those of a zone.
  MaybeExpression moment(const MaybeExpression &date, const MaybeExpression &time,
                         const Expression &zone) {
    MaybeExpression shown = timestamp(date, time);
    return failed(shown) ? shown : atZone(zone, as(*shown, timestampType()));
  }
  /// Microseconds.
  MaybeExpression secondsLater(const Expression &seconds) {
    Type f64 = Float64Type::get(b_.getContext());
    Expression million =
        b_.constant(FloatAttr::get(f64, static_cast<double>(kMicrosOfSecond)), f64, at_);
    MaybeExpression scaled = b_.arithmetic(Arithmetic::kMultiply, seconds, million, f64, at_);
    return failed(scaled) ? scaled : b_.cast(*scaled, IntegerType::get(b_.getContext(), 64), at_);
  }
  MaybeExpression negated(const MaybeExpression &truth) {
    return failed(truth) ? truth : b_.negation(*truth, at_);
  }
  MaybeExpression since1970(const Expression &given, TimeUnit unit) {
    Expression moment = given;
    if (frame::isDate(given.type()) && unit == TimeUnit::kMillisecond) { // of any day
      return ofFinite(given, times(units(given), kMicrosOfDay / 1000));
    }
    if (frame::isDate(given.type())) {
      MaybeExpression midnight = b_.cast(given, timestampType(), at_);
      if (failed(midnight)) {
        return midnight;
      }
      moment = *midnight;
    }
    int64_t from = frame::unitsOfDay(moment.type()) / 86'400, to = unitsOfSecond(unit);
    if (from > to && frame::isTimestamp(moment.type())) { // rounded, as a cast
      Type coarse = frame::TimestampType::get(b_.getContext(), unit, /*zoned=*/false);
      return ofFinite(given, units(*b_.cast(moment, coarse, at_)));
    }
    return ofFinite(given, from <= to ? times(units(moment), to / from)
                                      : floorOver(units(moment), from / to));
  }
};

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Whether a function may have such an argument, what it is then, and what it lacks that must be a
/// constant and is none; nothing if each row may have one of its own.
template <typename Kind> struct Given;
template <typename Kind, bool (*isOf)(Type)> struct GivenValue {
  static constexpr StringRef kMissing = "";
  static bool takes(const Expression &argument) { return isOf(argument.type()); }
  static std::optional<Kind> of(const Expression &argument) { return Kind{argument}; }
};
bool isDay(Type type) { return frame::isDate(type) || frame::isTimestamp(type); }
template <> struct Given<Moment> : GivenValue<Moment, frame::isTemporal> {};
template <> struct Given<Day> : GivenValue<Day, isDay> {};
template <> struct Given<Timestamp> : GivenValue<Timestamp, frame::isTimestamp> {};
template <> struct Given<Integer> : GivenValue<Integer, frame::isInteger> {};
template <> struct Given<Number> : GivenValue<Number, frame::isNumeric> {};
template <typename Kind, std::optional<Kind> (*read)(StringRef)> struct GivenConstant {
  static bool takes(const Expression &argument) { return frame::isString(argument.type()); }
  static std::optional<Kind> of(const Expression &argument) {
    std::optional<StringRef> text = ExpressionBuilder::stringOf(argument);
    return text ? read(*text) : std::nullopt;
  }
};
std::optional<Format> formatOf(StringRef text) { return Format{text}; }
template <> struct Given<Part> : GivenConstant<Part, timePart> {
  static constexpr StringRef kMissing = "";
};
template <> struct Given<Format> : GivenConstant<Format, formatOf> {
  static constexpr StringRef kMissing = "the format must be a constant";
};
template <> struct Given<Zone> : GivenValue<Zone, frame::isString> {};

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// A call of a function, as far as it can be read.
struct Called {
  bool takes = false;  ///< such arguments
  StringRef missing;   ///< what an argument lacks
  bool byPart = false; ///< each row names its part
  MaybeExpression value = failure();
};

template <auto function> struct Line;
template <typename... Kinds, MaybeExpression (*function)(Dates &, Kinds...)> struct Line<function> {
  static Called call(Dates &dates, ArrayRef<Expression> arguments) {
    return [&]<size_t... at>(std::index_sequence<at...>) -> Called {
      if (arguments.size() != sizeof...(Kinds) || !(Given<Kinds>::takes(arguments[at]) && ...)) {
        return {};
      }
      std::tuple<std::optional<Kinds>...> given{Given<Kinds>::of(arguments[at])...};
      StringRef missing;
      ((missing = std::get<at>(given) || Given<Kinds>::kMissing.empty() ? missing
                                                                        : Given<Kinds>::kMissing),
       ...);
      if (!(std::get<at>(given) && ...)) {
        return {true, missing, missing.empty()};
      }
      return {true, "", false, function(dates, *std::get<at>(given)...)};
    }(std::index_sequence_for<Kinds...>());
  }
};

struct DateFunction {
  StringRef names;
  Called (*call)(Dates &, ArrayRef<Expression>);
};

#define HR_WITH_DATES(...) ([[maybe_unused]] Dates & d, __VA_ARGS__)
#define HR_DATE(names, arguments, value, text)                                                     \
  {names, Line<+[] HR_WITH_DATES arguments -> MaybeExpression { return value; }>::call},
constexpr DateFunction kFunctions[] = {
#include "passes/import/date_functions.def"
};
#undef HR_DATE
#undef HR_WITH_DATES

constexpr std::pair<TimePart, StringRef> kParts[] = {
#define HR_PART(member, names, length, value, text) {TimePart::member, names},
#include "passes/import/time_parts.def"
#undef HR_PART
};

/// Of each part that a row may name its first name, and what a text is one of: an i64, from 0 on.
struct NamedPart {
  SmallVector<StringRef> names;
  MaybeExpression number = failure(); ///< NULL of a text that names no part
};

NamedPart partNamedBy(ExpressionBuilder &b, const Expression &text, Location at) {
  Type string = frame::StringType::get(b.getContext());
  Type i64 = IntegerType::get(b.getContext(), 64);
  NamedPart part;
  SmallVector<Expression> names, numbers;
  for (auto [which, listed] : kParts) {
    if (which == TimePart::kNanosecond) { // a function of this name alone
      continue;
    }
    SmallVector<StringRef> same;
    listed.split(same, ' ');
    for (StringRef name : same) {
      names.push_back(b.constant(StringAttr::get(b.getContext(), name), string, at));
      numbers.push_back(b.integer(static_cast<int64_t>(part.names.size()), i64, at));
    }
    part.names.push_back(same.front());
  }
  MaybeExpression lower = b.text(*textFunctionNamed("lower"), text, string, at);
  MaybeExpression wanted = failed(lower) ? lower : b.list(string, *lower, at);
  MaybeExpression all = b.list(string, names, at), numbered = b.list(i64, numbers, at);
  if (failed(wanted) || failed(all) || failed(numbered)) {
    return part;
  }
  MaybeExpression place = b.text(*textFunctionNamed("list_place"), {*all, *wanted}, i64, at);
  part.number = failed(place) ? place : b.element(*numbered, *place, at);
  return part;
}

/// The call of a function of the table as a `type`; nothing if it has no such arguments.
std::optional<MaybeExpression> callOf(ExpressionBuilder &builder, const DateFunction &function,
                                      StringRef name, ArrayRef<Expression> arguments, Type type,
                                      Location at);

/// The call for the part that each row names; an error where there is none of the name.
MaybeExpression byPart(ExpressionBuilder &b, const DateFunction &function, StringRef name,
                       ArrayRef<Expression> arguments, Type type, Location at) {
  const NamedPart part = partNamedBy(b, arguments.front(), at);
  if (failed(part.number)) {
    return failure();
  }
  SmallVector<Expression> isPart, values, given(arguments);
  for (auto [number, named] : llvm::enumerate(part.names)) {
    given.front() = b.constant(StringAttr::get(b.getContext(), named),
                               frame::StringType::get(b.getContext()), at);
    MaybeExpression value = *callOf(b, function, name, given, type, at);
    MaybeExpression is = b.compare(
        frame::CompareKind::Eq, *part.number,
        b.integer(static_cast<int64_t>(number), IntegerType::get(b.getContext(), 64), at), at);
    if (failed(value) || failed(is)) {
      return failure();
    }
    isPart.push_back(*is);
    values.push_back(*value);
  }
  MaybeExpression none =
      b.raise(frame::RaiseKind::User, "unknown part of a date or time", type, at);
  MaybeExpression any = failed(none) ? none : b.choose(isPart, values, &*none, at);
  return failed(any) ? any : MaybeExpression(Moments(b, at).unlessNull(arguments, *any));
}

std::optional<MaybeExpression> callOf(ExpressionBuilder &builder, const DateFunction &function,
                                      StringRef name, ArrayRef<Expression> arguments, Type type,
                                      Location at) {
  Dates dates(builder, at);
  Called call = function.call(dates, arguments);
  if (!call.takes) {
    return std::nullopt;
  }
  if (call.byPart) {
    return byPart(builder, function, name, arguments, type, at);
  }
  if (!call.missing.empty()) {
    return MaybeExpression(builder.fail(at, "unsupported " + name + ": " + call.missing));
  }
  if (failed(call.value)) {
    return call.value;
  }
  bool isCount = frame::isInteger(call.value->type()) && frame::isTemporal(type);
  return isCount ? MaybeExpression(dates.as(*call.value, type))
                 : builder.cast(*call.value, type, at);
}

} // namespace

std::optional<MaybeExpression> headrace::import::dateFunction(ExpressionBuilder &builder,
                                                              StringRef name,
                                                              ArrayRef<Expression> arguments,
                                                              Type type, Location at) {
  for (const DateFunction &function : kFunctions) {
    std::optional<MaybeExpression> call = listsName(function.names, name)
                                              ? callOf(builder, function, name, arguments, type, at)
                                              : std::nullopt;
    if (!call) {
      continue;
    }
    auto none = failed(*call) ? frame::RaiseOp() : (*call)->value.getDefiningOp<frame::RaiseOp>();
    return none ? MaybeExpression(builder.fail(at, none.getMessage())) : *call; // whatever the row
  }
  return std::nullopt;
}
