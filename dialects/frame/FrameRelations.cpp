// Verifiers and text forms of the relational ops, but for join and aggregate.
#include "dialects/frame/FrameConstants.h"
#include "dialects/frame/FrameOps.h"
#include "dialects/frame/FrameVerify.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace headrace::frame;

//===----------------------------------------------------------------------===//
// Sources and sinks
//===----------------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  TableType table = getResult().getType();
  const size_t columns = getFileColumns().size() + (getOrdinals() ? 1 : 0);
  if (columns != table.getNumColumns()) { // C1
    return emitOpError("needs one file column per result column, got ")
           << getFileColumns().size() << " for " << table.getNumColumns();
  }
  if (getOrdinals() && !table.getColumnTypes().back().isInteger(64)) {
    return emitOpError("ordinals are i64, got ") << table.getColumnTypes().back();
  }
  if (failed(verifyUnique(*this, getFileColumns(), "file column"))) { // C2
    return failure();
  }
  if (std::optional<DictionaryAttr> statistics = getStatistics()) { // C3
    Attribute rows = statistics->get("rows");
    if (rows && (!isa<IntegerAttr>(rows) || !cast<IntegerAttr>(rows).getType().isInteger(64))) {
      return emitOpError("statistics.rows must be an i64, got ") << rows;
    }
    Attribute columns = statistics->get("columns");
    if (columns && !isa<DictionaryAttr>(columns)) {
      return emitOpError("statistics.columns must be a dictionary, got ") << columns;
    }
  }
  return success();
}

ParseResult ValuesOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<SmallVector<Literal>> rows;
  SMLoc location = parser.getCurrentLocation();
  auto parseRow = [&]() -> ParseResult {
    SmallVector<Literal> &row = rows.emplace_back();
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                          [&] { return parseLiteral(parser, row.emplace_back()); });
  };
  TableType table;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRow) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(table)) {
    return failure();
  }
  SmallVector<Attribute> rowAttrs;
  for (const SmallVector<Literal> &row : rows) {
    if (row.size() != table.getNumColumns()) { // C1
      return parser.emitError(location, "needs one literal per column in each row, got ")
             << row.size() << " for " << table.getNumColumns();
    }
    SmallVector<Attribute> values;
    for (auto [literal, column] : llvm::zip_equal(row, table.getColumns())) {
      values.push_back(literalAttr(literal, column.type));
      if (!values.back()) { // C1
        return parser.emitError(location, "literal does not fit column ")
               << column.name << ": " << column.type;
      }
    }
    rowAttrs.push_back(parser.getBuilder().getArrayAttr(values));
  }
  state.addAttribute(getRowsAttrName(state.name), parser.getBuilder().getArrayAttr(rowAttrs));
  state.addTypes(table);
  return success();
}

void ValuesOp::print(OpAsmPrinter &printer) {
  TableType table = getResult().getType();
  printer << " [";
  llvm::interleaveComma(getRows().getAsRange<ArrayAttr>(), printer, [&](ArrayAttr row) {
    printer << "[";
    llvm::interleaveComma(llvm::zip(row, table.getColumnTypes()), printer, [&](auto cell) {
      printLiteral(printer, std::get<0>(cell), std::get<1>(cell));
    });
    printer << "]";
  });
  printer << "]";
  printer.printOptionalAttrDict((*this)->getAttrs(), {getRowsAttrName()});
  printer << " : " << table;
}

LogicalResult ValuesOp::verify() {
  TableType table = getResult().getType();
  for (Attribute attribute : getRows()) { // C1
    auto row = dyn_cast<ArrayAttr>(attribute);
    if (!row || row.size() != table.getNumColumns()) {
      return emitOpError("needs one literal per column in each row, got ") << attribute;
    }
    for (auto [value, column] : llvm::zip_equal(row, table.getColumns())) {
      if (!isLiteralOf(value, column.type)) {
        return emitOpError("literal does not fit column ")
               << column.name << " of type " << column.type << ": " << value;
      }
    }
  }
  return success();
}

static LogicalResult verifyTensorGroup(ToTensorOp op, ArrayAttr group, RankedTensorType tensor) {
  TableType table = op.getInput().getType();
  if (group.empty()) { // C1
    return op.emitOpError("a group of columns must not be empty");
  }
  Type element = tensor.getElementType();
  for (StringAttr name : group.getAsRange<StringAttr>()) {
    Type nullable = table.getColumnType(name);
    Type column = nullable ? dropNullable(nullable) : nullable;
    if (!column || !isNumeric(column)) { // C2
      return op.emitOpError("needs numeric columns of the input, got: ") << name;
    }
    auto decimal = dyn_cast<DecimalType>(column);
    bool whole = decimal ? decimal.getScale() == 0 : isa<IntegerType>(column);
    if (!element.isF32() && !element.isF64() && !(element.isInteger(64) && whole)) { // C4
      return op.emitOpError("element type must be f32 or f64, or i64 for whole numbers, got ")
             << element << " for column " << name << ": " << column;
    }
  }
  bool vector = tensor.getRank() == 1 && group.size() == 1 && tensor.isDynamicDim(0);
  bool matrix = tensor.getRank() == 2 && tensor.isDynamicDim(0) &&
                tensor.getDimSize(1) == static_cast<int64_t>(group.size());
  if (!vector && !matrix) { // C3
    return op.emitOpError("a group of ")
           << group.size() << " columns needs a result tensor<?x" << group.size()
           << "xT> (or tensor<?xT> for one column), got " << tensor;
  }
  return success();
}

LogicalResult ToTensorOp::verify() {
  if (getGroups().size() != getTensors().size()) { // C1
    return emitOpError("needs one group of columns per result, got ")
           << getGroups().size() << " for " << getTensors().size();
  }
  for (auto [group, tensor] :
       llvm::zip_equal(getGroups().getAsRange<ArrayAttr>(), getTensors().getTypes())) {
    if (failed(verifyTensorGroup(*this, group, cast<RankedTensorType>(tensor)))) {
      return failure();
    }
  }
  return success();
}

LogicalResult FromTensorOp::verify() {
  auto tensor = cast<RankedTensorType>(getTensor().getType());
  bool matrix = tensor.getRank() == 2 && !tensor.isDynamicDim(1);
  if (tensor.getRank() != 1 && !matrix) { // C1
    return emitOpError(
               "needs a tensor of rank 1, or of rank 2 with a static second dimension, got ")
           << tensor;
  }
  int64_t columns = matrix ? tensor.getDimSize(1) : 1;
  TableType table = getResult().getType();
  bool same = llvm::all_of(table.getColumnTypes(),
                           [&](Type type) { return type == tensor.getElementType(); });
  if (static_cast<int64_t>(table.getNumColumns()) != columns || !same) { // C2
    return emitOpError("needs a result of ")
           << columns << " columns of type " << tensor.getElementType() << ", got " << table;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Row by row
//===----------------------------------------------------------------------===//

void FilterOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  nameColumnArguments(region, getColumns(), setName);
}

LogicalResult FilterOp::verify() { return verifyUnique(*this, getColumns(), "column"); }

LogicalResult FilterOp::verifyRegions() {
  if (failed(verifyColumnArguments(*this, getPredicate(), getColumns(), getInput().getType()))) {
    return failure();
  }
  return verifyPredicate(*this, getPredicate()); // C2
}

void ProjectOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  nameColumnArguments(region, getColumns(), setName);
}

LogicalResult ProjectOp::verify() {
  TableType input = getInput().getType();
  TableType result = getResult().getType();
  if (failed(verifyUnique(*this, getColumns(), "column")) ||
      failed(verifyUnique(*this, getKept(), "kept column")) ||
      failed(verifyUnique(*this, getComputed(), "computed column"))) {
    return failure();
  }
  for (StringAttr name : getKept().getAsRange<StringAttr>()) {
    Type type = input.getColumnType(name);
    if (!type || type != result.getColumnType(name)) { // C2
      return emitOpError("a kept column must be in input and result with one type, got: ") << name;
    }
  }
  for (StringAttr name : getComputed().getAsRange<StringAttr>()) {
    if (!result.hasColumn(name) || llvm::is_contained(getKept(), name)) { // C4
      return emitOpError("a computed column must be in the result and not kept, got: ") << name;
    }
  }
  if (getKept().size() + getComputed().size() != result.getNumColumns()) { // C4
    return emitOpError("every result column must be kept or computed, got ")
           << getKept().size() << " kept and " << getComputed().size() << " computed for "
           << result.getNumColumns();
  }
  return success();
}

LogicalResult ProjectOp::verifyRegions() {
  if (failed(verifyColumnArguments(*this, getExpressions(), getColumns(), getInput().getType()))) {
    return failure();
  }
  auto yield = dyn_cast<YieldOp>(getExpressions().front().getTerminator());
  if (!yield || yield.getValues().size() != getComputed().size()) { // C3
    return emitOpError("must yield one value per computed column, got ")
           << (yield ? yield.getValues().size() : 0) << " for " << getComputed().size();
  }
  TableType result = getResult().getType();
  for (auto [value, name] :
       llvm::zip_equal(yield.getValues(), getComputed().getAsRange<StringAttr>())) {
    if (value.getType() != result.getColumnType(name)) { // C3
      return emitOpError("yields ") << value.getType() << " for computed column " << name << ": "
                                    << result.getColumnType(name);
    }
  }
  return success();
}

LogicalResult RenameOp::verify() {
  if (getInput().getType().getColumnTypes() != getResult().getType().getColumnTypes()) { // C1
    return emitOpError("must keep the column types, got ")
           << getInput().getType() << " and " << getResult().getType();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Orders, unions, scalars
//===----------------------------------------------------------------------===//

LogicalResult headrace::frame::verifySortKeys(Operation *op, TableType table, ArrayAttr keys) {
  if (keys.empty()) { // C1
    return op->emitOpError("needs at least one key");
  }
  SmallVector<Attribute> names;
  for (SortKeyAttr key : keys.getAsRange<SortKeyAttr>()) {
    if (!table.hasColumn(key.getColumn())) { // C1
      return op->emitOpError("key is not a column of the input: ") << key.getColumn();
    }
    names.push_back(key.getColumn());
  }
  return verifyUnique(op, ArrayAttr::get(op->getContext(), names), "key"); // C1
}

static LogicalResult verifyRowRange(Operation *op, int64_t offset, std::optional<int64_t> count) {
  if (offset < 0) {
    return op->emitOpError("offset must not be negative, got ") << offset;
  }
  if (count && *count < 0) {
    return op->emitOpError("count must not be negative, got ") << *count;
  }
  return success();
}

LogicalResult SortOp::verify() { return verifySortKeys(*this, getInput().getType(), getKeys()); }

LogicalResult ExpandOp::verify() {
  TableType input = getInput().getType();
  Type i64 = IntegerType::get(getContext(), 64);
  if (input.getColumnType(getBy()) != i64) { // C1
    return emitOpError("needs a column of i64 to expand by, got ") << getByAttr();
  }
  SmallVector<Column> columns = input.getColumns();
  columns.push_back({getNumberAttr(), i64});
  if (getType() != TableType::get(getContext(), columns)) { // C2
    return emitOpError("result must have the columns of the input and ") << getNumberAttr();
  }
  return success();
}

LogicalResult LimitOp::verify() { return verifyRowRange(*this, getOffset(), getCount()); } // C1

LogicalResult TopKOp::verify() {
  if (failed(verifySortKeys(*this, getInput().getType(), getKeys()))) {
    return failure();
  }
  return verifyRowRange(*this, getOffset(), getCount()); // C2
}

LogicalResult UnionOp::verify() {
  TableType result = getResult().getType();
  if (getInputs().size() < 2) { // C1
    return emitOpError("needs at least two inputs, got ") << getInputs().size();
  }
  for (Type input : getInputs().getTypes()) {
    if (cast<TableType>(input).getNumColumns() != result.getNumColumns()) { // C1
      return emitOpError("needs inputs with as many columns as the result, got ") << input;
    }
  }
  for (auto [index, column] : llvm::enumerate(result.getColumns())) {
    SmallVector<Type> types;
    for (Type input : getInputs().getTypes()) {
      types.push_back(cast<TableType>(input).getColumnTypes()[index]);
    }
    Type expected = withNullability(types.front(), nullabilityOf(types));
    bool same = llvm::all_of(types, [&](Type type) { return isSameValueType(type, expected); });
    if (!same || column.type != expected) { // C2
      return emitOpError("result column does not have the type of the inputs' columns: ")
             << column.name << ": " << column.type;
    }
  }
  return success();
}

LogicalResult ScalarSubqueryOp::verify() {
  TableType table = getInput().getType();
  if (table.getNumColumns() != 1) { // C1
    return emitOpError("needs an input of one column, got ") << table.getNumColumns();
  }
  if (getResult().getType() != addNullable(table.getColumnTypes().front())) { // C2
    return emitOpError("result must be ")
           << addNullable(table.getColumnTypes().front()) << ", got " << getResult().getType();
  }
  return success();
}
