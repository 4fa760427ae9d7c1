// format and printf in DuckDB's plans: the pieces of their format, one behind the other.
#include "passes/import/duckdb/expressions.h"
#include "runtime/base/value_form.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

/// The value where all of these are known, else NULL.
static MaybeExpression ofKnown(ExpressionBuilder &b, ArrayRef<Expression> arguments,
                               const MaybeExpression &value, Location at) {
  SmallVector<Expression> known;
  for (const Expression &argument : arguments) {
    if (frame::isNullable(argument.type())) {
      known.push_back(*b.isNotNull(argument, at));
    }
  }
  if (failed(value) || known.empty()) {
    return value;
  }
  MaybeExpression all = b.connect(ExpressionBuilder::Connective::kAnd, known, at);
  return failed(all) ? all : b.choose(*all, *value, nullptr, at);
}

/// Whether values of a type can have a form.
static bool suits(StringRef form, Type type) {
  if (frame::isString(type)) {
    return writtenIn(form, std::string_view("")).has_value();
  }
  return isa<FloatType>(type) ? writtenIn(form, 0.0).has_value()
                              : writtenIn(form, int64_t{0}).has_value();
}

LogicalResult ExpressionImporter::unsupportedForm(const Call &call, StringRef form,
                                                  const Expression &value) {
  return unsupported(call, "the form \"" + form + "\" of such a value: " + value.text);
}

/// A value as a text in this form.
MaybeExpression ExpressionImporter::importFormatted(ExpressionBuilder &b, const Call &call,
                                                    StringRef form, const Expression &given) {
  Type string = frame::StringType::get(b.getContext()), type = frame::dropNullable(given.type());
  Type i64 = IntegerType::get(b.getContext(), 64), f64 = Float64Type::get(b.getContext());
  // `true` or `false` unless the form says of a number.
  const bool isWord =
      frame::isBoolean(type) && (form.empty() || !StringRef("dxXbBoiuc").contains(form.back()));
  const bool isBraces = !form.starts_with("%");
  const bool isSigned = !frame::isBoolean(type) && !frame::isUnsigned(type);
  if ((isBraces && !isSigned && form.find_first_of("+- ") != StringRef::npos) ||
      (isWord && (form.contains('.') || (isBraces && form.ends_with("s"))))) {
    return unsupportedForm(call, form, given);
  }
  Type wanted = i64;
  if (frame::isString(type) || isWord) {
    wanted = string;
  } else if (isa<FloatType>(type)) {
    wanted = f64;
  } else if (!frame::isInteger(type) && !frame::isBoolean(type)) {
    wanted = Type(); // of more than 64 bits
  } else if (frame::isInteger(type) && frame::signedBits(type) > 64) {
    wanted = Type();
  }
  if (!wanted && (form.empty() || form == "d" || form == "%d")) {
    return b.cast(given, string, call.at);
  }
  if (!wanted || !suits(form, wanted)) {
    return unsupportedForm(call, form, given);
  }
  MaybeExpression value = b.cast(given, wanted, call.at);
  if (failed(value)) {
    return failure();
  }
  SmallVector<Expression> operands{*value};
  if (wanted == f64) {
    MaybeExpression list = b.list(f64, *value, call.at);
    MaybeExpression negative = b.math(*mathFunctionNamed("signbit"), *value, i64, call.at);
    if (failed(list) || failed(negative)) {
      return failure();
    }
    operands = {*list, *negative};
  }
  operands.push_back(b.constant(StringAttr::get(b.getContext(), form), string, call.at));
  const char *function = wanted == string ? "format_text"
                         : wanted == f64  ? "format_real"
                                          : "format_integer";
  return b.text(*textFunctionNamed(function), operands, string, call.at);
}

/// NULL if any argument is.
std::optional<MaybeExpression>
ExpressionImporter::importFormat(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  if ((call.name != "format" && call.name != "printf") || arguments.empty()) {
    return std::nullopt;
  }
  if (llvm::any_of(arguments, ExpressionBuilder::isNullConstant)) {
    return MaybeExpression(b.null(call.type, call.at));
  }
  std::optional<StringRef> format = ExpressionBuilder::stringOf(arguments[0]);
  if (!format) {
    return MaybeExpression(unsupported(call, "the format must be a constant"));
  }
  std::optional<std::vector<FormatPiece>> pieces =
      piecesOf(*format, call.name == "format" ? FormatStyle::kBraces : FormatStyle::kPercent);
  if (!pieces) {
    return MaybeExpression(unsupported(call, "the format " + *format));
  }
  Type string = frame::StringType::get(b.getContext());
  SmallVector<Expression> texts{b.constant(StringAttr::get(b.getContext(), ""), string, call.at)};
  for (const FormatPiece &piece : *pieces) {
    if (!piece.argument) {
      texts.push_back(b.constant(StringAttr::get(b.getContext(), piece.text), string, call.at));
      continue;
    }
    if (*piece.argument + 1 >= arguments.size()) {
      return MaybeExpression(
          unsupported(call, "the format has more parts than there are values: " + *format));
    }
    const Expression &given = arguments[*piece.argument + 1];
    MaybeExpression text = importFormatted(b, call, piece.text, given);
    if (failed(text)) {
      return MaybeExpression(failure());
    }
    texts.push_back(*text);
  }
  MaybeExpression text = b.text(*textFunctionNamed("concat"), texts, string, call.at);
  return ofKnown(b, arguments, text, call.at);
}

/// A bar of 80 characters, or of so many.
std::optional<MaybeExpression> ExpressionImporter::importBar(ExpressionBuilder &b, const Call &call,
                                                             Arguments arguments) {
  if (call.name != "bar" || arguments.size() < 3) {
    return std::nullopt;
  }
  constexpr double kUsual = 80;
  Type f64 = Float64Type::get(b.getContext());
  SmallVector<Expression> ends(arguments);
  if (ends.size() == 3) {
    ends.push_back(b.constant(FloatAttr::get(f64, kUsual), f64, call.at));
  }
  MaybeExpression list = b.list(f64, ends, call.at);
  return ofKnown(b, arguments,
                 failed(list) ? list : b.text(*textFunctionNamed("bar"), *list, call.type, call.at),
                 call.at);
}
