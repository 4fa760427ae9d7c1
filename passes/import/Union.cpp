// UNION ALL: the rows of one input behind those of the other.
#include "passes/import/RelationBuilder.h"
#include "runtime/base/math_functions.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

namespace {

/// A column of a union that says where the rows of some of its parts stand in these.
struct PlaceColumn {
  Type type;
  frame::SortDirection direction;
  frame::NullsOrder nulls;
  /// By part: the field that is this column; nothing where all its rows stand alike.
  SmallVector<std::optional<int64_t>> fields;
};

} // namespace

/// The columns by which the rows of parts stand, as few as they can share; the parts get their keys
/// as fields.
static SmallVector<PlaceColumn> placesOf(MutableArrayRef<Relation> parts, Location at) {
  SmallVector<PlaceColumn> places;
  for (auto [part, relation] : llvm::enumerate(parts)) {
    size_t free = 0; // places before it have a key of this part
    auto first = static_cast<int64_t>(relation.fields.size());
    for (auto [index, key] : llvm::enumerate(RelationBuilder::showOrder(relation, at))) {
      int64_t field = first + static_cast<int64_t>(index);
      Type type = frame::dropNullable(relation.typeOf(relation.fields[field]));
      while (free < places.size() &&
             (places[free].type != type || places[free].direction != key.direction ||
              places[free].nulls != key.nulls)) {
        ++free;
      }
      if (free == places.size()) {
        places.push_back({type, key.direction, key.nulls, {}});
        places.back().fields.resize(parts.size());
      }
      places[free++].fields[part] = field;
    }
    relation.forgetOrder();
  }
  return places;
}

MaybeRelation RelationBuilder::unite(ArrayRef<Relation> inputs, Location at) {
  if (inputs.empty()) {
    return context.fail(at, "expected inputs", ImportError::Kind::kMalformed);
  }
  if (inputs.size() == 1) {
    return rowsIdentified ? MaybeRelation(inputs.front())
                          : withExactColumns(inputs.front(), locate("union all", at));
  }
  if (rowsIdentified) {
    return uniteIdentified(inputs, at);
  }
  if (!rowsInOrder) {
    return uniteColumns(inputs, at);
  }
  const auto shown = static_cast<int64_t>(inputs.front().fields.size());
  SmallVector<Relation> parts(inputs);
  const SmallVector<PlaceColumn> places = placesOf(parts, at);
  for (auto [part, relation] : llvm::enumerate(parts)) {
    SmallVector<Computed> fields = allFields(inputs[part], at);
    fields.push_back(
        {std::nullopt, "part", [part = part, at](ExpressionBuilder &b) -> MaybeExpression {
           return b.integer(static_cast<int64_t>(part), IntegerType::get(b.getContext(), 64), at);
         }});
    for (const PlaceColumn &place : places) {
      if (place.fields[part]) {
        fields.push_back(Computed::ofField(*place.fields[part], at));
      } else {
        fields.push_back({std::nullopt, "place",
                          [type = place.type, at](ExpressionBuilder &b) -> MaybeExpression {
                            return b.null(type, at);
                          }});
      }
    }
    MaybeRelation placed = project(relation, fields, at);
    if (failed(placed)) {
      return failure();
    }
    relation = std::move(*placed);
  }
  MaybeRelation all = uniteColumns(parts, at);
  if (failed(all)) {
    return failure();
  }
  auto key = [&](size_t field, frame::SortDirection direction, frame::NullsOrder nulls) {
    all->order.push_back(frame::SortKeyAttr::get(context.getContext(), all->fields[shown + field],
                                                 direction, nulls));
  };
  key(0, frame::SortDirection::Asc, frame::NullsOrder::Last);
  for (auto [index, place] : llvm::enumerate(places)) {
    key(index + 1, place.direction, place.nulls);
  }
  all->fields.truncate(shown);
  return all;
}

MaybeRelation RelationBuilder::uniteIdentified(ArrayRef<Relation> inputs, Location at) {
  SmallVector<Relation> parts;
  for (auto [part, input] : llvm::enumerate(inputs)) {
    SmallVector<Computed> fields = allFields(input, at);
    fields.push_back(
        {std::nullopt, "row", [at, part = part](ExpressionBuilder &b) -> MaybeExpression {
           Type i64 = IntegerType::get(b.getContext(), 64);
           Expression number = b.integer(static_cast<int64_t>(part), i64, at);
           return b.math(*headrace::mathFunctionNamed("scramble"), {b.rowNumber(at), number}, i64,
                         at);
         }});
    MaybeRelation numbered = project(input, fields, at);
    if (failed(numbered)) {
      return failure();
    }
    numbered->identity.clear();
    parts.push_back(std::move(*numbered));
  }
  rowsIdentified = false; // of what is made on the way
  MaybeRelation all = unite(parts, at);
  rowsIdentified = true;
  if (succeeded(all)) {
    all->identity = {all->fields.pop_back_val()};
  }
  return all;
}

MaybeRelation RelationBuilder::uniteColumns(ArrayRef<Relation> inputs, Location at) {
  Location location = locate("union all", at);
  SmallVector<Value> tables;
  SmallVector<Relation> relations;
  for (const Relation &input : inputs) {
    MaybeRelation exact = withExactColumns(input, location);
    if (failed(exact)) {
      return failure();
    }
    relations.push_back(std::move(*exact));
    tables.push_back(relations.back().table);
    if (relations.back().fields.size() != relations.front().fields.size()) {
      return context.fail(at, "inputs of a union must have as many columns as each other",
                          ImportError::Kind::kMalformed);
    }
  }
  SmallVector<frame::Column> columns;
  for (auto [index, field] : llvm::enumerate(relations.front().fields)) {
    SmallVector<Type> types;
    for (const Relation &relation : relations) {
      types.push_back(relation.type().getColumnTypes()[index]);
    }
    Type type =
        frame::withNullability(frame::dropNullable(types.front()), frame::nullabilityOf(types));
    columns.push_back({uniqueName(field.getValue()), type});
  }
  return withFieldsOf(frame::UnionOp::create(builder, location,
                                             frame::TableType::get(context.getContext(), columns),
                                             tables),
                      columns);
}
