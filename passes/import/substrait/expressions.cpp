// Substrait's expressions but for function calls: fields, literals, casts, CASE, lists, subqueries.
#include "passes/import/substrait/expressions.h"

#include "passes/import/substrait/types.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::substrait;
namespace frame = headrace::frame;

std::optional<int64_t> headrace::import::substrait::fieldIndex(Node expression) {
  Node structField = expression.get("selection").get("directReference").get("structField");
  if (!structField || structField.get("child")) {
    return std::nullopt;
  }
  Node field = structField.get("field");
  if (!field) {
    return 0;
  }
  constexpr int64_t kMax = 1 << 30; // no column has that number; sums of positions stay in range
  std::optional<int64_t> index = field.integer();
  return index ? std::optional(std::clamp<int64_t>(*index, -1, kMax)) : std::nullopt;
}

SmallVector<Node> headrace::import::substrait::callArguments(Node call) {
  SmallVector<Node> values;
  for (Node argument : call.get("arguments").elements()) {
    values.push_back(argument.get("value"));
  }
  return values;
}

FailureOr<StringRef> ExpressionImporter::functionName(Node call) const {
  FailureOr<int64_t> anchor = call.get("functionReference").integerOr(0);
  if (failed(anchor)) {
    return failure();
  }
  auto function = functions.find(*anchor);
  if (function == functions.end()) {
    return call.fail("no extension declares the function anchor " + Twine(*anchor));
  }
  return StringRef(function->second);
}

FailureOr<SmallVector<Node>> ExpressionImporter::flatten(Node expression,
                                                         StringRef connective) const {
  // A worklist, as chains nest as deeply as the user writes them.
  SmallVector<Node> parts, open = {expression};
  while (!open.empty()) {
    Node node = open.pop_back_val();
    Node call = node.get("scalarFunction");
    FailureOr<StringRef> name = call ? functionName(call) : StringRef();
    if (failed(name)) {
      return failure();
    }
    if (*name != connective) {
      parts.push_back(node);
      continue;
    }
    SmallVector<Node> arguments = callArguments(call);
    open.append(arguments.rbegin(), arguments.rend());
  }
  return parts;
}

/// A word for a computed column: the called function, or the kind of expression.
static std::string columnName(Node expression, FailureOr<StringRef> function) {
  if (succeeded(function)) {
    return function->str();
  }
  StringRef key;
  (void)expression.only({"literal", "cast", "ifThen", "singularOrList", "subquery"}, key);
  return llvm::StringSwitch<std::string>(key)
      .Case("ifThen", "case")
      .Case("singularOrList", "in")
      .Case("literal", "constant")
      .Default(key.str());
}

Computed ExpressionImporter::computed(Node expression, FieldShift shift) {
  Computed result;
  if (std::optional<int64_t> index = fieldIndex(expression)) {
    result.field = shift(*index);
  }
  Node call = expression.get("scalarFunction");
  auto function = functions.find(call.get("functionReference").integer().value_or(0));
  bool known = call && function != functions.end();
  result.name = columnName(expression, known ? FailureOr<StringRef>(StringRef(function->second))
                                             : FailureOr<StringRef>(failure()));
  result.build = [=, this](ExpressionBuilder &b) { return import(b, expression, shift); };
  return result;
}

FailureOr<SmallVector<Expression>>
ExpressionImporter::importAll(ExpressionBuilder &b, ArrayRef<Node> nodes, FieldShift shift) {
  SmallVector<Expression> expressions;
  for (Node node : nodes) {
    MaybeExpression expression = import(b, node, shift);
    if (failed(expression)) {
      return failure();
    }
    expressions.push_back(std::move(*expression));
  }
  return expressions;
}

MaybeExpression ExpressionImporter::import(ExpressionBuilder &b, Node expression,
                                           FieldShift shift) {
  NestingGuard guard(depth);
  Location at = expression.location();
  if (failed(guard.check(context, at))) {
    return failure();
  }
  if (std::optional<int64_t> index = fieldIndex(expression)) {
    return b.field(shift(*index), at);
  }
  StringRef key;
  Node body = expression.only(
      {"literal", "cast", "ifThen", "singularOrList", "subquery", "scalarFunction"}, key);
  if (expression.get("windowFunction")) {
    return expression.refuse(
        "window functions (OVER) are not supported; use GROUP BY, or ORDER BY with LIMIT");
  }
  if (!body) {
    return expression.refuse("unsupported expression: " + expression.keysText());
  }
  if (key == "literal") {
    FailureOr<ConstantValue> constant = importLiteral(context.getContext(), body);
    return failed(constant) ? MaybeExpression(failure())
                            : MaybeExpression(b.constant(constant->value, constant->type, at));
  }
  if (key == "cast") {
    return importCast(b, expression, body, shift);
  }
  if (key == "ifThen") {
    return importIfThen(b, expression, body, shift);
  }
  if (key == "singularOrList") {
    return importOneOf(b, expression, body, shift);
  }
  if (key == "subquery") {
    return importSubquery(b, expression, body);
  }
  return importFunction(b, expression, body, shift);
}

MaybeExpression ExpressionImporter::importCast(ExpressionBuilder &b, Node expression, Node cast,
                                               FieldShift shift) {
  using Misfit = ExpressionBuilder::Misfit;
  bool orNull = cast.get("failureBehavior").string() == StringRef("FAILURE_BEHAVIOR_RETURN_NULL");
  Node input = cast.get("input");
  Type target = importType(context.getContext(), cast.get("type"));
  if (!input || !target) {
    return cast.fail("expected a cast with input and type");
  }
  MaybeExpression operand = import(b, input, shift);
  return failed(operand) ? operand
                         : b.cast(*operand, target, expression.location(),
                                  orNull ? Misfit::kNull : Misfit::kRaises);
}

MaybeExpression ExpressionImporter::importIfThen(ExpressionBuilder &b, Node expression, Node ifThen,
                                                 FieldShift shift) {
  SmallVector<Expression> conditions, values;
  for (Node clause : ifThen.get("ifs").elements()) {
    FailureOr<SmallVector<Expression>> parts =
        importAll(b, {clause.get("if"), clause.get("then")}, shift);
    if (failed(parts)) {
      return failure();
    }
    conditions.push_back(std::move((*parts)[0]));
    values.push_back(std::move((*parts)[1]));
  }
  std::optional<Expression> otherwise;
  if (Node last = ifThen.get("else")) {
    MaybeExpression value = import(b, last, shift);
    if (failed(value)) {
      return failure();
    }
    otherwise = std::move(*value);
  }
  return b.choose(conditions, values, otherwise ? &*otherwise : nullptr, expression.location());
}

MaybeExpression ExpressionImporter::importOneOf(ExpressionBuilder &b, Node expression, Node list,
                                                FieldShift shift) {
  MaybeExpression operand = import(b, list.get("value"), shift);
  if (failed(operand)) {
    return failure();
  }
  FailureOr<SmallVector<Expression>> options =
      importAll(b, SmallVector<Node>(list.get("options").elements()), shift);
  return failed(options) ? MaybeExpression(failure())
                         : b.oneOf(*operand, *options, expression.location());
}

MaybeExpression ExpressionImporter::importSubquery(ExpressionBuilder &b, Node expression,
                                                   Node subquery) {
  Node relation = subquery.get("scalar").get("input");
  Node predicate = subquery.get("setPredicate");
  if (!relation && !predicate) {
    return subquery.refuse("unsupported subquery: " + subquery.keysText());
  }
  if (!predicate) {
    FailureOr<Value> value = scalar(relation);
    return failed(value) ? MaybeExpression(failure())
                         : MaybeExpression(Expression{*value, "(subquery)"});
  }
  StringRef kind = predicate.get("predicateOp").string().value_or("");
  if (kind != "PREDICATE_OP_EXISTS" || !predicate.get("tuples")) {
    return predicate.refuse("unsupported subquery predicate: " + kind);
  }
  FailureOr<Value> rows = rowCount(predicate.get("tuples"));
  if (failed(rows)) {
    return failure();
  }
  Location at = expression.location();
  Type i64 = IntegerType::get(context.getContext(), 64);
  Expression zero = b.integer(0, i64, at);
  MaybeExpression count = b.coalesce({Expression{*rows, "(rows)"}, zero}, at);
  MaybeExpression exists =
      failed(count) ? count : b.compare(frame::CompareKind::Gt, *count, zero, at);
  return failed(exists) ? exists : MaybeExpression(Expression{exists->value, "EXISTS (subquery)"});
}
