// Functions of JSON in DuckDB's plans, and casts of JSON. It is held as the text that it is: only
// the types that a plan writes tell it from texts.
#include "runtime/base/json_functions.h"
#include "dialects/frame/LogicalTypes.h"
#include "passes/import/ZonedMoments.h"
#include "passes/import/duckdb/expressions.h"
#include "runtime/base/json_path.h"
#include "runtime/base/json_text.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;
using headrace::json::Target;

static Type stringOf(ExpressionBuilder &b) { return frame::StringType::get(b.getContext()); }

static Expression textConstant(ExpressionBuilder &b, const Twine &text, Location at) {
  return b.constant(StringAttr::get(b.getContext(), text), stringOf(b), at);
}

static const headrace::TextFunction &function(StringRef name) {
  return *headrace::textFunctionNamed(name);
}

Node ExpressionImporter::typeOf(Node expression) {
  Node type = expression.get("return_type");
  return type ? type : expression.get("value").get("type");
}

/// The type of what is in a list.
static Node typeInList(Node list) { return list.get("type_info").get("child_type"); }
/// The types of a struct's fields.
static SmallVector<Node> typesOfFields(Node type) {
  SmallVector<Node> types;
  for (Node field : type.get("type_info").get("child_types").elements()) {
    types.push_back(field.get("second"));
  }
  return types;
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

/// A path as a text: an integer is a place in an array.
static MaybeExpression pathOf(ExpressionBuilder &b, const Expression &path, Location at) {
  if (!frame::isInteger(path.type())) {
    return path;
  }
  if (std::optional<int64_t> place = ExpressionBuilder::integerOf(path)) {
    return textConstant(b, "$[" + Twine(*place) + "]", at);
  }
  MaybeExpression digits = b.cast(path, stringOf(b), at);
  return failed(digits) ? digits
                        : b.text(function("concat"),
                                 {textConstant(b, "$[", at), *digits, textConstant(b, "]", at)},
                                 stringOf(b), at);
}

/// What stands in a text behind a letter; NULL if there is none.
static MaybeExpression behindLetter(ExpressionBuilder &b, const MaybeExpression &text,
                                    Location at) {
  if (failed(text)) {
    return failure();
  }
  MaybeExpression known = b.compare(frame::CompareKind::Ne, *text, textConstant(b, "", at), at);
  Expression second = b.integer(2, IntegerType::get(b.getContext(), 64), at);
  MaybeExpression rest = b.substring(*text, second, std::nullopt, at);
  return failed(known) || failed(rest) ? MaybeExpression(failure())
                                       : b.choose(*known, *rest, nullptr, at);
}

/// What a function gives, which may be NULL.
static MaybeExpression resultOf(ExpressionBuilder &b, const headrace::TextFunction &of,
                                ArrayRef<Expression> arguments, Type type, Location at) {
  using Result = headrace::TextFunction::Result;
  if (of.result == Result::kList) {
    return b.onlyElement(of, arguments, type, at);
  }
  if (of.result != Result::kNumber) {
    MaybeExpression given = b.text(of, arguments, type, at);
    return of.result == Result::kText ? behindLetter(b, given, at) : given;
  }
  Type i64 = IntegerType::get(b.getContext(), 64);
  MaybeExpression number = b.text(of, arguments, i64, at);
  number = failed(number) ? number : b.nullIf(*number, b.integer(-1, i64, at), at);
  return failed(number) ? number : b.cast(*number, type, at);
}

/// What a function makes of all that a path with wildcards leads to.
static MaybeExpression ofAll(ExpressionBuilder &b, const headrace::TextFunction &of,
                             ArrayRef<Expression> arguments, frame::ListType type, Location at) {
  Type texts = frame::ListType::get(stringOf(b));
  const bool isWritten = of.name == "json_extract"; // others see what it was
  MaybeExpression all =
      b.text(function(isWritten ? "json_extract_all" : "json_parts"), arguments, texts, at);
  if (failed(all) || isWritten) {
    return all;
  }
  ExpressionBuilder::Lambda lambda;
  lambda.text = of.name.data();
  lambda.fields = {{StringAttr::get(b.getContext(), "value"), frame::addNullable(stringOf(b))}};
  lambda.firstCapture = 1;
  lambda.body = [&](ExpressionBuilder &inside) -> MaybeExpression {
    MaybeExpression made =
        resultOf(inside, of, {*inside.field(0, at), textConstant(inside, "", at)},
                 type.getElementType(), at);
    return failed(made) ? made : inside.list(type.getElementType(), *made, at);
  };
  return b.flatMap(*all, lambda, type, at);
}

/// Whether DuckDB's answer, which may have values twice, is that of taking one step after the
/// other.
static bool goesStepByStep(ArrayRef<headrace::json::Step> steps) {
  using Kind = headrace::json::Step::Kind;
  auto isOf = [](Kind kind) {
    return [kind](const headrace::json::Step &step) { return step.kind == kind; };
  };
  return llvm::count_if(steps, isOf(Kind::kDescend)) < 2 &&
         llvm::none_of(steps.drop_back(steps.empty() ? 0 : 1), isOf(Kind::kAny));
}

/// Of a path, of one with wildcards, of a list of paths, which are constants, or of none.
MaybeExpression ExpressionImporter::importJsonPath(ExpressionBuilder &b, const Call &call,
                                                   const headrace::TextFunction &of,
                                                   Arguments arguments) {
  const Expression &text = arguments[0];
  auto list = dyn_cast<frame::ListType>(call.type);
  if (arguments.size() > 2) {
    return unsupported(call, "wrong number of arguments: " + Twine(arguments.size()));
  }
  if (arguments.size() == 1) {
    return resultOf(b, of, {text, textConstant(b, "", call.at)}, call.type, call.at);
  }
  if (list && frame::isList(arguments[1].type())) {
    Type element = list.getElementType();
    SmallVector<Expression> all;
    Node paths = call.node.get("children").elements()[1].get("value").get("value");
    for (Node path : paths.get("children").elements()) {
      Expression each = textConstant(b, path.get("value").string().value_or(""), call.at);
      MaybeExpression one = resultOf(b, of, {text, each}, element, call.at);
      if (failed(one)) {
        return failure();
      }
      all.push_back(*one);
    }
    MaybeExpression list = b.list(element, all, call.at);
    MaybeExpression known = b.isNotNull(text, call.at);
    return failed(list) || failed(known) ? MaybeExpression(failure())
                                         : b.choose(*known, *list, nullptr, call.at);
  }
  MaybeExpression path = pathOf(b, arguments[1], call.at);
  if (failed(path)) {
    return failure();
  }
  std::optional<StringRef> known = ExpressionBuilder::stringOf(*path);
  if (known && !goesStepByStep(headrace::json::pathOf(*known).steps)) {
    return context.fail(call.at,
                        "unsupported path of JSON: steps behind `..*`, or `..` twice: " + *known);
  }
  return list && (of.name != "json_keys" || frame::isList(list.getElementType()))
             ? ofAll(b, of, {text, *path}, list, call.at)
             : resultOf(b, of, {text, *path}, call.type, call.at);
}

//===----------------------------------------------------------------------===//
// To JSON
//===----------------------------------------------------------------------===//

/// Texts one behind the other; NULL where one is.
static MaybeExpression joined(ExpressionBuilder &b, ArrayRef<Expression> texts, Location at) {
  return b.text(function("concat"), texts, stringOf(b), at);
}

/// Whether a type is as nested as the plan says.
static bool isNestedAs(Type type, Node said) {
  SmallVector<Node> inside = typesOfFields(said);
  if (auto fields = dyn_cast<frame::StructType>(type)) {
    return llvm::all_of_zip(fields.getFieldTypes(), inside, isNestedAs) &&
           fields.getFieldTypes().size() == inside.size();
  }
  if (auto map = dyn_cast<frame::MapType>(type)) {
    return isNestedAs(map.getEntries().getElementType(), typeInList(said));
  }
  auto list = dyn_cast<frame::ListType>(type);
  return !list || isNestedAs(list.getElementType(), typeInList(said));
}

/// JSON in which NULL is null.
MaybeExpression ExpressionImporter::toJsonOrNull(ExpressionBuilder &b, const Expression &value,
                                                 Node type, Location at) {
  MaybeExpression text = toJson(b, value, type, at);
  return failed(text) || !frame::isNullable(text->type())
             ? text
             : b.coalesce({*text, textConstant(b, "null", at)}, at);
}

/// The elements of a list as JSON, each made by `body`, with commas between them.
static MaybeExpression elementsOf(ExpressionBuilder &b, const Expression &list,
                                  llvm::function_ref<MaybeExpression(ExpressionBuilder &)> body,
                                  Location at) {
  Type element = cast<frame::ListType>(frame::dropNullable(list.type())).getElementType();
  ExpressionBuilder::Lambda lambda;
  lambda.text = "to_json";
  lambda.fields = {{StringAttr::get(b.getContext(), "element"), frame::addNullable(element)}};
  lambda.firstCapture = 1;
  lambda.body = [&](ExpressionBuilder &inside) -> MaybeExpression {
    MaybeExpression text = body(inside);
    return failed(text) ? text : inside.list(stringOf(b), *text, at);
  };
  MaybeExpression texts = b.flatMap(list, lambda, frame::ListType::get(stringOf(b)), at);
  return failed(texts) ? texts
                       : b.text(function("array_to_string"), {*texts, textConstant(b, ",", at)},
                                stringOf(b), at);
}

MaybeExpression ExpressionImporter::structToJson(ExpressionBuilder &b, const Expression &value,
                                                 Node type, Location at) {
  auto fields = cast<frame::StructType>(frame::dropNullable(value.type()));
  const bool isNamed = !fields.getNames().front().empty();
  SmallVector<Expression> parts{textConstant(b, isNamed ? "{" : "[", at)};
  for (auto [index, each] : llvm::enumerate(typesOfFields(type))) {
    std::string name;
    headrace::json::appendString(fields.getNames()[index].getValue(), name);
    parts.push_back(
        textConstant(b, Twine(index == 0 ? "" : ",") + (isNamed ? name + ":" : std::string()), at));
    MaybeExpression field =
        toJsonOrNull(b, b.fieldOf(value, static_cast<unsigned>(index), at), each, at);
    if (failed(field)) {
      return failure();
    }
    parts.push_back(*field);
  }
  parts.push_back(textConstant(b, isNamed ? "}" : "]", at));
  MaybeExpression text = joined(b, parts, at);
  MaybeExpression known = b.isNotNull(value, at);
  return failed(text) || failed(known) ? MaybeExpression(failure())
                                       : b.choose(*known, *text, nullptr, at);
}

MaybeExpression ExpressionImporter::toJson(ExpressionBuilder &b, const Expression &value, Node type,
                                           Location at) {
  Type from = frame::dropNullable(value.type());
  if (ExpressionBuilder::isNullConstant(value)) {
    return b.null(stringOf(b), at);
  }
  if (ZonedMoments(b, at).holdsElsewhere(from)) {
    return context.fail(at,
                        "unsupported JSON of TIMESTAMP WITH TIME ZONE in another zone than UTC");
  }
  if (!isNestedAs(from, type)) {
    // no test: DuckDB writes no such plan
    return context.fail(at, "a value is not of the type that the plan says");
  }
  if (isJsonType(type)) {
    return b.text(function("json_normalize"), value, stringOf(b), at);
  }
  constexpr unsigned kDigitsOfReal = 15; // that a double holds, whatever they are
  auto decimal = dyn_cast<frame::DecimalType>(from);
  if (frame::isFloat(from) || (decimal && decimal.getPrecision() <= kDigitsOfReal)) {
    MaybeExpression real = b.cast(value, Float64Type::get(b.getContext()), at);
    MaybeExpression one = failed(real) ? real : b.listOfOne(*real, at);
    MaybeExpression text = failed(one) ? one : b.text(function("json_real"), *one, stringOf(b), at);
    MaybeExpression known = b.isNotNull(value, at);
    return failed(text) || failed(known) ? MaybeExpression(failure())
                                         : b.choose(*known, *text, nullptr, at);
  }
  if (frame::isStruct(from)) {
    return structToJson(b, value, type, at);
  }
  if (frame::isMap(from)) {
    SmallVector<Node> parts = typesOfFields(typeInList(type));
    MaybeExpression entries = b.cast(value, cast<frame::MapType>(from).getEntries(), at);
    auto entry = [&](ExpressionBuilder &inside) -> MaybeExpression {
      Expression each = *inside.field(0, at);
      MaybeExpression name =
          castValue(inside, inside.fieldOf(each, 0, at), stringOf(b), Misfit::kRaises, at);
      MaybeExpression key =
          failed(name) ? name : inside.text(function("json_string"), *name, stringOf(b), at);
      MaybeExpression item = toJsonOrNull(inside, inside.fieldOf(each, 1, at), parts[1], at);
      return failed(key) || failed(item)
                 ? MaybeExpression(failure())
                 : joined(inside, {*key, textConstant(inside, ":", at), *item}, at);
    };
    MaybeExpression inner = failed(entries) ? entries : elementsOf(b, *entries, entry, at);
    return failed(inner)
               ? inner
               : joined(b, {textConstant(b, "{", at), *inner, textConstant(b, "}", at)}, at);
  }
  if (frame::isList(from)) {
    MaybeExpression list =
        b.cast(value, frame::ListType::get(cast<frame::ListType>(from).getElementType()), at);
    auto element = [&](ExpressionBuilder &inside) {
      return toJsonOrNull(inside, *inside.field(0, at), typeInList(type), at);
    };
    MaybeExpression inner = failed(list) ? list : elementsOf(b, *list, element, at);
    return failed(inner)
               ? inner
               : joined(b, {textConstant(b, "[", at), *inner, textConstant(b, "]", at)}, at);
  }
  MaybeExpression text = castValue(b, value, stringOf(b), Misfit::kRaises, at);
  const bool isPlain =
      frame::isNumeric(from) || frame::isBoolean(from) || frame::isUnsigned128(from);
  return failed(text) || isPlain ? text : b.text(function("json_string"), *text, stringOf(b), at);
}

/// A key of an object, which must be there.
static MaybeExpression keyOf(ExpressionBuilder &b, const Expression &text, Location at) {
  MaybeExpression key = b.text(function("json_string"), text, stringOf(b), at);
  if (failed(key) || !frame::isNullable(key->type())) {
    return key;
  }
  MaybeExpression error =
      b.raise(frame::RaiseKind::User, "a key of a JSON object is NULL", stringOf(b), at);
  MaybeExpression known = b.isNotNull(text, at);
  return failed(error) || failed(known) ? MaybeExpression(failure())
                                        : b.choose(*known, *key, &*error, at);
}

MaybeExpression ExpressionImporter::importToJson(ExpressionBuilder &b, const Call &call,
                                                 Arguments arguments) {
  SmallVector<Node> nodes = call.node.get("children").elements();
  const bool isObject = call.name == "json_object", isArray = call.name == "json_array";
  if (!isObject && !isArray) {
    return toJson(b, arguments[0], typeOf(nodes[0]), call.at);
  }
  SmallVector<Expression> parts{textConstant(b, isObject ? "{" : "[", call.at)};
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    const bool isKey = isObject && index % 2 == 0;
    MaybeExpression part = isKey ? keyOf(b, argument, call.at)
                                 : toJsonOrNull(b, argument, typeOf(nodes[index]), call.at);
    if (failed(part)) {
      return failure();
    }
    const bool isValue = isObject && !isKey;
    if (index > 0) {
      parts.push_back(textConstant(b, isValue ? ":" : ",", call.at));
    }
    parts.push_back(*part);
  }
  parts.push_back(textConstant(b, isObject ? "}" : "]", call.at));
  return joined(b, parts, call.at);
}

//===----------------------------------------------------------------------===//
// From JSON
//===----------------------------------------------------------------------===//

/// A call that takes JSON apart, and gives a text behind a letter, or the only element of a list.
ExpressionBuilder::Misfit ExpressionImporter::misfitOf(JsonCast how) {
  return how == JsonCast::kNull || how == JsonCast::kTransform ? Misfit::kNull : Misfit::kRaises;
}

MaybeExpression ExpressionImporter::apart(ExpressionBuilder &b, StringRef name,
                                          ArrayRef<Expression> of, Type type, JsonCast how,
                                          Location at) {
  if (frame::isString(type)) {
    return behindLetter(b, callOrNull(b, name, of, type, misfitOf(how), at), at);
  }
  MaybeExpression only = callOrNull(b, name, of, frame::ListType::get(type), misfitOf(how), at);
  return failed(only)
             ? only
             : b.element(*only, b.integer(1, IntegerType::get(b.getContext(), 64), at), at);
}

MaybeExpression ExpressionImporter::jsonToStruct(ExpressionBuilder &b, const Expression &value,
                                                 Node type, frame::StructType to, JsonCast how,
                                                 Location at) {
  MaybeExpression wanted = namesOf(b, to, at);
  const JsonCast keys = how == JsonCast::kTransform ? JsonCast::kNull : how;
  Expression code = b.integer(static_cast<int64_t>(keys), IntegerType::get(b.getContext(), 64), at);
  MaybeExpression texts = failed(wanted) ? wanted
                                         : apart(b, "json_fields", {value, *wanted, code},
                                                 frame::ListType::get(stringOf(b)), how, at);
  const SmallVector<Node> types = typesOfFields(type);
  return structOfTexts(b, texts, to, at, [&](const Expression &text, size_t field) {
    return fromJson(b, text, types[field], how, at);
  });
}

/// The texts of a list as other elements.
static MaybeExpression eachOf(
    ExpressionBuilder &b, const Expression &texts, frame::ListType to, Location at,
    llvm::function_ref<MaybeExpression(ExpressionBuilder &inside, const Expression &text)> make) {
  ExpressionBuilder::Lambda lambda;
  lambda.text = "cast";
  lambda.fields = {{StringAttr::get(b.getContext(), "element"), frame::addNullable(stringOf(b))}};
  lambda.firstCapture = 1;
  lambda.body = [&](ExpressionBuilder &inside) -> MaybeExpression {
    MaybeExpression element = make(inside, *inside.field(0, at));
    return failed(element) ? element : inside.list(to.getElementType(), *element, at);
  };
  return b.flatMap(texts, lambda, to, at);
}

/// Keys are strings of JSON.
MaybeExpression ExpressionImporter::jsonToMap(ExpressionBuilder &b, const Expression &value,
                                              Node type, frame::MapType to, JsonCast how,
                                              Location at) {
  const Type texts = frame::ListType::get(stringOf(b));
  MaybeExpression names = apart(b, "json_keys", {value, textConstant(b, "", at)}, texts, how, at);
  MaybeExpression values = apart(b, "json_values", value, texts, how, at);
  if (failed(names) || failed(values)) {
    return failure();
  }
  const SmallVector<Node> types = typesOfFields(typeInList(type));
  auto keyOf = [&](ExpressionBuilder &inside, const Expression &name) -> MaybeExpression {
    MaybeExpression string = inside.text(function("json_string"), name, stringOf(inside), at);
    return failed(string) ? string : fromJson(inside, *string, types[0], how, at);
  };
  auto itemOf = [&](ExpressionBuilder &inside, const Expression &text) {
    return fromJson(inside, text, types[1], how, at);
  };
  const bool areNames = frame::isString(to.getKeyType()) && !isJsonType(types[0]);
  MaybeExpression keys =
      areNames ? names : eachOf(b, *names, frame::ListType::get(to.getKeyType()), at, keyOf);
  MaybeExpression items = eachOf(b, *values, frame::ListType::get(to.getValueType()), at, itemOf);
  MaybeExpression made =
      failed(keys) || failed(items)
          ? MaybeExpression(failure())
          : callOrNull(b, "map_entries_of", {*keys, *items}, to.getEntries(), misfitOf(how), at);
  return failed(made) ? made : b.cast(*made, to, at);
}

static Target targetOf(Type to) {
  return frame::isBoolean(to)                               ? Target::kBoolean
         : frame::isInteger(to) || frame::isUnsigned128(to) ? Target::kInteger
         : to.isF32()                                       ? Target::kSingle
         : to.isF64()                                       ? Target::kDouble
         : frame::isDecimal(to)                             ? Target::kDecimal
         : frame::isString(to) || frame::isBinary(to)       ? Target::kText
                                                            : Target::kWord;
}

MaybeExpression ExpressionImporter::jsonToScalar(ExpressionBuilder &b, const Expression &value,
                                                 Type to, JsonCast how, Location at) {
  using headrace::json::Strings;
  auto code = [&](auto of) {
    return b.integer(static_cast<int64_t>(of), IntegerType::get(b.getContext(), 64), at);
  };
  const Strings strings = how == JsonCast::kTransform ? Strings::kTexts : Strings::kStrict;
  MaybeExpression text =
      apart(b, "json_cast_text", {value, code(targetOf(to)), code(strings)}, stringOf(b), how, at);
  return failed(text)          ? text
         : frame::isBinary(to) ? b.text(function("encode"), *text, to, at)
                               : castValue(b, *text, to, misfitOf(how), at);
}

MaybeExpression ExpressionImporter::fromJson(ExpressionBuilder &b, const Expression &value,
                                             Node type, JsonCast how, Location at) {
  Type to = importType(context, type, at), texts = frame::ListType::get(stringOf(b));
  if (!to) {
    return failure();
  }
  if (ZonedMoments(b, at).holdsElsewhere(to)) {
    return context.fail(at,
                        "unsupported JSON of TIMESTAMP WITH TIME ZONE in another zone than UTC");
  }
  if (type.get("id").string() == StringRef("NULL")) {
    return b.null(to, at);
  }
  if (isJsonType(type)) {
    MaybeExpression text = apart(b, "json_extract", {value, textConstant(b, "", at)}, to, how, at);
    return failed(text) ? text : b.nullIf(*text, textConstant(b, "null", at), at);
  }
  if (auto fields = dyn_cast<frame::StructType>(to)) {
    return jsonToStruct(b, value, type, fields, how, at);
  }
  if (auto map = dyn_cast<frame::MapType>(to)) {
    return jsonToMap(b, value, type, map, how, at);
  }
  if (auto list = dyn_cast<frame::ListType>(to)) {
    MaybeExpression elements = apart(b, "json_elements", value, texts, how, at);
    auto each = [&](ExpressionBuilder &inside, const Expression &text) {
      return fromJson(inside, text, typeInList(type), how, at);
    };
    MaybeExpression made =
        failed(elements)
            ? elements
            : eachOf(b, *elements, frame::ListType::get(list.getElementType()), at, each);
    return failed(made) ? made : castNested(b, *made, to, misfitOf(how), at);
  }
  return jsonToScalar(b, value, to, how, at);
}

//===----------------------------------------------------------------------===//
// Texts of what has JSON in it
//===----------------------------------------------------------------------===//

/// Whether a type is or has JSON.
static bool hasJson(Node type) {
  if (isJsonType(type)) {
    return true;
  }
  Node element = typeInList(type);
  return isNestedType(type) &&
         ((element && hasJson(element)) || llvm::any_of(typesOfFields(type), hasJson));
}

static bool isArray(Node type) { return type.get("id").string() == StringRef("ARRAY"); }

/// The lists of JSON, which have no quotes as a text.
static void collectJsonLists(const headrace::LogicalType &type, Node said,
                             SmallVectorImpl<const headrace::LogicalType *> &to) {
  using headrace::LogicalKind;
  if (type.kind == LogicalKind::kList) {
    const Node element = typeInList(said);
    if (isJsonType(element) && !isArray(said)) {
      to.push_back(&type);
    }
    collectJsonLists(type.children.front(), element, to);
  } else if (type.isNested()) {
    const Node fields = type.kind == LogicalKind::kMap ? typeInList(said) : said;
    for (auto [child, field] : llvm::zip_equal(type.children, typesOfFields(fields))) {
      collectJsonLists(child, field, to);
    }
  }
}

static MaybeExpression jsonToText(ExpressionBuilder &b, const Expression &value, Node from,
                                  Location at) {
  const headrace::LogicalType type = headrace::logicalType(frame::dropNullable(value.type()));
  SmallVector<const headrace::LogicalType *> plain;
  collectJsonLists(type, from, plain);
  return b.printed(value, headrace::shapeOf(type, plain), at);
}

/// The elements of a list in a text; of JSON they are written anew.
MaybeExpression ExpressionImporter::textToJsonList(ExpressionBuilder &b, const Expression &value,
                                                   Node element, frame::ListType to, Misfit misfit,
                                                   Location at) {
  const Type texts = frame::ListType::get(stringOf(b));
  if (isJsonType(element) && to.getSize() == 0) {
    return callOrNull(b, "json_list", value, texts, misfit, at);
  }
  MaybeExpression parts = callOrNull(b, "element_texts", value, texts, misfit, at);
  auto each = [&](ExpressionBuilder &inside, const Expression &text) {
    return textToJson(inside, text, element, misfit, at);
  };
  MaybeExpression made =
      failed(parts) ? parts
                    : eachOf(b, *parts, frame::ListType::get(to.getElementType()), at, each);
  return failed(made) ? made : castNested(b, *made, to, misfit, at);
}

MaybeExpression ExpressionImporter::textToJsonMap(ExpressionBuilder &b, const Expression &value,
                                                  Node type, frame::MapType to, Misfit misfit,
                                                  Location at) {
  const auto entries = frame::MapType::get(stringOf(b), stringOf(b)).getEntries();
  MaybeExpression texts = callOrNull(b, "entry_texts", value, entries, misfit, at);
  const SmallVector<Node> types = typesOfFields(typeInList(type));
  auto part = [&](int64_t place, Type wanted) -> MaybeExpression {
    Expression number = b.integer(place, IntegerType::get(b.getContext(), 64), at);
    MaybeExpression all =
        b.text(function("list_fields"), {*texts, number}, frame::ListType::get(stringOf(b)), at);
    auto each = [&](ExpressionBuilder &inside, const Expression &text) {
      return textToJson(inside, text, types[static_cast<size_t>(place) - 1], misfit, at);
    };
    return failed(all) ? all : eachOf(b, *all, frame::ListType::get(wanted), at, each);
  };
  if (failed(texts)) {
    return failure();
  }
  MaybeExpression keys = part(1, to.getKeyType()), values = part(2, to.getValueType());
  MaybeExpression made =
      failed(keys) || failed(values)
          ? MaybeExpression(failure())
          : callOrNull(b, "map_entries_of", {*keys, *values}, to.getEntries(), misfit, at);
  return failed(made) ? made : b.cast(*made, to, at);
}

MaybeExpression ExpressionImporter::textToJson(ExpressionBuilder &b, const Expression &value,
                                               Node type, Misfit misfit, Location at) {
  Type to = importType(context, type, at);
  if (!to) {
    return failure();
  }
  if (isJsonType(type)) {
    return callOrNull(b, "json_check", value, stringOf(b), misfit, at);
  }
  if (!hasJson(type)) {
    return castValue(b, value, to, misfit, at);
  }
  if (auto map = dyn_cast<frame::MapType>(to)) {
    return textToJsonMap(b, value, type, map, misfit, at);
  }
  if (auto list = dyn_cast<frame::ListType>(to)) {
    return textToJsonList(b, value, typeInList(type), list, misfit, at);
  }
  auto fields = cast<frame::StructType>(to);
  MaybeExpression names = namesOf(b, fields, at);
  MaybeExpression texts = failed(names) ? names
                                        : callOrNull(b, "field_texts", {value, *names},
                                                     frame::ListType::get(stringOf(b)), misfit, at);
  const SmallVector<Node> types = typesOfFields(type);
  return structOfTexts(b, texts, fields, at, [&](const Expression &text, size_t field) {
    return textToJson(b, text, types[field], misfit, at);
  });
}

//===----------------------------------------------------------------------===//
// Calls and casts
//===----------------------------------------------------------------------===//

std::optional<MaybeExpression> ExpressionImporter::importJsonFunction(ExpressionBuilder &b,
                                                                      const Call &call,
                                                                      Arguments arguments) {
  if (call.name == "json_array" || call.name == "json_object") {
    return importToJson(b, call, arguments);
  }
  if (arguments.empty()) {
    return std::nullopt;
  }
  static constexpr StringRef kToJson[] = {"to_json", "json_quote", "array_to_json", "row_to_json"};
  if (llvm::is_contained(kToJson, call.name)) {
    return importToJson(b, call, arguments);
  }
  static constexpr StringRef kTransforms[] = {"json_transform", "from_json",
                                              "json_transform_strict", "from_json_strict"};
  if (llvm::is_contained(kTransforms, call.name)) {
    const JsonCast how = call.name.ends_with("strict") ? JsonCast::kAllKeys : JsonCast::kTransform;
    MaybeExpression text = b.text(function("json_check"), arguments[0], stringOf(b), call.at);
    return failed(text) ? text : fromJson(b, *text, call.node.get("return_type"), how, call.at);
  }
  if (call.name == "json_merge_patch") { // of what is NULL the other stays
    MaybeExpression made = arguments[0];
    for (const Expression &patch : arguments.drop_front()) {
      MaybeExpression alone = b.text(function("json_normalize"), patch, stringOf(b), call.at);
      MaybeExpression both =
          failed(made) ? made
                       : b.text(function("json_merge_patch"), {*made, patch}, stringOf(b), call.at);
      made = failed(alone) || failed(both)
                 ? MaybeExpression(failure())
                 : b.choose(b.isNull(*made, call.at), *alone, &*both, call.at);
    }
    return made;
  }
  const headrace::TextFunction *of = headrace::textFunctionOfDuckdb(call.name, 2);
  if (of && of->name.starts_with("json_") && of->name != "json_contains") {
    return importJsonPath(b, call, *of, arguments);
  }
  return std::nullopt;
}

/// Whether there is JSON in what is nested in one type and not in another, which casts to texts
/// alone do not ask for.
static bool differsInside(Node from, Node to) {
  const bool isText = to.get("id").string() == StringRef("VARCHAR");
  if (!isNestedType(from) || !isNestedType(to)) {
    return isJsonType(to) ? !isJsonType(from) : isJsonType(from) && !isText;
  }
  SmallVector<Node> inside = typesOfFields(from), wanted = typesOfFields(to);
  if (Node element = typeInList(from)) {
    inside.push_back(element);
  }
  if (Node element = typeInList(to)) {
    wanted.push_back(element);
  }
  for (auto [one, other] : llvm::zip(inside, wanted)) {
    if (differsInside(one, other)) {
      return true;
    }
  }
  return false;
}

std::optional<MaybeExpression> ExpressionImporter::importJsonCast(ExpressionBuilder &b,
                                                                  const Expression &operand,
                                                                  Node from, Node to, Misfit misfit,
                                                                  Location at) {
  const bool isFrom = isJsonType(from), isTo = isJsonType(to);
  if (ExpressionBuilder::isNullConstant(operand) || (isFrom && isTo)) {
    return std::nullopt;
  }
  if (isTo) {
    if (!frame::isString(operand.type()) || from.get("id").string() != StringRef("VARCHAR")) {
      return toJson(b, operand, from, at);
    }
    return callOrNull(b, "json_check", operand, stringOf(b), misfit, at);
  }
  if (isFrom) {
    return to.get("id").string() == StringRef("VARCHAR")
               ? MaybeExpression(operand)
               : fromJson(b, operand, to,
                          misfit == Misfit::kNull ? JsonCast::kNull : JsonCast::kExactKeys, at);
  }
  const bool ofText = from.get("id").string() == StringRef("VARCHAR"),
             toText = to.get("id").string() == StringRef("VARCHAR");
  if (ofText && isNestedType(to) && hasJson(to)) {
    return textToJson(b, operand, to, misfit, at);
  }
  if (toText && isNestedType(from) && hasJson(from)) {
    return jsonToText(b, operand, from, at);
  }
  if (isNestedType(from) && isNestedType(to) && differsInside(from, to)) {
    return MaybeExpression(context.fail(
        at,
        "unsupported cast to or from JSON inside of a list, struct or map; use list_transform"));
  }
  return std::nullopt;
}
