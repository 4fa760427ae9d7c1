// What scan, values and from_tensor mean to passes.
#include "dialects/frame/ColumnLists.h"
#include "dialects/frame/ExpressionText.h"

using namespace mlir;
using namespace headrace::frame;

using MostRows = std::optional<uint64_t>;

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

SmallVector<PassedColumn> ScanOp::getPassedColumns() { return {}; }
ColumnSet ScanOp::getNeededColumns(unsigned, const ColumnSet &) { return {}; }
SpareColumns ScanOp::getSpareColumns() { return SpareColumns::kAllow; }

Value ScanOp::createNarrowed(OpBuilder &builder, ValueRange, const ColumnSet &wanted) {
  SmallVector<Attribute> files;
  for (auto [file, name] : llvm::zip_first(getFileColumns(), getType().getNames())) {
    if (wanted.contains(name)) {
      files.push_back(file);
    }
  }
  bool ordinals = getOrdinals() && wanted.contains(getType().getNames().back());
  return ScanOp::create(builder, getLoc(), narrowed(getType(), wanted), getTableNameAttr(),
                        builder.getArrayAttr(files), ordinals, getResidentAttr(),
                        getStatisticsAttr());
}

void ScanOp::renameColumns(NewName) {} // those of the files keep their names
RowFlow ScanOp::getRowFlow() { return RowFlow::kSource; }
RowOrdering ScanOp::getOrdering() { return RowOrdering::kNone; }
bool ScanOp::letsConditionsThrough(ArrayRef<StringAttr>) { return false; }
MostRows ScanOp::getMostRows(ArrayRef<MostRows>) { return std::nullopt; }

RowSharding ScanOp::getSharding() {
  RowSharding sharding;
  sharding.anywhere = true;
  return sharding;
}

std::string ScanOp::getVariant() { return getTableName().str(); }
std::string ScanOp::getDetail() { return "(" + namesText(getFileColumns()) + ")"; }

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

SmallVector<PassedColumn> ValuesOp::getPassedColumns() { return {}; }
ColumnSet ValuesOp::getNeededColumns(unsigned, const ColumnSet &) { return {}; }
SpareColumns ValuesOp::getSpareColumns() { return SpareColumns::kAllow; }

Value ValuesOp::createNarrowed(OpBuilder &builder, ValueRange, const ColumnSet &wanted) {
  ColumnSet kept = atLeastOne(wanted, getType());
  SmallVector<Attribute> rows;
  for (ArrayAttr row : getRows().getAsRange<ArrayAttr>()) {
    SmallVector<Attribute> cells;
    for (auto [name, cell] : llvm::zip_equal(getType().getNames(), row)) {
      if (kept.contains(name)) {
        cells.push_back(cell);
      }
    }
    rows.push_back(builder.getArrayAttr(cells));
  }
  return ValuesOp::create(builder, getLoc(), narrowed(getType(), kept), builder.getArrayAttr(rows));
}

void ValuesOp::renameColumns(NewName) {}
RowFlow ValuesOp::getRowFlow() { return RowFlow::kSource; }
RowOrdering ValuesOp::getOrdering() { return RowOrdering::kNone; }
bool ValuesOp::letsConditionsThrough(ArrayRef<StringAttr>) { return false; }
MostRows ValuesOp::getMostRows(ArrayRef<MostRows>) { return getRows().size(); }
RowSharding ValuesOp::getSharding() { return {}; }
std::string ValuesOp::getDetail() { return ""; }

//===----------------------------------------------------------------------===//
// From a tensor
//===----------------------------------------------------------------------===//

SmallVector<PassedColumn> FromTensorOp::getPassedColumns() { return {}; }
ColumnSet FromTensorOp::getNeededColumns(unsigned, const ColumnSet &) { return {}; }
SpareColumns FromTensorOp::getSpareColumns() { return SpareColumns::kAllow; }
Value FromTensorOp::createNarrowed(OpBuilder &, ValueRange, const ColumnSet &) { return {}; }
void FromTensorOp::renameColumns(NewName) {}
RowFlow FromTensorOp::getRowFlow() { return RowFlow::kState; }
RowOrdering FromTensorOp::getOrdering() { return RowOrdering::kNone; }
bool FromTensorOp::letsConditionsThrough(ArrayRef<StringAttr>) { return false; }
MostRows FromTensorOp::getMostRows(ArrayRef<MostRows>) { return std::nullopt; }
RowSharding FromTensorOp::getSharding() { return {}; }
std::string FromTensorOp::getDetail() { return ""; }
