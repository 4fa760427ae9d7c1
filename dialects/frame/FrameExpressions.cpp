// Verifiers and text forms of the scalar ops.
#include "dialects/frame/FrameConstants.h"
#include "dialects/frame/FrameOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::frame;

/// Fails unless `result` is nullable exactly if `wanted` says so.
static LogicalResult verifyNullability(Operation *op, Type result, Nullability wanted) {
  if (nullabilityOf(result) != wanted) {
    return op->emitOpError(wanted == Nullability::kMaybe ? "result must be nullable, got "
                                                         : "result must not be nullable, got ")
           << result;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &state) {
  Literal literal;
  Type type;
  SMLoc location = parser.getCurrentLocation();
  if (parseLiteral(parser, literal) || parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type)) {
    return failure();
  }
  Attribute value = literalAttr(literal, type);
  if (!value) { // C1, C2
    return parser.emitError(location, "literal does not fit type ") << type;
  }
  state.addAttribute(getValueAttrName(state.name), value);
  state.addTypes(type);
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printLiteral(printer, getValue(), getResult().getType());
  printer.printOptionalAttrDict((*this)->getAttrs(), {getValueAttrName()});
  printer << " : " << getResult().getType();
}

LogicalResult ConstantOp::verify() {
  if (!isLiteralOf(getValue(), getResult().getType())) { // C1, C2
    return emitOpError("literal does not fit type ") << getResult().getType() << ": " << getValue();
  }
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// (C1) and (C3) of `frame.add`.
static LogicalResult verifyArithmetic(Operation *op) {
  Type lhs = op->getOperand(0).getType();
  Type rhs = op->getOperand(1).getType();
  Type result = op->getResult(0).getType();
  bool decimals = isDecimal(lhs) && isDecimal(rhs) && isDecimal(result);
  if (!decimals && !(isSameValueType(lhs, rhs) && isSameValueType(lhs, result))) { // C1
    return op->emitOpError("needs decimals, or one type for operands and result, got ")
           << lhs << ", " << rhs << " and " << result;
  }
  return verifyNullability(op, result, nullabilityOf(op->getOperandTypes())); // C3
}

/// (C2): a decimal result has the scale that `rule` makes of the operands'.
static LogicalResult verifyScale(Operation *op,
                                 llvm::function_ref<unsigned(unsigned, unsigned)> rule) {
  auto result = dyn_cast<DecimalType>(dropNullable(op->getResult(0).getType()));
  if (!result) {
    return success();
  }
  auto scaleOf = [&](unsigned index) {
    return cast<DecimalType>(dropNullable(op->getOperand(index).getType())).getScale();
  };
  unsigned expected = rule(scaleOf(0), scaleOf(1));
  if (result.getScale() != expected) {
    return op->emitOpError("result must have scale ") << expected << ", got " << result;
  }
  return success();
}

static unsigned largerScale(unsigned a, unsigned b) { return std::max(a, b); }

LogicalResult AddOp::verify() {
  return failure(failed(verifyArithmetic(*this)) || failed(verifyScale(*this, largerScale)));
}

LogicalResult SubtractOp::verify() {
  return failure(failed(verifyArithmetic(*this)) || failed(verifyScale(*this, largerScale)));
}

LogicalResult MultiplyOp::verify() {
  return failure(failed(verifyArithmetic(*this)) ||
                 failed(verifyScale(*this, [](unsigned a, unsigned b) { return a + b; })));
}

LogicalResult DivideOp::verify() {
  Type lhs = getLhs().getType(), rhs = getRhs().getType(), result = getResult().getType();
  bool isMean = (isDecimal(lhs) || isInteger(lhs)) && dropNullable(rhs).isSignlessInteger(64) &&
                dropNullable(result).isF64(); // C4
  return isMean ? verifyNullability(*this, result, nullabilityOf({lhs, rhs}))
                : verifyArithmetic(*this);
}

LogicalResult ModulusOp::verify() {
  return failure(failed(verifyArithmetic(*this)) || failed(verifyScale(*this, largerScale)));
}

static bool isConvertible(Type from, Type to) {
  if (isSameValueType(from, to)) {
    return true;
  }
  if (isNested(from) || isNested(to)) {
    return isHeldAlike(from, to);
  }
  if (isString(from) || isString(to)) {
    return !isEnum(to); // whose place a function finds
  }
  if (isHeldAsBytes(from) || isHeldAsBytes(to)) {
    return false;
  }
  if (isTemporal(from) && isTemporal(to)) {
    bool isTimeOf = isTimestamp(from) && isTime(to) && scaleOf(from) == scaleOf(to);
    return isTimeOf || (isTime(from) == isTime(to));
  }
  if (isTemporal(from) || isTemporal(to)) {
    Type other = dropNullable(isTemporal(from) ? to : from);
    return other.isSignlessInteger(integerBits(isTemporal(from) ? from : to));
  }
  return (isNumeric(from) || isBoolean(from)) && (isNumeric(to) || isBoolean(to));
}

LogicalResult CastOp::verify() {
  Type from = getOperand().getType();
  Type to = getResult().getType();
  if (!isConvertible(from, to)) { // C1
    return emitOpError("no conversion from ") << from << " to " << to;
  }
  if (isNullable(from) && !isNullable(to)) { // C2
    return emitOpError("a nullable operand needs a nullable result, got ") << to;
  }
  if (getOrNull() && !isNullable(to)) { // C2
    return emitOpError("or_null needs a nullable result, got ") << to;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Truth
//===----------------------------------------------------------------------===//

LogicalResult CompareOp::verify() {
  Type lhs = getLhs().getType();
  Type rhs = getRhs().getType();
  auto lhsDecimal = dyn_cast<DecimalType>(dropNullable(lhs));
  auto rhsDecimal = dyn_cast<DecimalType>(dropNullable(rhs));
  bool sameScale = lhsDecimal && rhsDecimal && lhsDecimal.getScale() == rhsDecimal.getScale();
  if (isDoubleDouble(lhs) || (!sameScale && !isSameValueType(lhs, rhs))) { // C1
    return emitOpError("needs operands of one type, got ") << lhs << " and " << rhs;
  }
  Nullability wanted = getKind() == CompareKind::IsNotDistinctFrom
                           ? Nullability::kNever
                           : nullabilityOf(getOperation()->getOperandTypes());
  return verifyNullability(*this, getResult().getType(), wanted); // C2
}

LogicalResult NumberOp::verify() {
  Type from = dropNullable(getOperand().getType()), to = dropNullable(getResult().getType());
  bool sqrt = getFunction() == NumberFunction::Sqrt;
  if ((from != to && !(isDecimal(from) && isDecimal(to))) || (sqrt && !isFloat(from))) { // C1
    return emitOpError("has no function from ") << from << " to " << to;
  }
  if (getDigits() && getFunction() != NumberFunction::Round) { // C3
    return emitOpError("takes digits only to round");
  }
  return verifyNullability(*this, getResult().getType(),
                           nullabilityOf(getOperand().getType())); // C2
}

/// The result is nullable exactly if an operand is.
static LogicalResult verifyStrict(Operation *op) {
  return verifyNullability(op, op->getResult(0).getType(), nullabilityOf(op->getOperandTypes()));
}

Speculation::Speculatability MathOp::getSpeculatability() {
  return mathFunctionNamed(getFunction())->values == MathFunction::Values::kDoubles
             ? Speculation::Speculatable
             : Speculation::NotSpeculatable;
}

LogicalResult MathOp::verify() {
  const MathFunction &function = *mathFunctionNamed(getFunction());
  if (getOperands().size() != function.arguments) { // C1
    return emitOpError("needs as many operands as ")
           << getFunction() << " has arguments: " << function.arguments << ", got "
           << getOperands().size();
  }
  bool real = function.values == MathFunction::Values::kDoubles;
  bool isWide = dropNullable(getResult().getType()).isSignlessInteger(128);
  Type wanted = real ? Type(Float64Type::get(getContext()))
                     : IntegerType::get(getContext(), isWide ? 128 : 64);
  for (Type type : getOperation()->getOperandTypes()) {
    if (dropNullable(type) != wanted) { // C2
      return emitOpError("needs operands of type ") << wanted << ", got " << type;
    }
  }
  if (dropNullable(getResult().getType()) != wanted) { // C2
    return emitOpError("needs a result of type ") << wanted << ", got " << getResult().getType();
  }
  return verifyStrict(*this);
}

LogicalResult ExactProductOp::verify() { return verifyStrict(*this); } // C1
LogicalResult NearestOp::verify() { return verifyStrict(*this); }      // C1
LogicalResult ComomentOp::verify() { return verifyStrict(*this); }     // C1

static LogicalResult verifyLogic(Operation *op) {
  if (op->getNumOperands() < 2) { // C1
    return op->emitOpError("needs at least two operands, got ") << op->getNumOperands();
  }
  return verifyNullability(op, op->getResult(0).getType(),
                           nullabilityOf(op->getOperandTypes())); // C2
}

LogicalResult AndOp::verify() { return verifyLogic(*this); }
LogicalResult OrOp::verify() { return verifyLogic(*this); }

ParseResult InOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand operand;
  SmallVector<Literal> literals;
  FunctionType type;
  if (parser.parseOperand(operand)) {
    return failure();
  }
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] { return parseLiteral(parser, literals.emplace_back()); }) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type)) {
    return failure();
  }
  if (type.getNumInputs() != 1 || type.getNumResults() != 1) {
    return parser.emitError(location, "needs one operand and one result type");
  }
  SmallVector<Attribute> values;
  for (const Literal &literal : literals) {
    values.push_back(literalAttr(literal, dropNullable(type.getInput(0))));
    if (!values.back()) { // C1
      return parser.emitError(location, "literal does not fit type ") << type.getInput(0);
    }
  }
  state.addAttribute(getValuesAttrName(state.name), parser.getBuilder().getArrayAttr(values));
  state.addTypes(type.getResults());
  return parser.resolveOperand(operand, type.getInput(0), state.operands);
}

void InOp::print(OpAsmPrinter &printer) {
  Type type = getOperand().getType();
  printer << " " << getOperand() << " [";
  llvm::interleaveComma(getValues(), printer,
                        [&](Attribute value) { printLiteral(printer, value, type); });
  printer << "]";
  printer.printOptionalAttrDict((*this)->getAttrs(), {getValuesAttrName()});
  printer << " : (" << type << ") -> " << getResult().getType();
}

LogicalResult InOp::verify() {
  Type type = dropNullable(getOperand().getType());
  if (getValues().empty()) { // C1
    return emitOpError("needs at least one literal");
  }
  for (Attribute value : getValues()) {
    if (!isLiteralOf(value, type)) { // C1
      return emitOpError("literal does not fit type ") << type << ": " << value;
    }
  }
  return verifyNullability(*this, getResult().getType(),
                           nullabilityOf(getOperand().getType())); // C2
}

LogicalResult CaseOp::verify() {
  if (getConditions().empty() || getConditions().size() != getValues().size()) { // C1
    return emitOpError("needs one value per condition and at least one condition, got ")
           << getValues().size() << " values for " << getConditions().size() << " conditions";
  }
  SmallVector<Type> types(getValues().getTypes());
  if (getOtherwise()) {
    types.push_back(getOtherwise().getType());
  }
  Type result = getResult().getType();
  for (Type type : types) {
    if (!isSameValueType(type, result)) { // C2
      return emitOpError("values and result must have one type, got ") << type << " and " << result;
    }
  }
  Nullability wanted = getOtherwise() ? nullabilityOf(types) : Nullability::kMaybe;
  return verifyNullability(*this, result, wanted); // C3
}

LogicalResult CoalesceOp::verify() {
  Type result = getResult().getType();
  if (getOperands().empty()) { // C1
    return emitOpError("needs at least one operand");
  }
  for (Type type : getOperands().getTypes()) {
    if (!isSameValueType(type, result)) { // C1
      return emitOpError("operands and result must have one type, got ")
             << type << " and " << result;
    }
  }
  bool allNullable = llvm::all_of(getOperands().getTypes(), isNullable);
  return verifyNullability(*this, result,
                           allNullable ? Nullability::kMaybe : Nullability::kNever); // C2
}

LogicalResult RaiseOp::verify() {
  if (getMessage().empty()) { // C1
    return emitOpError("needs a message");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Strings and dates
//===----------------------------------------------------------------------===//

/// The number of UTF-8 code points.
static size_t countCharacters(StringRef text) {
  return llvm::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; });
}

LogicalResult LikeOp::verify() {
  if (getEscape() && countCharacters(*getEscape()) != 1) { // C1
    return emitOpError("escape must be one character, got: ") << *getEscape();
  }
  return verifyNullability(*this, getResult().getType(),
                           nullabilityOf(getOperand().getType())); // C2
}

LogicalResult SubstringOp::verify() {
  for (Value position : getOperands().drop_front()) {
    if (!dropNullable(position.getType()).isSignlessInteger(64)) { // C1
      return emitOpError("start and length must be i64, got ") << position.getType();
    }
  }
  return verifyNullability(*this, getResult().getType(),
                           nullabilityOf(getOperands().getTypes())); // C2
}

Speculation::Speculatability TextOp::getSpeculatability() {
  return textFunctionNamed(getFunction())->error.empty() ? Speculation::Speculatable
                                                         : Speculation::NotSpeculatable;
}

ScalarWork TextOp::getWork() {
  bool writes = textFunctionNamed(getFunction())->givesText();
  return writes ? ScalarWork::kMakeText : ScalarWork::kMatchText;
}

LogicalResult TextOp::verify() {
  const TextFunction &function = *textFunctionNamed(getFunction());
  if (!function.takes(getOperands().size())) { // C1
    return emitOpError("has a wrong number of operands for ")
           << getFunction() << ": " << getOperands().size();
  }
  for (auto [index, type] : llvm::enumerate(getOperands().getTypes())) {
    bool wantsInteger = function.wantsInteger(index), wantsList = function.wantsList(index);
    bool wantsNested = function.wantsNested(index);
    bool wantsBinary = function.wantsBinary(index), wantsBytes = function.wantsBytes(index);
    bool wantsInterval = function.wantsInterval(index);
    bool wantsUnsigned = function.wantsUnsigned128(index), wantsUuid = function.wantsUuid(index);
    bool wantsEnum = function.wantsEnum(index);
    bool fits = wantsInteger    ? dropNullable(type).isSignlessInteger(64)
                : wantsList     ? isList(type)
                : wantsNested   ? isNested(type)
                : wantsBinary   ? isBinary(type)
                : wantsInterval ? isInterval(type)
                : wantsUnsigned ? isUnsigned128(type)
                : wantsUuid     ? isUuid(type)
                : wantsEnum     ? isEnum(type)
                : wantsBytes    ? isString(type) || isBinary(type)
                                : isString(type);
    if (!fits) { // C1
      return emitOpError(wantsInteger    ? "needs an i64"
                         : wantsList     ? "needs a list"
                         : wantsNested   ? "needs a list, struct or map"
                         : wantsBinary   ? "needs a binary"
                         : wantsInterval ? "needs an interval"
                         : wantsUnsigned ? "needs a ui128"
                         : wantsUuid     ? "needs a uuid"
                         : wantsEnum     ? "needs an enum"
                         : wantsBytes    ? "needs a string or a binary"
                                         : "needs a string")
             << " as operand " << index << ", got " << type;
    }
    if (wantsBytes && !isSameValueType(type, getOperands().front().getType())) { // C1
      return emitOpError("needs strings or binaries alone, got ") << type;
    }
  }
  Type result = dropNullable(getResult().getType());
  bool fits = function.result == TextFunction::Result::kText          ? isString(result)
              : function.result == TextFunction::Result::kBinary      ? isBinary(result)
              : function.result == TextFunction::Result::kInterval    ? isInterval(result)
              : function.result == TextFunction::Result::kUnsigned128 ? isUnsigned128(result)
              : function.result == TextFunction::Result::kUuid        ? isUuid(result)
              : function.result == TextFunction::Result::kEnum        ? isEnum(result)
              : function.result == TextFunction::Result::kBytes
                  ? isSameValueType(result, getOperands().front().getType())
              : function.result == TextFunction::Result::kList    ? isList(result)
              : function.result == TextFunction::Result::kBoolean ? isBoolean(result)
                                                                  : result.isSignlessInteger(64);
  if (!fits) { // C2
    return emitOpError("must not give ") << getResult().getType();
  }
  return verifyStrict(*this); // C2
}

LogicalResult ListOp::verify() {
  Type element = cast<ListType>(getResult().getType()).getElementType();
  for (Type type : getOperands().getTypes()) {
    if (dropNullable(type) != element) { // C1
      return emitOpError("needs elements of type ") << element << ", got " << type;
    }
  }
  return success();
}

LogicalResult ElementOp::verify() {
  Type element = cast<ListType>(dropNullable(getOperand().getType())).getElementType();
  if (getResult().getType() != addNullable(element)) { // C1
    return emitOpError("result must be ")
           << addNullable(element) << ", got " << getResult().getType();
  }
  return success();
}

LogicalResult StructOp::verify() {
  ArrayRef<Type> fields = cast<StructType>(getResult().getType()).getFieldTypes();
  if (fields.size() != getOperands().size()) { // C1
    return emitOpError("needs a value for each of its fields, got ") << getOperands().size();
  }
  for (auto [field, type] : llvm::zip_equal(fields, getOperands().getTypes())) {
    if (dropNullable(type) != field) { // C1
      return emitOpError("needs a field of type ") << field << ", got " << type;
    }
  }
  return success();
}

LogicalResult FieldOp::verify() {
  ArrayRef<Type> fields = cast<StructType>(dropNullable(getOperand().getType())).getFieldTypes();
  const auto index = static_cast<uint64_t>(getIndex());
  if (index >= fields.size()) { // C1
    return emitOpError("has no field ") << static_cast<int64_t>(index);
  }
  if (getResult().getType() != addNullable(fields[index])) { // C2
    return emitOpError("result must be ")
           << addNullable(fields[index]) << ", got " << getResult().getType();
  }
  return success();
}

LogicalResult ShiftDateOp::verify() {
  if (getMicroseconds() != 0 && !isTimestamp(getOperand().getType())) { // C1
    return emitOpError("moves only a timestamp by microseconds, got ") << getOperand().getType();
  }
  if (isTimestamp(getOperand().getType()) &&
      scaleOf(getOperand().getType()) != digitsOf(TimeUnit::kMicrosecond)) { // C2
    return emitOpError("moves only a timestamp of microseconds, got ") << getOperand().getType();
  }
  return success();
}

LogicalResult MakeDateOp::verify() { return verifyStrict(*this); } // C1

LogicalResult ExtractOp::verify() {
  if (!dropNullable(getResult().getType()).isSignlessInteger(32)) { // C1
    return emitOpError("result must be i32, got ") << getResult().getType();
  }
  return verifyNullability(*this, getResult().getType(),
                           nullabilityOf(getOperand().getType())); // C1
}
