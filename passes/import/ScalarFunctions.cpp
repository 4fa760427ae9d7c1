// Expressions of any front end: functions of numbers and strings.
#include "dialects/frame/FrameConstants.h"
#include "dialects/frame/LogicalTypes.h"
#include "passes/analysis/text_evaluation.h"
#include "passes/import/ExpressionBuilder.h"
#include "runtime/base/list_functions.h"

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

/// The function of unsigned integers of 128 bits that an operator is.
static const headrace::TextFunction &unsigned128Line(ExpressionBuilder::Arithmetic op) {
  static constexpr const char *kNames[] = {"ui128_add", "ui128_subtract", "ui128_multiply",
                                           "ui128_divide", "ui128_remainder"};
  return *headrace::textFunctionNamed(kNames[static_cast<size_t>(op)]);
}

MaybeExpression ExpressionBuilder::arithmetic(Arithmetic op, const Expression &lhs,
                                              const Expression &rhs, Type type, Location at) {
  if (frame::isUnsigned128(lhs.type()) && frame::isUnsigned128(rhs.type())) {
    return text(unsigned128Line(op), {lhs, rhs}, type, at);
  }
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
  if (frame::isUnsigned128(operand.type())) {
    Type type = frame::dropNullable(operand.type());
    return arithmetic(Arithmetic::kSubtract, integer(0, type, at), operand, type, at);
  }
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
  bool isWide = llvm::any_of(arguments, [](const Expression &argument) {
    return frame::isInteger(argument.type()) && frame::integerBits(argument.type()) > 64;
  });
  Type value = real ? Type(Float64Type::get(getContext()))
                    : IntegerType::get(getContext(), isWide ? 128 : 64);
  std::string text = StringRef(function.name).upper() + "(";
  SmallVector<Value> operands;
  for (const Expression &argument : arguments) {
    if (!frame::isNumeric(argument.type())) {
      return fail(at, "the operand of " + StringRef(function.name) + " must be a number");
    }
    if (!real && !frame::isInteger(argument.type())) {
      return fail(at, "the operand of " + StringRef(function.name) + " must be an integer");
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

Expression ExpressionBuilder::nearest(const Expression &sum, Location at) {
  Type type =
      frame::withNullability(Float64Type::get(getContext()), frame::nullabilityOf({sum.type()}));
  return made(frame::NearestOp::create(builder, locate(sum.text, at), type, sum.value), sum.text);
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

/// One that the table has.
static const headrace::TextFunction &lineOf(StringRef name) {
  return *headrace::textFunctionNamed(name);
}

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
  MaybeExpression lower = text(lineOf("lower"), operand, operand.type(), at);
  return failed(lower) ? lower : like(*lower, analysis::inSmallLetters(pattern), escape, at);
}

MaybeExpression ExpressionBuilder::contains(Part part, const Expression &operand, StringRef text,
                                            Location at) {
  // A pattern of which nothing has a meaning of its own.
  std::string plain;
  for (char c : text) {
    plain += c == '%' || c == '_' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  std::optional<StringRef> escape;
  if (plain.size() != text.size()) {
    escape = "\\";
  }
  std::string pattern = (part == Part::kStart ? "" : "%") + plain;
  return like(operand, pattern + (part == Part::kEnd ? "" : "%"), escape, at);
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
  return text(lineOf("length"), operand, builder.getI64Type(), at);
}

MaybeExpression ExpressionBuilder::text(const headrace::TextFunction &function,
                                        ArrayRef<Expression> arguments, Type type, Location at) {
  StringRef name = function.name;
  if (!function.takes(arguments.size())) {
    return fail(at, "wrong number of arguments of " + name + ": " + Twine(arguments.size()));
  }
  Type string = frame::StringType::get(getContext()), i64 = builder.getI64Type();
  std::string rendered = name.upper() + "(";
  SmallVector<Value> operands;
  const bool ofBinary = frame::isBinary(arguments[0].type());
  auto holdsBytes = [&](Type type) { // all of them text, or none
    return ofBinary ? frame::isBinary(type) : frame::isString(type);
  };
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    rendered += (index == 0 ? "" : ", ") + argument.text;
    bool isInteger = function.wantsInteger(index), isList = function.wantsList(index);
    bool fits = isInteger                          ? frame::isInteger(argument.type())
                : isList                           ? frame::isList(argument.type())
                : function.wantsNested(index)      ? frame::isNested(argument.type())
                : function.wantsBinary(index)      ? frame::isBinary(argument.type())
                : function.wantsInterval(index)    ? frame::isInterval(argument.type())
                : function.wantsUnsigned128(index) ? frame::isUnsigned128(argument.type())
                : function.wantsUuid(index)        ? frame::isUuid(argument.type())
                : function.wantsEnum(index)        ? frame::isEnum(argument.type())
                : function.wantsBytes(index)       ? holdsBytes(argument.type())
                                                   : frame::isString(argument.type());
    if (!fits) {
      return fail(at, isInteger ? "an operand of " + name + " must be an integer of at most 64 bits"
                      : isList ? "an operand of " + name + " must be a list"
                               : "an operand of " + name + " must be a string; cast it to VARCHAR");
    }
    bool skips = function.nulls == TextFunction::Nulls::kSkip && frame::isNullable(argument.type());
    Expression empty = constant(builder.getStringAttr(""), string, at);
    MaybeExpression given = isInteger ? cast(argument, i64, at)
                            : skips   ? coalesce({argument, empty}, at)
                                      : MaybeExpression(argument);
    if (failed(given)) {
      return failure();
    }
    operands.push_back(given->value);
  }
  rendered += ")";
  Type gives =
      function.result == TextFunction::Result::kText ? string
      : function.result == TextFunction::Result::kBinary
          ? Type(frame::BinaryType::get(getContext()))
      : function.result == TextFunction::Result::kInterval
          ? Type(frame::IntervalType::get(getContext()))
      : function.result == TextFunction::Result::kUnsigned128
          ? Type(frame::Unsigned128Type::get(getContext()))
      : function.result == TextFunction::Result::kUuid    ? Type(frame::UuidType::get(getContext()))
      : function.result == TextFunction::Result::kBytes   ? frame::dropNullable(arguments[0].type())
      : function.result == TextFunction::Result::kBoolean ? Type(builder.getI1Type())
      : function.result == TextFunction::Result::kList ||
              function.result == TextFunction::Result::kEnum
          ? frame::dropNullable(type)
          : i64;
  Type result =
      frame::withNullability(gives, frame::nullabilityOf(ValueRange(operands).getTypes()));
  Expression call =
      made(frame::TextOp::create(builder, locate(rendered, at), result, function.name, operands),
           rendered);
  return frame::dropNullable(type) == gives ? MaybeExpression(call) : cast(call, type, at);
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

MaybeExpression ExpressionBuilder::list(Type element, ArrayRef<Expression> elements, Location at) {
  std::string rendered = "[";
  SmallVector<Value> operands;
  for (auto [index, value] : llvm::enumerate(elements)) {
    MaybeExpression given = cast(value, element, at);
    if (failed(given)) {
      return failure();
    }
    rendered += (index == 0 ? "" : ", ") + value.text;
    operands.push_back(given->value);
  }
  rendered += "]";
  return made(frame::ListOp::create(builder, locate(rendered, at),
                                    frame::ListType::get(frame::dropNullable(element)), operands),
              rendered);
}

MaybeExpression ExpressionBuilder::listOfOne(const Expression &element, Location at) {
  return list(frame::dropNullable(element.type()), element, at);
}

MaybeExpression ExpressionBuilder::ofAny(const Expression &list, const MaybeExpression &value,
                                         Location at) {
  Type i64 = IntegerType::get(getContext(), 64);
  MaybeExpression count = text(*textFunctionNamed("list_count"), list, i64, at);
  MaybeExpression any =
      failed(count) ? count : compare(frame::CompareKind::Gt, *count, integer(0, i64, at), at);
  return failed(any) || failed(value) ? MaybeExpression(failure())
                                      : choose(*any, *value, nullptr, at);
}

MaybeExpression ExpressionBuilder::countsOf(const Expression &list, Type map, Location at) {
  Type i64 = IntegerType::get(getContext(), 64);
  const Expression zero = integer(0, i64, at);
  auto entries = cast<frame::MapType>(frame::dropNullable(map)).getEntries();
  MaybeExpression ordered =
      text(*textFunctionNamed("list_sort"), {list, zero, zero}, list.type(), at);
  MaybeExpression counted =
      failed(ordered) ? ordered : text(*textFunctionNamed("map_counts"), *ordered, entries, at);
  return ofAny(list, failed(counted) ? counted : cast(*counted, map, at), at);
}

MaybeExpression ExpressionBuilder::onlyElement(const TextFunction &function,
                                               ArrayRef<Expression> arguments, Type type,
                                               Location at) {
  Type list = frame::ListType::get(frame::dropNullable(type));
  MaybeExpression only = text(function, arguments, list, at);
  return failed(only) ? only
                      : element(*only, integer(1, IntegerType::get(getContext(), 64), at), at);
}

MaybeExpression ExpressionBuilder::element(const Expression &list, const Expression &position,
                                           Location at) {
  auto type = dyn_cast<frame::ListType>(frame::dropNullable(list.type()));
  if (!type || !frame::isInteger(position.type())) {
    // no test: DuckDB's binder sees to it
    return fail(at, "an element is of a list, at the place that an integer says");
  }
  std::string rendered = list.text + "[" + position.text + "]";
  return made(frame::ElementOp::create(builder, locate(rendered, at),
                                       frame::addNullable(type.getElementType()), list.value,
                                       cast(position, builder.getI64Type(), at)->value),
              rendered);
}

MaybeExpression ExpressionBuilder::structOf(frame::StructType type, ArrayRef<Expression> fields,
                                            Location at) {
  std::string rendered = "{";
  SmallVector<Value> operands;
  for (auto [index, value] : llvm::enumerate(fields)) {
    MaybeExpression given = cast(value, type.getFieldTypes()[index], at);
    if (failed(given)) {
      return failure();
    }
    StringRef name = type.getNames()[index].getValue();
    rendered += (index == 0 ? "" : ", ") + (name.empty() ? "" : name.str() + ": ") + value.text;
    operands.push_back(given->value);
  }
  rendered += "}";
  return made(frame::StructOp::create(builder, locate(rendered, at), type, operands), rendered);
}

Expression ExpressionBuilder::fieldOf(const Expression &operand, unsigned index, Location at) {
  auto type = cast<frame::StructType>(frame::dropNullable(operand.type()));
  StringRef name = type.getNames()[index].getValue();
  std::string rendered =
      operand.text + (name.empty() ? "[" + std::to_string(index + 1) + "]" : "." + name.str());
  if (auto whole = operand.value.getDefiningOp<frame::StructOp>()) {
    return made(whole.getOperands()[index], rendered);
  }
  return made(frame::FieldOp::create(builder, locate(rendered, at),
                                     frame::addNullable(type.getFieldTypes()[index]), operand.value,
                                     index),
              rendered);
}

MaybeExpression ExpressionBuilder::printed(const Expression &operand, Location at) {
  return printed(operand,
                 headrace::shapeOf(headrace::logicalType(frame::dropNullable(operand.type()))), at);
}

MaybeExpression ExpressionBuilder::printed(const Expression &operand, StringRef shape,
                                           Location at) {
  Type list = frame::ListType::get(frame::StringType::get(getContext()));
  return text(lineOf("nested_print"), {operand, constant(builder.getStringAttr(shape), list, at)},
              frame::StringType::get(getContext()), at);
}

MaybeExpression ExpressionBuilder::orderOf(const Expression &operand, Location at) {
  if (frame::isInterval(operand.type())) {
    return text(lineOf("interval_key"), operand, frame::BinaryType::get(getContext()), at);
  }
  return frame::isNested(operand.type())
             ? text(lineOf("nested_order"), operand, frame::StringType::get(getContext()), at)
             : MaybeExpression(operand);
}

MaybeExpression ExpressionBuilder::keyed(const Expression &operand, Location at) {
  Type string = frame::StringType::get(getContext());
  if (!frame::isInterval(operand.type())) {
    return text(lineOf("nested_keyed"), operand, string, at);
  }
  MaybeExpression list = listOfOne(operand, at), known = isNotNull(operand, at);
  MaybeExpression made = failed(list) ? list : text(lineOf("nested_keyed"), *list, string, at);
  return failed(made) || failed(known) ? made : choose(*known, *made, nullptr, at);
}

MaybeExpression ExpressionBuilder::valueOfKeyed(const Expression &keyed, Type type, Location at) {
  Type i64 = IntegerType::get(getContext(), 64);
  if (frame::isInterval(type)) {
    MaybeExpression one = valueOfKeyed(keyed, frame::ListType::get(type), at);
    return failed(one) ? one : element(*one, integer(1, i64, at), at);
  }
  Expression code = integer(headrace::elementCode(headrace::logicalType(type)), i64, at);
  MaybeExpression list = text(lineOf("keyed_value"), {keyed, code}, frame::ListType::get(type), at);
  return failed(list) ? list : element(*list, integer(1, i64, at), at);
}

MaybeExpression ExpressionBuilder::equalityOf(const Expression &operand, Location at) {
  return frame::hasIntervals(operand.type()) ? orderOf(operand, at) : MaybeExpression(operand);
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

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// 52 bits of the number and of what it is drawn by.
static Expression scrambled(ExpressionBuilder &b, const Expression &number, const Expression &by,
                            Location at) {
  return *b.math(*headrace::mathFunctionNamed("scramble"), {number, by},
                 IntegerType::get(b.getContext(), 64), at); // of integers it does not fail
}

SmallVector<Expression> ExpressionBuilder::rowNumbers(Location at) {
  SmallVector<Expression> numbers;
  for (const frame::Column &column : identity) {
    Expression part = made(argument(column, at), column.name.str());
    if (frame::isNullable(column.type)) { // of a row without a match
      part = *coalesce({part, integer(-1, frame::dropNullable(column.type), at)}, at);
    }
    numbers.push_back(*cast(part, builder.getI64Type(), at));
  }
  return numbers;
}

Expression ExpressionBuilder::rowNumber(Location at) {
  std::optional<Expression> number;
  for (const Expression &part : rowNumbers(at)) {
    number = number ? scrambled(*this, part, *number, at) : part;
  }
  return number.value_or(integer(0, builder.getI64Type(), at));
}

/// 52 bits that the run draws for a call.
static Expression drawnFor(ExpressionBuilder &b, int64_t call, const Expression &seed,
                           Location at) {
  return scrambled(b, b.integer(call, IntegerType::get(b.getContext(), 64), at), seed, at);
}

Expression ExpressionBuilder::runSeed(Location at) {
  return made(
      frame::RunSeedOp::create(builder, locate("seed of the run", at), builder.getI64Type()),
      "seed");
}

MaybeExpression ExpressionBuilder::random(int64_t call, Location at) {
  Type f64 = builder.getF64Type();
  constexpr double kStep = 0x1p-52;
  Expression drawn = drawnFor(*this, call, runSeed(at), at);
  MaybeExpression real = cast(scrambled(*this, rowNumber(at), drawn, at), f64, at);
  real = failed(real) ? real
                      : arithmetic(Arithmetic::kMultiply, *real,
                                   constant(builder.getF64FloatAttr(kStep), f64, at), f64, at);
  return failed(real) ? real : MaybeExpression(made(real->value, "random()"));
}

/// Each draw goes by all of the row's numbers: 52 bits for all of them would be too few to tell the
/// rows of large joins apart.
static SmallVector<Expression> drawsFor(ExpressionBuilder &b, int64_t call, const Expression &seed,
                                        ArrayRef<Expression> numbers, int64_t count, Location at) {
  SmallVector<Expression> draws;
  for (int64_t draw = 0; draw < count; ++draw) {
    Expression drawn = drawnFor(b, call + draw, seed, at);
    for (const Expression &number : numbers) {
      drawn = scrambled(b, number, drawn, at);
    }
    draws.push_back(drawn);
  }
  return draws;
}

MaybeExpression ExpressionBuilder::randomUuid(int64_t call, Location at) {
  MaybeExpression uuid = text(*headrace::textFunctionNamed("uuid_drawn"),
                              drawsFor(*this, call, runSeed(at), rowNumbers(at), kDrawsOfUuid, at),
                              frame::UuidType::get(getContext()), at);
  return failed(uuid) ? uuid : MaybeExpression(made(uuid->value, "uuid()"));
}

MaybeExpression ExpressionBuilder::timedUuid(int64_t call, int64_t millis, Location at) {
  SmallVector<Expression> arguments{integer(millis, builder.getI64Type(), at)};
  llvm::append_range(arguments, drawsFor(*this, call, runSeed(at), rowNumbers(at), 2, at));
  MaybeExpression uuid = text(*headrace::textFunctionNamed("uuid_timed"), arguments,
                              frame::UuidType::get(getContext()), at);
  return failed(uuid) ? uuid : MaybeExpression(made(uuid->value, "uuidv7()"));
}
