// Expressions of any front end: fields, constants, casts, truth and choices.
#include "passes/import/ExpressionBuilder.h"

#include "dialects/frame/FrameConstants.h"
#include "dialects/frame/LogicalTypes.h"
#include "passes/analysis/expression_ranges.h"
#include "passes/import/ConstantCasts.h"
#include "runtime/base/binary_functions.h"
#include "runtime/base/enum_values.h"
#include "runtime/base/interval_values.h"
#include "runtime/base/list_functions.h"
#include "runtime/base/unsigned128.h"
#include "runtime/base/uuid.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

ExpressionBuilder::ExpressionBuilder(ImportContext &context, ArrayRef<frame::Column> fields,
                                     ArrayRef<Value> tables, ArrayRef<frame::Column> identity)
    : context(context), fields(fields), identity(identity), tables(tables),
      region(std::make_unique<Region>()), builder(context.getContext()) {
  builder.setInsertionPointToStart(&region->emplaceBlock());
}

std::unique_ptr<Region> ExpressionBuilder::finish(ValueRange yielded, Location location) {
  frame::YieldOp::create(builder, location, yielded);
  // Constants that became others, or attributes.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(region->front()))) {
    if (isa<frame::ConstantOp>(op) && op.use_empty()) {
      op.erase();
    }
  }
  return std::move(region);
}

ArrayAttr ExpressionBuilder::columns() const {
  SmallVector<Attribute> names;
  for (const auto &[name, argument] : arguments) {
    names.push_back(name);
  }
  return ArrayAttr::get(getContext(), names);
}

Expression ExpressionBuilder::made(Value value, std::string text) const {
  constexpr size_t kTextMax = 200; // texts nest; without an end they would grow with every level
  if (text.size() > kTextMax) {
    size_t end = kTextMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
      --end; // not inside of a character
    }
    text = text.substr(0, end) + "…";
  }
  return Expression{value, std::move(text)};
}

Type ExpressionBuilder::booleanFor(TypeRange operands) const {
  return frame::withNullability(IntegerType::get(getContext(), 1), frame::nullabilityOf(operands));
}

LogicalResult ExpressionBuilder::expectBoolean(const Expression &expression, StringRef what,
                                               Location at) {
  if (frame::isBoolean(expression.type())) {
    return success();
  }
  return fail(at, what + " must be boolean");
}

//===----------------------------------------------------------------------===//
// Fields and constants
//===----------------------------------------------------------------------===//

MaybeExpression ExpressionBuilder::inPlaceOfFields(ArrayRef<Expression> values,
                                                   function_ref<MaybeExpression()> use) {
  llvm::SaveAndRestore scope(inPlace, std::optional(values));
  return use();
}

MaybeExpression ExpressionBuilder::field(int64_t index, Location at) {
  const size_t count = inPlace ? inPlace->size() : fields.size();
  if (index < 0 || index >= static_cast<int64_t>(count)) {
    return fail(at, "reference to a column that the input does not have: " + Twine(index));
  }
  if (inPlace) {
    return (*inPlace)[index];
  }
  return made(argument(fields[index], at), fields[index].name.str());
}

Value ExpressionBuilder::argument(const frame::Column &column, Location at) {
  Value &argument = arguments[column.name];
  if (!argument) {
    argument = region->front().addArgument(column.type, locate(column.name.getValue(), at));
  }
  return argument;
}

/// How a constant reads in a location.
static std::string constantText(Attribute value, Type type) {
  if (isa<UnitAttr>(value)) {
    return "NULL";
  }
  if (auto text = dyn_cast<StringAttr>(value); text && frame::isNested(type)) {
    return headrace::nestedText(
        text.getValue(), headrace::shapeOf(headrace::logicalType(frame::dropNullable(type))));
  }
  if (frame::isUnsigned128(type)) {
    return headrace::unsigned128Text(headrace::unsigned128(cast<StringAttr>(value).getValue()));
  }
  if (frame::isInterval(type)) {
    auto bytes = cast<StringAttr>(value).getValue();
    return "INTERVAL '" + headrace::intervalText(headrace::intervalParts(bytes)) + "'";
  }
  if (frame::isEnum(type)) {
    return "'" + std::string(headrace::enumText(cast<StringAttr>(value).getValue())) + "'";
  }
  if (frame::isUuid(type)) {
    return "'" + headrace::uuidText(cast<StringAttr>(value).getValue()) + "'::UUID";
  }
  if (auto text = dyn_cast<StringAttr>(value)) {
    return "'" + (frame::isBinary(type) ? headrace::binaryText(text.getValue()) : text.str()) + "'";
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  if (auto real = dyn_cast<FloatAttr>(value)) {
    out << real.getValueAsDouble();
    return text;
  }
  auto integer = cast<IntegerAttr>(value);
  if (frame::isBoolean(type)) {
    return integer.getValue().isZero() ? "false" : "true";
  }
  if (frame::isTemporal(type)) {
    StringRef what = frame::isDate(type) ? "DATE" : frame::isTime(type) ? "TIME" : "TIMESTAMP";
    return what.str() + " '" + frame::formatTemporal(integer.getInt(), type) + "'";
  }
  SmallString<48> digits;
  integer.getValue().abs().toStringUnsigned(digits);
  auto decimal = dyn_cast<frame::DecimalType>(frame::dropNullable(type));
  size_t scale = decimal ? decimal.getScale() : 0;
  if (digits.size() <= scale) { // at least one digit before the point
    digits.insert(digits.begin(), scale + 1 - digits.size(), '0');
  }
  StringRef whole = StringRef(digits).drop_back(scale);
  out << (integer.getValue().isNegative() ? "-" : "") << whole;
  if (scale > 0) {
    out << "." << StringRef(digits).take_back(scale);
  }
  return text;
}

Expression ExpressionBuilder::constant(Attribute value, Type type, Location at) {
  std::string text = constantText(value, type);
  return made(frame::ConstantOp::create(builder, locate(text, at), type, value), text);
}

Expression ExpressionBuilder::null(Type type, Location at) {
  return constant(UnitAttr::get(getContext()), frame::addNullable(type), at);
}

Expression ExpressionBuilder::integer(int64_t value, Type type, Location at) {
  llvm::APInt digits(frame::kLiteralBits, value, /*isSigned=*/true);
  return constant(frame::literalAttr(digits, type), type, at);
}

Attribute ExpressionBuilder::constantOf(const Expression &expression) {
  auto op = expression.value.getDefiningOp<frame::ConstantOp>();
  return op ? op.getValue() : Attribute();
}

std::optional<int64_t> ExpressionBuilder::integerOf(const Expression &expression) {
  auto value = dyn_cast_or_null<IntegerAttr>(constantOf(expression));
  Type type = frame::dropNullable(expression.type());
  auto decimal = dyn_cast<frame::DecimalType>(type);
  bool whole = frame::isInteger(type) || (decimal && decimal.getScale() == 0);
  return value && whole ? value.getValue().trySExtValue() : std::nullopt;
}

std::optional<StringRef> ExpressionBuilder::stringOf(const Expression &expression) {
  auto value = dyn_cast_or_null<StringAttr>(constantOf(expression));
  return value ? std::optional<StringRef>(value.getValue()) : std::nullopt;
}

bool ExpressionBuilder::isNullConstant(const Expression &expression) {
  return isa_and_nonnull<UnitAttr>(constantOf(expression));
}

bool ExpressionBuilder::mayBeInfinite(const Expression &moment) {
  std::optional<int64_t> infinity = frame::infinityOf(moment.type());
  if (!infinity) {
    return false;
  }
  analysis::ArgumentRanges ranges;
  for (const auto &[name, argument] : arguments) {
    const auto *table = llvm::find_if(tables, [column = name](Value each) {
      return cast<frame::TableType>(each.getType()).hasColumn(column);
    });
    ranges.push_back(table == tables.end() ? std::nullopt : context.ranges().rangeOf(*table, name));
  }
  auto outer = [&](Value value) { return context.ranges().rangeOf(value); };
  std::optional<analysis::Range> range = analysis::evaluateRange(moment.value, ranges, outer);
  auto holds = [&](int64_t value) { return range->low <= value && value <= range->high; };
  return !range || holds(*infinity) || holds(-*infinity);
}

MaybeExpression ExpressionBuilder::cast(const Expression &operand, Type type, Location at,
                                        Misfit misfit) {
  Type from = frame::dropNullable(operand.type());
  Type to = frame::dropNullable(type);
  if (from == to) {
    return operand;
  }
  if (Attribute value = constantOf(operand)) {
    if (Attribute converted = castConstant(value, from, to)) {
      Type result = isa<UnitAttr>(converted) ? frame::addNullable(to) : to;
      return constant(converted, result, at);
    }
  }
  bool orNull = misfit == Misfit::kNull;
  Type result = orNull ? frame::addNullable(to)
                       : frame::withNullability(to, frame::nullabilityOf(operand.type()));
  std::string text = (orNull ? "TRY_CAST(" : "CAST(") + operand.text + ")";
  return made(frame::CastOp::create(builder, locate(text, at), result, operand.value, orNull),
              text);
}

//===----------------------------------------------------------------------===//
// Truth
//===----------------------------------------------------------------------===//

/// The SQL operator of a comparison.
static StringRef symbolOf(frame::CompareKind kind) {
  switch (kind) {
  case frame::CompareKind::Eq:
    return "=";
  case frame::CompareKind::Ne:
    return "<>";
  case frame::CompareKind::Lt:
    return "<";
  case frame::CompareKind::Le:
    return "<=";
  case frame::CompareKind::Gt:
    return ">";
  case frame::CompareKind::Ge:
    return ">=";
  case frame::CompareKind::IsNotDistinctFrom:
    return "IS NOT DISTINCT FROM";
  }
  llvm_unreachable("no such comparison");
}

/// The operand as a decimal of the given scale.
static Value rescale(OpBuilder &builder, Location location, Value value, unsigned scale) {
  auto decimal = cast<frame::DecimalType>(frame::dropNullable(value.getType()));
  if (decimal.getScale() == scale) {
    return value;
  }
  unsigned precision = std::min(38u, decimal.getPrecision() + scale - decimal.getScale());
  Type type =
      frame::withNullability(frame::DecimalType::get(builder.getContext(), precision, scale),
                             frame::nullabilityOf(value.getType()));
  return frame::CastOp::create(builder, location, type, value);
}

MaybeExpression ExpressionBuilder::compare(frame::CompareKind kind, const Expression &lhs,
                                           const Expression &rhs, Location at) {
  const bool isOrder = kind != frame::CompareKind::Eq && kind != frame::CompareKind::Ne &&
                       kind != frame::CompareKind::IsNotDistinctFrom;
  const bool byOther = frame::hasIntervals(lhs.type()) || (isOrder && frame::isNested(lhs.type()));
  if (byOther && frame::isSameValueType(lhs.type(), rhs.type())) {
    MaybeExpression left = orderOf(lhs, at), right = orderOf(rhs, at);
    return failed(left) || failed(right) ? MaybeExpression(failure())
                                         : compare(kind, *left, *right, at);
  }
  std::string text = lhs.text + " " + symbolOf(kind).str() + " " + rhs.text;
  Location location = locate(text, at);
  Value left = lhs.value, right = rhs.value;
  if (frame::isDecimal(lhs.type()) && frame::isDecimal(rhs.type())) {
    unsigned scale = 0;
    for (Value value : {left, right}) {
      auto type = cast<frame::DecimalType>(frame::dropNullable(value.getType()));
      scale = std::max(scale, type.getScale());
    }
    left = rescale(builder, location, left, scale);
    right = rescale(builder, location, right, scale);
  } else if (!frame::isSameValueType(lhs.type(), rhs.type())) {
    return fail(at, "comparison of values of different types");
  }
  Type type = kind == frame::CompareKind::IsNotDistinctFrom
                  ? Type(builder.getI1Type())
                  : booleanFor({left.getType(), right.getType()});
  return made(frame::CompareOp::create(builder, location, type, kind, left, right), text);
}

MaybeExpression ExpressionBuilder::isDistinct(const Expression &lhs, const Expression &rhs,
                                              Location at) {
  MaybeExpression same = compare(frame::CompareKind::IsNotDistinctFrom, lhs, rhs, at);
  return failed(same) ? same : negation(*same, at);
}

MaybeExpression ExpressionBuilder::oneOf(const Expression &operand, ArrayRef<Expression> options,
                                         Location at) {
  if (options.empty()) {
    return fail(at, "expected at least one option");
  }
  SmallVector<Attribute> constants;
  for (const Expression &option : options) {
    Attribute value = constantOf(option);
    if (!value || isa<UnitAttr>(value) || frame::hasIntervals(operand.type()) ||
        !frame::isSameValueType(option.type(), operand.type())) {
      break;
    }
    constants.push_back(value);
  }
  std::string text = operand.text + " IN (…)";
  if (constants.size() == options.size()) {
    return made(frame::InOp::create(builder, locate(text, at), booleanFor(operand.type()),
                                    operand.value, builder.getArrayAttr(constants)),
                text);
  }
  // Other lists are chains of comparisons.
  SmallVector<Expression> matches;
  for (const Expression &option : options) {
    MaybeExpression match = compare(frame::CompareKind::Eq, operand, option, at);
    if (failed(match)) {
      return failure();
    }
    matches.push_back(std::move(*match));
  }
  return connect(Connective::kOr, matches, at);
}

MaybeExpression ExpressionBuilder::connect(Connective connective, ArrayRef<Expression> operands,
                                           Location at) {
  StringRef name = connective == Connective::kAnd ? "AND" : "OR";
  if (operands.empty()) {
    return fail(at, "wrong number of arguments of " + name.lower() + ": 0");
  }
  if (operands.size() == 1) {
    return operands.front();
  }
  SmallVector<Value> values;
  std::string text;
  for (const Expression &operand : operands) {
    if (failed(expectBoolean(operand, ("an operand of " + name).str(), at))) {
      return failure();
    }
    values.push_back(operand.value);
    if (text.size() < 1000) {
      text += (values.size() == 1 ? "(" : (" " + name + " ").str()) + operand.text;
    }
  }
  text += ")";
  Type type = booleanFor(ValueRange(values).getTypes());
  Location location = locate(text, at);
  Value value = connective == Connective::kAnd
                    ? Value(frame::AndOp::create(builder, location, type, values))
                    : Value(frame::OrOp::create(builder, location, type, values));
  return made(value, text);
}

MaybeExpression ExpressionBuilder::negation(const Expression &operand, Location at) {
  if (failed(expectBoolean(operand, "the operand of not", at))) {
    return failure();
  }
  std::string text = "NOT(" + operand.text + ")";
  return made(frame::NotOp::create(builder, locate(text, at), operand.type(), operand.value), text);
}

Expression ExpressionBuilder::isNull(const Expression &operand, Location at) {
  std::string text = "IS_NULL(" + operand.text + ")";
  return made(
      frame::IsNullOp::create(builder, locate(text, at), builder.getI1Type(), operand.value), text);
}

MaybeExpression ExpressionBuilder::isNotNull(const Expression &operand, Location at) {
  return negation(isNull(operand, at), at);
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

MaybeExpression ExpressionBuilder::choose(ArrayRef<Expression> conditions,
                                          ArrayRef<Expression> values, const Expression *otherwise,
                                          Location at) {
  if (conditions.empty() || conditions.size() != values.size()) {
    return fail(at, "expected at least one condition");
  }
  std::string text = "CASE";
  SmallVector<Value> tests, results;
  for (auto [condition, value] : llvm::zip_equal(conditions, values)) {
    if (failed(expectBoolean(condition, "a condition", at))) {
      return failure();
    }
    tests.push_back(condition.value);
    results.push_back(value.value);
    if (text.size() < 1000) {
      text += " WHEN " + condition.text + " THEN " + value.text;
    }
  }
  SmallVector<Type> types(ValueRange(results).getTypes());
  if (otherwise) {
    types.push_back(otherwise->type());
    text += " ELSE " + otherwise->text;
  }
  text += " END";
  for (Type type : types) {
    if (!frame::isSameValueType(type, types.front())) {
      return fail(at, "the values of CASE must have one type; cast them");
    }
  }
  frame::Nullability nullability =
      otherwise ? frame::nullabilityOf(types) : frame::Nullability::kMaybe;
  Type type = frame::withNullability(frame::dropNullable(types.front()), nullability);
  return made(frame::CaseOp::create(builder, locate(text, at), type, tests, results,
                                    otherwise ? otherwise->value : Value()),
              text);
}

/// "NAME(a, b)".
static std::string callText(const Twine &name, ArrayRef<Expression> operands) {
  std::string text = name.str() + "(";
  for (const Expression &operand : operands) {
    if (text.size() < 1000) {
      text += (&operand == operands.begin() ? "" : ", ") + operand.text;
    }
  }
  return text + ")";
}

MaybeExpression ExpressionBuilder::coalesce(ArrayRef<Expression> operands, Location at) {
  if (operands.empty()) {
    return fail(at, "wrong number of arguments of coalesce: 0");
  }
  SmallVector<Value> values;
  for (const Expression &operand : operands) {
    if (!frame::isSameValueType(operand.type(), operands.front().type())) {
      return fail(at, "the operands of coalesce must have one type; cast them");
    }
    values.push_back(operand.value);
  }
  std::string text = callText("COALESCE", operands);
  bool allNullable = llvm::all_of(ValueRange(values).getTypes(), frame::isNullable);
  Type type =
      frame::withNullability(frame::dropNullable(values.front().getType()),
                             allNullable ? frame::Nullability::kMaybe : frame::Nullability::kNever);
  return made(frame::CoalesceOp::create(builder, locate(text, at), type, values), text);
}

MaybeExpression ExpressionBuilder::nullIf(const Expression &operand, const Expression &other,
                                          Location at) {
  MaybeExpression equal = compare(frame::CompareKind::Eq, operand, other, at);
  if (failed(equal)) {
    return failure();
  }
  return choose(*equal, null(operand.type(), at), &operand, at);
}

MaybeExpression ExpressionBuilder::extreme(Extreme which, ArrayRef<Expression> operands,
                                           Location at) {
  StringRef name = which == Extreme::kGreatest ? "GREATEST" : "LEAST";
  if (operands.empty()) {
    return fail(at, "wrong number of arguments of " + name.lower() + ": 0");
  }
  // The other is taken where the best so far is NULL or loses.
  auto wins = which == Extreme::kGreatest ? frame::CompareKind::Gt : frame::CompareKind::Lt;
  Expression best = operands.front();
  for (const Expression &other : operands.drop_front()) {
    if (!frame::isSameValueType(best.type(), other.type())) {
      return fail(at, "the operands of " + name.lower() + " must have one type; cast them");
    }
    MaybeExpression better = compare(wins, other, best, at);
    if (failed(better)) {
      return failure();
    }
    MaybeExpression chosen = choose({isNull(best, at), *better}, {other, other}, &best, at);
    if (failed(chosen)) {
      return failure();
    }
    best = Expression{chosen->value, best.text};
  }
  return made(best.value, callText(name, operands));
}

MaybeExpression ExpressionBuilder::raise(frame::RaiseKind kind, StringRef message, Type type,
                                         Location at) {
  if (message.empty()) {
    return fail(at, "an error needs a message");
  }
  std::string text = ("ERROR('" + message + "')").str();
  // Its place is a line and a column alone: the message stands beside it.
  return made(
      frame::RaiseOp::create(builder, locate("", at), frame::dropNullable(type), kind, message),
      text);
}
