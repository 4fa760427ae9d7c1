// Calls of functions of dates and times in DuckDB's plans, by name.
#include "passes/import/Moments.h"
#include "passes/import/DateFunctions.h"
#include "passes/import/duckdb/expressions.h"

#include "dialects/frame/FrameConstants.h"

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

std::optional<MaybeExpression> ExpressionImporter::importDateFunction(ExpressionBuilder &b,
                                                                      const Call &call,
                                                                      Arguments arguments) {
  if (std::optional<MaybeExpression> clock = importClock(b, call)) {
    return clock;
  }
  if (std::optional<MaybeExpression> part = importPart(b, call, arguments)) {
    return part;
  }
  return dateFunction(b, call.name, arguments, call.type, call.at);
}
