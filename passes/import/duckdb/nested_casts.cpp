// Casts of lists, structs and maps in DuckDB's plans.
#include "dialects/frame/LogicalTypes.h"
#include "passes/import/ZonedMoments.h"
#include "passes/import/duckdb/expressions.h"
#include "runtime/base/list_values.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

static bool isNamed(frame::StructType type) { return !type.getNames().front().empty(); }

/// Whether a cast of DuckDB changes nothing but names: fields of structs are taken by their names
/// where both have some.
static bool onlyRenames(Type from, Type to) {
  if (!frame::isHeldAlike(from, to)) {
    return false;
  }
  if (auto map = dyn_cast<frame::MapType>(from)) {
    auto other = dyn_cast<frame::MapType>(to);
    return other && onlyRenames(map.getKeyType(), other.getKeyType()) &&
           onlyRenames(map.getValueType(), other.getValueType());
  }
  if (auto list = dyn_cast<frame::ListType>(from)) {
    auto other = dyn_cast<frame::ListType>(to);
    return other && (other.getSize() == 0 || other.getSize() == list.getSize()) &&
           onlyRenames(list.getElementType(), other.getElementType());
  }
  auto fields = dyn_cast<frame::StructType>(from), others = dyn_cast<frame::StructType>(to);
  if (!fields || !others) {
    return from == to;
  }
  const bool byName = isNamed(fields) && isNamed(others);
  for (auto [index, name] : llvm::enumerate(others.getNames())) {
    if ((byName && fields.findField(name.getValue()) != index) ||
        !onlyRenames(fields.getFieldTypes()[index], others.getFieldTypes()[index])) {
      return false;
    }
  }
  return true;
}

MaybeExpression ExpressionImporter::castNested(ExpressionBuilder &b, const Expression &value,
                                               Type type, Misfit misfit, Location at) {
  Type from = frame::dropNullable(value.type()), to = frame::dropNullable(type);
  if (from == to) {
    return value;
  }
  if (ExpressionBuilder::isNullConstant(value)) {
    return b.null(to, at);
  }
  ZonedMoments moments(b, at);
  if ((frame::isString(to) && moments.holdsElsewhere(from)) ||
      (frame::isString(from) && moments.holdsElsewhere(to))) {
    return context.fail(at, "unsupported cast between a text and what holds TIMESTAMP WITH TIME "
                            "ZONE in another zone than UTC");
  }
  if (frame::isString(to)) {
    return b.printed(value, at);
  }
  if (frame::isString(from)) {
    return castText(b, value, to, misfit, at);
  }
  if (onlyRenames(from, to)) {
    return b.cast(value, to, at);
  }
  if (auto fields = dyn_cast<frame::StructType>(to); fields && frame::isStruct(from)) {
    return castStruct(b, value, fields, misfit, at);
  }
  if (frame::isMap(from) && frame::isMap(to)) {
    return castMap(b, value, cast<frame::MapType>(to), misfit, at);
  }
  if (frame::isList(from) && frame::isList(to)) {
    return cast<frame::ListType>(to).getSize() == 0
               ? castList(b, value, to, misfit, at)
               : castArray(b, value, cast<frame::ListType>(to), misfit, at);
  }
  return context.fail(
      at, "unsupported cast between a list, struct or map and what is none of its kind");
}

/// What is made of a value, and NULL where that is.
static MaybeExpression whereKnown(ExpressionBuilder &b, const Expression &value,
                                  const MaybeExpression &made, Location at) {
  if (failed(made) || !frame::isNullable(value.type())) {
    return made;
  }
  MaybeExpression known = b.isNotNull(value, at);
  return failed(known) ? known : b.choose(*known, *made, nullptr, at);
}

MaybeExpression ExpressionImporter::castStruct(ExpressionBuilder &b, const Expression &value,
                                               frame::StructType type, Misfit misfit, Location at) {
  auto from = cast<frame::StructType>(frame::dropNullable(value.type()));
  const bool byName = isNamed(from) && isNamed(type);
  SmallVector<Expression> fields;
  for (auto [index, name] : llvm::enumerate(type.getNames())) {
    std::optional<unsigned> source =
        byName ? from.findField(name.getValue()) : static_cast<unsigned>(index);
    Type wanted = type.getFieldTypes()[index];
    MaybeExpression field = source && *source < from.getFieldTypes().size()
                                ? castValue(b, b.fieldOf(value, *source, at), wanted, misfit, at)
                                : MaybeExpression(b.null(wanted, at));
    if (failed(field)) {
      return failure();
    }
    fields.push_back(*field);
  }
  return whereKnown(b, value, b.structOf(type, fields, at), at);
}

static MaybeExpression callOf(ExpressionBuilder &b, StringRef function, ArrayRef<Expression> of,
                              Type type, Location at) {
  return b.text(*headrace::textFunctionNamed(function), of, type, at);
}

/// A value where two numbers are equal, else NULL.
static MaybeExpression whereEqual(ExpressionBuilder &b, const MaybeExpression &one,
                                  const MaybeExpression &other, const MaybeExpression &value,
                                  Location at) {
  if (failed(one) || failed(other) || failed(value)) {
    return failure();
  }
  MaybeExpression fits = b.compare(frame::CompareKind::Eq, *one, *other, at);
  return failed(fits) ? fits : b.choose(*fits, *value, nullptr, at);
}

/// Keys that are NULL or equal as values of the other type are none of a map.
MaybeExpression ExpressionImporter::castMap(ExpressionBuilder &b, const Expression &value,
                                            frame::MapType type, Misfit misfit, Location at) {
  Type i64 = IntegerType::get(b.getContext(), 64);
  auto from = cast<frame::MapType>(frame::dropNullable(value.type()));
  MaybeExpression entries = b.cast(value, from.getEntries(), at);
  auto part = [&](int64_t n, Type given, Type wanted) -> MaybeExpression {
    MaybeExpression all = callOf(b, "list_fields", {*entries, b.integer(n, i64, at)},
                                 frame::ListType::get(given), at);
    return failed(all) ? all : castNested(b, *all, frame::ListType::get(wanted), misfit, at);
  };
  MaybeExpression keys = part(1, from.getKeyType(), type.getKeyType());
  MaybeExpression values = part(2, from.getValueType(), type.getValueType());
  if (failed(keys) || failed(values)) {
    return failure();
  }
  MaybeExpression made = callOf(b, "map_entries_of", {*keys, *values}, type.getEntries(), at);
  if (misfit == Misfit::kNull) {
    made = whereEqual(b, callOf(b, "list_unique", *keys, i64, at),
                      callOf(b, "list_length", *keys, i64, at), made, at);
  }
  return failed(made) ? made : b.cast(*made, type, at);
}

MaybeExpression ExpressionImporter::callOrNull(ExpressionBuilder &b, StringRef function,
                                               ArrayRef<Expression> of, Type type, Misfit misfit,
                                               Location at) {
  if (misfit == Misfit::kRaises) {
    return callOf(b, function, of, type, at);
  }
  return b.inPlaceOfFields(of, [&] {
    return b.attempt(
        [&](ExpressionBuilder &inside) -> MaybeExpression {
          SmallVector<Expression> arguments;
          for (size_t index = 0; index < of.size(); ++index) {
            arguments.push_back(*inside.field(static_cast<int64_t>(index), at));
          }
          return callOf(inside, function, arguments, type, at);
        },
        at);
  });
}

MaybeExpression ExpressionImporter::castEnum(ExpressionBuilder &b, const Expression &operand,
                                             Type type, Misfit misfit, Location at) {
  Type from = frame::dropNullable(operand.type()), to = frame::dropNullable(type);
  Type string = frame::StringType::get(b.getContext());
  if (from == to) {
    return operand;
  }
  if (frame::isEnum(from)) { // by way of its text
    MaybeExpression text = b.cast(operand, string, at);
    return failed(text) || to == string ? text : castValue(b, *text, to, misfit, at);
  }
  if (!frame::isString(from)) { // DuckDB binds it, and fails at the first value
    return context.fail(at, "unsupported cast to an ENUM of another type than VARCHAR");
  }
  auto values = llvm::map_to_vector(cast<frame::EnumType>(to).getValues(), [&](StringAttr value) {
    return b.constant(value, string, at);
  });
  MaybeExpression list = b.list(string, values, at);
  return failed(list) ? list : callOrNull(b, "enum_parse", {operand, *list}, to, misfit, at);
}

/// Texts of what is in it, which are cast themselves.
MaybeExpression ExpressionImporter::castText(ExpressionBuilder &b, const Expression &value,
                                             Type type, Misfit misfit, Location at) {
  Type string = frame::StringType::get(b.getContext());
  if (auto fields = dyn_cast<frame::StructType>(type)) {
    return castTextToStruct(b, value, fields, misfit, at);
  }
  if (auto map = dyn_cast<frame::MapType>(type)) {
    auto texts = frame::MapType::get(string, string);
    MaybeExpression entries = callOrNull(b, "entry_texts", value, texts.getEntries(), misfit, at);
    MaybeExpression whole = failed(entries) ? entries : b.cast(*entries, texts, at);
    return failed(whole) ? whole : castMap(b, *whole, map, misfit, at);
  }
  MaybeExpression elements =
      callOrNull(b, "element_texts", value, frame::ListType::get(string), misfit, at);
  return failed(elements) ? elements : castNested(b, *elements, type, misfit, at);
}

MaybeExpression ExpressionImporter::castTextToStruct(ExpressionBuilder &b, const Expression &value,
                                                     frame::StructType type, Misfit misfit,
                                                     Location at) {
  auto texts = frame::ListType::get(frame::StringType::get(b.getContext()));
  MaybeExpression wanted = namesOf(b, type, at);
  MaybeExpression found =
      failed(wanted) ? wanted : callOrNull(b, "field_texts", {value, *wanted}, texts, misfit, at);
  return structOfTexts(b, found, type, at, [&](const Expression &text, size_t field) {
    return castValue(b, text, type.getFieldTypes()[field], misfit, at);
  });
}

MaybeExpression ExpressionImporter::namesOf(ExpressionBuilder &b, frame::StructType type,
                                            Location at) {
  Type string = frame::StringType::get(b.getContext());
  auto names = llvm::map_to_vector(type.getNames(),
                                   [&](StringAttr name) { return b.constant(name, string, at); });
  return b.list(string, names, at);
}

MaybeExpression ExpressionImporter::structOfTexts(
    ExpressionBuilder &b, const MaybeExpression &texts, frame::StructType type, Location at,
    llvm::function_ref<MaybeExpression(const Expression &text, size_t field)> make) {
  if (failed(texts)) {
    return failure();
  }
  Type i64 = IntegerType::get(b.getContext(), 64);
  SmallVector<Expression> fields;
  for (size_t index = 0; index < type.getFieldTypes().size(); ++index) {
    MaybeExpression text =
        b.element(*texts, b.integer(static_cast<int64_t>(index) + 1, i64, at), at);
    MaybeExpression field = failed(text) ? text : make(*text, index);
    if (failed(field)) {
      return failure();
    }
    fields.push_back(*field);
  }
  return whereKnown(b, *texts, b.structOf(type, fields, at), at);
}

/// As a list, whose elements are counted if its type does not say how many there are.
MaybeExpression ExpressionImporter::castArray(ExpressionBuilder &b, const Expression &value,
                                              frame::ListType type, Misfit misfit, Location at) {
  auto from = cast<frame::ListType>(frame::dropNullable(value.type()));
  MaybeExpression list =
      castNested(b, value, frame::ListType::get(type.getElementType()), misfit, at);
  if (failed(list) || from.getSize() == type.getSize()) {
    return failed(list) ? list : b.cast(*list, type, at);
  }
  Type i64 = IntegerType::get(b.getContext(), 64);
  Expression size = b.integer(type.getSize(), i64, at);
  MaybeExpression made = callOf(b, "list_of_size", {*list, size}, type, at);
  return misfit == Misfit::kRaises
             ? made
             : whereEqual(b, callOf(b, "list_length", *list, i64, at), size, made, at);
}

MaybeExpression ExpressionImporter::castList(ExpressionBuilder &b, const Expression &list,
                                             Type type, Misfit misfit, Location at) {
  Type element = cast<frame::ListType>(type).getElementType();
  Type source = cast<frame::ListType>(frame::dropNullable(list.type())).getElementType();
  if (auto made = list.value.getDefiningOp<frame::ListOp>()) { // its values one by one
    SmallVector<Expression> elements;
    for (Value value : made.getOperands()) {
      MaybeExpression given = castValue(b, {value, "element"}, element, misfit, at);
      if (failed(given)) {
        return failure();
      }
      elements.push_back(*given);
    }
    return b.list(element, elements, at);
  }
  if (frame::isStruct(source) && frame::isStruct(element)) {
    return castStructs(b, list, cast<frame::ListType>(type), misfit, at);
  }
  auto isExact = [](Type type) { return frame::isInteger(type) || frame::isDecimal(type); };
  auto isNumber = [&](Type type) { return isExact(type) || frame::isFloat(type); };
  const bool isText = frame::isString(element) && !frame::isStruct(source) && !frame::isMap(source);
  const bool converts = isText || (isNumber(element) && isNumber(source)) ||
                        (isNumber(element) && frame::isString(source));
  if (!converts || (misfit == Misfit::kNull && !isText)) {
    return castElements(b, list, cast<frame::ListType>(type), misfit, at);
  }
  Expression code = b.integer(headrace::elementCode(headrace::logicalType(element)),
                              IntegerType::get(b.getContext(), 64), at);
  return callOf(b, "list_cast", {list, code}, type, at);
}

/// A list of whatever there are casts of, one element after the other.
MaybeExpression ExpressionImporter::castElements(ExpressionBuilder &b, const Expression &list,
                                                 frame::ListType type, Misfit misfit, Location at) {
  Type source = cast<frame::ListType>(frame::dropNullable(list.type())).getElementType();
  ExpressionBuilder::Lambda lambda;
  lambda.text = "cast";
  lambda.fields = {{StringAttr::get(b.getContext(), "element"), frame::addNullable(source)}};
  lambda.firstCapture = 1;
  lambda.body = [&](ExpressionBuilder &inside) -> MaybeExpression {
    MaybeExpression element = inside.field(0, at);
    MaybeExpression given = castValue(inside, *element, type.getElementType(), misfit, at);
    return failed(given) ? given : inside.list(type.getElementType(), *given, at);
  };
  return b.flatMap(list, lambda, type, at);
}

/// A list of structs, one field of all of them after the other.
MaybeExpression ExpressionImporter::castStructs(ExpressionBuilder &b, const Expression &list,
                                                frame::ListType type, Misfit misfit, Location at) {
  auto from = cast<frame::StructType>(
      cast<frame::ListType>(frame::dropNullable(list.type())).getElementType());
  auto to = cast<frame::StructType>(type.getElementType());
  SmallVector<Expression> parts{list};
  for (auto [index, name] : llvm::enumerate(to.getNames())) {
    const bool byName = isNamed(from) && isNamed(to);
    std::optional<unsigned> source =
        byName ? from.findField(name.getValue()) : static_cast<unsigned>(index);
    if (!source || *source >= from.getFieldTypes().size()) {
      return castElements(b, list, type, misfit, at);
    }
    Expression place =
        b.integer(static_cast<int64_t>(*source) + 1, IntegerType::get(b.getContext(), 64), at);
    MaybeExpression all = callOf(b, "list_fields", {list, place},
                                 frame::ListType::get(from.getFieldTypes()[*source]), at);
    MaybeExpression given =
        failed(all)
            ? all
            : castNested(b, *all, frame::ListType::get(to.getFieldTypes()[index]), misfit, at);
    if (failed(given)) {
      return failure();
    }
    parts.push_back(*given);
  }
  return callOf(b, "list_structs", parts, type, at);
}
