// Calls of functions of maps in DuckDB's plans: a map is the list of its entries.
#include "passes/import/duckdb/expressions.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

static frame::MapType mapType(Type type) {
  return dyn_cast<frame::MapType>(frame::dropNullable(type));
}

static const headrace::TextFunction &function(StringRef name) {
  return *headrace::textFunctionNamed(name);
}

std::optional<MaybeExpression>
ExpressionImporter::importMapFunction(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  static constexpr StringRef kMakes[] = {"map", "map_from_entries", "map_concat"};
  if (mapType(call.type) && llvm::is_contained(kMakes, call.name)) {
    return call.name == "map_concat" ? importMerge(b, call, arguments)
                                     : importMap(b, call, arguments);
  }
  frame::MapType type = arguments.empty() ? frame::MapType() : mapType(arguments[0].type());
  if (!type || takesAnyType(call.name)) {
    return std::nullopt;
  }
  MaybeExpression entries = b.cast(arguments[0], type.getEntries(), call.at);
  if (failed(entries)) {
    return entries;
  }
  Type i64 = IntegerType::get(b.getContext(), 64);
  auto part = [&](int64_t n) {
    Type element = n == 1 ? type.getKeyType() : type.getValueType();
    return b.text(function("list_fields"), {*entries, b.integer(n, i64, call.at)},
                  frame::ListType::get(element), call.at);
  };
  auto has = [&](MaybeExpression list, Arguments wanted) {
    return failed(list) ? list : importPlace(b, call, {*list, wanted.front()});
  };
  if (call.name == "map_keys" || call.name == "map_values") {
    return part(call.name == "map_keys" ? 1 : 2);
  }
  if (call.name == "map_entries") {
    return b.cast(*entries, call.type, call.at);
  }
  if (call.name == "cardinality") {
    MaybeExpression size = b.text(function("list_length"), *entries, i64, call.at);
    return failed(size) ? size : b.cast(*size, call.type, call.at);
  }
  if ((call.name == "map_contains" || call.name == "contains") && arguments.size() == 2) {
    return has(part(1), arguments[1]);
  }
  if (call.name == "map_contains_value" && arguments.size() == 2) {
    return has(part(2), arguments[1]);
  }
  static constexpr StringRef kExtracts[] = {"map_extract", "element_at", "map_extract_value"};
  if (llvm::is_contained(kExtracts, call.name) && arguments.size() == 2) {
    MaybeExpression key = b.list(type.getKeyType(), arguments[1], call.at);
    MaybeExpression found = failed(key)
                                ? key
                                : b.text(function("map_values_at"), {*entries, *key},
                                         frame::ListType::get(type.getValueType()), call.at);
    return failed(found) || call.name != "map_extract_value"
               ? found
               : b.element(*found, b.integer(1, i64, call.at), call.at);
  }
  return MaybeExpression(context.fail(call.at, "unsupported function of a map: " + call.name));
}

/// A map of keys and values, or of entries; without either it is empty.
MaybeExpression ExpressionImporter::importMap(ExpressionBuilder &b, const Call &call,
                                              Arguments arguments) {
  frame::MapType type = mapType(call.type);
  frame::ListType entries = type.getEntries();
  if (arguments.empty()) {
    return b.constant(StringAttr::get(b.getContext(), ""), type, call.at);
  }
  SmallVector<Type> wanted{entries};
  if (arguments.size() == 2) {
    wanted = {frame::ListType::get(type.getKeyType()), frame::ListType::get(type.getValueType())};
  }
  SmallVector<Expression> lists;
  for (auto [argument, list] : llvm::zip_equal(arguments, wanted)) {
    MaybeExpression given = castNested(b, argument, list, Misfit::kRaises, call.at);
    if (failed(given)) {
      return failure();
    }
    lists.push_back(*given);
  }
  MaybeExpression made =
      b.text(function(lists.size() == 2 ? "map_entries_of" : "map_check"), lists, entries, call.at);
  return failed(made) ? made : b.cast(*made, type, call.at);
}

/// A map that is NULL is passed over; all NULL is NULL.
MaybeExpression ExpressionImporter::importMerge(ExpressionBuilder &b, const Call &call,
                                                Arguments arguments) {
  frame::MapType type = mapType(call.type);
  Expression empty = b.constant(StringAttr::get(b.getContext(), ""), type.getEntries(), call.at);
  SmallVector<Expression> lists, unknown;
  for (const Expression &argument : arguments) {
    MaybeExpression map = castNested(b, argument, type, Misfit::kRaises, call.at);
    MaybeExpression list = failed(map) ? map : b.cast(*map, type.getEntries(), call.at);
    MaybeExpression given = failed(list) ? list : b.coalesce({*list, empty}, call.at);
    if (failed(given)) {
      return failure();
    }
    lists.push_back(*given);
    unknown.push_back(b.isNull(*list, call.at));
  }
  MaybeExpression merged = b.text(function("map_merge"), lists, type.getEntries(), call.at);
  MaybeExpression made = failed(merged) ? merged : b.cast(*merged, type, call.at);
  MaybeExpression none = b.connect(ExpressionBuilder::Connective::kAnd, unknown, call.at);
  return failed(made) || failed(none) ? MaybeExpression(failure())
                                      : b.choose(*none, b.null(type, call.at), &*made, call.at);
}
