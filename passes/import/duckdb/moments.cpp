// Calls of functions of dates and times in DuckDB's plans, by name.
#include "passes/import/Moments.h"
#include "passes/analysis/logical_type.h"
#include "passes/import/DateFunctions.h"
#include "passes/import/duckdb/expressions.h"

#include "dialects/frame/FrameConstants.h"
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
  MaybeExpression value = Moments(b, call.at).part(*part, arguments[0]);
  return failed(value) ? value : b.cast(*value, call.type, call.at);
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

/// `strptime`, and `try_strptime`, which is NULL where the text is not of the form.
MaybeExpression ExpressionImporter::importStrptime(ExpressionBuilder &b, const Call &call,
                                                   Arguments arguments) {
  if (arguments.size() == 2 && ExpressionBuilder::isNullConstant(arguments[1])) {
    return b.null(call.type, call.at);
  }
  std::optional<StringRef> format =
      arguments.size() == 2 ? ExpressionBuilder::stringOf(arguments[1]) : std::nullopt;
  if (!format) {
    // no test: DuckDB's binder wants a constant, and several in a list are not looked for here
    return unsupported(call, "the format must be one text");
  }
  if (std::string_view part = headrace::unsupportedPart(*format); !part.empty()) {
    return unsupported(call, "specifier " + Twine(StringRef(part)));
  }
  Moments moments(b, call.at);
  Type i64 = IntegerType::get(b.getContext(), 64), i1 = IntegerType::get(b.getContext(), 1);
  auto unit = headrace::logicalType(frame::dropNullable(call.type)).unit;
  const SmallVector<Expression> given = {arguments[0], arguments[1],
                                         b.integer(static_cast<int64_t>(unit), i64, call.at)};
  MaybeExpression units = b.text(*headrace::textFunctionNamed("strptime"), given, i64, call.at);
  MaybeExpression fits = b.text(*headrace::textFunctionNamed("strptime_fits"), given, i1, call.at);
  if (failed(units) || failed(fits)) {
    return failure();
  }
  Expression moment = moments.as(*units, frame::dropNullable(call.type));
  return call.name == "strptime" ? MaybeExpression(moment)
                                 : b.choose(*fits, moment, nullptr, call.at);
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
  if (call.name == "strptime" || call.name == "try_strptime") {
    return importStrptime(b, call, arguments);
  }
  return dateFunction(b, call.name, arguments, call.type, call.at);
}
