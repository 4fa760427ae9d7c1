// Calls of functions of structs in DuckDB's plans.
#include "passes/import/duckdb/expressions.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

static frame::StructType structType(const Expression &value) {
  return dyn_cast<frame::StructType>(frame::dropNullable(value.type()));
}

bool ExpressionImporter::takesAnyType(StringRef function) {
  static constexpr StringRef kAny[] = {"list_value", "list_pack", "unpivot_list", "greatest",
                                       "least"};
  return llvm::is_contained(kAny, function);
}

std::optional<MaybeExpression> ExpressionImporter::importStructFunction(ExpressionBuilder &b,
                                                                        const Call &call,
                                                                        Arguments arguments) {
  auto made = dyn_cast<frame::StructType>(call.type);
  if (made && (call.name == "struct_pack" || call.name == "row")) {
    if (made.getFieldTypes().size() != arguments.size()) {
      // no test: DuckDB's binder sees to it
      return MaybeExpression(unsupported(call, "another number of fields than its type has"));
    }
    return b.structOf(made, arguments, call.at);
  }
  if (arguments.empty() || !structType(arguments[0])) {
    return std::nullopt;
  }
  static constexpr StringRef kExtracts[] = {"struct_extract", "array_extract", "struct_extract_at"};
  if (llvm::is_contained(kExtracts, call.name) && arguments.size() == 2) {
    return importExtract(b, call, arguments);
  }
  if (made && (call.name == "struct_insert" || call.name == "struct_update")) {
    return importWithFields(b, call, arguments);
  }
  if (made && call.name == "struct_concat") {
    SmallVector<Expression> fields;
    for (const Expression &argument : arguments) {
      frame::StructType type = structType(argument);
      for (unsigned index = 0; type && index < type.getFieldTypes().size(); ++index) {
        fields.push_back(b.fieldOf(argument, index, call.at));
      }
    }
    // no test: DuckDB's binder sees to it
    return fields.size() == made.getFieldTypes().size()
               ? b.structOf(made, fields, call.at)
               : MaybeExpression(unsupported(call, "of what is no struct"));
  }
  static constexpr StringRef kFinds[] = {"struct_contains", "struct_has", "struct_position",
                                         "struct_indexof"};
  if (llvm::is_contained(kFinds, call.name) && arguments.size() == 2) {
    return importPlaceOfField(b, call, arguments);
  }
  if (call.name == "struct_keys" || (made && call.name == "struct_values")) {
    return importKeysOrValues(b, call, arguments[0]);
  }
  if (takesAnyType(call.name)) {
    return std::nullopt;
  }
  return MaybeExpression(context.fail(call.at, "unsupported function of a struct: " + call.name));
}

/// The names of its fields, or a struct of its fields without their names; of NULL it is NULL.
MaybeExpression ExpressionImporter::importKeysOrValues(ExpressionBuilder &b, const Call &call,
                                                       const Expression &value) {
  frame::StructType type = structType(value);
  auto made = dyn_cast<frame::StructType>(call.type);
  Type string = frame::StringType::get(b.getContext());
  SmallVector<Expression> parts;
  for (unsigned index = 0; index < type.getFieldTypes().size(); ++index) {
    parts.push_back(made ? b.fieldOf(value, index, call.at)
                         : b.constant(type.getNames()[index], string, call.at));
  }
  MaybeExpression all = made ? b.structOf(made, parts, call.at) : b.list(string, parts, call.at);
  if (failed(all) || !frame::isNullable(value.type())) {
    return all;
  }
  MaybeExpression known = b.isNotNull(value, call.at);
  return failed(known) ? known : b.choose(*known, *all, nullptr, call.at);
}

/// Whether no value of one type is one of the other to DuckDB, which compares what is of one
/// physical type; none where that would be what it does not mean.
static std::optional<bool> neverEqual(Type field, Type wanted) {
  auto isPlain = [](Type type) {
    return frame::isString(type) || frame::isInteger(type) || isa<FloatType>(type);
  };
  auto isNested = [](Type type) { return isa<frame::ListType, frame::StructType>(type); };
  Type one = frame::dropNullable(field), other = frame::dropNullable(wanted);
  if (one == other) {
    return false;
  }
  if (isNested(one) || isNested(other)) {
    return one.getTypeID() == other.getTypeID() ? std::nullopt : std::optional(true);
  }
  return isPlain(one) && isPlain(other) ? std::optional(true) : std::nullopt;
}

/// The place, from 1 on, of the first field that equals a value, or whether one does. The place is
/// also that of a NULL, and NULL if there is none.
MaybeExpression ExpressionImporter::importPlaceOfField(ExpressionBuilder &b, const Call &call,
                                                       Arguments arguments) {
  const Expression &value = arguments[0], &wanted = arguments[1];
  const bool asks = frame::isBoolean(call.type);
  Type type = frame::dropNullable(call.type);
  auto found = [&](unsigned place) {
    return asks ? b.constant(BoolAttr::get(b.getContext(), place > 0), type, call.at)
                : b.integer(place, type, call.at);
  };
  SmallVector<Expression> matches, places;
  for (unsigned place = 1; place <= structType(value).getFieldTypes().size(); ++place) {
    Expression field = b.fieldOf(value, place - 1, call.at);
    std::optional<bool> differs = neverEqual(field.type(), wanted.type());
    if (!differs) {
      return unsupported(call, "of fields of other types than the value");
    }
    if (*differs) {
      continue;
    }
    MaybeExpression same = b.compare(frame::CompareKind::IsNotDistinctFrom, field, wanted, call.at);
    if (failed(same)) {
      return failure();
    }
    matches.push_back(*same);
    places.push_back(found(place));
  }
  Expression none = asks ? found(0) : b.null(type, call.at);
  MaybeExpression place =
      matches.empty() ? MaybeExpression(none) : b.choose(matches, places, &none, call.at);
  MaybeExpression known = b.isNotNull(value, call.at);
  MaybeExpression isGiven = asks ? b.isNotNull(wanted, call.at) : known;
  known = failed(known) || failed(isGiven)
              ? MaybeExpression(failure())
              : b.connect(ExpressionBuilder::Connective::kAnd, {*known, *isGiven}, call.at);
  return failed(place) || failed(known) ? MaybeExpression(failure())
                                        : b.choose(*known, *place, nullptr, call.at);
}

/// A field by its name or its place.
MaybeExpression ExpressionImporter::importExtract(ExpressionBuilder &b, const Call &call,
                                                  Arguments arguments) {
  frame::StructType type = structType(arguments[0]);
  std::optional<StringRef> name = ExpressionBuilder::stringOf(arguments[1]);
  std::optional<int64_t> place = ExpressionBuilder::integerOf(arguments[1]);
  std::optional<unsigned> index = name ? type.findField(*name) : std::nullopt;
  if (place && *place >= 1 && *place <= static_cast<int64_t>(type.getFieldTypes().size())) {
    index = static_cast<unsigned>(*place - 1);
  }
  if (!index) {
    // no test: DuckDB's binder sees to it
    return unsupported(call, "the struct has no such field");
  }
  return b.fieldOf(arguments[0], *index, call.at);
}

/// The struct with other fields, or more: those that are named behind it.
MaybeExpression ExpressionImporter::importWithFields(ExpressionBuilder &b, const Call &call,
                                                     Arguments arguments) {
  auto type = cast<frame::StructType>(call.type);
  frame::StructType source = structType(arguments[0]);
  SmallVector<Node> names = call.node.get("named_arguments").elements();
  if (names.size() + 1 != arguments.size()) {
    // no test: DuckDB's binder sees to it
    return unsupported(call, "each value must have a name");
  }
  SmallVector<Expression> fields;
  for (StringAttr name : type.getNames()) {
    const Expression *given = nullptr;
    for (auto [index, other] : llvm::enumerate(names)) {
      if (other.string().value_or("").equals_insensitive(name.getValue())) {
        given = &arguments[index + 1];
      }
    }
    std::optional<unsigned> index = source.findField(name.getValue());
    if (!given && !index) {
      // no test: DuckDB's binder sees to it
      return unsupported(call, "there is no field " + name.getValue());
    }
    fields.push_back(given ? *given : b.fieldOf(arguments[0], *index, call.at));
  }
  return b.structOf(type, fields, call.at);
}
