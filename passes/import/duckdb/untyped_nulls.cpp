// Casts of what has DuckDB's type "NULL": NULLs of no type yet, also within lists, structs and
// maps. They are imported as integers, of which there are casts to numbers alone.
#include "dialects/frame/LogicalTypes.h"
#include "passes/import/duckdb/expressions.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

/// `from`, the type `given` of a plan, with the types of `wanted` in place of "NULL".
static Type typed(Node given, Type from, Type wanted) {
  StringRef id = given.get("id").string().value_or("");
  Node info = given.get("type_info");
  if (id == "NULL") {
    return wanted;
  }
  auto list = dyn_cast<frame::ListType>(from), wantedList = dyn_cast<frame::ListType>(wanted);
  if (list && wantedList) {
    return frame::ListType::get(
        typed(info.get("child_type"), list.getElementType(), wantedList.getElementType()),
        list.getSize());
  }
  auto map = dyn_cast<frame::MapType>(from), wantedMap = dyn_cast<frame::MapType>(wanted);
  if (map && wantedMap) {
    SmallVector<Node> entry = info.get("child_type").get("type_info").get("child_types").elements();
    return frame::MapType::get(
        typed(entry[0].get("second"), map.getKeyType(), wantedMap.getKeyType()),
        typed(entry[1].get("second"), map.getValueType(), wantedMap.getValueType()));
  }
  auto fields = dyn_cast<frame::StructType>(from), others = dyn_cast<frame::StructType>(wanted);
  if (!fields || !others) {
    return from;
  }
  const bool byName = !fields.getNames().front().empty() && !others.getNames().front().empty();
  SmallVector<Type> types(fields.getFieldTypes());
  for (auto [index, field] : llvm::enumerate(info.get("child_types").elements())) {
    std::optional<unsigned> other = byName ? others.findField(fields.getNames()[index].getValue())
                                           : static_cast<unsigned>(index);
    if (other && *other < others.getFieldTypes().size()) {
      types[index] = typed(field.get("second"), types[index], others.getFieldTypes()[*other]);
    }
  }
  return frame::StructType::get(from.getContext(), fields.getNames(), types);
}

/// A value as what `typed` says, which differs where there are NULLs alone.
static MaybeExpression retyped(ExpressionBuilder &b, const Expression &value, Type to,
                               Location at) {
  Type from = frame::dropNullable(value.type());
  if (from == to) {
    return value;
  }
  if (auto map = dyn_cast<frame::MapType>(from); map && frame::isMap(to)) {
    MaybeExpression entries = b.cast(value, map.getEntries(), at);
    MaybeExpression made =
        failed(entries) ? entries : retyped(b, *entries, cast<frame::MapType>(to).getEntries(), at);
    return failed(made) ? made : b.cast(*made, to, at);
  }
  if (auto list = dyn_cast<frame::ListType>(from); list && frame::isList(to)) {
    Type element = cast<frame::ListType>(to).getElementType();
    ExpressionBuilder::Lambda lambda;
    lambda.text = "cast";
    lambda.fields = {
        {StringAttr::get(b.getContext(), "element"), frame::addNullable(list.getElementType())}};
    lambda.firstCapture = 1;
    lambda.body = [&](ExpressionBuilder &inside) -> MaybeExpression {
      MaybeExpression made = retyped(inside, *inside.field(0, at), element, at);
      return failed(made) ? made : inside.list(element, *made, at);
    };
    MaybeExpression made = b.flatMap(value, lambda, frame::ListType::get(element), at);
    return failed(made) || list.getSize() == 0 ? made : b.cast(*made, to, at);
  }
  auto fields = dyn_cast<frame::StructType>(from), others = dyn_cast<frame::StructType>(to);
  if (!fields || !others) {
    return b.null(to, at);
  }
  SmallVector<Expression> made;
  for (auto [index, type] : llvm::enumerate(others.getFieldTypes())) {
    MaybeExpression field =
        retyped(b, b.fieldOf(value, static_cast<unsigned>(index), at), type, at);
    if (failed(field)) {
      return field;
    }
    made.push_back(*field);
  }
  MaybeExpression whole = b.structOf(others, made, at), known = b.isNotNull(value, at);
  return failed(whole) || failed(known) || !frame::isNullable(value.type())
             ? whole
             : b.choose(*known, *whole, nullptr, at);
}

MaybeExpression ExpressionImporter::withTypedNulls(ExpressionBuilder &b, const Expression &value,
                                                   Node given, Type wanted, Location at) {
  if (value.value.getDefiningOp<frame::RaiseOp>()) { // of any type
    return value;
  }
  Type from = frame::dropNullable(value.type());
  return retyped(b, value, typed(given, from, frame::dropNullable(wanted)), at);
}
