// Scans: which columns of a table come in, what statistics prove of them, which row groups can be
// left out.
#include "passes/form/former.h"

#include "passes/analysis/scan_statistics.h"

using namespace mlir;

namespace headrace::form {

namespace {
std::optional<__int128> integerAttr(Attribute attr) {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attr)) {
    return integer.getValue().getSExtValue();
  }
  return std::nullopt;
}

/// For the cost model: how kernels will find the column's pages.
void describePages(NamedAttrList &description, frame::ScanOp scan, StringRef fileColumn, Type type,
                   ColumnInfo &info) {
  Builder b(type.getContext());
  bool text = frame::isString(info.type);
  double width = text ? 0 : std::max(info.body.getIntOrFloatBitWidth() / 8.0, 1.0);
  analysis::ColumnPages pages = analysis::pagesOf(scan, fileColumn, type, width);
  description.append("pages", b.getStringAttr(plan::nameOf(pages.form)));
  description.append("page_bytes", b.getF64FloatAttr(pages.bytes));
  description.append("file_bytes", b.getF64FloatAttr(pages.fileBytes));
  if (text) {
    info.textBytes = pages.textBytes;
    description.append("text_bytes", b.getF64FloatAttr(pages.textBytes));
  }
  if (analysis::isOrdered(analysis::statisticsOf(scan, fileColumn))) {
    description.append("ordered", b.getUnitAttr());
  }
}
} // namespace

FailureOr<OpenPipeline> Former::openScan(frame::ScanOp scan, const Names &needed) {
  OpenPipeline out = startPipeline(scan.getLoc(), "scan_" + scan.getTableName().str() + "_");
  DictionaryAttr statistics = scan.getStatisticsAttr();
  IntegerAttr expected;
  if (statistics) {
    // `rows` is an estimate if a bound stands beside it, else it is counted.
    auto rows = integerAttr(statistics.get("rows")),
         bound = integerAttr(statistics.get("rows_max"));
    if (rows) {
      out.rowsMax = static_cast<uint64_t>(bound ? *bound : *rows);
      expected = b_.getI64IntegerAttr(static_cast<int64_t>(*rows));
    }
  }
  SmallVector<Attribute> descriptions;
  auto table = scan.getResult().getType();
  for (auto [index, fileName] : llvm::enumerate(scan.getFileColumns().getAsRange<StringAttr>())) {
    frame::Column column = table.getColumns()[index];
    if (!needed.contains(column.name.getValue())) {
      continue;
    }
    ColumnInfo info;
    info.name = column.name.str();
    info.type = frame::dropNullable(column.type);
    info.nullable = frame::isNullable(column.type);
    NamedAttrList description;
    DictionaryAttr known = analysis::statisticsOf(scan, fileName);
    if (known && typeRange(info.type)) {
      auto low = integerAttr(known.get("min")), high = integerAttr(known.get("max"));
      if (low && high) {
        info.range = Range{*low, *high};
        if (info.nullable) { // the value under NULL is 0
          info.range = Range{std::min<__int128>(*low, 0), std::max<__int128>(*high, 0)};
        }
        description.append("min", b_.getI64IntegerAttr(static_cast<int64_t>(info.range->low)));
        description.append("max", b_.getI64IntegerAttr(static_cast<int64_t>(info.range->high)));
      }
    }
    if (!info.range) {
      info.range = typeRange(info.type);
    }
    if (known && info.nullable) {
      auto nulls = integerAttr(known.get("nulls"));
      info.nullable = !nulls || *nulls != 0;
    }
    info.body = bodyType(info.type, info.range);
    description.append("file", fileName);
    description.append("column", column.name);
    description.append("logical", b_.getStringAttr(logicalText(info.type)));
    describePages(description, scan, fileName, column.type, info);
    descriptions.push_back(description.getDictionary(b_.getContext()));
    out.columns.push_back(info);
  }
  OpBuilder builder = atEnd(out);
  ArrayAttr bounds = scan->getAttrOfType<ArrayAttr>("bounds");
  out.rows = pipe::ScanOp::create(
      builder, scan.getLoc(), rowsType(out.columns), scan.getTableNameAttr(),
      b_.getArrayAttr(descriptions), bounds, expected,
      scan->hasAttr(dist::DistDialect::getSplitAttrName()) ? b_.getUnitAttr() : UnitAttr());
  return out;
}

void addBounds(frame::FilterOp filter, pipe::ScanOp scan, OpBuilder &builder) {
  Block &body = filter.getPredicate().front();
  SmallVector<Value> conjuncts(body.getTerminator()->getOperands());
  SmallVector<Attribute> bounds;
  if (scan.getBounds()) {
    llvm::append_range(bounds, *scan.getBounds());
  }
  while (!conjuncts.empty()) {
    Operation *op = conjuncts.pop_back_val().getDefiningOp();
    if (auto conjunction = dyn_cast_or_null<frame::AndOp>(op)) {
      llvm::append_range(conjuncts, conjunction->getOperands());
      continue;
    }
    auto compare = dyn_cast_or_null<frame::CompareOp>(op);
    if (!compare) {
      continue;
    }
    Value left = compare.getLhs(), right = compare.getRhs();
    frame::CompareKind kind = compare.getKind();
    if (left.getDefiningOp<frame::ConstantOp>()) {
      std::swap(left, right);
      kind = kind == frame::CompareKind::Lt   ? frame::CompareKind::Gt
             : kind == frame::CompareKind::Le ? frame::CompareKind::Ge
             : kind == frame::CompareKind::Gt ? frame::CompareKind::Lt
             : kind == frame::CompareKind::Ge ? frame::CompareKind::Le
                                              : kind;
    }
    auto constant = right.getDefiningOp<frame::ConstantOp>();
    auto argument = dyn_cast<BlockArgument>(left);
    bool ordered = kind != frame::CompareKind::Ne && kind != frame::CompareKind::IsNotDistinctFrom;
    if (!constant || !argument || argument.getOwner() != &body || !ordered ||
        isa<UnitAttr>(constant.getValue())) {
      continue;
    }
    auto name = cast<StringAttr>(filter.getColumns()[argument.getArgNumber()]);
    for (auto column : scan.getColumns().getAsRange<DictionaryAttr>()) {
      if (column.get("column") != name) {
        continue;
      }
      Attribute value = constant.getValue();
      if (auto integer = dyn_cast<IntegerAttr>(value)) {
        if (integer.getType().isInteger(1) || !integer.getValue().isSignedIntN(64)) {
          continue;
        }
        value = builder.getI64IntegerAttr(integer.getValue().sextOrTrunc(64).getSExtValue());
      } else if (!isa<StringAttr, FloatAttr>(value)) {
        continue;
      }
      bounds.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("column", column.get("file")),
           builder.getNamedAttr("op", builder.getStringAttr(frame::stringifyCompareKind(kind))),
           builder.getNamedAttr("value", value)}));
    }
  }
  if (!bounds.empty()) {
    scan.setBoundsAttr(builder.getArrayAttr(bounds));
  }
}

} // namespace headrace::form
