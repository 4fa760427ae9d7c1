// Verifier of `frame.aggregate`.
#include "dialects/frame/FrameOps.h"
#include "dialects/frame/FrameVerify.h"

using namespace mlir;
using namespace headrace::frame;

bool headrace::frame::isMeasureType(AggregateFunction function, Type input, Type expected,
                                    Type actual) {
  if (actual == expected) {
    return true;
  }
  bool sums = ruleOf(function).result == AggregateResult::kSum;
  bool averages = ruleOf(function).result == AggregateResult::kMean;
  if (!(sums || averages) || isNullable(actual) != isNullable(expected)) {
    return false;
  }
  auto got = dyn_cast<DecimalType>(dropNullable(actual));
  if (isInteger(input)) {
    // 19 digits hold an i64.
    return sums && (dropNullable(actual).isSignlessInteger(128) ||
                    (got && got.getScale() == 0 && got.getPrecision() >= 19));
  }
  auto from = dyn_cast<DecimalType>(dropNullable(input));
  if (!from) {
    return false;
  }
  if (averages && dropNullable(actual).isF64()) {
    return true;
  }
  return got && got.getScale() == cast<DecimalType>(dropNullable(expected)).getScale() &&
         got.getPrecision() >= from.getPrecision();
}

static LogicalResult verifyMeasure(AggregateOp op, MeasureAttr measure, Column column) {
  TableType input = op.getInput().getType();
  Type inputType;
  if (StringAttr name = measure.getInput()) {
    inputType = input.getColumnType(name);
    if (!inputType) { // C2
      return op.emitOpError("measure input is not a column of the input: ") << name;
    }
  }
  if (op.getStage() == AggregateStage::Final && inputType != column.type) { // C6
    return op.emitOpError("of stage final needs inputs of its results' types, got ")
           << measure << " of type " << column.type;
  }
  Grouping grouping = op.getKeys().empty() ? Grouping::kGlobal : Grouping::kByKeys;
  Type expected = measureType(measure.getFunction(), inputType, grouping, op.getContext());
  if (!expected) { // C2
    return op.emitOpError("measure needs a numeric input, got ")
           << stringifyAggregateFunction(measure.getFunction()) << " of " << inputType;
  }
  if (column.name != measure.getName()) { // C3
    return op.emitOpError("result column must be named like its key or measure ")
           << measure.getName() << ", got " << column.name;
  }
  if (!isMeasureType(measure.getFunction(), inputType, expected, column.type)) { // C4
    return op.emitOpError("result column ")
           << column.name << " must be " << expected << ", got " << column.type;
  }
  return success();
}

/// Partial results must combine.
static LogicalResult verifyStage(AggregateOp op) {
  if (op.getStage() == AggregateStage::Complete) {
    return success();
  }
  for (MeasureAttr measure : op.getMeasureRange()) {
    if (!ruleOf(measure.getFunction()).combine) { // C5
      return op.emitOpError("has stage ") << stringifyAggregateStage(op.getStage())
                                          << ", but no partial states that combine exist for "
                                          << stringifyAggregateFunction(measure.getFunction());
    }
  }
  return success();
}

LogicalResult AggregateOp::verify() {
  if (failed(verifyStage(*this))) {
    return failure();
  }
  if (failed(verifyUnique(*this, getKeys(), "key"))) { // C1
    return failure();
  }
  TableType input = getInput().getType();
  TableType result = getResult().getType();
  if (result.getNumColumns() != getKeys().size() + getMeasures().size()) { // C3
    return emitOpError("result must have one column per key and measure, got ")
           << result.getNumColumns() << " for " << getKeys().size() << " keys and "
           << getMeasures().size() << " measures";
  }
  SmallVector<Column> columns = result.getColumns();
  for (auto [key, column] : llvm::zip_first(getKeys().getAsRange<StringAttr>(), columns)) {
    Type type = input.getColumnType(key);
    if (!type) { // C1
      return emitOpError("key is not a column of the input: ") << key;
    }
    if (column.name != key || column.type != type) { // C3
      return emitOpError("result column of key ")
             << key << ": " << type << " is " << column.name << ": " << column.type;
    }
  }
  ArrayRef<Column> measureColumns = ArrayRef(columns).drop_front(getKeys().size());
  for (auto [measure, column] : llvm::zip_equal(getMeasureRange(), measureColumns)) {
    if (failed(verifyMeasure(*this, measure, column))) {
      return failure();
    }
  }
  return success();
}
