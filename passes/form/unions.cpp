// Literal rows, and the rows of several pipelines as those of one.
#include "passes/form/former.h"

#include "dialects/interfaces/DiagnosticKind.h"
using namespace mlir;

namespace headrace::form {

namespace {

/// The integer behind a literal (scaled decimal, days), if it is one.
std::optional<__int128> integerOf(Attribute literal) {
  auto integer = dyn_cast<IntegerAttr>(literal);
  if (!integer) {
    return std::nullopt;
  }
  APInt wide = integer.getType().isInteger(1) ? integer.getValue().zext(128)
                                              : integer.getValue().sextOrTrunc(128);
  return (static_cast<__int128>(wide.extractBitsAsZExtValue(64, 64)) << 64) |
         wide.extractBitsAsZExtValue(64, 0);
}

/// What integers a column can hold, if only for its width; nothing for columns without ranges.
std::optional<Range> rangeOf(const ColumnInfo &column) {
  if (column.range || !typeRange(column.type)) {
    return column.range;
  }
  const __int128 lowest = static_cast<__int128>(-1) << (column.body.getIntOrFloatBitWidth() - 1);
  return Range{lowest, ~lowest};
}

/// The range of a column's literals, 0 for NULL; nothing for columns without ranges.
std::optional<Range> rangeOf(frame::ValuesOp values, unsigned column, Type type) {
  if (!typeRange(type)) {
    return std::nullopt;
  }
  std::optional<Range> range;
  for (auto row : values.getRows().getAsRange<ArrayAttr>()) {
    __int128 value = integerOf(row[column]).value_or(0);
    range = range ? Range{std::min(range->low, value), std::max(range->high, value)}
                  : Range{value, value};
  }
  return range ? range : Range{0, 0};
}

} // namespace

FailureOr<OpenPipeline> Former::openValues(frame::ValuesOp values, const Names &needed) {
  OpenPipeline out = startPipeline(values.getLoc(), "values");
  out.rowsMax = values.getRows().size();
  SmallVector<unsigned> positions;
  SmallVector<Attribute> logical;
  auto type = values.getResult().getType();
  for (auto [index, column] : llvm::enumerate(type.getColumns())) {
    // Rows are counted by their columns: one is there even if nobody reads it.
    bool last = index + 1 == type.getNumColumns();
    if (!needed.contains(column.name.getValue()) && !(last && positions.empty())) {
      continue;
    }
    ColumnInfo info;
    info.name = column.name.str();
    info.type = frame::dropNullable(column.type);
    info.nullable = llvm::any_of(values.getRows().getAsRange<ArrayAttr>(),
                                 [&, at = index](ArrayAttr row) { return isa<UnitAttr>(row[at]); });
    info.range = rangeOf(values, index, info.type);
    info.body = bodyType(info.type, info.range);
    out.columns.push_back(info);
    positions.push_back(index);
    logical.push_back(TypeAttr::get(info.type));
  }
  if (positions.empty()) {
    return unsupported(
        values.emitError("rows without columns are not supported; give them a column"));
  }
  SmallVector<Attribute> rows;
  for (auto row : values.getRows().getAsRange<ArrayAttr>()) {
    SmallVector<Attribute> cells;
    for (unsigned position : positions) {
      cells.push_back(row[position]);
    }
    rows.push_back(b_.getArrayAttr(cells));
  }
  OpBuilder builder = atEnd(out);
  out.rows = pipe::ValuesOp::create(builder, values.getLoc(), rowsType(out.columns),
                                    b_.getArrayAttr(rows), b_.getArrayAttr(logical));
  return out;
}

FailureOr<OpenPipeline> Former::unite(MutableArrayRef<OpenPipeline> parts,
                                      ArrayRef<std::string> names, Location location) {
  std::vector<ColumnInfo> columns;
  for (const std::string &name : names) {
    ColumnInfo column = *parts.front().find(name);
    column.range = rangeOf(column);
    for (const OpenPipeline &part : parts.drop_front()) {
      const ColumnInfo *other = part.find(name);
      column.nullable |= other->nullable;
      if (std::optional<Range> range = rangeOf(*other); range && column.range) {
        column.range = Range{std::min(column.range->low, range->low),
                             std::max(column.range->high, range->high)};
      }
    }
    column.body = bodyType(column.type, column.range);
    columns.push_back(column);
  }
  std::string stream = fresh("united");
  OpBuilder outer(parts.front().pipeline);
  auto op = pipe::StreamOp::create(outer, location, stream, pipe::StreamKind::Local,
                                   rowsType(columns), pipe::CardinalityAttr());
  op.setWriters(parts.size());
  std::optional<uint64_t> rowsMax = 0;
  for (OpenPipeline &part : parts) {
    auto conformed = appendMap(
        part, names, Names(), names, location,
        [&](ExpressionTranslator &translator,
            ArrayRef<Scalar> arguments) -> FailureOr<SmallVector<Scalar>> {
          SmallVector<Scalar> out;
          for (auto [argument, column] : llvm::zip_equal(arguments, columns)) {
            out.push_back(translator.asColumn(argument, column.range,
                                              column.nullable ? frame::Nullability::kMaybe
                                                              : frame::Nullability::kNever));
          }
          return out;
        });
    if (failed(conformed)) {
      return failure();
    }
    OpBuilder builder = atEnd(part);
    pipe::EmitOp::create(builder, location, part.rows, b_.getAttr<FlatSymbolRefAttr>(stream),
                         strings({}), textBytes(part.columns));
    rowsMax = rowsMax && part.rowsMax && *rowsMax + *part.rowsMax >= *rowsMax
                  ? std::optional(*rowsMax + *part.rowsMax)
                  : std::nullopt;
  }
  OpenPipeline out = startPipeline(location, "united_rows");
  OpBuilder builder = atEnd(out);
  out.rows = pipe::ReceiveOp::create(builder, location, rowsType(columns),
                                     b_.getAttr<FlatSymbolRefAttr>(stream));
  out.columns = columns;
  out.rowsMax = rowsMax;
  return out;
}

FailureOr<OpenPipeline> Former::openUnion(frame::UnionOp unite, const Names &needed) {
  auto type = unite.getResult().getType();
  std::vector<std::string> names;
  SmallVector<unsigned> positions;
  for (auto [index, name] : llvm::enumerate(type.getNames())) {
    bool last = index + 1 == type.getNumColumns(); // rows are counted by their columns
    if (needed.contains(name.getValue()) || (last && names.empty())) {
      names.push_back(name.str());
      positions.push_back(index);
    }
  }
  SmallVector<OpenPipeline> parts;
  for (Value input : unite.getInputs()) {
    auto from = cast<frame::TableType>(input.getType());
    std::vector<std::string> columns;
    Names below;
    for (unsigned position : positions) {
      columns.push_back(from.getNames()[position].str());
      below.insert(columns.back());
    }
    FailureOr<OpenPipeline> part = open(input, below);
    if (failed(part)) {
      return failure();
    }
    auto renamed = appendMap(
        *part, columns, Names(), names, unite.getLoc(),
        [&](ExpressionTranslator &, ArrayRef<Scalar> arguments) -> FailureOr<SmallVector<Scalar>> {
          SmallVector<Scalar> out(arguments.begin(), arguments.end());
          for (auto [scalar, position] : llvm::zip_equal(out, positions)) {
            scalar.type = frame::dropNullable(type.getColumnTypes()[position]);
          }
          return out;
        });
    if (failed(renamed)) {
      return failure();
    }
    parts.push_back(std::move(*part));
  }
  return this->unite(parts, names, unite.getLoc());
}

} // namespace headrace::form
