// What all parts of DuckDB's plans have in common: places, known fields, types, constants.
#include "passes/import/duckdb/plan.h"

#include "dialects/frame/FrameConstants.h"
#include "mlir/IR/Builders.h"
#include "passes/analysis/scalar_evaluation.h"
#include "runtime/base/binary_functions.h"
#include "runtime/base/enum_values.h"
#include "runtime/base/unsigned128.h"
#include "runtime/base/uuid.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static constexpr size_t kBlockBytes = 256;

static size_t charactersIn(StringRef text) {
  return llvm::count_if(text,
                        [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

QueryText::QueryText(ImportContext &context, StringRef text)
    : context(context), text(text), lineStarts({0}) {
  for (size_t at = text.find('\n'); at != StringRef::npos; at = text.find('\n', at + 1)) {
    lineStarts.push_back(at + 1);
  }
  for (size_t count = 0, at = 0; at < text.size(); at += kBlockBytes) {
    charactersBefore.push_back(count);
    count += charactersIn(text.substr(at, kBlockBytes));
  }
}

/// The number of characters in front of a byte.
size_t QueryText::charactersTo(size_t position) const {
  const size_t block = position / kBlockBytes;
  return charactersBefore[block] + charactersIn(text.slice(block * kBlockBytes, position));
}

Location QueryText::locate(Node node, Location otherwise) const {
  std::optional<uint64_t> position = node.get("query_location").natural();
  constexpr uint64_t kPositionMax = 1u << 30; // more is DuckDB's "not known"
  if (!position || *position >= (text.empty() ? kPositionMax : text.size())) {
    return otherwise;
  }
  const size_t *line = std::prev(llvm::upper_bound(lineStarts, *position));
  size_t column = *position - *line;
  if (!text.empty()) { // in characters
    column = charactersTo(*position) - charactersTo(*line);
  }
  return context.queryLocation(line - lineStarts.begin() + 1, column + 1, *position,
                               node.get("query_location_length").natural().value_or(0));
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

LogicalResult headrace::import::duckdb::expectFields(Node object, StringRef what,
                                                     ArrayRef<Field> fields, ImportContext &context,
                                                     Location at) {
  for (StringRef key : object.keys()) {
    const Field *field = llvm::find_if(fields, [&](const Field &f) { return f.name == key; });
    Node value = object.get(key);
    if (field == fields.end()) {
      return context.fail(at,
                          "unsupported field of " + what + ": " + key + " = " + value.valueText());
    }
    bool understood = field->use == Field::Use::kRead || field->use == Field::Use::kHarmless ||
                      value.isNothing() ||
                      (field->use == Field::Use::kDefault && value.valueText() == field->value);
    if (!understood) {
      return context.fail(at, "unsupported " + key + " of " + what + ": " + value.valueText());
    }
  }
  return success();
}

LogicalResult headrace::import::duckdb::expectExpression(Node expression, StringRef what,
                                                         ArrayRef<Field> fields,
                                                         ImportContext &context, Location at) {
  SmallVector<Field> all(std::begin(kExpressionFields), std::end(kExpressionFields));
  llvm::append_range(all, fields);
  return expectFields(expression, what, all, context, at);
}

LogicalResult headrace::import::duckdb::expectCall(Node call, StringRef what,
                                                   ArrayRef<Field> fields, ImportContext &context,
                                                   Location at) {
  SmallVector<Field> all = {
      {"children", Field::Use::kRead},        {"qname", Field::Use::kRead},
      {"arguments", Field::Use::kHarmless},   {"has_serialize", Field::Use::kHarmless},
      {"is_operator", Field::Use::kHarmless}, {"positional_arguments", Field::Use::kHarmless},
      {"named_arguments", Field::Use::kRead}};
  llvm::append_range(all, fields);
  return expectExpression(call, what, all, context, at);
}

/// The name by which a function is known here, of several that DuckDB has for it.
static StringRef usualName(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("add", "+")
      .Case("subtract", "-")
      .Case("multiply", "*")
      .Cases({"char_length", "character_length"}, "length")
      .Cases({"list_extract", "list_element"}, "array_extract")
      .Cases({"grade_up", "array_grade_up"}, "list_grade_up")
      .Case("roundbankers", "round_even")
      .Default(name);
}

StringRef headrace::import::duckdb::nameOf(Node call) {
  SmallVector<Node> path = call.get("qname").get("path").elements();
  return path.empty() ? StringRef() : usualName(path.back().string().value_or(""));
}

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

bool headrace::import::duckdb::isNestedType(Node type) {
  static constexpr StringRef kNested[] = {"LIST", "ARRAY", "STRUCT", "TUPLE", "MAP"};
  return llvm::is_contained(kNested, type.get("id").string().value_or(""));
}

bool headrace::import::duckdb::isJsonType(Node type) {
  Node info = type.get("type_info");
  return type.get("id").string() == StringRef("VARCHAR") &&
         info.get("alias").string() == StringRef("JSON") && !info.get("extension_info");
}

/// Whether it is a text with a collation; the functions that this asks for stand around it already.
static bool isCollatedType(Node type) {
  Node info = type.get("type_info");
  return type.get("id").string() == StringRef("VARCHAR") && info.get("collation") &&
         info.get("alias").string().value_or("").empty() && !info.get("extension_info");
}

bool headrace::import::duckdb::isIntervalType(Node type) {
  return type.get("id").string() == StringRef("INTERVAL");
}

static Type importStruct(ImportContext &context, Node info, Location at) {
  SmallVector<StringAttr> names;
  SmallVector<Type> types;
  for (Node field : info.get("child_types").elements()) {
    names.push_back(
        StringAttr::get(context.getContext(), field.get("first").string().value_or("")));
    types.push_back(importType(context, field.get("second"), at));
    if (!types.back()) {
      return {};
    }
  }
  if (names.empty()) {
    // no test: DuckDB has none
    (void)context.fail(at, "unsupported type: STRUCT without fields");
    return {};
  }
  return frame::StructType::get(context.getContext(), names, types);
}

Type headrace::import::duckdb::importType(ImportContext &context, Node type, Location at) {
  Builder builder(context.getContext());
  StringRef id = type.get("id").string().value_or("");
  Node info = type.get("type_info");
  if (id == "DECIMAL") {
    std::optional<int64_t> width = info.get("width").integer(), scale = info.get("scale").integer();
    if (!width || *width < 1 || *width > 38 || !scale || *scale < 0 || *scale > *width) {
      (void)info.fail("expected a decimal with a width of at most 38 and a scale");
      return {};
    }
    return frame::DecimalType::get(context.getContext(), *width, *scale);
  }
  if (id == "LIST") {
    Type element = importType(context, info.get("child_type"), at);
    return element ? frame::ListType::get(element) : Type();
  }
  if (id == "ARRAY") {
    Type element = importType(context, info.get("child_type"), at);
    std::optional<int64_t> size = info.get("size").integer();
    if (!size || *size < 1 || *size > UINT32_MAX) {
      // no test: DuckDB has none without
      (void)info.fail("expected an array with a size");
      return {};
    }
    return element ? frame::ListType::get(element, static_cast<unsigned>(*size)) : Type();
  }
  if (id == "ENUM") {
    SmallVector<StringAttr> values;
    for (Node value : info.get("values").elements()) {
      values.push_back(builder.getStringAttr(value.string().value_or("")));
    }
    return frame::EnumType::get(context.getContext(), values);
  }
  if (id == "STRUCT" || id == "TUPLE") {
    return importStruct(context, info, at);
  }
  if (id == "MAP") {
    auto entry =
        dyn_cast_or_null<frame::StructType>(importType(context, info.get("child_type"), at));
    if (entry && frame::hasIntervals(entry.getFieldTypes()[0])) {
      (void)context.fail(at, "unsupported type: MAP whose keys are INTERVALs or have some");
      return {};
    }
    if (!entry || entry.getFieldTypes().size() != 2) {
      // no test: DuckDB has none
      (void)context.fail(at, "unsupported type: MAP without keys and values");
      return {};
    }
    return frame::MapType::get(entry.getFieldTypes()[0], entry.getFieldTypes()[1]);
  }
  auto timestamp = [&](TimeUnit unit, bool zoned) -> Type {
    return frame::TimestampType::get(context.getContext(), unit, zoned);
  };
  Type value =
      llvm::StringSwitch<Type>(id)
          .Case("BOOLEAN", builder.getI1Type())
          .Case("TINYINT", builder.getIntegerType(8))
          .Case("SMALLINT", builder.getIntegerType(16))
          .Case("INTEGER", builder.getI32Type())
          .Case("BIGINT", builder.getI64Type())
          .Case("UTINYINT", builder.getIntegerType(8, /*isSigned=*/false))
          .Case("USMALLINT", builder.getIntegerType(16, /*isSigned=*/false))
          .Case("UINTEGER", builder.getIntegerType(32, /*isSigned=*/false))
          .Case("UBIGINT", builder.getIntegerType(64, /*isSigned=*/false))
          .Case("HUGEINT", builder.getIntegerType(128))
          .Case("UHUGEINT", frame::Unsigned128Type::get(context.getContext()))
          .Case("FLOAT", builder.getF32Type())
          .Case("DOUBLE", builder.getF64Type())
          .Case("VARCHAR", frame::StringType::get(context.getContext()))
          .Case("BLOB", frame::BinaryType::get(context.getContext()))
          .Case("UUID", frame::UuidType::get(context.getContext()))
          .Case("INTERVAL", frame::IntervalType::get(context.getContext()))
          .Case("DATE", frame::DateType::get(context.getContext()))
          .Case("TIME", frame::TimeType::get(context.getContext(), TimeUnit::kMicrosecond))
          .Case("TIME_NS", frame::TimeType::get(context.getContext(), TimeUnit::kNanosecond))
          .Case("TIMESTAMP_S", timestamp(TimeUnit::kSecond, false))
          .Case("TIMESTAMP_MS", timestamp(TimeUnit::kMillisecond, false))
          .Case("TIMESTAMP", timestamp(TimeUnit::kMicrosecond, false))
          .Case("TIMESTAMP_NS", timestamp(TimeUnit::kNanosecond, false))
          .Case("TIMESTAMP WITH TIME ZONE", timestamp(TimeUnit::kMicrosecond, true))
          .Case("TIMESTAMPTZ_NS", timestamp(TimeUnit::kNanosecond, true))
          .Case("NULL", builder.getI32Type()) // a bare NULL, an integer to DuckDB too
          .Default(Type());
  if (!value || (info && !isJsonType(type) && !isCollatedType(type))) {
    (void)context.fail(at, "unsupported type: " + (id.empty() ? type.keysText() : id.str()) +
                               (value ? " with other properties" : ""));
    return {};
  }
  return value;
}

/// An integer, also one of 128 bits, which is two numbers.
static std::optional<llvm::APInt> wideInteger(Node value) {
  if (value.isObject()) {
    std::optional<llvm::APInt> upper = wideInteger(value.get("upper"));
    std::optional<uint64_t> lower = value.get("lower").natural();
    return upper && lower ? std::optional((*upper << 64) | llvm::APInt(frame::kLiteralBits, *lower))
                          : std::nullopt;
  }
  if (std::optional<int64_t> number = value.integer()) {
    return llvm::APInt(frame::kLiteralBits, static_cast<uint64_t>(*number), /*isSigned=*/true);
  }
  if (std::optional<uint64_t> number = value.natural()) {
    return llvm::APInt(frame::kLiteralBits, *number);
  }
  return std::nullopt;
}

static FailureOr<Constant> importValue(Node content, Type type, ImportContext &context,
                                       Location at);

FailureOr<Constant> headrace::import::duckdb::importConstant(ImportContext &context, Node value,
                                                             Location at) {
  Type type = importType(context, value.get("type"), at);
  if (!type) {
    return failure();
  }
  bool null = value.get("is_null").boolean().value_or(false) || !value.get("value");
  if (null) {
    return Constant{UnitAttr::get(context.getContext()), frame::addNullable(type)};
  }
  return importValue(value.get("value"), type, context, at);
}

/// A list, struct or map.
static FailureOr<Constant> importNested(Node content, Type type, ImportContext &context,
                                        Location at) {
  auto fields = dyn_cast<frame::StructType>(type);
  auto map = dyn_cast<frame::MapType>(type);
  auto list = map ? map.getEntries() : dyn_cast<frame::ListType>(type);
  SmallVector<Node> children = content.get("children").elements();
  if (fields && children.size() != fields.getFieldTypes().size()) {
    // no test: DuckDB writes no such plan
    return content.fail("expected a value of each field");
  }
  SmallVector<analysis::Scalar> values;
  for (auto [index, child] : llvm::enumerate(children)) {
    if (child.get("is_null").boolean().value_or(false)) {
      values.push_back(analysis::Scalar::null());
      continue;
    }
    FailureOr<Constant> value =
        importValue(child.get("value"),
                    fields ? fields.getFieldTypes()[index] : list.getElementType(), context, at);
    if (failed(value)) {
      return failure();
    }
    values.push_back(analysis::scalarOf(value->value, value->type));
  }
  analysis::Scalar packed =
      fields ? analysis::packedFields(fields, values) : analysis::packedList(list, values);
  return Constant{analysis::literalOf(packed, type), type};
}

/// A value of DuckDB that is not NULL.
std::optional<IntervalParts> headrace::import::duckdb::intervalIn(Node content) {
  std::optional<int64_t> months = content.get("months").integer(),
                         days = content.get("days").integer(),
                         micros = content.get("micros").integer();
  return months && days && micros ? intervalOf(*months, *days, *micros) : std::nullopt;
}

static FailureOr<Constant> importValue(Node content, Type type, ImportContext &context,
                                       Location at) {
  if (frame::isNested(type)) {
    return importNested(content, type, context, at);
  }
  if (frame::isInterval(type)) {
    std::optional<IntervalParts> parts = intervalIn(content);
    if (!parts) {
      return content.fail("expected months, days and microseconds");
    }
    return Constant{frame::literalAttr(packedInterval(*parts), type), type};
  }
  frame::Literal literal;
  if (frame::isBoolean(type)) {
    if (std::optional<bool> boolean = content.boolean()) {
      literal = *boolean;
    }
  } else if (frame::isString(type)) {
    if (std::optional<StringRef> text = content.string()) {
      literal = text->str();
    }
  } else if (frame::isBinary(type)) { // as a cast to a text writes it
    if (std::optional<std::string> bytes = binaryOfText(content.string().value_or("\\"))) {
      literal = std::move(*bytes);
    }
  } else if (auto list = dyn_cast<frame::EnumType>(type)) { // its place
    std::optional<uint64_t> place = content.natural();
    if (place && *place < list.getValues().size()) {
      literal = packedEnum(static_cast<uint32_t>(*place), list.getValues()[*place].getValue());
    }
  } else if (frame::isUuid(type)) { // as a number whose first bit is the other one
    if (std::optional<llvm::APInt> integer = wideInteger(content)) {
      const llvm::APInt bits = integer->trunc(8 * kUuidBytes);
      const auto upper = bits.extractBitsAsZExtValue(64, 64) ^ (uint64_t{1} << 63);
      literal = packedUnsigned128(U128{upper} << 64 | bits.extractBitsAsZExtValue(64, 0));
    }
  } else if (frame::isFloat(type)) {
    if (std::optional<double> real = content.real()) {
      literal = *real;
    }
  } else if (std::optional<llvm::APInt> integer = wideInteger(content)) {
    literal = *integer;
  }
  if (std::holds_alternative<std::monostate>(literal)) {
    return content.fail("expected a value of its type, got " + content.valueText());
  }
  Attribute attribute = frame::literalAttr(literal, type);
  if (!attribute) {
    return context.fail(at, "a literal that its type does not hold: " + content.valueText());
  }
  return Constant{attribute, type};
}
