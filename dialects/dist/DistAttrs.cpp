// Text form and checks of layouts.
#include "dialects/dist/DistDialect.h"
#include "dialects/frame/FrameAttrs.h"
#include "dialects/frame/FrameTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::dist;

#include "dialects/dist/DistEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/dist/DistAttrs.cpp.inc"

void DistDialect::registerAttrs() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/dist/DistAttrs.cpp.inc"
      >();
}

namespace {

ParseResult parseNames(AsmParser &parser, SmallVectorImpl<StringAttr> &names) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&] { return parser.parseAttribute(names.emplace_back()); });
}

void printNames(AsmPrinter &printer, ArrayRef<StringAttr> names) {
  printer << "[";
  llvm::interleaveComma(names, printer);
  printer << "]";
}

} // namespace

//===----------------------------------------------------------------------===//
// DimSplitAttr and RowsAttr
//===----------------------------------------------------------------------===//

Attribute DimSplitAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  if (parseNames(parser, axes)) {
    return {};
  }
  SplitKind kind =
      succeeded(parser.parseOptionalKeyword("ragged")) ? SplitKind::Ragged : SplitKind::Even;
  return DimSplitAttr::get(parser.getContext(), axes, kind);
}

void DimSplitAttr::print(AsmPrinter &printer) const {
  printNames(printer, getAxes());
  if (getKind() == SplitKind::Ragged) {
    printer << " ragged";
  }
}

Attribute RowsAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  StringRef keyword;
  SmallVector<StringAttr> keys;
  SmallVector<StringAttr> axes;
  if (parser.parseKeyword(&keyword)) {
    return {};
  }
  std::optional<RowKind> kind = symbolizeRowKind(keyword);
  if (!kind) {
    parser.emitError(location, "expected block, hash, range, scattered or root, got ") << keyword;
    return {};
  }
  ArrayAttr order;
  int64_t cycle = 0;
  if (succeeded(parser.parseOptionalLess())) {
    ParseResult parsed = kind == RowKind::Range ? parser.parseAttribute(order)
                                                : ParseResult(parseNames(parser, keys));
    if (parsed || (succeeded(parser.parseOptionalKeyword("cycle")) && parser.parseInteger(cycle)) ||
        parser.parseGreater()) {
      return {};
    }
  }
  if (parser.parseKeyword("over") || parseNames(parser, axes)) {
    return {};
  }
  return parser.getChecked<RowsAttr>(location, parser.getContext(), *kind, keys, axes, order,
                                     cycle);
}

void RowsAttr::print(AsmPrinter &printer) const {
  printer << stringifyRowKind(getKind());
  if (!getKeys().empty()) {
    printer << "<";
    printNames(printer, getKeys());
    if (getCycle()) {
      printer << " cycle " << getCycle();
    }
    printer << ">";
  }
  if (getOrder()) {
    printer << "<" << getOrder() << ">";
  }
  printer << " over ";
  printNames(printer, getAxes());
}

LogicalResult SkewAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t pair,
                               HeavyRows) {
  if (pair < 0) {
    return emitError() << "a pair of exchanges has a number from 0 on, got " << pair; // C1
  }
  return success();
}

LogicalResult RowsAttr::verify(function_ref<InFlightDiagnostic()> emitError, RowKind kind,
                               ArrayRef<StringAttr> keys, ArrayRef<StringAttr> axes,
                               ArrayAttr order, int64_t cycle) {
  bool hashed = kind == RowKind::Hash, ranged = kind == RowKind::Range;
  if (hashed == keys.empty()) {
    return emitError() << (hashed ? "rows need keys for " : "rows take no keys for ")
                       << stringifyRowKind(kind); // C1
  }
  bool ordered = order && !order.empty() && llvm::all_of(order, llvm::IsaPred<frame::SortKeyAttr>);
  if (ranged != ordered || (order && !ranged)) {
    return emitError() << (ranged ? "rows need an order for " : "rows take no order for ")
                       << stringifyRowKind(kind); // C1
  }
  if (axes.empty()) {
    return emitError() << "rows must be split over at least one axis"; // C2
  }
  if (cycle && (cycle < 0 || keys.size() != 1)) {
    return emitError() << "rows go in a cycle of a number of one key, got " << cycle << " for "
                       << keys.size() << " keys"; // C3
  }
  return success();
}

//===----------------------------------------------------------------------===//
// LayoutAttr
//===----------------------------------------------------------------------===//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  FlatSymbolRefAttr mesh;
  SmallVector<DimSplitAttr> dims;
  RowsAttr rows;
  SmallVector<StringAttr> unreducedAxes;
  SmallVector<Attribute> combines;
  auto parseDim = [&]() -> ParseResult {
    auto dim = cast_or_null<DimSplitAttr>(DimSplitAttr::parse(parser, Type()));
    dims.push_back(dim);
    return success(static_cast<bool>(dim));
  };
  auto parseUnreduced = [&]() -> ParseResult {
    // Not parseAttribute: it would take the colon for that of a typed string.
    std::string axis;
    if (parser.parseString(&axis) || parser.parseColon()) {
      return failure();
    }
    unreducedAxes.push_back(StringAttr::get(parser.getContext(), axis));
    SMLoc place = parser.getCurrentLocation();
    StringRef keyword;
    if (failed(parser.parseOptionalKeyword(&keyword))) {
      return parser.parseAttribute(combines.emplace_back());
    }
    std::optional<Combine> combine = symbolizeCombine(keyword);
    if (!combine) {
      return parser.emitError(place, "unknown way to combine: ") << keyword;
    }
    combines.push_back(CombineAttr::get(parser.getContext(), *combine));
    return success();
  };
  auto parsePart = [&]() -> ParseResult {
    StringRef part;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseKeyword(&part) || parser.parseEqual()) {
      return failure();
    }
    if (part == "dims") {
      return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim);
    }
    if (part == "rows") {
      rows = cast_or_null<RowsAttr>(RowsAttr::parse(parser, Type()));
      return success(static_cast<bool>(rows));
    }
    if (part == "unreduced") {
      return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseUnreduced);
    }
    return parser.emitError(place, "expected dims, rows or unreduced, got ") << part;
  };
  if (parser.parseLess() || parser.parseAttribute(mesh)) {
    return {};
  }
  while (succeeded(parser.parseOptionalComma())) {
    if (parsePart()) {
      return {};
    }
  }
  if (parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<LayoutAttr>(location, parser.getContext(), mesh, dims, rows,
                                       unreducedAxes, combines);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<" << getMesh();
  if (!getDims().empty()) {
    printer << ", dims = [";
    llvm::interleaveComma(getDims(), printer, [&](DimSplitAttr dim) { dim.print(printer); });
    printer << "]";
  }
  if (getRows()) {
    printer << ", rows = ";
    getRows().print(printer);
  }
  if (!getUnreducedAxes().empty()) {
    printer << ", unreduced = {";
    llvm::interleaveComma(llvm::zip_equal(getUnreducedAxes(), getCombines()), printer,
                          [&](auto entry) {
                            printer << std::get<0>(entry) << ": ";
                            if (auto combine = dyn_cast<CombineAttr>(std::get<1>(entry))) {
                              printer << stringifyCombine(combine.getValue());
                            } else {
                              printer << std::get<1>(entry);
                            }
                          });
    printer << "}";
  }
  printer << ">";
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 FlatSymbolRefAttr mesh, ArrayRef<DimSplitAttr> dims, RowsAttr rows,
                                 ArrayRef<StringAttr> unreducedAxes, ArrayRef<Attribute> combines) {
  if (unreducedAxes.size() != combines.size()) {
    // no test: the parser reads an axis and its way together
    return emitError() << "every unreduced axis needs one way to combine";
  }
  if (!dims.empty() && rows) {
    return emitError() << "a layout splits dims or rows, not both"; // C4
  }
  llvm::SmallPtrSet<StringAttr, 8> used;
  auto use = [&](ArrayRef<StringAttr> axes) -> LogicalResult {
    for (StringAttr axis : axes) {
      if (!used.insert(axis).second) {
        return emitError() << "a layout uses every mesh axis at most once, got twice: "
                           << axis; // C3
      }
    }
    return success();
  };
  for (DimSplitAttr dim : dims) {
    if (failed(use(dim.getAxes()))) {
      return failure();
    }
  }
  if (rows && failed(use(rows.getAxes()))) {
    return failure();
  }
  return use(unreducedAxes);
}

bool LayoutAttr::isReplicated() const {
  return !getRows() && !isUnreduced() &&
         llvm::all_of(getDims(), [](DimSplitAttr dim) { return dim.getAxes().empty(); });
}

bool headrace::dist::hasNeighbours(Type column) {
  constexpr unsigned kBitsMax = 64;
  const unsigned bits = column ? frame::signedBits(column) : 0;
  return bits != 0 && bits <= kBitsMax;
}

LogicalResult headrace::dist::verifyLayoutFits(LayoutAttr layout, Type type,
                                               function_ref<InFlightDiagnostic()> emitError) {
  auto table = dyn_cast<frame::TableType>(type);
  if (table && !layout.getDims().empty()) {
    return emitError() << "a table has rows, not dims: " << layout;
  }
  if (!table && layout.getRows()) {
    return emitError() << "only a table has rows: " << layout;
  }
  if (table && layout.getRows()) {
    for (StringAttr key : layout.getRows().getKeys()) {
      if (!table.hasColumn(key)) {
        return emitError() << "the table has no column " << key;
      }
      if (layout.getRows().getCycle() && !hasNeighbours(table.getColumnType(key))) {
        return emitError() << "only integers, dates and timestamps go in a cycle, got " << key;
      }
    }
    if (ArrayAttr order = layout.getRows().getOrder()) {
      for (auto key : order.getAsRange<frame::SortKeyAttr>()) {
        if (!table.hasColumn(key.getColumn())) {
          return emitError() << "the table has no column " << key.getColumn();
        }
      }
    }
  }
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    size_t rank = static_cast<size_t>(tensor.getRank());
    if (layout.getDims().size() != rank) {
      return emitError() << "a layout needs one entry in dims per dimension, got "
                         << layout.getDims().size() << " for " << type;
    }
  }
  return success();
}
