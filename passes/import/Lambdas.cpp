// Functions of the elements of a list, and what may fail, in any front end's expressions.
#include "passes/import/ExpressionBuilder.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

static std::string called(StringRef function, const Expression &list, StringRef lambda) {
  return (function + "(" + list.text + ", " + lambda + ")").str();
}

std::unique_ptr<Region> ExpressionBuilder::finishLambda(const Lambda &lambda, Type type,
                                                        SmallVectorImpl<Value> &captures,
                                                        Location at) {
  // An element is told from others by its row and its place, if the row is from others.
  Type i64 = builder.getI64Type();
  const frame::Column row{builder.getStringAttr("row of the list"), i64};
  const frame::Column place{lambda.place ? lambda.fields[*lambda.place].name
                                         : builder.getStringAttr("place in the list"),
                            i64};
  ExpressionBuilder inside(context, lambda.fields, {}, {row, place});
  MaybeExpression value = lambda.body(inside);
  if (succeeded(value)) {
    value = inside.cast(*value, type, at);
  }
  if (failed(value)) {
    return nullptr;
  }
  llvm::MapVector<StringAttr, Value> used = inside.arguments;
  std::unique_ptr<Region> body = inside.finish({value->value}, at);
  // The fields that it reads became arguments as it came to them; the op has them in an order.
  Block &block = body->front();
  const unsigned before = block.getNumArguments();
  auto takeColumn = [&](const frame::Column &field) {
    Value argument = block.addArgument(field.type, locate(field.name.getValue(), at));
    if (Value found = used.lookup(field.name)) {
      found.replaceAllUsesWith(argument);
    }
  };
  auto take = [&](int64_t index) { takeColumn(lambda.fields[index]); };
  if (lambda.soFar) {
    take(*lambda.soFar);
  }
  take(lambda.element);
  takeColumn(place);
  for (auto [index, capture] : llvm::enumerate(lambda.captures)) {
    const int64_t field = lambda.firstCapture + static_cast<int64_t>(index);
    if (used.contains(lambda.fields[field].name)) {
      take(field);
      captures.push_back(capture.value);
    }
  }
  if (used.contains(row.name)) {
    takeColumn(row);
    captures.push_back(rowNumber(at).value);
  }
  block.eraseArguments(0, before);
  return body;
}

MaybeExpression ExpressionBuilder::flatMap(const Expression &list, const Lambda &lambda,
                                           frame::ListType type, Location at) {
  SmallVector<Value> captures;
  std::unique_ptr<Region> body = finishLambda(lambda, type, captures, at);
  if (!body) {
    return failure();
  }
  std::string rendered = called("flat_map", list, lambda.text);
  auto op = frame::FlatMapOp::create(
      builder, locate(rendered, at),
      frame::withNullability(type, frame::nullabilityOf(list.type())), list.value, captures);
  op.getBody().takeBody(*body);
  return made(op, rendered);
}

MaybeExpression ExpressionBuilder::reduce(const Expression &list, const Expression &initial,
                                          const Lambda &lambda, int64_t first, Type type,
                                          Location at) {
  SmallVector<Value> captures;
  std::unique_ptr<Region> body = finishLambda(lambda, type, captures, at);
  MaybeExpression from = cast(initial, type, at);
  if (!body || failed(from)) {
    return failure();
  }
  std::string rendered = called("reduce", list, lambda.text);
  auto op =
      frame::ReduceOp::create(builder, locate(rendered, at), frame::addNullable(type), list.value,
                              from->value, captures, builder.getI64IntegerAttr(first));
  op.getBody().takeBody(*body);
  return made(op, rendered);
}

MaybeExpression ExpressionBuilder::attempt(function_ref<MaybeExpression(ExpressionBuilder &)> body,
                                           Location at) {
  SmallVector<frame::Column> all(fields);
  if (inPlace) {
    all.clear();
    for (auto [index, value] : llvm::enumerate(*inPlace)) {
      all.push_back({StringAttr::get(getContext(), "value" + Twine(index)), value.type()});
    }
  }
  ExpressionBuilder inside(context, all, inPlace ? ArrayRef<Value>() : ArrayRef(tables), identity);
  MaybeExpression value = body(inside);
  if (failed(value)) {
    return failure();
  }
  SmallVector<StringAttr> used = llvm::to_vector(llvm::make_first_range(inside.arguments));
  std::unique_ptr<Region> region = inside.finish({value->value}, at);
  SmallVector<Value> captures;
  for (StringAttr name : used) { // as many as the region has arguments, in this order
    auto isNamed = [&](const frame::Column &each) { return each.name == name; };
    const auto *found = llvm::find_if(all, isNamed);
    if (found != all.end()) {
      captures.push_back(field(found - all.begin(), at)->value);
    } else {
      captures.push_back(argument(*llvm::find_if(identity, isNamed), at));
    }
  }
  std::string rendered = "try(" + value->text + ")";
  auto op = frame::TryOp::create(builder, locate(rendered, at), frame::addNullable(value->type()),
                                 captures);
  op.getBody().takeBody(*region);
  return made(op, rendered);
}
