// Calls with a lambda in DuckDB's plans. Its body counts columns anew: of functions of lists the
// place of the element if it asks for it, the element, of a reduce the value so far, and what it
// captures.
#include "passes/import/duckdb/expressions.h"

#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

using Use = Field::Use;

static Type elementOf(Type list) {
  return cast<frame::ListType>(frame::dropNullable(list)).getElementType();
}

static bool hasParameters(Node child) { return child.get("type").string() == StringRef("LAMBDA"); }

bool ExpressionImporter::isLambda(Node call) {
  return llvm::is_contained(call.get("function_data").keys(), "has_index");
}

/// The names of a lambda's parameters, as they are written.
static SmallVector<StringRef> parameterNames(Node call) {
  SmallVector<StringRef> names;
  for (Node child : call.get("children").elements()) {
    for (Node name :
         hasParameters(child) ? child.get("parameter_names").elements() : SmallVector<Node, 4>()) {
      names.push_back(name.string().value_or(""));
    }
  }
  return names;
}

MaybeExpression ExpressionImporter::importInvoked(ExpressionBuilder &b, Node expression,
                                                  Location at, int64_t fieldsBefore) {
  StringRef name = nameOf(expression);
  SmallVector<Node> children = expression.get("children").elements();
  const SmallVector<StringRef> parameters = parameterNames(expression);
  if (failed(expectCall(expression, name, {{"function_data", Use::kRead}}, context, at)) ||
      failed(expectFields(expression.get("function_data"), name, {{"lambda_expr", Use::kHarmless}},
                          context, at))) { // the first child
    return failure();
  }
  if (children.empty() || !hasParameters(children.front()) ||
      children.size() <= parameters.size()) {
    return expression.fail("expected a lambda and a value for each of its parameters");
  }
  FailureOr<SmallVector<Expression>> values =
      importAll(b, ArrayRef(children).drop_front(), at, fieldsBefore);
  if (failed(values)) {
    return failure();
  }
  // The last parameter is the body's first column, what it captures follows the first one.
  std::reverse(values->begin(), values->begin() + static_cast<ptrdiff_t>(parameters.size()));
  return b.inPlaceOfFields(*values,
                           [&] { return import(b, children.front().get("lambda_expr"), at); });
}

MaybeExpression ExpressionImporter::importLambda(ExpressionBuilder &b, Node expression, Location at,
                                                 int64_t fieldsBefore) {
  StringRef name = nameOf(expression);
  if (failed(expectCall(expression, name, {{"function_data", Use::kRead}}, context, at)) ||
      failed(expectFields(expression.get("function_data"), name,
                          {{"return_type", Use::kHarmless},
                           {"lambda_expr", Use::kRead},
                           {"has_index", Use::kRead},
                           {"has_initial", Use::kRead}},
                          context, at))) {
    return failure();
  }
  Call call{expression, name, {}, at};
  call.type = importType(context, expression.get("return_type"), at);
  if (!call.type) {
    return failure();
  }
  if (!expression.get("function_data").get("lambda_expr")) { // the list is the literal NULL
    return b.null(call.type, at);
  }
  SmallVector<Node> children;
  llvm::copy_if(expression.get("children").elements(), std::back_inserter(children),
                [](Node child) { return !hasParameters(child); });
  FailureOr<SmallVector<Expression>> arguments = importAll(b, children, at, fieldsBefore);
  if (failed(arguments)) {
    return failure();
  }
  if (arguments->empty() || !frame::isList(arguments->front().type())) {
    // no test: DuckDB's binder sees to it
    return unsupported(call, "of what is no list");
  }
  using Import =
      MaybeExpression (ExpressionImporter::*)(ExpressionBuilder &, const Call &, Arguments);
  auto import =
      llvm::StringSwitch<Import>(name)
          .Cases({"list_transform", "array_transform", "list_apply", "array_apply", "apply",
                  "list_filter", "array_filter", "filter"},
                 &ExpressionImporter::importMapped)
          .Cases({"list_reduce", "array_reduce", "reduce"}, &ExpressionImporter::importReduced)
          .Default(nullptr);
  if (!import) {
    // no test: DuckDB has no others
    return unsupported(call, "write it with list_transform, list_filter and list_reduce");
  }
  return (this->*import)(b, call, *arguments);
}

ExpressionBuilder::Lambda ExpressionImporter::makeLambda(const Call &call, const Expression &list,
                                                         Arguments captures, Type soFar) {
  Node data = call.node.get("function_data");
  SmallVector<StringRef> names = parameterNames(call.node);
  names.resize(3, "element"); // no plan has fewer
  ExpressionBuilder::Lambda lambda;
  std::set<std::string> taken;
  auto add = [&](StringRef name, Type type) {
    std::string unique = name.str();
    for (unsigned number = 1; !taken.insert(unique).second; ++number) {
      unique = (name + "_" + Twine(number)).str();
    }
    lambda.fields.push_back({StringAttr::get(context.getContext(), unique), type});
    return static_cast<int64_t>(lambda.fields.size()) - 1;
  };
  const size_t element = soFar ? 1 : 0;
  if (data.get("has_index").boolean().value_or(false)) {
    lambda.place = add(names[element + 1], IntegerType::get(context.getContext(), 64));
  }
  lambda.element = add(names[element], frame::addNullable(elementOf(list.type())));
  if (soFar) {
    lambda.soFar = add(names[0], frame::addNullable(soFar));
  }
  lambda.firstCapture = static_cast<int64_t>(lambda.fields.size());
  for (const Expression &capture : captures) {
    add(capture.text, capture.type());
  }
  lambda.captures.assign(captures.begin(), captures.end());
  lambda.text = ("lambda " + llvm::join(ArrayRef(names).take_front(element + 1), ", ") + ": …");
  return lambda;
}

/// Of transform and filter: each element becomes a list of one, or of none.
MaybeExpression ExpressionImporter::importMapped(ExpressionBuilder &b, const Call &call,
                                                 Arguments arguments) {
  const Expression &list = arguments.front();
  ExpressionBuilder::Lambda lambda = makeLambda(call, list, arguments.drop_front(), {});
  auto type = cast<frame::ListType>(call.type);
  Node result = call.node.get("function_data").get("lambda_expr");
  const bool filters = call.name.contains("filter");
  lambda.body = [&](ExpressionBuilder &inside) -> MaybeExpression {
    MaybeExpression value = import(inside, result, call.at);
    if (failed(value) || !filters) {
      return failed(value) ? value : inside.list(type.getElementType(), *value, call.at);
    }
    MaybeExpression keeps = inside.cast(*value, IntegerType::get(context.getContext(), 1), call.at);
    MaybeExpression element = inside.field(lambda.element, call.at);
    MaybeExpression one = inside.list(type.getElementType(), *element, call.at);
    MaybeExpression none = inside.list(type.getElementType(), {}, call.at);
    return failed(keeps) || failed(one) || failed(none)
               ? MaybeExpression(failure())
               : inside.choose(*keeps, *one, &*none, call.at);
  };
  return b.flatMap(list, lambda, type, call.at);
}

/// Without a first value it is the first element, of which there must be one.
MaybeExpression ExpressionImporter::importReduced(ExpressionBuilder &b, const Call &call,
                                                  Arguments arguments) {
  const bool hasInitial =
      call.node.get("function_data").get("has_initial").boolean().value_or(false);
  const Expression &list = arguments.front();
  arguments = arguments.drop_front();
  if (hasInitial && arguments.empty()) {
    // no test: DuckDB's binder sees to it
    return unsupported(call, "without a first value");
  }
  ExpressionBuilder::Lambda lambda =
      makeLambda(call, list, arguments.drop_front(hasInitial ? 1 : 0), call.type);
  Node result = call.node.get("function_data").get("lambda_expr");
  lambda.body = [&](ExpressionBuilder &inside) { return import(inside, result, call.at); };
  if (hasInitial) {
    return b.reduce(list, arguments.front(), lambda, 1, call.type, call.at);
  }
  Type i64 = IntegerType::get(context.getContext(), 64);
  MaybeExpression length = b.text(*headrace::textFunctionNamed("list_length"), list, i64, call.at);
  MaybeExpression isEmpty = failed(length) ? length
                                           : b.compare(frame::CompareKind::Eq, *length,
                                                       b.integer(0, i64, call.at), call.at);
  MaybeExpression first = b.element(list, b.integer(1, i64, call.at), call.at);
  MaybeExpression initial =
      failed(first) ? first : castValue(b, *first, call.type, Misfit::kRaises, call.at);
  MaybeExpression error =
      b.raise(frame::RaiseKind::User, "Cannot perform list_reduce on an empty input list",
              call.type, call.at);
  if (failed(isEmpty) || failed(initial) || failed(error)) {
    return failure();
  }
  MaybeExpression checked = b.choose(*isEmpty, *error, &*initial, call.at);
  return failed(checked) ? checked : b.reduce(list, *checked, lambda, 2, call.type, call.at);
}
