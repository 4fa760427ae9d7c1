// Aggregates and orders: what a pipeline ends in, and the state that the next one reads.
#include "passes/form/former.h"

#include "model/plan/first_rows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace headrace::form {

void Former::emitMerge(pipe::StateOp state, ArrayRef<ColumnInfo> fields, ArrayAttr keys) {
  OpBuilder builder = OpBuilder::atBlockEnd(module_.getBody());
  auto pipeline =
      pipe::PipelineOp::create(builder, state.getLoc(), ("merge_" + state.getSymName()).str());
  pipeline.setMerges(state.getSymName());
  Block &body = pipeline.getBody().emplaceBlock();
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  Value rows = pipe::ReadOp::create(inside, state.getLoc(), rowsType(fields),
                                    FlatSymbolRefAttr::get(state.getSymNameAttr()));
  pipe::CombineOp::create(inside, state.getLoc(), rows,
                          FlatSymbolRefAttr::get(state.getSymNameAttr()), keys, FloatAttr());
}

/// Whether values of `range` (null: any) are sure to be in `bounds`.
static bool liesIn(const std::optional<Range> &range, const Range &bounds) {
  return range && range->low >= bounds.low && range->high <= bounds.high;
}

FailureOr<Former::Fold> Former::foldOf(frame::AggregateFunction function, ColumnInfo out,
                                       Type resultType, const FoldedRows &folded) {
  std::optional<uint64_t> rowsMax = folded.rowsMax;
  std::optional<pipe::Combine> combine = pipe::combineOf(function);
  if (!combine) {
    return failure();
  }
  out.nullable |= folded.mayBeNone;
  switch (frame::ruleOf(function).result) {
  case frame::AggregateResult::kCount:
    out.type = out.body = b_.getI64Type();
    out.range = Range{0, rowsMax ? static_cast<__int128>(*rowsMax) : INT64_MAX};
    out.nullable = false;
    break;
  case frame::AggregateResult::kSum: {
    out.type = frame::dropNullable(resultType);
    if (frame::isDoubleDouble(out.type)) {
      return Fold{out, pipe::Combine::SumDoubleDouble};
    }
    if (frame::isFloat(out.type)) {
      out.body = b_.getF64Type();
      break;
    }
    if (folded.combinesPartials && out.range) {
      out.body = b_.getIntegerType(std::max(64u, bitsFor(*out.range)));
      break;
    }
    // The sum of no rows too has room for a row's value.
    __int128 low, high, rows = rowsMax ? std::max<__int128>(*rowsMax, 1) : 0;
    bool bounded = out.range && rows > 0 && !__builtin_mul_overflow(out.range->low, rows, &low) &&
                   !__builtin_mul_overflow(out.range->high, rows, &high);
    out.range =
        bounded
            ? std::optional<Range>(Range{std::min<__int128>(low, 0), std::max<__int128>(high, 0)})
            : std::nullopt;
    out.body = b_.getIntegerType(bounded ? std::max(64u, bitsFor(*out.range)) : 128);
    break;
  }
  case frame::AggregateResult::kOne:
    // A string has no neutral element: its validity byte says that there is one.
    out.nullable |= frame::isHeldAsText(out.type);
    break;
  case frame::AggregateResult::kBits: // of numbers of n bits it has n bits
    if (frame::isUnsigned(out.type)) {
      out.range = typeRange(out.type);
    } else if (out.range) {
      out.range = typeRange(b_.getIntegerType(bitsFor(*out.range)));
    }
    break;
  case frame::AggregateResult::kMean:
  case frame::AggregateResult::kProduct:
    break;
  }
  return Fold{out, *combine};
}

FailureOr<OpenPipeline> Former::openAggregate(frame::AggregateOp aggregate, const Names &needed) {
  std::vector<std::string> keys = listOf(aggregate.getKeys());
  Names below, keyNames;
  for (const std::string &key : keys) {
    below.insert(key);
    keyNames.insert(key);
  }
  SmallVector<frame::MeasureAttr> measures;
  std::vector<std::string> sources, names;
  auto result = aggregate.getResult().getType();
  for (frame::MeasureAttr measure : aggregate.getMeasureRange()) {
    if (!needed.contains(measure.getName().getValue())) {
      continue;
    }
    measures.push_back(measure);
    names.push_back(measure.getName().str());
    if (measure.getInput()) {
      below.insert(measure.getInput().getValue());
      if (!llvm::is_contained(sources, measure.getInput().str())) {
        sources.push_back(measure.getInput().str());
      }
    }
  }
  FailureOr<OpenPipeline> input = open(aggregate.getInput(), below);
  if (failed(input)) {
    return failure();
  }
  // What partial aggregates give: counts to add up, and sums whose range already holds for all
  // ranks together.
  bool combinesPartials = aggregate.getStage() == frame::AggregateStage::Final;
  // One map gives every measure its input, under the measure's name.
  auto inputs = appendMap(
      *input, sources, keyNames, names, aggregate.getLoc(),
      [&](ExpressionTranslator &translator,
          ArrayRef<Scalar> arguments) -> FailureOr<SmallVector<Scalar>> {
        SmallVector<Scalar> out;
        for (frame::MeasureAttr measure : measures) {
          Scalar scalar;
          if (measure.getInput()) {
            scalar = arguments[llvm::find(sources, measure.getInput().str()) - sources.begin()];
          }
          bool counts = !combinesPartials && frame::ruleOf(measure.getFunction()).result ==
                                                 frame::AggregateResult::kCount;
          out.push_back(counts ? translator.countOf(scalar) : scalar);
        }
        return out;
      });
  if (failed(inputs)) {
    return failure();
  }
  std::vector<ColumnInfo> fields;
  SmallVector<Attribute> fieldAttrs;
  for (const std::string &key : keys) {
    fields.push_back(*input->find(key));
    fieldAttrs.push_back(field(fields.back(), pipe::Combine::Key));
  }
  bool grouped = !keys.empty();
  for (auto [measure, column] : llvm::zip(measures, *inputs)) {
    Type type = result.getColumnType(measure.getName().getValue());
    FailureOr<Fold> fold = foldOf(
        measure.getFunction(), column, type,
        {.rowsMax = input->rowsMax, .mayBeNone = !grouped, .combinesPartials = combinesPartials});
    if (failed(fold)) {
      return aggregate.emitError("must be lowered before pipelines are formed: ") << measure;
    }
    fields.push_back(fold->column);
    fieldAttrs.push_back(field(fold->column, fold->combine));
  }
  OpBuilder outer = OpBuilder::atBlockEnd(module_.getBody());
  outer.setInsertionPoint(input->pipeline);
  std::string name = fresh("aggregate");
  auto kind = grouped ? pipe::StateKind::Group : pipe::StateKind::Scalar;
  auto state = pipe::StateOp::create(outer, aggregate.getLoc(), name, kind, fieldAttrs,
                                     localRows_.attributeOf(aggregate.getResult()));
  ArrayAttr keyAttr = strings(keys);
  {
    OpBuilder builder = atEnd(*input);
    pipe::CombineOp::create(builder, aggregate.getLoc(), input->rows,
                            b_.getAttr<FlatSymbolRefAttr>(name), keyAttr, textBytes(*input, keys));
  }
  emitMerge(state, fields, keyAttr);
  std::vector<ColumnInfo> read;
  for (const ColumnInfo &column : fields) {
    if (needed.contains(column.name)) {
      read.push_back(column);
    }
  }
  OpenPipeline out = openState(aggregate.getLoc(), name, read, "groups");
  out.rowsMax = grouped ? input->rowsMax : 1;
  bool isPartial = aggregate.getStage() == frame::AggregateStage::Partial;
  return failed(narrowSums(out, keyNames, isPartial, aggregate.getLoc()))
             ? FailureOr<OpenPipeline>(failure())
             : out;
}

LogicalResult Former::narrowSums(OpenPipeline &open, const Names &others, bool arePartial,
                                 Location location) {
  std::vector<std::string> wide;
  Names kept;
  for (const ColumnInfo &column : open.columns) {
    bool isWide = column.body.isInteger(128) && !others.contains(column.name) &&
                  !frame::isDoubleDouble(column.type);
    bool mayLeave = frame::isInteger(column.type) ||
                    (!arePartial && !liesIn(column.range, *typeRange(column.type)));
    if (isWide && mayLeave) {
      wide.push_back(column.name);
    } else {
      kept.insert(column.name);
    }
  }
  if (wide.empty()) {
    return success();
  }
  return appendMap(open, wide, kept, wide, location,
                   [](ExpressionTranslator &translator,
                      ArrayRef<Scalar> arguments) -> FailureOr<SmallVector<Scalar>> {
                     SmallVector<Scalar> values;
                     for (const Scalar &argument : arguments) {
                       values.push_back(translator.checkedToType(argument));
                     }
                     return values;
                   });
}

OpenPipeline Former::openState(Location location, StringRef state, ArrayRef<ColumnInfo> columns,
                               StringRef stem) {
  OpenPipeline out = startPipeline(location, stem);
  OpBuilder builder = atEnd(out);
  out.rows = pipe::ReadOp::create(builder, location, rowsType(columns),
                                  b_.getAttr<FlatSymbolRefAttr>(state));
  out.columns.assign(columns.begin(), columns.end());
  return out;
}

SmallVector<Attribute> Former::sortKeys(ArrayAttr keys) {
  SmallVector<Attribute> out;
  for (auto key : keys.getAsRange<frame::SortKeyAttr>()) {
    out.push_back(pipe::SortKeyAttr::get(b_.getContext(), key.getColumn(),
                                         key.getDirection() == frame::SortDirection::Desc,
                                         key.getNulls() == frame::NullsOrder::First));
  }
  return out;
}

/// Whether rows that grow by this column are in the order of these keys.
static bool beginsWith(ArrayAttr keys, StringRef column) {
  auto first = cast<frame::SortKeyAttr>(keys[0]);
  return first.getColumn() == column && first.getDirection() == frame::SortDirection::Asc;
}

/// Whether a column that may fail is computed apart from the key: for all rows, whatever the key.
static bool raisesBeside(OpenPipeline &open, StringAttr key) {
  return llvm::any_of(open.pipeline.getBody().front().getOps<pipe::MapOp>(), [&](pipe::MapOp map) {
    return !llvm::is_contained(map.getNames(), Attribute(key)) &&
           llvm::any_of(map.getBody().front().without_terminator(),
                        [](Operation &op) { return op.getNumResults() == 0; });
  });
}

/// Rows whose first key alone says that they are not among the first rows leave the pipeline
/// before the rest of them is decoded.
void Former::keepWithinBound(OpenPipeline &open, pipe::StateOp state, double rows) {
  auto key = cast<pipe::SortKeyAttr>((*state.getSortKeys())[0]);
  const std::string name = key.getField().str();
  const Location location = state.getLoc();
  OpBuilder builder = atEnd(open);
  const double within = plan::rowsWithinBound(rows, static_cast<uint64_t>(*state.getLimit()));
  auto filter = pipe::FilterOp::create(
      builder, location, rowsType(open.columns), open.rows, strings({name}),
      b_.getF64FloatAttr(std::min(within / std::max(rows, 1.0), 1.0)), textBytes(open, {name}));
  Block &body = filter.getBody().emplaceBlock();
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  const Scalar value = bindArguments(open, {name}, body, nullptr, {}).front();
  auto bound = pipe::BoundOp::create(inside, location, value.value.getType(), b_.getI1Type(),
                                     b_.getAttr<FlatSymbolRefAttr>(state.getSymName()));
  ExpressionTranslator translator(inside, location);
  Scalar last = value;
  last.value = bound.getKey();
  Value keep = translator.compareValues(
      key.getDescending() ? frame::CompareKind::Ge : frame::CompareKind::Le, value, last);
  auto either = [&](Value a, Value b) -> Value {
    return arith::OrIOp::create(inside, location, a, b);
  };
  if (value.valid && key.getNullsFirst()) {
    keep = either(keep, translator.notValue(value.valid));
  } else if (value.valid) {
    keep = arith::AndIOp::create(inside, location, keep, value.valid);
  }
  keep = either(keep, translator.notValue(bound.getKnown()));
  pipe::YieldOp::create(inside, location, keep);
  open.rows = filter.getRows();
}

FailureOr<OpenPipeline> Former::openOrder(frame::RelationalOpInterface op, Value value,
                                          const Names &needed) {
  frame::RowState held = op.getState();
  // A limit over an order chooses in it; the optimiser may not have been asked to make them one.
  if (auto below = value.getDefiningOp<frame::RelationalOpInterface>();
      below && op.getOrdering() == frame::RowOrdering::kKept &&
      below.getState().kind == frame::RowState::Kind::kOrder && !below.getState().choosesRows()) {
    held.order = below.getState().order;
    value = below->getOperand(0);
  }
  ArrayAttr keys = held.order;
  Location location = op.getLoc();
  Names below = needed;
  if (keys) {
    for (auto key : keys.getAsRange<frame::SortKeyAttr>()) {
      below.insert(key.getColumn().getValue());
    }
  }
  FailureOr<OpenPipeline> input = open(value, below);
  if (failed(input)) {
    return failure();
  }
  SmallVector<Attribute> fields;
  for (const ColumnInfo &column : input->columns) {
    fields.push_back(field(column, pipe::Combine::Payload));
  }
  OpBuilder outer = OpBuilder::atBlockEnd(module_.getBody());
  outer.setInsertionPoint(input->pipeline);
  std::string name = fresh("order");
  auto number = [&](uint64_t value) { return b_.getI64IntegerAttr(static_cast<int64_t>(value)); };
  auto state = pipe::StateOp::create(outer, location, name, pipe::StateKind::Sort, fields,
                                     localRows_.attributeOf(value));
  state.setSortKeysAttr(b_.getArrayAttr(keys ? sortKeys(keys) : SmallVector<Attribute>()));
  if (keys) {
    auto bitsOf = [&](StringAttr name) {
      auto column =
          llvm::find_if(input->columns, [&](const ColumnInfo &each) { return each.name == name; });
      return column->body.getIntOrFloatBitWidth() + (column->nullable ? 1.0 : 0.0);
    };
    state.setOrderWordsAttr(b_.getF64FloatAttr(localRows_.orderWords(value, keys, bitsOf)));
  }
  if (held.count) {
    state.setLimitAttr(number(held.offset + *held.count));
    state.setFirstCome(held.offset + *held.count > 0 &&
                       (!keys || keys.empty() || beginsWith(keys, input->ordinals)));
  }
  if (held.offset != 0) {
    state.setOffsetAttr(number(held.offset));
  }
  const double rows = localRows_.of(value).expected;
  if (keys && !keys.empty() && held.count && !state.getFirstCome() &&
      rows > static_cast<double>(plan::rowsBeforeFirst(*state.getLimit())) &&
      !raisesBeside(*input, cast<frame::SortKeyAttr>(keys[0]).getColumn())) {
    keepWithinBound(*input, state, rows);
  }
  {
    OpBuilder builder = atEnd(*input);
    pipe::InsertOp::create(builder, location, input->rows, b_.getAttr<FlatSymbolRefAttr>(name),
                           strings({}), UnitAttr(), textBytes(input->columns));
  }
  std::vector<ColumnInfo> read;
  for (const ColumnInfo &column : input->columns) {
    if (needed.contains(column.name)) {
      read.push_back(column);
    }
  }
  OpenPipeline out = openState(location, name, read, "ordered");
  out.rowsMax = input->rowsMax;
  out.ordered = keys && !keys.empty();
  return out;
}

} // namespace headrace::form
