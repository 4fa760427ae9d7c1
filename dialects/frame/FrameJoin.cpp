// `frame.join`: verifier, type rule, what it means to passes.
#include "dialects/frame/ColumnLists.h"
#include "dialects/frame/ExpressionText.h"
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

TableType JoinOp::inferResultType(JoinKind kind, TableType left, TableType right, Column mark) {
  MLIRContext *context = left.getContext();
  bool leftMissing = kind == JoinKind::Right || kind == JoinKind::Full;
  bool rightMissing = kind == JoinKind::Left || kind == JoinKind::Single || kind == JoinKind::Full;
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

//===----------------------------------------------------------------------===//
// What it means to passes
//===----------------------------------------------------------------------===//

using MostRows = std::optional<uint64_t>;

/// Whether the result has the right side's columns.
static bool hasRightColumns(JoinKind kind) {
  return kind != JoinKind::Semi && kind != JoinKind::Anti && kind != JoinKind::Mark;
}

/// In which rows of the result the columns of a side (0: left) have a value of that side.
static Passing passingOf(JoinKind kind, unsigned side) {
  bool missing = side == 0 ? kind == JoinKind::Right || kind == JoinKind::Full
                           : kind != JoinKind::Inner && kind != JoinKind::Right;
  return missing ? Passing::kOrNull : Passing::kAlways;
}

/// Whether a join only marks rows, and nobody looks.
static bool isUnusedMark(JoinOp join, const ColumnSet &wanted) {
  return join.getKind() == JoinKind::Mark && !wanted.contains(join.getMark().name);
}

SmallVector<PassedColumn> JoinOp::getPassedColumns() {
  SmallVector<PassedColumn> passed = passAll(getLeft(), 0, passingOf(getKind(), 0));
  if (hasRightColumns(getKind())) {
    llvm::append_range(passed, passAll(getRight(), 1, passingOf(getKind(), 1)));
  }
  return passed;
}

ColumnSet JoinOp::getNeededColumns(unsigned operand, const ColumnSet &wanted) {
  bool isLeft = operand == 0;
  if (isUnusedMark(*this, wanted)) {
    return isLeft ? wanted : ColumnSet();
  }
  TableType side = isLeft ? getLeft().getType() : getRight().getType();
  ColumnSet needed;
  for (StringAttr name : wanted) {
    if (side.hasColumn(name) && (isLeft || hasRightColumns(getKind()))) {
      needed.insert(name);
    }
  }
  addNames(needed, isLeft ? getLeftKeys() : getRightKeys());
  if (hasResidual()) {
    for (StringAttr name : getResidualColumns()->getAsRange<StringAttr>()) {
      if (side.hasColumn(name)) {
        needed.insert(name);
      }
    }
  }
  return needed;
}

SpareColumns JoinOp::getSpareColumns() { return SpareColumns::kDrop; }

Value JoinOp::createNarrowed(OpBuilder &builder, ValueRange inputs, const ColumnSet &wanted) {
  if (isUnusedMark(*this, wanted)) {
    return inputs[0];
  }
  TableType type = inferResultType(getKind(), cast<TableType>(inputs[0].getType()),
                                   cast<TableType>(inputs[1].getType()), getMark());
  auto join =
      JoinOp::create(builder, getLoc(), type, getKind(), inputs[0], inputs[1], getLeftKeys(),
                     getRightKeys(), getNullSafeAttr(), getResidualColumnsAttr(), getNullAware());
  join.getResidual().takeBody(getResidual());
  return join;
}

void JoinOp::renameColumns(NewName newName) {
  setLeftKeysAttr(renamedNames(getLeftKeys(), newName));
  setRightKeysAttr(renamedNames(getRightKeys(), newName));
  if (std::optional<ArrayAttr> columns = getResidualColumns()) {
    setResidualColumnsAttr(renamedNames(*columns, newName));
  }
}

ArrayAttr JoinOp::getRegionColumns() { return getResidualColumnsAttr(); }

SmallVector<std::pair<StringAttr, StringAttr>> JoinOp::getEqualColumns() {
  SmallVector<std::pair<StringAttr, StringAttr>> pairs;
  if (getKind() == JoinKind::Inner) {
    for (auto [left, right] : llvm::zip_equal(getLeftKeys().getAsRange<StringAttr>(),
                                              getRightKeys().getAsRange<StringAttr>())) {
      pairs.push_back({left, right});
    }
  }
  return pairs;
}

RowFlow JoinOp::getRowFlow() { return RowFlow::kProbe; }
RowOrdering JoinOp::getOrdering() { return RowOrdering::kNone; }
RowState JoinOp::getState() { return {RowState::Kind::kJoinTable}; }

bool JoinOp::letsConditionsThrough(ArrayRef<StringAttr> columns) {
  auto allIn = [&](unsigned side, TableType type) {
    return passingOf(getKind(), side) == Passing::kAlways &&
           llvm::all_of(columns, [&](StringAttr column) { return type.hasColumn(column); });
  };
  return allIn(0, getLeft().getType()) || allIn(1, getRight().getType());
}

MostRows JoinOp::getMostRows(ArrayRef<MostRows> inputs) {
  auto [left, right] = std::pair(inputs[0], inputs[1]);
  auto product = [](MostRows a, MostRows b) -> MostRows {
    uint64_t rows;
    bool known = a && b && !__builtin_mul_overflow(*a, *b, &rows);
    return known ? MostRows(rows) : std::nullopt;
  };
  // A row without a match comes out once.
  auto orOne = [](MostRows rows) { return rows ? MostRows(std::max<uint64_t>(*rows, 1)) : rows; };
  switch (getKind()) {
  case JoinKind::Inner:
    return product(left, right);
  case JoinKind::Left:
    return product(left, orOne(right));
  case JoinKind::Right:
    return product(orOne(left), right);
  case JoinKind::Full:
    return product(product(orOne(left), orOne(right)), 2);
  case JoinKind::Single:
  case JoinKind::Semi:
  case JoinKind::Anti:
  case JoinKind::Mark:
    return left;
  }
  llvm_unreachable("unknown kind of join");
}

RowSharding JoinOp::getSharding() {
  JoinKind kind = getKind();
  RowSharding sharding;
  // The side that is whole everywhere must not have to report rows without a match.
  if (kind != JoinKind::Right && kind != JoinKind::Full) {
    sharding.follows.push_back(0);
  }
  if (kind == JoinKind::Right || kind == JoinKind::Inner) {
    sharding.follows.push_back(1);
  }
  // NOT IN looks at the whole right side (is it empty, has it NULL): one rank's part does not tell.
  if (!getLeftKeys().empty() && !getNullAware()) {
    sharding.together.push_back(llvm::to_vector<2>(getLeftKeys().getAsRange<StringAttr>()));
    sharding.together.push_back(llvm::to_vector<2>(getRightKeys().getAsRange<StringAttr>()));
  }
  sharding.togetherLikeOperand = kind == JoinKind::Full    ? std::optional<unsigned>()
                                 : kind == JoinKind::Right ? std::optional<unsigned>(1)
                                                           : std::optional<unsigned>(0);
  return sharding;
}

std::string JoinOp::getVariant() { return stringifyJoinKind(getKind()).str(); }

std::string JoinOp::getDetail() {
  std::string text;
  for (auto [left, right] :
       llvm::zip(getLeftKeys().getAsRange<StringAttr>(), getRightKeys().getAsRange<StringAttr>())) {
    text += (text.empty() ? "" : ", ") + left.str() + " = " + right.str();
  }
  if (hasResidual()) {
    text += (text.empty() ? "" : ", ") + expressionText(getResidual(), *getResidualColumns());
  }
  return text;
}
