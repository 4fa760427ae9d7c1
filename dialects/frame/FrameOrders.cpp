// What sort, limit and topk mean to passes.
#include "dialects/frame/ColumnLists.h"
#include "dialects/frame/ExpressionText.h"

#include <algorithm>

using namespace mlir;
using namespace headrace::frame;

using MostRows = std::optional<uint64_t>;

static ColumnSet withSortKeys(ColumnSet columns, ArrayAttr keys) {
  addSortKeys(columns, keys);
  return columns;
}

/// Rows that are left of at most `input` rows behind `offset`.
static MostRows mostOf(MostRows input, uint64_t offset, MostRows count) {
  if (!input) {
    return count;
  }
  uint64_t behind = *input - std::min(*input, offset);
  return count ? std::min(behind, *count) : behind;
}

/// Every rank keeps offset + count rows; only the last choice skips.
template <typename Op> static void keepForLastChoice(Op op, uint64_t count) {
  Builder builder(op.getContext());
  op.setCountAttr(builder.getI64IntegerAttr(static_cast<int64_t>(op.getOffset() + count)));
  op.setOffsetAttr(builder.getI64IntegerAttr(0));
}

static RowSharding inParts(RowSharding::Parts parts) {
  RowSharding sharding;
  sharding.parts = parts;
  return sharding;
}

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

SmallVector<PassedColumn> SortOp::getPassedColumns() { return passAll(getInput()); }
ColumnSet SortOp::getNeededColumns(unsigned, const ColumnSet &wanted) {
  return withSortKeys(wanted, getKeys());
}
SpareColumns SortOp::getSpareColumns() { return SpareColumns::kDrop; }
Value SortOp::createNarrowed(OpBuilder &builder, ValueRange inputs, const ColumnSet &) {
  return SortOp::create(builder, getLoc(), inputs[0].getType(), inputs[0], getKeys());
}
void SortOp::renameColumns(NewName newName) { setKeysAttr(renamedSortKeys(getKeys(), newName)); }

RowFlow SortOp::getRowFlow() { return RowFlow::kState; }
RowOrdering SortOp::getOrdering() { return RowOrdering::kMade; }
RowState SortOp::getState() { return {RowState::Kind::kOrder, getKeys()}; }
bool SortOp::letsConditionsThrough(ArrayRef<StringAttr>) { return true; }
MostRows SortOp::getMostRows(ArrayRef<MostRows> inputs) { return inputs[0]; }
RowSharding SortOp::getSharding() { return {}; }
std::string SortOp::getDetail() { return orderText(getKeys()); }

//===----------------------------------------------------------------------===//
// Limit
//===----------------------------------------------------------------------===//

SmallVector<PassedColumn> LimitOp::getPassedColumns() { return passAll(getInput()); }
ColumnSet LimitOp::getNeededColumns(unsigned, const ColumnSet &wanted) { return wanted; }
SpareColumns LimitOp::getSpareColumns() { return SpareColumns::kDrop; }
Value LimitOp::createNarrowed(OpBuilder &builder, ValueRange inputs, const ColumnSet &) {
  return LimitOp::create(builder, getLoc(), inputs[0].getType(), inputs[0], getOffsetAttr(),
                         getCountAttr());
}
void LimitOp::renameColumns(NewName) {}

RowFlow LimitOp::getRowFlow() { return RowFlow::kState; }
RowOrdering LimitOp::getOrdering() { return RowOrdering::kKept; }
RowState LimitOp::getState() { return {RowState::Kind::kOrder, {}, getOffset(), getCount()}; }
bool LimitOp::letsConditionsThrough(ArrayRef<StringAttr>) { return false; }
MostRows LimitOp::getMostRows(ArrayRef<MostRows> inputs) {
  return mostOf(inputs[0], getOffset(), getCount());
}
RowSharding LimitOp::getSharding() {
  return inParts(getCount() ? RowSharding::Parts::kLimit : RowSharding::Parts::kNone);
}
Operation *LimitOp::createFinal(OpBuilder &builder, Value parts) {
  return LimitOp::create(builder, getLoc(), getType(), parts, getOffsetAttr(), getCountAttr());
}
void LimitOp::makePartial() { keepForLastChoice(*this, *getCount()); }
std::string LimitOp::getDetail() { return rowRangeText(getOffset(), getCount()); }

//===----------------------------------------------------------------------===//
// Top-k
//===----------------------------------------------------------------------===//

SmallVector<PassedColumn> TopKOp::getPassedColumns() { return passAll(getInput()); }
ColumnSet TopKOp::getNeededColumns(unsigned, const ColumnSet &wanted) {
  return withSortKeys(wanted, getKeys());
}
SpareColumns TopKOp::getSpareColumns() { return SpareColumns::kDrop; }
Value TopKOp::createNarrowed(OpBuilder &builder, ValueRange inputs, const ColumnSet &) {
  return TopKOp::create(builder, getLoc(), inputs[0].getType(), inputs[0], getKeys(),
                        getOffsetAttr(), getCountAttr());
}
void TopKOp::renameColumns(NewName newName) { setKeysAttr(renamedSortKeys(getKeys(), newName)); }

RowFlow TopKOp::getRowFlow() { return RowFlow::kState; }
RowOrdering TopKOp::getOrdering() { return RowOrdering::kMade; }
RowState TopKOp::getState() { return {RowState::Kind::kOrder, getKeys(), getOffset(), getCount()}; }
bool TopKOp::letsConditionsThrough(ArrayRef<StringAttr>) { return false; }
MostRows TopKOp::getMostRows(ArrayRef<MostRows> inputs) {
  return mostOf(inputs[0], getOffset(), getCount());
}
RowSharding TopKOp::getSharding() { return inParts(RowSharding::Parts::kTopK); }
Operation *TopKOp::createFinal(OpBuilder &builder, Value parts) {
  return TopKOp::create(builder, getLoc(), getType(), parts, getKeysAttr(), getOffsetAttr(),
                        getCountAttr());
}
void TopKOp::makePartial() { keepForLastChoice(*this, getCount()); }
StringRef TopKOp::getTitle() { return "top"; }
std::string TopKOp::getDetail() {
  return rowRangeText(getOffset(), getCount()) + " by " + orderText(getKeys());
}
