// Bound expressions of DuckDB's plans, but for function calls.
#include "passes/import/duckdb/expressions.h"
#include "passes/import/ZonedMoments.h"
#include "runtime/base/uuid.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

using Use = Field::Use;

ExpressionImporter::ExpressionImporter(ImportContext &context, const ImportOptions &options)
    : context(context), options(options), text(context, options.text) {}

/// A word for a computed column.
static std::string columnName(Node expression) {
  StringRef type = expression.get("type").string().value_or("");
  StringRef alias = expression.get("alias").string().value_or("");
  bool isName =
      !alias.empty() && llvm::all_of(alias, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (isName) {
    return alias.str();
  }
  StringRef name = type == "OPERATOR_CAST" ? StringRef("cast") : nameOf(expression);
  return llvm::StringSwitch<std::string>(name)
      .Case("+", "add")
      .Case("-", "subtract")
      .Case("*", "multiply")
      .Cases({"/", "//"}, "divide")
      .Case("%", "modulus")
      .Case("||", "concat")
      .Default(!name.empty() && llvm::isAlpha(name.front()) ? name.str()
               : type == "CASE_EXPR"                        ? "case"
               : type == "VALUE_CONSTANT"                   ? "constant"
                                                            : "expression");
}

/// The position that a BOUND_REF names.
static std::optional<int64_t> columnIndex(Node reference) {
  constexpr int64_t kMax = 1 << 30; // so that sums of positions stay in range
  std::optional<int64_t> index = reference.get("index").integer();
  return index && *index >= 0 && *index < kMax ? index : std::nullopt;
}

Computed ExpressionImporter::computed(Node expression, Location at, int64_t fieldsBefore) {
  Computed result;
  bool plain = expression.get("type").string() == StringRef("BOUND_REF") &&
               llvm::all_of(expression.keys(), [](StringRef key) {
                 return key == "index" || llvm::any_of(kExpressionFields, [&](const Field &f) {
                          return f.name == key;
                        });
               });
  if (plain) { // all of it is understood
    if (std::optional<int64_t> index = columnIndex(expression)) {
      result.field = *index + fieldsBefore;
    }
  }
  result.name = columnName(expression);
  result.build = [=, this](ExpressionBuilder &b) {
    return import(b, expression, at, fieldsBefore);
  };
  return result;
}

FailureOr<SmallVector<Expression>> ExpressionImporter::importAll(ExpressionBuilder &b,
                                                                 ArrayRef<Node> nodes, Location at,
                                                                 int64_t fieldsBefore) {
  SmallVector<Expression> expressions;
  for (Node node : nodes) {
    MaybeExpression expression = import(b, node, at, fieldsBefore);
    if (failed(expression)) {
      return failure();
    }
    expressions.push_back(std::move(*expression));
  }
  return expressions;
}

MaybeExpression ExpressionImporter::import(ExpressionBuilder &b, Node expression, Location at,
                                           int64_t fieldsBefore) {
  at = locate(expression, at);
  NestingGuard guard(depth);
  if (failed(guard.check(context, at))) {
    return failure();
  }
  std::optional<StringRef> type = expression.get("type").string();
  if (!type) {
    return expression.fail("expected an expression with a type");
  }
  return importByType(b, expression, *type, at, fieldsBefore);
}

static std::optional<frame::CompareKind> comparison(StringRef type) {
  return llvm::StringSwitch<std::optional<frame::CompareKind>>(type)
      .Case("COMPARE_EQUAL", frame::CompareKind::Eq)
      .Case("COMPARE_NOTEQUAL", frame::CompareKind::Ne)
      .Case("COMPARE_LESSTHAN", frame::CompareKind::Lt)
      .Case("COMPARE_LESSTHANOREQUALTO", frame::CompareKind::Le)
      .Case("COMPARE_GREATERTHAN", frame::CompareKind::Gt)
      .Case("COMPARE_GREATERTHANOREQUALTO", frame::CompareKind::Ge)
      .Case("COMPARE_NOT_DISTINCT_FROM", frame::CompareKind::IsNotDistinctFrom)
      .Default(std::nullopt);
}

MaybeExpression ExpressionImporter::importByType(ExpressionBuilder &b, Node expression,
                                                 StringRef type, Location at,
                                                 int64_t fieldsBefore) {
  if (type == "BOUND_REF") {
    std::optional<int64_t> index = columnIndex(expression);
    if (!index) {
      return expression.fail("expected the index of a column");
    }
    if (failed(expectExpression(expression, type, {{"index", Use::kRead}}, context, at))) {
      return failure();
    }
    return b.field(*index + fieldsBefore, at);
  }
  if (type == "BOUND_COLUMN_REF") { // below a table function that has rows of another table
    Node binding = expression.get("binding");
    std::optional<int64_t> index = binding.get("column_index").integer();
    if (!index || !inputTable || binding.get("table_index").integer() != inputTable ||
        failed(expectExpression(expression, type,
                                {{"binding", Use::kRead}, {"depth", Use::kDefault, "0"}}, context,
                                at))) {
      return context.fail(at,
                          "unsupported query in the argument of a table function; unnest what a "
                          "subquery in FROM gives");
    }
    return b.field(*index + fieldsBefore, at);
  }
  if (type == "VALUE_CONSTANT") {
    FailureOr<Constant> constant = importConstant(context, expression.get("value"), at);
    if (failed(constant) ||
        failed(expectExpression(expression, type, {{"value", Use::kRead}}, context, at))) {
      return failure();
    }
    return b.constant(constant->value, constant->type, at);
  }
  if (type == "OPERATOR_CAST") {
    return importCast(b, expression, at, fieldsBefore);
  }
  if (type == "CASE_EXPR") {
    return importCase(b, expression, at, fieldsBefore);
  }
  if (type == "BOUND_FUNCTION") {
    return importCall(b, expression, at, fieldsBefore);
  }
  if (type == "OPERATOR_TRY") {
    return importTry(b, expression, at, fieldsBefore);
  }
  if (type == "COMPARE_BETWEEN") {
    return importBetween(b, expression, at, fieldsBefore);
  }
  if (type == "VALUE_PARAMETER") {
    return context.fail(at, "unsupported parameter ($1, ?): write the value into the query");
  }
  std::optional<frame::CompareKind> kind = comparison(type);
  static constexpr StringRef kOperators[] = {
      "COMPARE_DISTINCT_FROM", "COMPARE_IN",           "COMPARE_NOT_IN",
      "CONJUNCTION_AND",       "CONJUNCTION_OR",       "OPERATOR_NOT",
      "OPERATOR_IS_NULL",      "OPERATOR_IS_NOT_NULL", "OPERATOR_COALESCE"};
  if (!kind && !llvm::is_contained(kOperators, type)) {
    return context.fail(at, "unsupported expression: " + type);
  }
  if (failed(expectCall(expression, type, {}, context, at))) {
    return failure();
  }
  if (Node list = splitList(expression)) {
    return importSplitPart(b, expression, list, at, fieldsBefore);
  }
  const bool compares = kind || StringRef(type).starts_with("COMPARE_");
  SmallVector<Node> children = expression.get("children").elements();
  FailureOr<SmallVector<Expression>> operands =
      compares ? importComparable(b, children, at, fieldsBefore)
               : importAll(b, children, at, fieldsBefore);
  if (failed(operands)) {
    return failure();
  }
  bool unary = type.starts_with("OPERATOR_") && type != "OPERATOR_COALESCE";
  bool binary = kind || type == "COMPARE_DISTINCT_FROM";
  if (operands->empty() || (unary && operands->size() != 1) || (binary && operands->size() != 2)) {
    return expression.fail("wrong number of operands of " + type + ": " + Twine(operands->size()));
  }
  const Expression &first = operands->front();
  if (kind) {
    return b.compare(*kind, first, (*operands)[1], at);
  }
  if (type == "COMPARE_DISTINCT_FROM") {
    return b.isDistinct(first, (*operands)[1], at);
  }
  if (type == "COMPARE_IN" || type == "COMPARE_NOT_IN") {
    MaybeExpression in = b.oneOf(first, ArrayRef(*operands).drop_front(), at);
    return failed(in) || type == "COMPARE_IN" ? in : b.negation(*in, at);
  }
  if (type == "CONJUNCTION_AND" || type == "CONJUNCTION_OR") {
    auto connective = type == "CONJUNCTION_AND" ? ExpressionBuilder::Connective::kAnd
                                                : ExpressionBuilder::Connective::kOr;
    return b.connect(connective, *operands, at);
  }
  if (type == "OPERATOR_NOT") {
    return b.negation(first, at);
  }
  if (type == "OPERATOR_COALESCE") {
    return b.coalesce(*operands, at);
  }
  return type == "OPERATOR_IS_NULL" ? MaybeExpression(b.isNull(first, at)) : b.isNotNull(first, at);
}

/// Of a value that is drawn once; of others the binder makes two comparisons.
MaybeExpression ExpressionImporter::importBetween(ExpressionBuilder &b, Node expression,
                                                  Location at, int64_t fieldsBefore) {
  Node data = expression.get("function_data");
  if (failed(expectCall(expression, "BETWEEN", {{"function_data", Use::kRead}}, context, at)) ||
      failed(expectFields(data, "BETWEEN",
                          {{"lower_inclusive", Use::kRead}, {"upper_inclusive", Use::kRead}},
                          context, at))) {
    return failure();
  }
  FailureOr<SmallVector<Expression>> operands =
      importComparable(b, expression.get("children").elements(), at, fieldsBefore);
  if (failed(operands)) {
    return failure();
  }
  if (operands->size() != 3) {
    return expression.fail("wrong number of operands of BETWEEN: " + Twine(operands->size()));
  }
  auto holds = [&](const char *flag, frame::CompareKind with, frame::CompareKind without,
                   const Expression &bound) {
    const bool inclusive = data.get(flag).boolean().value_or(false);
    return b.compare(inclusive ? with : without, operands->front(), bound, at);
  };
  MaybeExpression above =
      holds("lower_inclusive", frame::CompareKind::Ge, frame::CompareKind::Gt, (*operands)[1]);
  MaybeExpression below =
      holds("upper_inclusive", frame::CompareKind::Le, frame::CompareKind::Lt, (*operands)[2]);
  return failed(above) || failed(below)
             ? MaybeExpression(failure())
             : b.connect(ExpressionBuilder::Connective::kAnd, {*above, *below}, at);
}

MaybeExpression ExpressionImporter::importTry(ExpressionBuilder &b, Node expression, Location at,
                                              int64_t fieldsBefore) {
  SmallVector<Node> children = expression.get("children").elements();
  if (failed(expectCall(expression, "TRY", {}, context, at))) {
    return failure();
  }
  if (children.size() != 1) {
    return expression.fail("expected one operand of TRY");
  }
  return b.attempt(
      [&](ExpressionBuilder &inside) { return import(inside, children[0], at, fieldsBefore); }, at);
}

MaybeExpression ExpressionImporter::importCase(ExpressionBuilder &b, Node expression, Location at,
                                               int64_t fieldsBefore) {
  if (failed(expectExpression(expression, "CASE",
                              {{"case_checks", Use::kRead}, {"else_expr", Use::kRead}}, context,
                              at))) {
    return failure();
  }
  SmallVector<Expression> conditions, values;
  for (Node check : expression.get("case_checks").elements()) {
    if (failed(expectFields(check, "WHEN", {{"when_expr", Use::kRead}, {"then_expr", Use::kRead}},
                            context, at))) {
      return failure();
    }
    FailureOr<SmallVector<Expression>> parts =
        importAll(b, {check.get("when_expr"), check.get("then_expr")}, at, fieldsBefore);
    if (failed(parts)) {
      return failure();
    }
    conditions.push_back(std::move((*parts)[0]));
    values.push_back(std::move((*parts)[1]));
  }
  Node last = expression.get("else_expr");
  MaybeExpression otherwise = last ? import(b, last, at, fieldsBefore) : MaybeExpression(failure());
  if (last && failed(otherwise)) {
    return failure();
  }
  return b.choose(conditions, values, last ? &*otherwise : nullptr, at);
}

MaybeExpression ExpressionImporter::importCast(ExpressionBuilder &b, Node expression, Location at,
                                               int64_t fieldsBefore) {
  Node data = expression.get("function_data");
  if (failed(expectCall(expression, "CAST", {{"function_data", Use::kRead}}, context, at)) ||
      failed(expectFields(data, "CAST",
                          {{"try_cast", Use::kRead}, {"is_default_cast", Use::kHarmless}}, context,
                          at))) {
    return failure();
  }
  Misfit misfit = data.get("try_cast").boolean().value_or(false) ? Misfit::kNull : Misfit::kRaises;
  SmallVector<Node> children = expression.get("children").elements();
  Type type = importType(context, expression.get("return_type"), at);
  if (children.size() != 1 || !type) {
    return type ? MaybeExpression(expression.fail("expected a cast of one operand"))
                : MaybeExpression(failure());
  }
  MaybeExpression operand = import(b, children.front(), at, fieldsBefore);
  if (failed(operand)) {
    return failure();
  }
  MaybeExpression value = withTypedNulls(b, *operand, typeOf(children.front()), type, at);
  if (failed(value) || (value->value != operand->value &&
                        frame::dropNullable(value->type()) == frame::dropNullable(type))) {
    return value;
  }
  if (std::optional<MaybeExpression> json = importJsonCast(
          b, *value, typeOf(children.front()), expression.get("return_type"), misfit, at)) {
    return *json;
  }
  return castValue(b, *value, type, misfit, at);
}

/// A cast that DuckDB binds, and that no value has: NULL stays NULL, and a value is an error.
static MaybeExpression castOfNone(ExpressionBuilder &b, const Expression &operand, Type type,
                                  ExpressionBuilder::Misfit misfit, StringRef message,
                                  Location at) {
  if (misfit == ExpressionBuilder::Misfit::kNull) {
    return b.null(type, at);
  }
  MaybeExpression error = b.raise(frame::RaiseKind::User, message, type, at);
  if (failed(error) || !frame::isNullable(operand.type())) {
    return error;
  }
  Expression null = b.null(type, at);
  return b.choose(b.isNull(operand, at), null, &*error, at);
}

MaybeExpression ExpressionImporter::castValue(ExpressionBuilder &b, const Expression &operand,
                                              Type type, Misfit misfit, Location at) {
  auto isMoment = [](Type type) { return frame::isTemporal(type); };
  auto isNumber = [](Type type) { return frame::isNumeric(type) || frame::isBoolean(type); };
  const bool isNull = ExpressionBuilder::isNullConstant(operand);
  if (auto error = operand.value.getDefiningOp<frame::RaiseOp>()) { // of any type
    return b.raise(error.getKind(), error.getMessage(), type, at);
  }
  if (!isNull && ((isMoment(type) && isNumber(operand.type())) ||
                  (isNumber(type) && isMoment(operand.type())))) {
    return castOfNone(b, operand, type, misfit,
                      "unsupported cast between a number and a date; add days to a date, or "
                      "subtract one from another",
                      at);
  }
  if (!isNull && (frame::isNested(type) || frame::isNested(operand.type()))) {
    return castNested(b, operand, type, misfit, at);
  }
  if (!isNull && (frame::isEnum(type) || frame::isEnum(operand.type()))) {
    return castEnum(b, operand, type, misfit, at);
  }
  if (!isNull && frame::isUuid(type) != frame::isUuid(operand.type()) && !frame::isString(type) &&
      !frame::isString(operand.type())) {
    return castUuid(b, operand, type, misfit, at);
  }
  const bool ofUnsigned128 = frame::isUnsigned128(type) != frame::isUnsigned128(operand.type());
  if (!isNull && ofUnsigned128 && !frame::isString(type) && !frame::isString(operand.type())) {
    return castUnsigned128(b, operand, type, misfit, at);
  }
  if (!isNull && frame::isInterval(type) != frame::isInterval(operand.type()) &&
      !frame::isString(type) && !frame::isString(operand.type())) {
    // DuckDB binds it, and fails at the first value.
    return context.fail(at, "unsupported cast of an INTERVAL to or from another type than VARCHAR");
  }
  if (!isNull && frame::isBinary(type) != frame::isBinary(operand.type()) &&
      !frame::isString(type) && !frame::isString(operand.type())) {
    // DuckDB binds it, and fails at the first value.
    return context.fail(at, "unsupported cast of a BLOB to or from another type than VARCHAR");
  }
  if (frame::isBoolean(type) && frame::isNumeric(operand.type())) {
    MaybeExpression zero = b.cast(b.integer(0, IntegerType::get(b.getContext(), 32), at),
                                  operand.type(), at); // every other number is true
    return failed(zero) ? zero : b.compare(frame::CompareKind::Ne, operand, *zero, at);
  }
  if (isMoment(type) && isMoment(operand.type())) {
    return castMoment(b, operand, type, misfit, at);
  }
  ZonedMoments moments(b, at);
  if (!isNull && frame::isString(type) && moments.isElsewhere(operand)) {
    return moments.printed(operand);
  }
  auto timestamp = dyn_cast<frame::TimestampType>(frame::dropNullable(type));
  if (!isNull && frame::isString(operand.type()) && timestamp && timestamp.getZoned()) {
    std::optional<Expression> named = moments.parsedByName(operand, timestamp);
    if (named || moments.holdsElsewhere(type)) {
      return named ? MaybeExpression(*named) : moments.parsed(operand, timestamp, misfit);
    }
  }
  return b.cast(operand, type, at, misfit);
}

MaybeExpression ExpressionImporter::castUuid(ExpressionBuilder &b, const Expression &operand,
                                             Type type, Misfit misfit, Location at) {
  Type from = frame::dropNullable(operand.type()), to = frame::dropNullable(type);
  auto call = [&](StringRef name, Type gives) {
    return b.text(*headrace::textFunctionNamed(name), operand, gives, at);
  };
  if (frame::isBinary(to)) {
    return call("uuid_bytes", to);
  }
  if (frame::isUnsigned128(to)) {
    return call("uuid_number", to);
  }
  if (frame::isUnsigned128(from)) {
    return call("uuid_of_number", to);
  }
  if (!frame::isBinary(from)) { // DuckDB binds it, and fails at the first value
    return context.fail(at, "unsupported cast of a UUID to or from another type than VARCHAR, BLOB "
                            "and UHUGEINT");
  }
  MaybeExpression made = call("uuid_of_bytes", to);
  if (failed(made) || misfit == Misfit::kRaises) {
    return made;
  }
  Type i64 = IntegerType::get(b.getContext(), 64);
  MaybeExpression length = call("octet_length", i64);
  MaybeExpression fits = failed(length) ? length
                                        : b.compare(frame::CompareKind::Eq, *length,
                                                    b.integer(headrace::kUuidBytes, i64, at), at);
  return failed(fits) ? fits : b.choose(*fits, *made, nullptr, at);
}

MaybeExpression ExpressionImporter::castMoment(ExpressionBuilder &b, const Expression &given,
                                               Type type, Misfit misfit, Location at) {
  ZonedMoments moments(b, at);
  const bool toZone = moments.holdsElsewhere(type);
  if (toZone && !moments.isElsewhere(given)) {
    MaybeExpression shown = castShown(b, given, type, misfit, at);
    return failed(shown) ? shown : moments.momentOf(*shown);
  }
  return castShown(b, toZone ? given : moments.shown(given), type, misfit, at);
}

MaybeExpression ExpressionImporter::castShown(ExpressionBuilder &b, const Expression &operand,
                                              Type type, Misfit misfit, Location at) {
  Type from = frame::dropNullable(operand.type());
  if (from != type && frame::isTime(from) != frame::isTime(type) && !frame::isTimestamp(from)) {
    return castOfNone(b, operand, type, misfit, "unsupported cast between a time and a date", at);
  }
  if (frame::isTimestamp(from) && frame::isDate(type)) { // in microseconds, rounded if unzoned
    Moments moments(b, at);
    MaybeExpression coarse = b.cast(isZoned(operand) ? moments.inMicros(operand) : operand,
                                    moments.timestampType(), at, misfit);
    return failed(coarse) ? coarse : b.cast(*coarse, type, at, misfit);
  }
  if (frame::isTimestamp(from) && frame::isTime(type)) { // in the time's unit
    MaybeExpression fine =
        b.cast(operand,
               frame::TimestampType::get(context.getContext(),
                                         cast<frame::TimeType>(type).getUnit(), false),
               at, misfit);
    return failed(fine) ? fine : b.cast(*fine, type, at, misfit);
  }
  return b.cast(operand, type, at, misfit);
}
