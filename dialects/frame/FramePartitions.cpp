// What window means to passes.
#include "dialects/frame/ColumnLists.h"
#include "dialects/frame/ExpressionText.h"

using namespace mlir;
using namespace headrace::frame;

SmallVector<PassedColumn> WindowOp::getPassedColumns() { return passAll(getInput()); }

ColumnSet WindowOp::getNeededColumns(unsigned, const ColumnSet &wanted) {
  ColumnSet needed;
  for (StringAttr name : wanted) {
    if (getInput().getType().hasColumn(name)) {
      needed.insert(name);
    }
  }
  bool computes = false;
  for (WindowFunctionAttr function : getFunctionRange()) {
    if (wanted.contains(function.getName())) {
      needed.insert_range(function.getColumns());
      computes = true;
    }
  }
  if (computes) {
    addNames(needed, getPartition());
    addSortKeys(needed, getOrder());
  }
  return needed;
}

SpareColumns WindowOp::getSpareColumns() { return SpareColumns::kDrop; }

Value WindowOp::createNarrowed(OpBuilder &builder, ValueRange inputs, const ColumnSet &wanted) {
  SmallVector<Attribute> functions;
  SmallVector<Column> columns = cast<TableType>(inputs[0].getType()).getColumns();
  for (WindowFunctionAttr function : getFunctionRange()) {
    if (wanted.contains(function.getName())) {
      functions.push_back(function);
      columns.push_back({function.getName(), getType().getColumnType(function.getName())});
    }
  }
  if (functions.empty()) {
    return inputs[0];
  }
  return WindowOp::create(builder, getLoc(), TableType::get(getContext(), columns), inputs[0],
                          getPartition(), getOrder(), builder.getArrayAttr(functions),
                          getFirstAttr());
}

void WindowOp::renameColumns(NewName newName) {
  SmallVector<Attribute> functions;
  for (WindowFunctionAttr function : getFunctionRange()) {
    functions.push_back(function.renamed(newName));
  }
  setPartitionAttr(renamedNames(getPartition(), newName));
  setOrderAttr(renamedSortKeys(getOrder(), newName));
  setFunctionsAttr(ArrayAttr::get(getContext(), functions));
}

RowFlow WindowOp::getRowFlow() { return RowFlow::kState; }
RowOrdering WindowOp::getOrdering() { return RowOrdering::kNone; }
RowState WindowOp::getState() { return {RowState::Kind::kPartitions, getOrder()}; }

bool WindowOp::letsConditionsThrough(ArrayRef<StringAttr> columns) {
  return !columns.empty() && llvm::all_of(columns, [&](StringAttr column) {
    return llvm::is_contained(getPartition(), Attribute(column));
  });
}

std::optional<uint64_t> WindowOp::getMostRows(ArrayRef<std::optional<uint64_t>> inputs) {
  return inputs[0];
}

RowSharding WindowOp::getSharding() {
  RowSharding sharding;
  if (!getPartition().empty()) {
    sharding.together.push_back(llvm::to_vector<2>(getPartition().getAsRange<StringAttr>()));
  }
  return sharding;
}

std::string WindowOp::getDetail() {
  std::string text;
  for (WindowFunctionAttr function : getFunctionRange()) {
    text += text.empty() ? "" : ", ";
    text += function.getAggregate() ? stringifyAggregateFunction(*function.getAggregate())
                                    : stringifyWindowFunctionKind(function.getKind());
    if (StringAttr argument = function.getColumn(0)) {
      text += "(" + argument.getValue().str() + ")";
    }
    text += function.getOrder() ? " ordered by " + orderText(function.getOrder()) : "";
  }
  if (!getPartition().empty()) {
    text += " by " + namesText(getPartition());
  }
  text += getOrder().empty() ? "" : " in order of " + orderText(getOrder());
  return getFirst() ? text + " first " + std::to_string(*getFirst()) : text;
}
