// Window functions: a state that keeps all rows and computes columns when they are there.
#include "passes/form/former.h"

#include "dialects/interfaces/DiagnosticKind.h"

using namespace mlir;

namespace headrace::form {

using Kind = frame::WindowFunctionKind;

LogicalResult Former::conformDefaults(OpenPipeline &open,
                                      SmallVectorImpl<frame::WindowFunctionAttr> &functions,
                                      Location location) {
  std::vector<std::string> from, to;
  std::vector<std::optional<Range>> ranges;
  Names kept;
  for (const ColumnInfo &column : open.columns) {
    kept.insert(column.name);
  }
  for (frame::WindowFunctionAttr &function : functions) {
    StringAttr otherwise = function.getColumn(2);
    if (!otherwise) {
      continue;
    }
    const ColumnInfo *value = open.find(function.getColumn(0)), *other = open.find(otherwise);
    if (value->body == other->body) {
      continue;
    }
    std::optional<Range> range;
    if (value->range && other->range) {
      range = Range{std::min(value->range->low, other->range->low),
                    std::max(value->range->high, other->range->high)};
    }
    SmallVector<Attribute> arguments(function.getArgumentRange());
    for (unsigned argument : {0u, 2u}) {
      std::string name = cast<StringAttr>(arguments[argument]).str();
      from.push_back(name);
      to.push_back(fresh(name + ".value"));
      ranges.push_back(range);
      arguments[argument] = b_.getStringAttr(to.back());
    }
    function = frame::WindowFunctionAttr::get(
        b_.getContext(), function.getKind(), std::nullopt, b_.getArrayAttr(arguments),
        function.getName(), function.getFrame(), function.getOrder(), function.getIgnoreNulls());
  }
  if (from.empty()) {
    return success();
  }
  std::vector<std::string> read;
  for (const std::string &name : from) {
    if (!llvm::is_contained(read, name)) {
      read.push_back(name);
    }
  }
  return appendMap(open, read, kept, to, location,
                   [&](ExpressionTranslator &translator,
                       ArrayRef<Scalar> arguments) -> FailureOr<SmallVector<Scalar>> {
                     SmallVector<Scalar> out;
                     for (auto [name, range] : llvm::zip_equal(from, ranges)) {
                       const Scalar &value = arguments[llvm::find(read, name) - read.begin()];
                       out.push_back(translator.asColumn(value, range,
                                                         value.valid ? frame::Nullability::kMaybe
                                                                     : frame::Nullability::kNever));
                     }
                     return out;
                   });
}

FailureOr<Former::Fold> Former::windowField(const OpenPipeline &input,
                                            frame::WindowFunctionAttr function, Type resultType) {
  ColumnInfo column;
  if (StringAttr name = function.getColumn(0)) {
    column = *input.find(name);
  }
  bool isArgumentNullable = column.nullable;
  std::optional<uint64_t> rowsMax = input.rowsMax;
  Fold fold{column, pipe::Combine::Computed};
  switch (function.getKind()) {
  case Kind::Aggregate: {
    // Of different values a result is what it is of all, but for how often each counts.
    FailureOr<Fold> made = foldOf(*function.getAggregate(), column, resultType,
                                  {.rowsMax = rowsMax, .mayBeNone = true});
    if (failed(made)) {
      return failure();
    }
    fold = *made;
    break;
  }
  case Kind::Lag:
  case Kind::Lead:
    if (StringAttr otherwise = function.getColumn(2)) {
      const ColumnInfo *other = input.find(otherwise);
      fold.column.textBytes = std::max(fold.column.textBytes, other->textBytes);
      if (fold.column.range && other->range) {
        fold.column.range = Range{std::min(fold.column.range->low, other->range->low),
                                  std::max(fold.column.range->high, other->range->high)};
      }
    }
    [[fallthrough]];
  case Kind::FirstValue:
  case Kind::LastValue:
  case Kind::NthValue:
  case Kind::Collect:
  case Kind::CollectDistinct:
  case Kind::Mode:
    fold.column.nullable = true;
    break;
  case Kind::Quantiles:
  case Kind::QuantilesDistinct:
    fold.column.type = frame::dropNullable(resultType);
    fold.column.nullable = true;
    break;
  case Kind::PercentRank:
  case Kind::CumeDist:
    fold.column = ColumnInfo();
    fold.column.type = fold.column.body = b_.getF64Type();
    break;
  case Kind::RowNumber:
  case Kind::Rank:
  case Kind::DenseRank:
  case Kind::Ntile:
    fold.column = ColumnInfo();
    fold.column.type = fold.column.body = b_.getI64Type();
    if (!function.getFrame()) { // of which a row may stand outside
      fold.column.range = Range{0, rowsMax ? static_cast<__int128>(*rowsMax) : INT64_MAX};
    }
    fold.column.nullable =
        function.getKind() == Kind::Ntile && (isArgumentNullable || function.getFrame());
    break;
  }
  fold.column.name = function.getName().str();
  return fold;
}

FailureOr<OpenPipeline> Former::openWindow(frame::WindowOp window, const Names &needed) {
  frame::TableType type = window.getInput().getType();
  Names below, others;
  for (StringAttr name : type.getNames()) {
    others.insert(name.getValue());
    if (needed.contains(name.getValue())) {
      below.insert(name.getValue());
    }
  }
  SmallVector<frame::WindowFunctionAttr> functions;
  for (frame::WindowFunctionAttr function : window.getFunctionRange()) {
    if (needed.contains(function.getName().getValue())) {
      functions.push_back(function);
      for (StringAttr column : function.getColumns()) {
        below.insert(column.getValue());
      }
    }
  }
  if (functions.empty()) {
    return open(window.getInput(), below);
  }
  std::vector<std::string> keys = listOf(window.getPartition());
  below.insert(keys.begin(), keys.end());
  for (auto key : window.getOrder().getAsRange<frame::SortKeyAttr>()) {
    below.insert(key.getColumn().getValue());
  }
  FailureOr<OpenPipeline> input = open(window.getInput(), below);
  if (failed(input) || failed(conformDefaults(*input, functions, window.getLoc()))) {
    return failure();
  }
  SmallVector<Attribute> fields;
  for (const std::string &key : keys) {
    fields.push_back(field(*input->find(key), pipe::Combine::Key));
  }
  std::vector<ColumnInfo> read;
  for (const ColumnInfo &column : input->columns) {
    if (!llvm::is_contained(keys, column.name)) {
      fields.push_back(field(column, pipe::Combine::Payload));
    }
    if (needed.contains(column.name)) {
      read.push_back(column);
    }
  }
  for (frame::WindowFunctionAttr function : functions) {
    Type resultType = window.getType().getColumnType(function.getName());
    FailureOr<Fold> fold = windowField(*input, function, resultType);
    if (failed(fold)) {
      return unsupported(window.emitError("over a window is not supported: ")
                         << stringifyAggregateFunction(*function.getAggregate()));
    }
    fields.push_back(field(fold->column, fold->combine));
    read.push_back(fold->column);
  }
  OpBuilder outer = OpBuilder::atBlockEnd(module_.getBody());
  outer.setInsertionPoint(input->pipeline);
  std::string name = fresh("window");
  auto state = pipe::StateOp::create(outer, window.getLoc(), name, pipe::StateKind::Window, fields,
                                     localRows_.attributeOf(window.getInput()));
  state.setSortKeysAttr(b_.getArrayAttr(sortKeys(window.getOrder())));
  if (auto within = window->getAttrOfType<ArrayAttr>(dist::DistDialect::getWithinAttrName())) {
    state.setWithinAttr(within);
  }
  if (window.getFirst()) {
    state.setLimitAttr(window.getFirstAttr());
  }
  state.setFunctionsAttr(b_.getArrayAttr(llvm::to_vector_of<Attribute>(functions)));
  {
    OpBuilder builder = atEnd(*input);
    pipe::InsertOp::create(builder, window.getLoc(), input->rows,
                           b_.getAttr<FlatSymbolRefAttr>(name), strings(keys), UnitAttr(),
                           textBytes(input->columns));
  }
  OpenPipeline out = openState(window.getLoc(), name, read, "windowed");
  out.rowsMax = input->rowsMax;
  return failed(narrowSums(out, others, /*arePartial=*/false, window.getLoc()))
             ? FailureOr<OpenPipeline>(failure())
             : out;
}

} // namespace headrace::form
