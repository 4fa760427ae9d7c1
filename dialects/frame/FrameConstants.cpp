// Literals of `frame` scalars: parsing, printing, and which attribute keeps them.
#include "dialects/frame/FrameConstants.h"

#include "dialects/frame/LogicalTypes.h"
#include "mlir/IR/Builders.h"
#include "runtime/base/list_values.h"
#include "runtime/base/moment_text.h"
#include "runtime/base/unsigned128.h"
#include "runtime/base/uuid.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::frame;

//===----------------------------------------------------------------------===//
// Dates and times
//===----------------------------------------------------------------------===//

std::optional<int64_t> headrace::frame::parseTemporal(StringRef text, Type type) {
  type = dropNullable(type);
  if (auto time = dyn_cast<TimeType>(type)) {
    return parseTime(text, time.getUnit());
  }
  auto timestamp = dyn_cast<TimestampType>(type);
  return timestamp ? parseTimestamp(text, timestamp.getUnit(), timestamp.getZoned())
                   : parseDate(text);
}

std::string headrace::frame::formatTemporal(int64_t value, Type type) {
  type = dropNullable(type);
  char text[kMomentTextBytes];
  char *end = text;
  if (auto time = dyn_cast<TimeType>(type)) {
    end = printTime(value, time.getUnit(), text);
  } else if (auto timestamp = dyn_cast<TimestampType>(type)) {
    end = printTimestamp(value, timestamp.getUnit(), timestamp.getZoned(), text);
  } else {
    end = printDate(value, text);
  }
  return std::string(text, end);
}

std::optional<int64_t> headrace::frame::infinityOf(Type type) {
  return isDate(type)        ? std::optional(kInfiniteDate)
         : isTimestamp(type) ? std::optional(kInfiniteTimestamp)
                             : std::nullopt;
}

bool headrace::frame::isInfinite(__int128 value, Type type) {
  std::optional<int64_t> infinity = infinityOf(type);
  return infinity && (value == *infinity || value == -*infinity);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

ParseResult headrace::frame::parseLiteral(OpAsmParser &parser, Literal &literal) {
  if (succeeded(parser.parseOptionalKeyword("null"))) {
    literal = std::monostate();
    return success();
  }
  if (succeeded(parser.parseOptionalKeyword("true"))) {
    literal = true;
    return success();
  }
  if (succeeded(parser.parseOptionalKeyword("false"))) {
    literal = false;
    return success();
  }
  std::string text;
  if (succeeded(parser.parseOptionalString(&text))) {
    literal = std::move(text);
    return success();
  }
  bool negative = succeeded(parser.parseOptionalMinus());
  llvm::APInt integer;
  SMLoc location = parser.getCurrentLocation();
  OptionalParseResult parsed = parser.parseOptionalInteger(integer);
  if (parsed.has_value()) {
    if (failed(*parsed)) {
      return failure();
    }
    // The parser gives as many bits as the digits need; the sign bit stays clear.
    if (integer.getBitWidth() > kLiteralBits && integer.getActiveBits() >= kLiteralBits) {
      return parser.emitError(location, "integer literal is too large");
    }
    integer = integer.zextOrTrunc(kLiteralBits);
    literal = negative ? -integer : integer;
    return success();
  }
  double real = 0;
  if (parser.parseFloat(real)) {
    return failure();
  }
  literal = negative ? -real : real;
  return success();
}

void headrace::frame::printLiteral(OpAsmPrinter &printer, Attribute value, Type type) {
  if (isa<UnitAttr>(value)) {
    printer << "null";
  } else if (auto text = dyn_cast<StringAttr>(value); text && isUnsigned128(type)) {
    printer << unsigned128Text(unsigned128(text.getValue()));
  } else if (text) {
    printer.printString(text.getValue());
  } else if (auto real = dyn_cast<FloatAttr>(value)) {
    if (real.getValue().isFinite()) {
      printer.printFloat(real.getValue());
    } else {
      printer.printString(real.getValue().isNaN()        ? "nan"
                          : real.getValue().isNegative() ? "-inf"
                                                         : "inf");
    }
  } else if (auto integer = dyn_cast<IntegerAttr>(value)) {
    if (isBoolean(type)) {
      printer << (integer.getValue().isZero() ? "false" : "true");
      return;
    }
    if (isTemporal(type)) {
      std::string text = formatTemporal(integer.getInt(), type);
      if (parseTemporal(text, type) == integer.getInt()) { // some have no text
        printer.printString(text);
        return;
      }
    }
    SmallString<40> digits;
    integer.getValue().toStringSigned(digits);
    printer << digits;
  } else {
    printer << value; // not a literal: the verifier says so
  }
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static Attribute unsigned128Attr(MLIRContext *context, const APInt &value) {
  if (value.isNegative() || value.getActiveBits() > 128) {
    return {};
  }
  const U128 number =
      U128{value.extractBitsAsZExtValue(64, 64)} << 64 | value.extractBitsAsZExtValue(64, 0);
  return StringAttr::get(context, packedUnsigned128(number));
}

/// Of a decimal or an unsigned integer: whoever reads it extends the sign.
static IntegerAttr wideAttr(MLIRContext *context, const APInt &value) {
  return IntegerAttr::get(IntegerType::get(context, 128), value.sextOrTrunc(128));
}

/// Whether |value| < 10^digits.
static bool hasAtMostDigits(const APInt &value, unsigned digits) {
  SmallString<64> text;
  value.abs().toStringUnsigned(text);
  return value.isZero() || text.size() <= digits;
}

static Attribute integerLiteral(const APInt &integer, Type value) {
  MLIRContext *context = value.getContext();
  if (auto decimal = dyn_cast<DecimalType>(value)) {
    return hasAtMostDigits(integer, decimal.getPrecision()) ? wideAttr(context, integer)
                                                            : Attribute();
  }
  if (isUnsigned128(value)) {
    return unsigned128Attr(context, integer);
  }
  if (isUnsigned(value)) {
    return !integer.isNegative() && integer.isSignedIntN(signedBits(value))
               ? wideAttr(context, integer)
               : Attribute();
  }
  unsigned bits = integerBits(value);
  return bits != 0 && integer.isSignedIntN(bits)
             ? IntegerAttr::get(IntegerType::get(context, bits), integer.trunc(bits))
             : Attribute();
}

static Attribute stringLiteral(StringRef text, Type value) {
  MLIRContext *context = value.getContext();
  if (isHeldAsText(value)) {
    return StringAttr::get(context, text);
  }
  if (isTemporal(value)) {
    std::optional<int64_t> moment = parseTemporal(text, value);
    return moment ? IntegerAttr::get(IntegerType::get(context, integerBits(value)), *moment)
                  : Attribute();
  }
  if (isFloat(value)) { // what no float literal can write
    const llvm::fltSemantics &semantics = cast<FloatType>(value).getFloatSemantics();
    if (text == "nan") {
      return FloatAttr::get(value, APFloat::getQNaN(semantics));
    }
    if (text == "inf" || text == "-inf") {
      return FloatAttr::get(value, APFloat::getInf(semantics, text.front() == '-'));
    }
  }
  return {};
}

Attribute headrace::frame::literalAttr(const Literal &literal, Type type) {
  MLIRContext *context = type.getContext();
  Type value = dropNullable(type);
  if (std::holds_alternative<std::monostate>(literal)) {
    return isNullable(type) ? UnitAttr::get(context) : Attribute();
  }
  if (const bool *boolean = std::get_if<bool>(&literal)) {
    return isBoolean(value) ? BoolAttr::get(context, *boolean) : Attribute();
  }
  if (const double *real = std::get_if<double>(&literal)) {
    return isFloat(value) ? FloatAttr::get(value, *real) : Attribute();
  }
  if (const std::string *text = std::get_if<std::string>(&literal)) {
    return stringLiteral(*text, value);
  }
  return integerLiteral(std::get<APInt>(literal), value);
}

bool headrace::frame::isLiteralOf(Attribute value, Type type) {
  Type scalar = dropNullable(type);
  if (isa<UnitAttr>(value)) {
    return isNullable(type);
  }
  if (auto text = dyn_cast<StringAttr>(value)) {
    return isUnsigned128(scalar) ? text.size() == kUnsigned128Bytes
           : isUuid(scalar)      ? text.size() == kUuidBytes
           : isNested(scalar)    ? text.empty() || // under NULL
                                       isNestedValue(text.getValue(), logicalType(scalar))
                                 : isHeldAsText(scalar);
  }
  if (auto real = dyn_cast<FloatAttr>(value)) {
    return real.getType() == scalar;
  }
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer) {
    return false;
  }
  if (auto decimal = dyn_cast<DecimalType>(scalar)) {
    return integer.getType().isInteger(128) &&
           hasAtMostDigits(integer.getValue(), decimal.getPrecision());
  }
  if (isUnsigned(scalar)) {
    return integer.getType().isInteger(128) && !integer.getValue().isNegative() &&
           integer.getValue().isSignedIntN(signedBits(scalar));
  }
  return isTemporal(scalar) ? integer.getType().isInteger(integerBits(scalar))
                            : integer.getType() == scalar;
}
