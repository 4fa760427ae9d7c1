// The ops of bodies that are calls: literals, strings, dates, checked 128-bit arithmetic.
#include "passes/lower/code/pipeline_code.h"

#include "mlir/IR/IRMapping.h"

#include <cstring>

using namespace mlir;

namespace headrace::lower {

Value PipelineCode::stringLiteral(StringRef text) {
  for (const plan::Literal &known : kernel_.literals) {
    if (known.kind == plan::LiteralKind::kString && known.text == text) {
      return prologueValue([&] { return b_.at(literals_, known.offset); });
    }
  }
  plan::Literal literal;
  literal.kind = plan::LiteralKind::kString;
  literal.offset = (kernel_.literalBytes + 15) / 16 * 16;
  literal.text = text.str();
  kernel_.literalBytes = literal.offset + 16;
  kernel_.literals.push_back(literal);
  return prologueValue([&] { return b_.at(literals_, literal.offset); });
}

namespace {
/// A LIKE pattern that is one of the cheap cases, without its percent signs.
struct SimplePattern {
  bool front; ///< anything may precede the text
  bool back;  ///< anything may follow it
  std::string text;
};
std::optional<SimplePattern> simplePattern(StringRef pattern, bool hasEscape) {
  if (hasEscape || pattern.contains('_')) {
    return std::nullopt;
  }
  bool front = pattern.consume_front("%"), back = pattern.consume_back("%");
  if (pattern.contains('%') || pattern.empty()) {
    return std::nullopt;
  }
  return SimplePattern{front, back, pattern.str()};
}

/// Longer ones are compared by a call.
constexpr size_t kComparedBytes = 32;

/// Whether `text` is the pattern's, begins or ends with it. Nothing branches: nobody foretells
/// which texts begin alike, and a call that is wrong in every third row costs twice the rest.
Value matchEnd(CodeBuilder &b, Value text, Value literal, const SimplePattern &pattern) {
  const StringRef part = pattern.text;
  const auto bytes = static_cast<int64_t>(part.size());
  Value length = b.loadField(b.getI32Type(), text, offsetof(HrString, length));
  Value fits = b.compare(pattern.front || pattern.back ? arith::CmpIPredicate::uge
                                                       : arith::CmpIPredicate::eq,
                         length, b.i32(bytes));
  Value data = b.loadField(b.ptrType(), text, offsetof(HrString, data));
  if (pattern.front) {
    Value start =
        arith::SubIOp::create(b, b.loc(), b.zeroExtend(length, b.getI64Type()), b.i64(bytes));
    data = b.element(data, start, 1);
  }
  // What is too short is not looked at.
  data = b.select(fits, data, b.loadField(b.ptrType(), literal, offsetof(HrString, data)));
  const int64_t width = bytes >= 8 ? 8 : bytes >= 4 ? 4 : bytes >= 2 ? 2 : 1;
  Value differing = b.i64(0);
  auto compareAt = [&](int64_t at) {
    uint64_t expected = 0;
    std::memcpy(&expected, part.data() + at, width);
    Value found = b.loadUnaligned(b.getIntegerType(8 * width), b.at(data, at));
    Value wrong = arith::XOrIOp::create(b, b.loc(), b.zeroExtend(found, b.getI64Type()),
                                        b.i64(static_cast<int64_t>(expected)));
    differing = arith::OrIOp::create(b, b.loc(), differing, wrong);
  };
  for (int64_t at = 0; at + width <= bytes; at += width) {
    compareAt(at);
  }
  if (bytes % width != 0) {
    compareAt(bytes - width);
  }
  Value same = b.compare(arith::CmpIPredicate::eq, differing, b.i64(0));
  return arith::AndIOp::create(b, b.loc(), fits, same);
}
} // namespace

/// Year, month or day of days since 1970-01-01, by Neri and Schneider's "Euclidean affine functions
/// and their application to calendar algorithms": multiplications and shifts, no branch.
static Value civilPart(CodeBuilder &b, pipe::DatePart part, Value date) {
  constexpr int64_t kEras = 15'000, kEraDays = 146'097,
                    kEraYears = 400;                          // eras before 1970 that dates have
  constexpr int64_t kDaysTo1970 = 719'468 + kEras * kEraDays; // from the first of March
  auto times = [&](Value a, int64_t by) -> Value {
    return arith::MulIOp::create(b, b.loc(), a, b.i64(by));
  };
  auto over = [&](Value a, int64_t by) -> Value {
    return arith::DivUIOp::create(b, b.loc(), a, b.i64(by));
  };
  auto minus = [&](Value a, Value other) -> Value {
    return arith::SubIOp::create(b, b.loc(), a, other);
  };
  auto upper = [&](Value a, int64_t bits) -> Value {
    return arith::ShRUIOp::create(b, b.loc(), a, b.i64(bits));
  };
  auto lowerBits = [&](Value a, int64_t bits) -> Value {
    return arith::AndIOp::create(b, b.loc(), a, b.i64((int64_t{1} << bits) - 1));
  };
  Value days = b.add(b.signExtend(date, b.getI64Type()), b.i64(kDaysTo1970));
  Value quarters = b.add(times(days, 4), b.i64(3));
  Value century = over(quarters, kEraDays);
  Value dayOfCentury = over(minus(quarters, times(century, kEraDays)), 4);
  Value product = times(b.add(times(dayOfCentury, 4), b.i64(3)), 2'939'745); // 2^32 / 1461
  Value yearOfCentury = upper(product, 32);
  Value dayOfYear = over(over(lowerBits(product, 32), 2'939'745), 4);
  Value months = b.add(times(dayOfYear, 2141), b.i64(197'913)); // 2^16 by months of 30.6 days
  if (part == pipe::DatePart::Day) {
    return b.add(over(lowerBits(months, 16), 2141), b.i64(1));
  }
  Value isNextYear =
      b.compare(arith::CmpIPredicate::uge, dayOfYear, b.i64(306)); // January, February
  if (part == pipe::DatePart::Month) {
    Value month = upper(months, 16);
    return b.select(isNextYear, minus(month, b.i64(12)), month);
  }
  Value year = b.add(b.add(times(century, 100), yearOfCentury), b.i64(-kEras * kEraYears));
  return b.add(year, b.zeroExtend(isNextYear, b.getI64Type()));
}

namespace {
HrTextForm codeOf(pipe::TextForm form) {
  switch (form) {
  case pipe::TextForm::Integer:
    return HR_TEXT_INTEGER;
  case pipe::TextForm::Date:
    return HR_TEXT_DATE;
  case pipe::TextForm::Timestamp:
    return HR_TEXT_TIMESTAMP;
  case pipe::TextForm::ZonedTimestamp:
    return HR_TEXT_ZONED_TIMESTAMP;
  case pipe::TextForm::Time:
    return HR_TEXT_TIME;
  case pipe::TextForm::Boolean:
    return HR_TEXT_BOOLEAN;
  case pipe::TextForm::Double:
    return HR_TEXT_DOUBLE;
  case pipe::TextForm::Float:
    return HR_TEXT_FLOAT;
  }
  llvm_unreachable("unknown form of text");
}

HrErrorCode codeOf(pipe::DataError error) {
  switch (error) {
  case pipe::DataError::Overflow:
    return HR_ERROR_OVERFLOW;
  case pipe::DataError::DivisionByZero:
    return HR_ERROR_DIVISION_BY_ZERO;
  case pipe::DataError::InvalidCast:
    return HR_ERROR_INVALID_CAST;
  case pipe::DataError::MoreThanOneRow:
    return HR_ERROR_MORE_THAN_ONE_ROW;
  case pipe::DataError::Raised:
    return HR_ERROR_RAISED;
  }
  llvm_unreachable("unknown error in data");
}

/// How an order, less than zero for a smaller left side, compares with zero.
arith::CmpIPredicate predicateOf(pipe::StringPredicate predicate) {
  switch (predicate) {
  case pipe::StringPredicate::Eq:
    return arith::CmpIPredicate::eq;
  case pipe::StringPredicate::Ne:
    return arith::CmpIPredicate::ne;
  case pipe::StringPredicate::Lt:
    return arith::CmpIPredicate::slt;
  case pipe::StringPredicate::Le:
    return arith::CmpIPredicate::sle;
  case pipe::StringPredicate::Gt:
    return arith::CmpIPredicate::sgt;
  case pipe::StringPredicate::Ge:
    return arith::CmpIPredicate::sge;
  }
  llvm_unreachable("unknown comparison");
}
} // namespace

LogicalResult PipelineCode::lowerTextOp(Operation *op, IRMapping &mapping) {
  auto operand = [&](unsigned index) { return mapping.lookupOrDefault(op->getOperand(index)); };
  Type i64 = b_.getI64Type();
  if (auto print = dyn_cast<pipe::PrintOp>(op)) {
    Value value = b_.slot(operand(0).getType());
    b_.store(operand(0), value);
    Value memory = b_.slot(i64, (HR_TEXT_PRINTED + HR_PADDING) / 8), out = b_.slot(i64, 2);
    b_.callImport("hr_text_print", {b_.i32(codeOf(print.getAs())), value,
                                    b_.i32(static_cast<int64_t>(print.getScale())), memory, out});
    mapping.map(op->getResult(0), out);
    return success();
  }
  if (auto parse = dyn_cast<pipe::ParseOp>(op)) {
    Value out = b_.slot(parse.getValue().getType());
    Value valid =
        b_.callImport("hr_text_parse", {b_.i32(codeOf(parse.getAs())), operand(0),
                                        b_.i32(static_cast<int64_t>(parse.getScale())), out});
    mapping.map(op->getResult(0), b_.load(parse.getValue().getType(), out));
    mapping.map(op->getResult(1), b_.compare(arith::CmpIPredicate::ne, valid, b_.i32(0)));
    return success();
  }
  auto text = cast<pipe::TextOp>(op);
  Value buffer = textBuffer(), worker = workerPointer();
  if (!buffer || !worker) {
    return failure();
  }
  const TextFunction &function = *textFunctionNamed(text.getFunction());
  unsigned count = text.getOperands().size();
  Value arguments = b_.slot(i64, count), out = b_.slot(i64, sizeof(HrTextResult) / 8);
  for (unsigned index = 0; index < count; ++index) {
    b_.store(operand(index), b_.at(arguments, index * sizeof(HrTextArgument)));
  }
  check(b_.callImport("hr_text",
                      {worker, buffer, b_.i32(function.number), arguments, b_.i32(count), out}));
  auto isSet = [&](size_t offset) {
    return b_.compare(arith::CmpIPredicate::ne, b_.loadField(i64, out, offset), b_.i64(0));
  };
  bool isText = function.givesText();
  bool isBoolean = function.result == TextFunction::Result::kBoolean;
  mapping.map(text.getResult(), isText ? out
                                : isBoolean
                                    ? isSet(offsetof(HrTextResult, number))
                                    : b_.loadField(i64, out, offsetof(HrTextResult, number)));
  if (text.getNone()) {
    mapping.map(text.getNone(), isSet(offsetof(HrTextResult, none)));
  }
  return success();
}

/// It is read each time: rows that the kernel inserts move it.
void PipelineCode::lowerBound(pipe::BoundOp op, IRMapping &mapping) {
  Value rows = boundedRows(op.getState());
  Type type = op.getKey().getType();
  if (!rows) {
    Value none = b_.slot(b_.getI64Type(), 2);
    b_.storeField(b_.i64(0), none, 0);
    b_.storeField(b_.i64(0), none, 8);
    mapping.map(op.getKey(), loadValue(b_, type, none));
    mapping.map(op.getKnown(), b_.integer(b_.getI1Type(), 0));
    return;
  }
  mapping.map(op.getKey(), loadValue(b_, type, b_.at(rows, offsetof(HrRowBuffer, bound))));
  mapping.map(op.getKnown(),
              loadValue(b_, b_.getI1Type(), b_.at(rows, offsetof(HrRowBuffer, isBounded))));
}

LogicalResult PipelineCode::lowerScalarOp(Operation *op, IRMapping &mapping) {
  auto operand = [&](unsigned index) { return mapping.lookupOrDefault(op->getOperand(index)); };
  auto result = [&](Value value) { mapping.map(op->getResult(0), value); };
  auto isTrue = [&](Value code) { return b_.compare(arith::CmpIPredicate::ne, code, b_.i32(0)); };
  auto spill = [&](Value wide) {
    Value memory = b_.slot(wide.getType());
    b_.store(wide, memory);
    return memory;
  };
  if (auto literal = dyn_cast<pipe::LiteralOp>(op)) {
    result(stringLiteral(literal.getValue()));
    return success();
  }
  if (isa<pipe::RunSeedOp>(op)) {
    if (!workerPointer()) {
      return failure();
    }
    result(prologueValue(
        [&] { return b_.loadField(b_.getI64Type(), workerPointer(), offsetof(HrWorker, seed)); }));
    return success();
  }
  if (isa<pipe::KeyHashOp>(op)) {
    result(hashValue(op->getOperand(0).getType(), {operand(0), Value()}));
    return success();
  }
  if (auto bound = dyn_cast<pipe::BoundOp>(op)) {
    lowerBound(bound, mapping);
    return success();
  }
  if (isa<pipe::SelectOp>(op)) {
    result(b_.select(operand(0), operand(1), operand(2)));
    return success();
  }
  if (isa<pipe::TextOp, pipe::PrintOp, pipe::ParseOp>(op)) {
    return lowerTextOp(op, mapping);
  }
  if (auto loop = dyn_cast<pipe::LoopOp>(op)) {
    return lowerLoop(loop, mapping);
  }
  if (auto element = dyn_cast<pipe::ListElementOp>(op)) {
    lowerListElement(element, mapping);
    return success();
  }
  if (auto place = dyn_cast<pipe::PlaceOp>(op)) {
    if (!rankNumber()) {
      return failure();
    }
    result(placeAlong(op, place.getAxes()).first);
    return success();
  }
  if (auto owns = dyn_cast<pipe::OwnsOp>(op)) {
    if (!rankNumber()) {
      return failure();
    }
    if (owns.getCycle()) {
      RowValue key{operand(0), owns.getNullable()[0] ? operand(1) : Value()};
      result(isOwn(placeInCycle(key, *owns.getCycle()), owns));
      return success();
    }
    Value hash;
    unsigned index = 0;
    for (bool nullable : owns.getNullable()) {
      Type type = op->getOperand(index).getType();
      RowValue value{operand(index), nullable ? operand(index + 1) : Value()};
      hash = mixHashes(hash, hashValue(type, value));
      index += nullable ? 2 : 1;
    }
    result(isOwn(placeOfHash(hash ? hash : b_.i64(0)), owns));
    return success();
  }
  if (auto compare = dyn_cast<pipe::StringCompareOp>(op)) {
    using Predicate = pipe::StringPredicate;
    Predicate predicate = compare.getPredicate();
    if (predicate == Predicate::Eq || predicate == Predicate::Ne) {
      Value equal = equalValues(pipe::StringType::get(b_.getContext()), operand(0), operand(1));
      if (predicate == Predicate::Ne) {
        equal = arith::XOrIOp::create(b_, b_.loc(), equal, b_.integer(b_.getI1Type(), 1));
      }
      result(equal);
      return success();
    }
    Value order = b_.callImport("hr_string_compare", {operand(0), operand(1)});
    result(b_.compare(predicateOf(predicate), order, b_.i32(0)));
    return success();
  }
  if (auto match = dyn_cast<pipe::StringMatchOp>(op)) {
    if (auto simple = simplePattern(match.getPattern(), match.getEscape().has_value())) {
      Value literal = stringLiteral(simple->text);
      const bool searched = simple->front && simple->back;
      if (!searched && simple->text.size() <= kComparedBytes) {
        result(matchEnd(b_, operand(0), literal, *simple));
        return success();
      }
      const char *import = searched        ? "hr_string_contains"
                           : simple->front ? "hr_string_ends_with"
                           : simple->back  ? "hr_string_starts_with"
                                           : "hr_string_equal";
      result(isTrue(b_.callImport(import, {operand(0), literal})));
      return success();
    }
    int32_t escape = match.getEscape() ? static_cast<uint8_t>((*match.getEscape())[0]) : -1;
    result(isTrue(b_.callImport("hr_string_like",
                                {operand(0), stringLiteral(match.getPattern()), b_.i32(escape)})));
    return success();
  }
  if (isa<pipe::SubstringOp>(op)) {
    Value out = b_.slot(b_.getI64Type(), 2);
    b_.callImport("hr_string_substring", {operand(0), operand(1), operand(2), out});
    result(out);
    return success();
  }
  if (auto part = dyn_cast<pipe::DatePartOp>(op)) {
    result(civilPart(b_, part.getPart(), operand(0)));
    return success();
  }
  if (auto math = dyn_cast<pipe::MathOp>(op)) {
    Value number = b_.i32(mathFunctionNamed(math.getFunction())->number);
    result(b_.callImport("hr_math", {number, operand(0), operand(op->getNumOperands() - 1)}));
    return success();
  }
  if (auto math = dyn_cast<pipe::IntegerMathOp>(op)) {
    Value number = b_.i32(mathFunctionNamed(math.getFunction())->number);
    Type type = math.getResult().getType();
    const bool isWide = type.isInteger(128);
    auto argument = [&](unsigned index) { return isWide ? spill(operand(index)) : operand(index); };
    Value out = b_.slot(type);
    Value none = b_.callImport(isWide ? "hr_wide_math" : "hr_integer_math",
                               {number, argument(0), argument(math.getOperands().size() - 1), out});
    result(b_.load(type, out));
    mapping.map(op->getResult(1), isTrue(none));
    return success();
  }
  if (isa<pipe::MultiplyOp>(op)) {
    Value out = b_.slot(b_.getIntegerType(128));
    Value overflow = b_.callImport("hr_multiply_i128", {spill(operand(0)), spill(operand(1)), out});
    result(b_.load(b_.getIntegerType(128), out));
    mapping.map(op->getResult(1), isTrue(overflow));
    return success();
  }
  if (isa<arith::RemFOp>(op)) {
    result(b_.callImport("fmod", {operand(0), operand(1)}));
    return success();
  }
  if (isa<pipe::ToFloatOp>(op)) {
    result(b_.callImport("hr_i128_to_f64", {spill(operand(0))}));
    return success();
  }
  if (isa<pipe::DivideOp>(op)) {
    Value out = b_.slot(b_.getIntegerType(128));
    Value error = b_.callImport("hr_divide_i128",
                                {spill(operand(0)), spill(operand(1)), spill(operand(2)), out});
    result(b_.load(b_.getIntegerType(128), out));
    mapping.map(op->getResult(1), isTrue(error));
    return success();
  }
  if (auto fail = dyn_cast<pipe::FailIfOp>(op)) {
    failIf(operand(0), codeOf(fail.getError()));
    return success();
  }
  return failure();
}

} // namespace headrace::lower
