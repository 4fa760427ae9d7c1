// Unsigned integers of 128 bits: casts, and functions that other numbers have as ops.
#include "dialects/frame/FrameConstants.h"
#include "passes/import/duckdb/expressions.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

using Arithmetic = ExpressionBuilder::Arithmetic;
using Misfit = ExpressionBuilder::Misfit;

static const headrace::TextFunction &lineOf(StringRef name) {
  return *headrace::textFunctionNamed(name);
}

/// The bits of one number that the other lacks.
static MaybeExpression without(ExpressionBuilder &b, const Expression &x, const Expression &other,
                               Location at) {
  MaybeExpression both = b.text(lineOf("ui128_and"), {x, other}, x.type(), at);
  return failed(both) ? both : b.arithmetic(Arithmetic::kSubtract, x, *both, x.type(), at);
}

/// Where both have bits, they are added as often as `x` and `y` have them: not at all for XOR.
static MaybeExpression joined(ExpressionBuilder &b, const Expression &x, const Expression &y,
                              bool isExclusive, Location at) {
  MaybeExpression first = without(b, x, y, at);
  MaybeExpression second = isExclusive ? without(b, y, x, at) : MaybeExpression(y);
  return failed(first) || failed(second)
             ? MaybeExpression(failure())
             : b.arithmetic(Arithmetic::kAdd, *first, *second, x.type(), at);
}

std::optional<MaybeExpression>
ExpressionImporter::importUnsigned128(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  if (!llvm::any_of(arguments, [](const Expression &argument) {
        return frame::isUnsigned128(argument.type());
      })) {
    return std::nullopt;
  }
  Type type = frame::dropNullable(arguments[0].type());
  if (arguments.size() == 1) {
    const Expression &x = arguments[0];
    if (llvm::is_contained({"abs", "@", "trunc"}, call.name)) {
      return MaybeExpression(x);
    }
    if (call.name == "~") {
      llvm::APInt all = llvm::APInt::getLowBitsSet(frame::kLiteralBits, 128);
      return b.arithmetic(Arithmetic::kSubtract,
                          b.constant(frame::literalAttr(all, type), type, call.at), x, type,
                          call.at);
    }
    if (call.name == "sign") {
      MaybeExpression isPositive =
          b.compare(frame::CompareKind::Gt, x, b.integer(0, type, call.at), call.at);
      return failed(isPositive) ? isPositive : b.cast(*isPositive, call.type, call.at);
    }
  }
  if (arguments.size() == 2 && frame::isUnsigned128(arguments[1].type())) {
    const Expression &x = arguments[0], &y = arguments[1];
    if (call.name == "|" || call.name == "xor") {
      return joined(b, x, y, call.name == "xor", call.at);
    }
    const char *name = llvm::StringSwitch<const char *>(call.name)
                           .Case("&", "ui128_and")
                           .Case("<<", "ui128_left_shift")
                           .Case(">>", "ui128_right_shift")
                           .Default(nullptr);
    if (name) {
      return b.text(lineOf(name), {x, y}, type, call.at);
    }
  }
  return std::nullopt;
}

/// A double or a float. From 2^127 on, where no number of 128 bits with a sign is, half of it has
/// one, which is even.
static MaybeExpression ofReal(ExpressionBuilder &b, const Expression &operand, Type type,
                              Misfit misfit, Location at) {
  Type f64 = Float64Type::get(b.getContext()), string = frame::StringType::get(b.getContext());
  auto real = [&](double value) { return b.constant(FloatAttr::get(f64, value), f64, at); };
  auto converted = [&](const MaybeExpression &value) {
    MaybeExpression whole =
        failed(value) ? value : b.cast(*value, IntegerType::get(b.getContext(), 128), at, misfit);
    MaybeExpression text = failed(whole) ? whole : b.cast(*whole, string, at);
    return failed(text) ? text : b.cast(*text, type, at, misfit);
  };
  MaybeExpression value = b.cast(operand, f64, at);
  MaybeExpression isLarge =
      failed(value) ? value : b.compare(frame::CompareKind::Ge, *value, real(0x1p127), at);
  if (failed(isLarge)) {
    return failure();
  }
  MaybeExpression isNone = b.compare(frame::CompareKind::Ge, *value, real(0x1p128), at);
  MaybeExpression half = converted(b.arithmetic(Arithmetic::kDivide, *value, real(2), f64, at));
  MaybeExpression small = converted(value);
  if (failed(isNone) || failed(half) || failed(small)) {
    return failure();
  }
  MaybeExpression twice =
      b.arithmetic(Arithmetic::kMultiply, *half, b.integer(2, type, at), type, at);
  return failed(twice) ? twice : b.choose({*isNone, *isLarge}, {*small, *twice}, &*small, at);
}

MaybeExpression ExpressionImporter::castUnsigned128(ExpressionBuilder &b, const Expression &operand,
                                                    Type type, Misfit misfit, Location at) {
  Type from = frame::dropNullable(operand.type()), to = frame::dropNullable(type);
  Type string = frame::StringType::get(b.getContext());
  if (frame::isUnsigned128(from)) {
    if (frame::isBoolean(to)) {
      return b.compare(frame::CompareKind::Ne, operand, b.integer(0, from, at), at);
    }
    if (!frame::isNumeric(to)) {
      return context.fail(at, "unsupported cast of a UHUGEINT to a type that is no number");
    }
    MaybeExpression text = b.cast(operand, string, at);
    return failed(text) ? text : b.cast(*text, to, at, misfit);
  }
  if (isa<FloatType>(from)) {
    return ofReal(b, operand, to, misfit, at);
  }
  if (!frame::isNumeric(from) && !frame::isBoolean(from)) {
    return context.fail(at, "unsupported cast to a UHUGEINT of a type that is no number");
  }
  // Rounded first: what lies between 0 and -0.5 is 0.
  MaybeExpression whole = b.cast(operand, IntegerType::get(b.getContext(), 128), at, misfit);
  MaybeExpression text = failed(whole) ? whole : b.cast(*whole, string, at);
  return failed(text) ? text : b.cast(*text, to, at, misfit);
}
