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

pipe::PageForm formOf(plan::PageForm form) {
  switch (form) {
  case plan::PageForm::kValues:
    return pipe::PageForm::Values;
  case plan::PageForm::kCode:
    return pipe::PageForm::Code;
  case plan::PageForm::kGathered:
    return pipe::PageForm::Gathered;
  }
  llvm_unreachable("unknown form of pages");
}

/// The column as the kernel and storage see it; how long its texts are goes into `info`.
pipe::ScanColumnAttr describe(frame::ScanOp scan, StringAttr fileColumn, Type type, bool bounded,
                              ColumnInfo &info) {
  Builder b(type.getContext());
  bool text = frame::isHeldAsText(info.type);
  double width = text ? 0 : std::max(info.body.getIntOrFloatBitWidth() / 8.0, 1.0);
  analysis::ColumnPages pages = analysis::pagesOf(scan, fileColumn.getValue(), type, width);
  info.textBytes = text ? pages.textBytes : 0;
  auto integer = [&](__int128 value) {
    return bounded ? b.getI64IntegerAttr(static_cast<int64_t>(value)) : IntegerAttr();
  };
  auto range = info.range.value_or(Range{0, 0});
  return pipe::ScanColumnAttr::get(
      b.getContext(), fileColumn, b.getStringAttr(info.name), info.type, integer(range.low),
      integer(range.high), formOf(pages.form), b.getF64FloatAttr(pages.bytes),
      b.getF64FloatAttr(pages.fileBytes), text ? b.getF64FloatAttr(pages.textBytes) : FloatAttr(),
      text && pages.tried > 0 ? b.getF64FloatAttr(pages.tried) : FloatAttr(),
      analysis::isOrdered(analysis::statisticsOf(scan, fileColumn)));
}

ColumnInfo ordinals(const frame::Column &column) {
  ColumnInfo info;
  info.name = column.name.str();
  info.type = info.body = column.type;
  info.range = typeRange(info.type);
  return info;
}

pipe::ScanColumnAttr describeOrdinals(const ColumnInfo &info) {
  Builder b(info.type.getContext());
  constexpr double kBytes = 8;
  return pipe::ScanColumnAttr::get(b.getContext(), {}, b.getStringAttr(info.name), info.type, {},
                                   {}, pipe::PageForm::Values, b.getF64FloatAttr(kBytes), {}, {},
                                   {},
                                   /*ordered=*/true);
}

/// The same comparison with its sides exchanged; nothing for those that no statistics answer.
std::optional<pipe::BoundKind> boundKind(frame::CompareKind kind, bool exchanged) {
  using Kind = pipe::BoundKind;
  switch (kind) {
  case frame::CompareKind::Eq:
    return Kind::Eq;
  case frame::CompareKind::Lt:
    return exchanged ? Kind::Gt : Kind::Lt;
  case frame::CompareKind::Le:
    return exchanged ? Kind::Ge : Kind::Le;
  case frame::CompareKind::Gt:
    return exchanged ? Kind::Lt : Kind::Gt;
  case frame::CompareKind::Ge:
    return exchanged ? Kind::Le : Kind::Ge;
  case frame::CompareKind::Ne:
  case frame::CompareKind::IsNotDistinctFrom:
    return std::nullopt;
  }
  llvm_unreachable("unknown comparison");
}
} // namespace

/// The columns by whose hash the rows of a resident table are divided, if all of them are read.
static ArrayAttr residentColumns(frame::ScanOp scan, const OpenPipeline &open) {
  ArrayAttr keys = scan.getResidentAttr();
  SmallVector<Attribute> columns;
  for (Attribute key : keys ? keys : ArrayAttr::get(scan.getContext(), {})) {
    auto *file = llvm::find(scan.getFileColumns(), key);
    if (file != scan.getFileColumns().end()) {
      StringAttr name = scan.getType().getNames()[file - scan.getFileColumns().begin()];
      if (open.find(name)) {
        columns.push_back(name);
      }
    }
  }
  bool all = keys && !keys.empty() && columns.size() == keys.size();
  return all ? ArrayAttr::get(scan.getContext(), columns) : ArrayAttr();
}

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
    bool bounded = false;
    DictionaryAttr known = analysis::statisticsOf(scan, fileName);
    if (known && typeRange(info.type)) {
      auto low = integerAttr(known.get("min")), high = integerAttr(known.get("max"));
      if (low && high) {
        info.range = Range{*low, *high};
        if (info.nullable) { // the value under NULL is 0
          info.range = Range{std::min<__int128>(*low, 0), std::max<__int128>(*high, 0)};
        }
        bounded = true;
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
    descriptions.push_back(describe(scan, fileName, column.type, bounded, info));
    out.columns.push_back(info);
  }
  if (scan.getOrdinals() && needed.contains(table.getNames().back().getValue())) {
    out.columns.push_back(ordinals(table.getColumns().back()));
    descriptions.push_back(describeOrdinals(out.columns.back()));
    out.ordinals = out.columns.back().name;
  }
  OpBuilder builder = atEnd(out);
  ArrayAttr bounds = scan->getAttrOfType<ArrayAttr>("bounds");
  auto split = scan->getAttrOfType<ArrayAttr>(dist::DistDialect::getSplitAttrName());
  out.rows =
      pipe::ScanOp::create(builder, scan.getLoc(), rowsType(out.columns), scan.getTableNameAttr(),
                           b_.getArrayAttr(descriptions), bounds, expected, split,
                           split && split.size() == 1 ? residentColumns(scan, out) : ArrayAttr());
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
    bool exchanged = left.getDefiningOp<frame::ConstantOp>() != nullptr;
    if (exchanged) {
      std::swap(left, right);
    }
    std::optional<pipe::BoundKind> kind = boundKind(compare.getKind(), exchanged);
    auto constant = right.getDefiningOp<frame::ConstantOp>();
    auto argument = dyn_cast<BlockArgument>(left);
    if (!kind || !constant || !argument || argument.getOwner() != &body ||
        isa<UnitAttr>(constant.getValue())) {
      continue;
    }
    auto name = cast<StringAttr>(filter.getColumns()[argument.getArgNumber()]);
    for (auto column : scan.getColumns().getAsRange<pipe::ScanColumnAttr>()) {
      if (column.getColumn() != name || !column.getFile()) { // statistics know of columns of files
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
      bounds.push_back(pipe::BoundAttr::get(builder.getContext(), column.getFile(), *kind, value));
    }
  }
  if (!bounds.empty()) {
    scan.setBoundsAttr(builder.getArrayAttr(bounds));
  }
}

} // namespace headrace::form
