// Calls of functions of dates and times in DuckDB's plans, by name.
#include "passes/analysis/scalar_evaluation.h"
#include "passes/import/DateFunctions.h"
#include "passes/import/ZonedMoments.h"
#include "passes/import/duckdb/expressions.h"

#include "dialects/frame/FrameConstants.h"
#include "dialects/frame/LogicalTypes.h"
#include "runtime/base/list_values.h"
#include "runtime/base/moment_pattern.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

std::optional<MaybeExpression>
ExpressionImporter::importPart(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  std::optional<TimePart> part = timePart(call.name);
  if (!part || arguments.size() != 1 || !frame::isTemporal(arguments[0].type())) {
    return std::nullopt;
  }
  MaybeExpression value = ZonedMoments(b, call.at).part(*part, arguments[0]);
  if (failed(value)) {
    return value;
  }
  if (auto none = value->value.getDefiningOp<frame::RaiseOp>()) { // an error whatever the row
    return MaybeExpression(b.fail(call.at, none.getMessage()));
  }
  return b.cast(*value, call.type, call.at);
}

/// A struct of several parts; NULL of NULL.
MaybeExpression ExpressionImporter::importParts(ExpressionBuilder &b, const Call &call,
                                                const Expression &moment) {
  auto type = cast<frame::StructType>(call.type);
  ZonedMoments moments(b, call.at);
  auto partOf = [&](StringRef name, Type field) -> MaybeExpression {
    std::optional<TimePart> part = timePart(name);
    if (!part) {
      return unsupported(call, "part " + name);
    }
    if (frame::isInterval(moment.type())) {
      MaybeInterval interval = moments.partsOf(moment);
      Call one = call;
      one.name = name;
      one.type = field;
      return failed(interval) ? MaybeExpression(failure())
                              : importPartOfInterval(b, one, *interval);
    }
    if (part >= TimePart::kTimezone && !frame::isTimestamp(moment.type())) {
      return moments.ofFinite(moment, moments.times(moments.units(moment), 0)); // here it has one
    }
    return moments.part(*part, moment);
  };
  SmallVector<Expression> parts;
  for (auto [name, field] : llvm::zip_equal(type.getNames(), type.getFieldTypes())) {
    MaybeExpression value = partOf(name.getValue(), field);
    if (failed(value)) {
      return failure();
    }
    parts.push_back(*value);
  }
  MaybeExpression all = b.structOf(type, parts, call.at);
  if (failed(all) || !frame::isNullable(moment.type())) {
    return all;
  }
  MaybeExpression known = b.isNotNull(moment, call.at);
  return failed(known) ? known : b.choose(*known, *all, nullptr, call.at);
}

FailureOr<int64_t> ExpressionImporter::momentOfQuery(StringRef function, Location at) {
  if (!options.nowMicroseconds) {
    return context.fail(at, "unsupported " + function + ": the moment of the query is not given");
  }
  return *options.nowMicroseconds;
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
  FailureOr<int64_t> micros = momentOfQuery(call.name, call.at);
  if (failed(micros)) {
    return MaybeExpression(failure());
  }
  ZonedMoments moments(b, call.at);
  Type zoned = frame::TimestampType::get(b.getContext(), TimeUnit::kMicrosecond, /*zoned=*/true);
  Expression now = b.integer(*micros, zoned, call.at);
  return b.cast(frame::dropNullable(call.type) == zoned ? now : moments.shown(now), call.type,
                call.at);
}

/// The text that a constant is, or those of a list that are not NULL; nothing of what is no
/// constant.
static std::optional<SmallVector<std::string>> constantTexts(const Expression &expression) {
  SmallVector<std::string> texts;
  Attribute constant = ExpressionBuilder::constantOf(expression);
  if (constant && frame::isList(expression.type())) {
    const analysis::Scalar packed =
        analysis::scalarOf(constant, frame::dropNullable(expression.type()));
    const ListView list(packed.text());
    for (uint32_t index = 0; index < list.size(); ++index) {
      if (std::optional<std::string_view> text = list.element(index)) {
        texts.emplace_back(*text);
      }
    }
    return texts;
  }
  auto list = expression.value.getDefiningOp<frame::ListOp>();
  for (Value value : list ? ValueRange(list.getOperands()) : ValueRange(expression.value)) {
    const Expression element{value, ""};
    std::optional<StringRef> text = ExpressionBuilder::stringOf(element);
    if (!text && !ExpressionBuilder::isNullConstant(element)) {
      return std::nullopt;
    }
    if (text) {
      texts.push_back(text->str());
    }
  }
  return texts;
}

/// `strptime`, and `try_strptime`, which is NULL where the text is not of the form; of several
/// formats in a list the first counts that fits.
MaybeExpression ExpressionImporter::importStrptime(ExpressionBuilder &b, const Call &call,
                                                   Arguments arguments) {
  if (arguments.size() == 2 && ExpressionBuilder::isNullConstant(arguments[1])) {
    return b.null(call.type, call.at);
  }
  std::optional<SmallVector<std::string>> formats =
      arguments.size() == 2 ? constantTexts(arguments[1]) : std::nullopt;
  if (!formats || formats->empty()) {
    // no test: DuckDB's binder wants one, and a constant
    return unsupported(call, "the formats must be constants");
  }
  Moments moments(b, call.at);
  Type i64 = IntegerType::get(b.getContext(), 64), i1 = IntegerType::get(b.getContext(), 1);
  Type string = frame::StringType::get(b.getContext()), type = frame::dropNullable(call.type);
  const auto unit = static_cast<int64_t>(headrace::logicalType(type).unit);
  SmallVector<Expression> matches, values;
  for (const std::string &format : *formats) {
    if (std::string_view part = headrace::unsupportedPart(format); !part.empty()) {
      return unsupported(call, "specifier " + Twine(StringRef(part)));
    }
    Expression form = b.constant(StringAttr::get(b.getContext(), format), string, call.at);
    const SmallVector<Expression> given = {arguments[0], form, b.integer(unit, i64, call.at)};
    MaybeExpression units = b.text(*headrace::textFunctionNamed("strptime"), given, i64, call.at);
    MaybeExpression fits =
        b.text(*headrace::textFunctionNamed("strptime_fits"), given, i1, call.at);
    if (failed(units) || failed(fits)) {
      return failure();
    }
    values.push_back(moments.as(*units, type));
    matches.push_back(*fits);
  }
  if (call.name != "strptime") {
    return b.choose(matches, values, nullptr, call.at);
  }
  Expression last = values.pop_back_val(); // where it does not fit either, an error
  matches.pop_back();
  return matches.empty() ? MaybeExpression(last) : b.choose(matches, values, &last, call.at);
}

std::optional<MaybeExpression> ExpressionImporter::importDateFunction(ExpressionBuilder &b,
                                                                      const Call &call,
                                                                      Arguments arguments) {
  if (std::optional<MaybeExpression> clock = importClock(b, call)) {
    return clock;
  }
  if (std::optional<MaybeExpression> part = importPart(b, call, arguments)) {
    return part;
  }
  if ((call.name == "date_part" || call.name == "datepart") && frame::isStruct(call.type)) {
    return importParts(b, call, arguments.back());
  }
  if (call.name == "strptime" || call.name == "try_strptime") {
    return importStrptime(b, call, arguments);
  }
  return dateFunction(b, call.name, arguments, call.type, call.at);
}
