// Verifier and type rule of `frame.join`.
#include "dialects/frame/FrameOps.h"
#include "dialects/frame/FrameVerify.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace headrace::frame;

static void appendColumns(SmallVector<Column> &columns, TableType table, Nullability added) {
  for (Column column : table.getColumns()) {
    if (added == Nullability::kMaybe) {
      column.type = addNullable(column.type);
    }
    columns.push_back(column);
  }
}

TableType JoinOp::inferResultType(JoinKind kind, TableType left, TableType right,
                                  Column mark) {
  MLIRContext *context = left.getContext();
  bool leftMissing = kind == JoinKind::Right || kind == JoinKind::Full;
  bool rightMissing =
      kind == JoinKind::Left || kind == JoinKind::Single || kind == JoinKind::Full;
  SmallVector<Column> columns;
  appendColumns(columns, left, leftMissing ? Nullability::kMaybe : Nullability::kNever);
  switch (kind) {
  case JoinKind::Inner:
  case JoinKind::Left:
  case JoinKind::Single:
  case JoinKind::Right:
  case JoinKind::Full:
    appendColumns(columns, right, rightMissing ? Nullability::kMaybe : Nullability::kNever);
    break;
  case JoinKind::Semi:
  case JoinKind::Anti:
    break;
  case JoinKind::Mark:
    columns.push_back(mark);
    break;
  }
  return TableType::get(context, columns);
}

void JoinOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  if (std::optional<ArrayAttr> columns = getResidualColumns()) {
    nameColumnArguments(region, *columns, setName);
  }
}

static LogicalResult verifyKeys(JoinOp op) {
  if (op.getLeftKeys().size() != op.getRightKeys().size()) { // C1
    return op.emitOpError("needs as many left as right keys, got ")
           << op.getLeftKeys().size() << " and " << op.getRightKeys().size();
  }
  for (auto [left, right] : llvm::zip_equal(op.getLeftKeys().getAsRange<StringAttr>(),
                                            op.getRightKeys().getAsRange<StringAttr>())) {
    Type leftType = op.getLeft().getType().getColumnType(left);
    Type rightType = op.getRight().getType().getColumnType(right);
    if (!leftType) { // C1
      return op.emitOpError("left key is not a column of the left side: ") << left;
    }
    if (!rightType) { // C1
      return op.emitOpError("right key is not a column of the right side: ") << right;
    }
    if (!isSameValueType(leftType, rightType)) { // C2
      return op.emitOpError("keys must have the same type, got ")
             << left << ": " << leftType << " and " << right << ": " << rightType;
    }
  }
  return success();
}

/// The flags that change what NULL means.
static LogicalResult verifyNullRules(JoinOp op) {
  size_t keys = op.getLeftKeys().size();
  bool aware = op.getNullAware();
  bool hasMarks = op.getKind() == JoinKind::Anti || op.getKind() == JoinKind::Mark;
  if (aware && (!hasMarks || (keys == 0 && !op.hasResidual()))) { // C6
    return op.emitOpError("null_aware needs an anti or mark join with a key or a residual");
  }
  if (op.getNullSafe() && op.getNullSafe()->size() != keys) { // C7
    return op.emitOpError("null_safe needs one entry per key, got ")
           << op.getNullSafe()->size() << " for " << keys;
  }
  if (aware && keys > 0 && op.isNullSafe(keys - 1)) { // C7
    return op.emitOpError("the last key of a null_aware join must not be null_safe");
  }
  return success();
}

LogicalResult JoinOp::verify() {
  if (failed(verifyKeys(*this)) || failed(verifyNullRules(*this))) {
    return failure();
  }
  if (getResidualColumns().has_value() != hasResidual()) { // C3
    return emitOpError("needs residual columns exactly if it has a residual region");
  }
  if (getResidualColumns() &&
      failed(verifyUnique(*this, *getResidualColumns(), "residual column"))) { // C3
    return failure();
  }
  TableType left = getLeft().getType();
  TableType right = getRight().getType();
  TableType result = getResult().getType();
  bool bothSides =
      getKind() != JoinKind::Semi && getKind() != JoinKind::Anti && getKind() != JoinKind::Mark;
  for (StringAttr name : right.getNames()) { // C5: the result would have the name twice
    if (left.hasColumn(name) && (bothSides || hasResidual())) {
      return emitOpError("left and right must not share a column name, got: ") << name;
    }
  }
  Column mark;
  if (getKind() == JoinKind::Mark) {
    if (result.getNumColumns() != left.getNumColumns() + 1 ||
        left.hasColumn(result.getNames().back())) { // C5
      return emitOpError("a mark join must add one new column to the left side, got ") << result;
    }
    Type truth = IntegerType::get(getContext(), 1);
    mark = {result.getNames().back(), getNullAware() ? addNullable(truth) : truth};
  }
  TableType expected = inferResultType(getKind(), left, right, mark);
  if (result != expected) { // C5
    return emitOpError("result type must be ") << expected << ", got " << result;
  }
  return success();
}

LogicalResult JoinOp::verifyRegions() {
  if (!hasResidual()) {
    return success();
  }
  if (failed(verifyColumnArguments(*this, getResidual(), *getResidualColumns(),
                                   {getLeft().getType(), getRight().getType()}))) { // C3
    return failure();
  }
  return verifyPredicate(*this, getResidual()); // C4
}
