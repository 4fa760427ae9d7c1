// Substrait types and literals as frame types and constants.
#include "passes/import/substrait/types.h"

#include "dialects/frame/FrameConstants.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/Base64.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::substrait;
namespace frame = headrace::frame;

static const StringRef kTypeKeys[] = {"bool", "i8",   "i16",    "i32",     "i64",
                                      "fp32", "fp64", "string", "decimal", "date"};

static Type importDecimal(MLIRContext *context, Node type) {
  FailureOr<int64_t> precision = type.get("precision").integerOr(0);
  FailureOr<int64_t> scale = type.get("scale").integerOr(0);
  if (failed(precision) || failed(scale)) {
    return {};
  }
  if (*precision < 1 || *precision > 38 || *scale < 0 || *scale > *precision) {
    (void)type.fail("decimals need 1 <= precision <= 38 and 0 <= scale <= precision, got (" +
                    Twine(*precision) + ", " + Twine(*scale) + ")");
    return {};
  }
  return frame::DecimalType::get(context, *precision, *scale);
}

Type headrace::import::substrait::importType(MLIRContext *context, Node type) {
  StringRef key;
  Node body = type.only(kTypeKeys, key);
  if (!body) {
    (void)type.refuse("unsupported type: " + type.keysText());
    return {};
  }
  if (body.get("typeVariationReference").integer().value_or(0) != 0) {
    (void)body.refuse("unsupported type variation (unsigned integers, large or view strings) of " +
                      key);
    return {};
  }
  Builder builder(context);
  Type value = llvm::StringSwitch<Type>(key)
                   .Case("bool", builder.getI1Type())
                   .Case("i8", builder.getIntegerType(8))
                   .Case("i16", builder.getIntegerType(16))
                   .Case("i32", builder.getI32Type())
                   .Case("i64", builder.getI64Type())
                   .Case("fp32", builder.getF32Type())
                   .Case("fp64", builder.getF64Type())
                   .Case("string", frame::StringType::get(context))
                   .Case("date", frame::DateType::get(context))
                   .Default(Type());
  if (key == "decimal") {
    value = importDecimal(context, body);
  }
  if (!value) {
    return {};
  }
  bool required = body.get("nullability").string() == StringRef("NULLABILITY_REQUIRED");
  return required ? value : frame::addNullable(value);
}

/// 16 bytes little-endian in base64.
static FailureOr<llvm::APInt> decodeDecimal(Node value) {
  std::optional<StringRef> text = value.string();
  std::vector<char> bytes;
  if (!text || llvm::errorToBool(llvm::decodeBase64(*text, bytes)) || bytes.size() != 16) {
    return value.fail("expected base64 of 16 bytes");
  }
  uint64_t words[2] = {0, 0};
  for (size_t index = 0; index < bytes.size(); ++index) {
    words[index / 8] |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[index]))
                        << (8 * (index % 8));
  }
  return llvm::APInt(128, words);
}

static FailureOr<ConstantValue> importDecimalLiteral(MLIRContext *context, Node body) {
  Type type = importDecimal(context, body);
  Node value = body.get("value");
  if (!type || !value) {
    return body.fail("expected a decimal with a value");
  }
  FailureOr<llvm::APInt> scaled = decodeDecimal(value);
  if (failed(scaled)) {
    return failure();
  }
  frame::Literal literal = scaled->sext(frame::kLiteralBits);
  Attribute attr = frame::literalAttr(literal, type);
  if (!attr) {
    return body.fail("decimal literal has more digits than its precision");
  }
  return ConstantValue{attr, type};
}

FailureOr<ConstantValue> headrace::import::substrait::importLiteral(MLIRContext *context,
                                                                    Node literal) {
  if (Node null = literal.get("null")) {
    Type type = importType(context, null);
    if (!type) {
      return failure();
    }
    return ConstantValue{UnitAttr::get(context), frame::addNullable(type)};
  }
  static const StringRef kKeys[] = {"boolean", "i8",     "i16",     "i32",     "i64", "fp32",
                                    "fp64",    "string", "varChar", "decimal", "date"};
  StringRef key;
  Node body = literal.only(kKeys, key);
  if (!body) {
    return literal.refuse("unsupported literal: " + literal.keysText());
  }
  if (key == "decimal") {
    return importDecimalLiteral(context, body);
  }
  Builder builder(context);
  frame::Literal value;
  Type type;
  if (key == "boolean") {
    type = builder.getI1Type();
    if (std::optional<bool> boolean = body.boolean()) {
      value = *boolean;
    }
  } else if (key == "string" || key == "varChar") {
    type = frame::StringType::get(context);
    Node text = key == "string" ? body : body.get("value");
    if (std::optional<StringRef> string = text.string()) {
      value = string->str();
    }
  } else if (key == "fp32" || key == "fp64") {
    type = key == "fp32" ? Type(builder.getF32Type()) : Type(builder.getF64Type());
    if (std::optional<double> real = body.real()) {
      value = *real;
    }
  } else {
    unsigned bits = 64;
    (void)key.drop_front().getAsInteger(10, bits);
    type = key == "date" ? Type(frame::DateType::get(context)) : Type(builder.getIntegerType(bits));
    if (std::optional<int64_t> integer = body.integer()) {
      value = llvm::APInt(frame::kLiteralBits, *integer, /*isSigned=*/true);
    }
  }
  Attribute attr = frame::literalAttr(value, type);
  if (!attr) {
    return body.fail("value does not fit a literal of type " + key);
  }
  return ConstantValue{attr, type};
}
