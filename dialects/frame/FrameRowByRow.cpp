// What filter, project and rename mean to passes.
#include "dialects/frame/ColumnLists.h"
#include "dialects/frame/Expression.h"
#include "dialects/frame/ExpressionText.h"

using namespace mlir;
using namespace headrace::frame;

using MostRows = std::optional<uint64_t>;

/// The result's rows lie where the operand's do.
static RowSharding whereRowsAre() {
  RowSharding sharding;
  sharding.follows = {0};
  return sharding;
}

//===----------------------------------------------------------------------===//
// Filter
//===----------------------------------------------------------------------===//

SmallVector<PassedColumn> FilterOp::getPassedColumns() { return passAll(getInput()); }

ColumnSet FilterOp::getNeededColumns(unsigned, const ColumnSet &wanted) {
  ColumnSet needed = wanted;
  addNames(needed, getColumns());
  return needed;
}

SpareColumns FilterOp::getSpareColumns() { return SpareColumns::kAllow; }

Value FilterOp::createNarrowed(OpBuilder &builder, ValueRange inputs, const ColumnSet &) {
  auto filter = FilterOp::create(builder, getLoc(), inputs[0].getType(), inputs[0], getColumns());
  filter.getPredicate().takeBody(getPredicate());
  return filter;
}

void FilterOp::renameColumns(NewName newName) {
  setColumnsAttr(renamedNames(getColumns(), newName));
}

ArrayAttr FilterOp::getRegionColumns() { return getColumns(); }
RowFlow FilterOp::getRowFlow() { return RowFlow::kRowByRow; }
RowOrdering FilterOp::getOrdering() { return RowOrdering::kKept; }
bool FilterOp::letsConditionsThrough(ArrayRef<StringAttr>) { return true; }
MostRows FilterOp::getMostRows(ArrayRef<MostRows> inputs) { return inputs[0]; }
RowSharding FilterOp::getSharding() { return whereRowsAre(); }
std::string FilterOp::getDetail() { return expressionText(getPredicate(), getColumns()); }

//===----------------------------------------------------------------------===//
// Project
//===----------------------------------------------------------------------===//

SmallVector<PassedColumn> ProjectOp::getPassedColumns() {
  SmallVector<PassedColumn> passed;
  for (StringAttr name : getKept().getAsRange<StringAttr>()) {
    passed.push_back({0, name, name});
  }
  // A computed column that is only another name.
  for (auto [name, value] : llvm::zip_equal(getComputed().getAsRange<StringAttr>(),
                                            yieldedBy(getExpressions(), getColumns()))) {
    if (StringAttr source = asColumn(value)) {
      passed.push_back({0, source, name});
    }
  }
  return passed;
}

ColumnSet ProjectOp::getNeededColumns(unsigned, const ColumnSet &wanted) {
  ColumnSet needed;
  for (StringAttr name : wanted) {
    Expression computed = computedBy(*this, name);
    if (computed.value) {
      addColumnsOf(computed, needed);
    } else {
      needed.insert(name);
    }
  }
  return needed;
}

SpareColumns ProjectOp::getSpareColumns() { return SpareColumns::kAllow; }

Value ProjectOp::createNarrowed(OpBuilder &builder, ValueRange inputs, const ColumnSet &wanted) {
  SmallVector<StringAttr> names;
  SmallVector<Expression> values;
  for (auto [name, value] : llvm::zip_equal(getComputed().getAsRange<StringAttr>(),
                                            yieldedBy(getExpressions(), getColumns()))) {
    if (wanted.contains(name)) {
      names.push_back(name);
      values.push_back(value);
    }
  }
  return createProject(builder, getLoc(), inputs[0], narrowed(getType(), wanted), names, values);
}

void ProjectOp::renameColumns(NewName newName) {
  setKeptAttr(renamedNames(getKept(), newName));
  setComputedAttr(renamedNames(getComputed(), newName));
  setColumnsAttr(renamedNames(getColumns(), newName));
}

ArrayAttr ProjectOp::getRegionColumns() { return getColumns(); }
RowFlow ProjectOp::getRowFlow() { return RowFlow::kRowByRow; }
RowOrdering ProjectOp::getOrdering() { return RowOrdering::kKept; }
bool ProjectOp::letsConditionsThrough(ArrayRef<StringAttr>) { return true; }
MostRows ProjectOp::getMostRows(ArrayRef<MostRows> inputs) { return inputs[0]; }
RowSharding ProjectOp::getSharding() { return whereRowsAre(); }
StringRef ProjectOp::getTitle() { return "compute"; }
std::string ProjectOp::getDetail() { return expressionText(getExpressions(), getColumns()); }

//===----------------------------------------------------------------------===//
// Rename
//===----------------------------------------------------------------------===//

SmallVector<PassedColumn> RenameOp::getPassedColumns() {
  return passByPlace(getInput(), 0, getType());
}

ColumnSet RenameOp::getNeededColumns(unsigned, const ColumnSet &wanted) {
  return atSamePlaces(wanted, getType(), getInput().getType());
}

SpareColumns RenameOp::getSpareColumns() { return SpareColumns::kExact; }

Value RenameOp::createNarrowed(OpBuilder &builder, ValueRange inputs, const ColumnSet &wanted) {
  return RenameOp::create(builder, getLoc(), narrowed(getType(), wanted), inputs[0]);
}

void RenameOp::renameColumns(NewName) {}
RowFlow RenameOp::getRowFlow() { return RowFlow::kRowByRow; }
RowOrdering RenameOp::getOrdering() { return RowOrdering::kKept; }
bool RenameOp::letsConditionsThrough(ArrayRef<StringAttr>) { return true; }
MostRows RenameOp::getMostRows(ArrayRef<MostRows> inputs) { return inputs[0]; }
RowSharding RenameOp::getSharding() { return whereRowsAre(); }
std::string RenameOp::getDetail() { return ""; }
