// What expand means to passes.
#include "dialects/frame/ColumnLists.h"
#include "dialects/frame/FrameOps.h"

using namespace mlir;
using namespace headrace::frame;

SmallVector<PassedColumn> ExpandOp::getPassedColumns() { return passAll(getInput()); }

ColumnSet ExpandOp::getNeededColumns(unsigned, const ColumnSet &wanted) {
  ColumnSet needed = wanted;
  needed.remove(getNumberAttr());
  needed.insert(getByAttr());
  return needed;
}

SpareColumns ExpandOp::getSpareColumns() { return SpareColumns::kDrop; }

Value ExpandOp::createNarrowed(OpBuilder &builder, ValueRange inputs, const ColumnSet &) {
  auto columns = cast<TableType>(inputs[0].getType()).getColumns();
  columns.push_back({getNumberAttr(), builder.getI64Type()});
  return ExpandOp::create(builder, getLoc(), TableType::get(getContext(), columns), inputs[0],
                          getByAttr(), getNumberAttr());
}

void ExpandOp::renameColumns(NewName newName) {
  setByAttr(newName(getByAttr()));
  setNumberAttr(newName(getNumberAttr()));
}

RowFlow ExpandOp::getRowFlow() { return RowFlow::kRowByRow; }
RowOrdering ExpandOp::getOrdering() { return RowOrdering::kKept; }
bool ExpandOp::letsConditionsThrough(ArrayRef<StringAttr>) { return true; }

std::optional<uint64_t> ExpandOp::getMostRows(ArrayRef<std::optional<uint64_t>>) {
  return std::nullopt;
}

RowSharding ExpandOp::getSharding() {
  RowSharding sharding;
  sharding.follows = {0};
  return sharding;
}

std::string ExpandOp::getDetail() { return "by " + getBy().str(); }
