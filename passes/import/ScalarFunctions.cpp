// Expressions of any front end: functions of numbers and strings.
#include "dialects/frame/FrameConstants.h"
#include "passes/import/ExpressionBuilder.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static StringRef symbolOf(ExpressionBuilder::Arithmetic op) {
  switch (op) {
  case ExpressionBuilder::Arithmetic::kAdd:
    return "+";
  case ExpressionBuilder::Arithmetic::kSubtract:
    return "-";
  case ExpressionBuilder::Arithmetic::kMultiply:
    return "*";
  case ExpressionBuilder::Arithmetic::kDivide:
    return "/";
  case ExpressionBuilder::Arithmetic::kModulus:
    return "%";
  }
  llvm_unreachable("no such operator");
}

MaybeExpression ExpressionBuilder::arithmetic(Arithmetic op, const Expression &lhs,
                                              const Expression &rhs, Type type, Location at) {
  if (!frame::isNumeric(lhs.type()) || !frame::isNumeric(rhs.type())) {
    return fail(at, "unsupported operands of " + symbolOf(op) + " (only numbers)");
  }
  Type result = frame::withNullability(frame::dropNullable(type),
                                       frame::nullabilityOf({lhs.type(), rhs.type()}));
  std::string text = "(" + lhs.text + " " + symbolOf(op).str() + " " + rhs.text + ")";
  Location location = locate(text, at);
  switch (op) {
  case Arithmetic::kAdd:
    return made(frame::AddOp::create(builder, location, result, lhs.value, rhs.value), text);
  case Arithmetic::kSubtract:
    return made(frame::SubtractOp::create(builder, location, result, lhs.value, rhs.value), text);
  case Arithmetic::kMultiply:
    return made(frame::MultiplyOp::create(builder, location, result, lhs.value, rhs.value), text);
  case Arithmetic::kDivide:
    return made(frame::DivideOp::create(builder, location, result, lhs.value, rhs.value), text);
  case Arithmetic::kModulus:
    return made(frame::ModulusOp::create(builder, location, result, lhs.value, rhs.value), text);
  }
  llvm_unreachable("no such operator");
}

MaybeExpression ExpressionBuilder::negate(const Expression &operand, Location at) {
  if (!frame::isNumeric(operand.type())) {
    return fail(at, "wrong type of the operand of negate");
  }
  std::string text = "-" + operand.text;
  return made(frame::NegateOp::create(builder, locate(text, at), operand.type(), operand.value),
              text);
}

MaybeExpression ExpressionBuilder::math(const headrace::MathFunction &function,
                                        ArrayRef<Expression> arguments, Type type, Location at) {
  bool real = function.values == MathFunction::Values::kDoubles;
  Type value = real ? Type(Float64Type::get(getContext())) : IntegerType::get(getContext(), 64);
  std::string text = StringRef(function.name).upper() + "(";
  SmallVector<Value> operands;
  for (const Expression &argument : arguments) {
    if (!frame::isNumeric(argument.type())) {
      return fail(at, "the operand of " + StringRef(function.name) + " must be a number");
    }
    if (!real && !frame::isInteger(argument.type())) {
      return fail(at, "the operand of " + StringRef(function.name) +
                          " must be an integer of at most 64 bits");
    }
    MaybeExpression converted = cast(argument, value, at);
    if (failed(converted)) {
      return failure();
    }
    text += (operands.empty() ? "" : ", ") + argument.text;
    operands.push_back(converted->value);
  }
  text += ")";
  Type result =
      frame::withNullability(value, frame::nullabilityOf(ValueRange(operands).getTypes()));
  Expression call =
      made(frame::MathOp::create(builder, locate(text, at), result, function.name, operands), text);
  if (frame::isBoolean(type)) {
    return compare(frame::CompareKind::Ne, call, constant(FloatAttr::get(value, 0.0), value, at),
                   at);
  }
  return frame::dropNullable(type) == value ? MaybeExpression(call) : cast(call, type, at);
}

Expression ExpressionBuilder::exactProduct(const Expression &lhs, const Expression &rhs,
                                           Location at) {
  std::string text = lhs.text + " * " + rhs.text;
  Type type = frame::withNullability(frame::DoubleDoubleType::get(getContext()),
                                     frame::nullabilityOf({lhs.type(), rhs.type()}));
  return made(frame::ExactProductOp::create(builder, locate(text, at), type, lhs.value, rhs.value),
              text);
}

Expression ExpressionBuilder::comoment(const Expression &sum, const Expression &other,
                                       const Expression &products, const Expression &count,
                                       Location at) {
  std::string text = "deviations";
  Type type = frame::withNullability(
      Float64Type::get(getContext()),
      frame::nullabilityOf({sum.type(), other.type(), products.type(), count.type()}));
  return made(frame::ComomentOp::create(builder, locate(text, at), type, sum.value, other.value,
                                        products.value, count.value),
              text);
}

MaybeExpression ExpressionBuilder::number(frame::NumberFunction function, const Expression &operand,
                                          std::optional<int64_t> digits, Type type, Location at) {
  StringRef name = frame::stringifyNumberFunction(function);
  if (!frame::isNumeric(operand.type())) {
    return fail(at, "the operand of " + name + " must be a number");
  }
  std::string text = name.upper() + "(" + operand.text +
                     (digits ? ", " + std::to_string(*digits) : std::string()) + ")";
  Type from = frame::dropNullable(operand.type()), to = frame::dropNullable(type);
  Expression argument = operand;
  if (from != to && !(frame::isDecimal(from) && frame::isDecimal(to))) {
    // e.g. the ceiling of an integer as a double
    MaybeExpression converted = cast(operand, to, at);
    if (failed(converted)) {
      return failure();
    }
    argument = std::move(*converted);
  }
  Type result = frame::withNullability(to, frame::nullabilityOf(operand.type()));
  IntegerAttr places = digits ? builder.getI64IntegerAttr(*digits) : IntegerAttr();
  return made(
      frame::NumberOp::create(builder, locate(text, at), result, function, argument.value, places),
      text);
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

MaybeExpression ExpressionBuilder::like(const Expression &operand, StringRef pattern,
                                        std::optional<StringRef> escape, Location at) {
  if (!frame::isString(operand.type())) {
    return fail(at, "the operand of like must be a string");
  }
  std::string text = operand.text + " LIKE '" + pattern.str() + "'";
  return made(frame::LikeOp::create(builder, locate(text, at), booleanFor(operand.type()),
                                    operand.value, builder.getStringAttr(pattern),
                                    escape ? builder.getStringAttr(*escape) : StringAttr()),
              text);
}

MaybeExpression ExpressionBuilder::likeAnyCase(const Expression &operand, StringRef pattern,
                                               std::optional<StringRef> escape, Location at) {
  if (!llvm::all_of(pattern, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    return fail(at, "unsupported ILIKE with letters beyond ASCII; use lower() on both sides");
  }
  MaybeExpression lower =
      text(frame::TextFunction::Lower, operand, Nulls::kSpread, operand.type(), at);
  return failed(lower) ? lower : like(*lower, pattern.lower(), escape, at);
}

MaybeExpression ExpressionBuilder::contains(Part part, const Expression &operand,
                                            const Expression &text, Location at) {
  if (std::optional<StringRef> known = stringOf(text)) {
    // A pattern of which nothing has a meaning of its own.
    std::string plain;
    for (char c : *known) {
      plain += c == '%' || c == '_' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
    std::optional<StringRef> escape;
    if (plain.size() != known->size()) {
      escape = "\\";
    }
    std::string pattern = (part == Part::kStart ? "" : "%") + plain;
    return like(operand, pattern + (part == Part::kEnd ? "" : "%"), escape, at);
  }
  Type i64 = builder.getI64Type();
  Type string = frame::StringType::get(getContext());
  if (part == Part::kAnywhere) {
    // Without it the string is another; every string has '', NULL is none.
    Expression nothing = constant(builder.getStringAttr(""), string, at);
    MaybeExpression rest = this->text(frame::TextFunction::Replace, {operand, text, nothing},
                                      Nulls::kSpread, string, at);
    if (failed(rest)) {
      return failure();
    }
    MaybeExpression differs = compare(frame::CompareKind::Ne, *rest, operand, at);
    MaybeExpression isEmpty = compare(frame::CompareKind::Eq, text, nothing, at);
    MaybeExpression isString = compare(frame::CompareKind::Ge, operand, nothing, at);
    MaybeExpression hasEmpty = connect(Connective::kAnd, {*isEmpty, *isString}, at);
    return connect(Connective::kOr, {*differs, *hasEmpty}, at);
  }
  MaybeExpression length = lengthOf(text, at);
  MaybeExpression start = integer(1, i64, at);
  if (succeeded(length) && part == Part::kEnd) {
    // A start before the first character leaves a string that is shorter than `text`.
    MaybeExpression all = lengthOf(operand, at);
    start = failed(all) ? all : arithmetic(Arithmetic::kSubtract, *all, *length, i64, at);
    start =
        failed(start) ? start : arithmetic(Arithmetic::kAdd, *start, integer(1, i64, at), i64, at);
  }
  if (failed(length) || failed(start)) {
    return failure();
  }
  MaybeExpression found = substring(operand, *start, *length, at);
  return failed(found) ? found : compare(frame::CompareKind::Eq, *found, text, at);
}

MaybeExpression ExpressionBuilder::substring(const Expression &operand, const Expression &start,
                                             const std::optional<Expression> &length, Location at) {
  if (!frame::isString(operand.type())) {
    return fail(at, "the operand of substring must be a string");
  }
  std::string text = "SUBSTRING(" + operand.text + ")";
  SmallVector<Value> operands{operand.value};
  for (const Expression *position : {&start, length ? &*length : nullptr}) {
    if (position && !frame::isInteger(position->type())) {
      return fail(at, "start and length of substring must be integers");
    }
    if (position) {
      operands.push_back(cast(*position, builder.getI64Type(), at)->value);
    }
  }
  Type type = frame::withNullability(frame::StringType::get(getContext()),
                                     frame::nullabilityOf(ValueRange(operands).getTypes()));
  return made(frame::SubstringOp::create(builder, locate(text, at), type, operands[0], operands[1],
                                         length ? operands[2] : Value()),
              text);
}

MaybeExpression ExpressionBuilder::lengthOf(const Expression &operand, Location at) {
  return text(frame::TextFunction::Length, operand, Nulls::kSpread, builder.getI64Type(), at);
}

/// How many strings a function takes; nothing for any number.
static std::optional<size_t> arityOf(frame::TextFunction function) {
  switch (function) {
  case frame::TextFunction::Upper:
  case frame::TextFunction::Lower:
  case frame::TextFunction::Length:
    return 1;
  case frame::TextFunction::Trim:
  case frame::TextFunction::TrimStart:
  case frame::TextFunction::TrimEnd:
    return 2;
  case frame::TextFunction::Replace:
    return 3;
  case frame::TextFunction::Concat:
    return std::nullopt;
  }
  llvm_unreachable("no such function");
}

MaybeExpression ExpressionBuilder::text(frame::TextFunction function, ArrayRef<Expression> operands,
                                        Nulls nulls, Type type, Location at) {
  StringRef name = frame::stringifyTextFunction(function);
  Type string = frame::StringType::get(getContext());
  std::string rendered = name.upper() + "(";
  SmallVector<Value> values;
  for (const Expression &operand : operands) {
    if (!frame::isString(operand.type())) {
      return fail(at, "an operand of " + name + " must be a string; cast it to VARCHAR");
    }
    rendered += (values.empty() ? "" : ", ") + operand.text;
    bool skips = nulls == Nulls::kSkip && frame::isNullable(operand.type());
    Expression empty = constant(builder.getStringAttr(""), string, at);
    values.push_back(skips ? coalesce({operand, empty}, at)->value : operand.value);
  }
  if (arityOf(function) == 2 && values.size() == 1) {
    values.push_back(constant(builder.getStringAttr(" "), string, at).value);
  }
  rendered += ")";
  if (values.empty() || values.size() != arityOf(function).value_or(values.size())) {
    return fail(at, "wrong number of arguments of " + name + ": " + Twine(values.size()));
  }
  Type result = frame::withNullability(frame::dropNullable(type),
                                       frame::nullabilityOf(ValueRange(values).getTypes()));
  return made(frame::TextOp::create(builder, locate(rendered, at), result, function, values),
              rendered);
}

//===----------------------------------------------------------------------===//
// Dates
//===----------------------------------------------------------------------===//

MaybeExpression ExpressionBuilder::shiftDate(const Expression &operand, int64_t months,
                                             int64_t days, int64_t microseconds, Location at) {
  bool timestamp = frame::isTimestamp(operand.type());
  if (!timestamp && (!frame::isDate(operand.type()) || microseconds != 0)) {
    return fail(at, "an interval can be added to a date only; cast the operand to DATE");
  }
  std::string text = "(" + operand.text + " + INTERVAL)";
  return made(frame::ShiftDateOp::create(builder, locate(text, at), operand.type(), operand.value,
                                         builder.getI64IntegerAttr(months),
                                         builder.getI64IntegerAttr(days),
                                         builder.getI64IntegerAttr(microseconds)),
              text);
}

Expression ExpressionBuilder::makeDate(const Expression &year, const Expression &month,
                                       const Expression &day, Location at) {
  std::string text = "MAKE_DATE(" + year.text + ", " + month.text + ", " + day.text + ")";
  Type type = frame::withNullability(frame::DateType::get(getContext()),
                                     frame::nullabilityOf({year.type(), month.type(), day.type()}));
  return made(frame::MakeDateOp::create(builder, locate(text, at), type, year.value, month.value,
                                        day.value),
              text);
}

Expression ExpressionBuilder::dateField(frame::DateField field, const Expression &date,
                                        Location at) {
  std::string text =
      "EXTRACT(" + frame::stringifyDateField(field).str() + " FROM " + date.text + ")";
  Type type = frame::withNullability(builder.getI32Type(), frame::nullabilityOf(date.type()));
  Expression narrow =
      made(frame::ExtractOp::create(builder, locate(text, at), type, field, date.value), text);
  return *cast(narrow, builder.getI64Type(), at);
}
