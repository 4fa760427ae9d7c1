// Works from the result back to the scans: open(value, needed) gives a pipeline whose rows are that
// value. A join closes its build side's pipeline, an aggregate, sort or exchange closes its
// input's.
#include "passes/form/pipelines.h"

#include "passes/form/former.h"

#include "dialects/frame/VisitRelation.h"
#include "dialects/interfaces/DiagnosticKind.h"

using namespace mlir;

namespace headrace::form {

const ColumnInfo *OpenPipeline::find(StringRef name) const {
  for (const ColumnInfo &column : columns) {
    if (column.name == name) {
      return &column;
    }
  }
  return nullptr;
}

ArrayAttr Former::strings(ArrayRef<std::string> names) {
  SmallVector<Attribute> out;
  for (const std::string &name : names) {
    out.push_back(b_.getStringAttr(name));
  }
  return b_.getArrayAttr(out);
}

std::string Former::fresh(StringRef stem) {
  std::string name;
  do {
    name = (stem + std::to_string(counters_[stem]++)).str();
  } while (!names_.insert(name).second); // of another table of the program
  return name;
}

pipe::FieldAttr Former::field(const ColumnInfo &column, pipe::Combine combine) {
  IntegerAttr min, max;
  std::optional<Range> all = typeRange(column.type);
  if (combine == pipe::Combine::Key && column.range && all && column.body.isInteger() &&
      bitsFor(*column.range) <= 64 &&
      (column.range->low > all->low || column.range->high < all->high)) {
    min = b_.getI64IntegerAttr(static_cast<int64_t>(column.range->low));
    max = b_.getI64IntegerAttr(static_cast<int64_t>(column.range->high));
  }
  return pipe::FieldAttr::get(b_.getContext(), b_.getStringAttr(column.name), column.body, combine,
                              column.nullable, min, max);
}

pipe::RowsType Former::rowsType(ArrayRef<ColumnInfo> columns) {
  SmallVector<StringAttr> names;
  SmallVector<Type> types;
  SmallVector<bool> nullable;
  for (const ColumnInfo &column : columns) {
    names.push_back(b_.getStringAttr(column.name));
    types.push_back(column.body);
    nullable.push_back(column.nullable);
  }
  return pipe::RowsType::get(b_.getContext(), names, types, nullable);
}

FloatAttr Former::textBytes(ArrayRef<ColumnInfo> columns) {
  double bytes = 0;
  for (const ColumnInfo &column : columns) {
    bytes += frame::isHeldAsText(column.type) ? column.textBytes : 0;
  }
  return bytes > 0 ? b_.getF64FloatAttr(bytes) : FloatAttr();
}

FloatAttr Former::textBytes(const OpenPipeline &open, ArrayRef<std::string> columns) {
  std::vector<ColumnInfo> named;
  for (const std::string &name : columns) {
    named.push_back(*open.find(name));
  }
  return textBytes(named);
}

OpenPipeline Former::startPipeline(Location location, StringRef stem) {
  OpBuilder builder = OpBuilder::atBlockEnd(module_.getBody());
  OpenPipeline out;
  out.pipeline = pipe::PipelineOp::create(builder, location, fresh(stem));
  out.pipeline.getBody().emplaceBlock();
  putIntoBranch(out.pipeline);
  return out;
}

void Former::putIntoBranch(pipe::PipelineOp pipeline) {
  if (branch_) {
    pipeline.setChoice(branch_->choice);
    pipeline.setBranch(branch_->way);
  }
}

std::vector<Scalar> Former::bindArguments(OpenPipeline &open, ArrayRef<std::string> columns,
                                          Block &body, ExpressionTranslator *translator,
                                          ValueRange frameArguments) {
  std::vector<Scalar> out;
  for (auto [index, name] : llvm::enumerate(columns)) {
    const ColumnInfo *column = open.find(name);
    Scalar scalar;
    scalar.type = column->type;
    scalar.range = column->range;
    scalar.value = body.addArgument(column->body, open.pipeline.getLoc());
    if (column->nullable) {
      scalar.valid = body.addArgument(b_.getI1Type(), open.pipeline.getLoc());
    }
    if (translator && index < frameArguments.size()) {
      translator->bind(frameArguments[index], scalar);
    }
    out.push_back(scalar);
  }
  return out;
}

FailureOr<std::vector<ColumnInfo>> Former::appendMap(
    OpenPipeline &open, ArrayRef<std::string> columns, const Names &keep,
    ArrayRef<std::string> computed, Location location,
    llvm::function_ref<FailureOr<SmallVector<Scalar>>(ExpressionTranslator &, ArrayRef<Scalar>)>
        fill) {
  auto region = std::make_unique<Region>();
  Block &body = region->emplaceBlock();
  OpBuilder inside(b_.getContext()); // the region has no parent yet
  inside.setInsertionPointToEnd(&body);
  ExpressionTranslator translator(inside, location);
  std::vector<Scalar> arguments = bindArguments(open, columns, body, nullptr, {});
  FailureOr<SmallVector<Scalar>> values = fill(translator, arguments);
  if (failed(values)) {
    return failure();
  }
  std::vector<ColumnInfo> added, all;
  SmallVector<Value> yielded;
  for (auto [name, scalar] : llvm::zip(computed, *values)) {
    ColumnInfo column;
    column.name = name;
    column.type = scalar.type;
    column.nullable = static_cast<bool>(scalar.valid);
    column.range = scalar.range;
    column.body = scalar.value.getType();
    yielded.push_back(scalar.value);
    if (scalar.valid) {
      yielded.push_back(scalar.valid);
    }
    added.push_back(column);
  }
  pipe::YieldOp::create(inside, location, yielded);
  for (const ColumnInfo &column : open.columns) {
    bool replaced = llvm::is_contained(computed, column.name);
    if (keep.contains(column.name) && !replaced) {
      all.push_back(column);
    }
  }
  llvm::append_range(all, added);
  OpBuilder builder = atEnd(open);
  auto map = pipe::MapOp::create(builder, location, rowsType(all), open.rows, strings(computed),
                                 strings(columns), textBytes(open, columns));
  map.getBody().takeBody(*region);
  open.rows = map.getRows();
  open.columns = all;
  return added;
}

// ---- row by row ----

Names withColumns(const Names &needed, ArrayAttr columns) {
  Names out = needed;
  for (auto name : columns.getAsRange<StringAttr>()) {
    out.insert(name.getValue());
  }
  return out;
}

std::vector<std::string> namesOf(ArrayRef<ColumnInfo> columns) {
  std::vector<std::string> names;
  for (const ColumnInfo &column : columns) {
    names.push_back(column.name);
  }
  return names;
}

std::vector<std::string> listOf(ArrayAttr columns) {
  std::vector<std::string> out;
  for (auto name : columns.getAsRange<StringAttr>()) {
    out.push_back(name.str());
  }
  return out;
}

FailureOr<OpenPipeline> Former::openFilter(frame::FilterOp filter, const Names &needed) {
  FailureOr<OpenPipeline> open =
      this->open(filter.getInput(), withColumns(needed, filter.getColumns()));
  if (failed(open)) {
    return failure();
  }
  // Straight over a scan, or over filters of it, what the predicate says holds for row groups too.
  bool straight = llvm::all_of(open->pipeline.getBody().front(),
                               [](Operation &op) { return isa<pipe::ScanOp, pipe::FilterOp>(op); });
  if (auto scan = dyn_cast<pipe::ScanOp>(open->pipeline.getBody().front().front());
      scan && straight) {
    addBounds(filter, scan, b_);
  }
  auto region = std::make_unique<Region>();
  Block &body = region->emplaceBlock();
  OpBuilder inside(b_.getContext()); // the region has no parent yet
  inside.setInsertionPointToEnd(&body);
  ExpressionTranslator translator(inside, filter.getLoc());
  Block &frameBody = filter.getPredicate().front();
  std::vector<std::string> columns = listOf(filter.getColumns());
  bindArguments(*open, columns, body, &translator, frameBody.getArguments());
  FailureOr<SmallVector<Scalar>> values = translator.translate(frameBody);
  if (failed(values)) {
    return failure();
  }
  pipe::YieldOp::create(inside, filter.getLoc(), ValueRange{translator.isTrue(values->front())});
  std::vector<ColumnInfo> kept;
  for (const ColumnInfo &column : open->columns) {
    if (needed.contains(column.name)) {
      kept.push_back(column);
    }
  }
  OpBuilder builder = atEnd(*open);
  auto op = pipe::FilterOp::create(
      builder, filter.getLoc(), rowsType(kept), open->rows, strings(columns),
      selectivity(filter.getResult(), filter.getInput()), textBytes(*open, columns));
  op.getBody().takeBody(*region);
  open->rows = op.getRows();
  open->columns = kept;
  return open;
}

FailureOr<OpenPipeline> Former::openProject(frame::ProjectOp project, const Names &needed) {
  Names below;
  Names kept;
  std::vector<std::string> computed;
  SmallVector<unsigned> positions;
  for (auto name : project.getKept().getAsRange<StringAttr>()) {
    if (needed.contains(name.getValue())) {
      below.insert(name.getValue());
      kept.insert(name.getValue());
    }
  }
  for (auto [index, name] : llvm::enumerate(project.getComputed().getAsRange<StringAttr>())) {
    if (needed.contains(name.getValue())) {
      computed.push_back(name.str());
      positions.push_back(index);
    }
  }
  if (computed.empty()) {
    return open(project.getInput(), below);
  }
  // All inputs of the region: expressions that nobody needs are dropped by canonicalisation in
  // `lower`.
  below = withColumns(below, project.getColumns());
  FailureOr<OpenPipeline> open = this->open(project.getInput(), below);
  if (failed(open)) {
    return failure();
  }
  std::vector<std::string> columns = listOf(project.getColumns());
  auto added = appendMap(*open, columns, kept, computed, project.getLoc(),
                         [&](ExpressionTranslator &translator,
                             ArrayRef<Scalar> arguments) -> FailureOr<SmallVector<Scalar>> {
                           Block &body = project.getExpressions().front();
                           for (auto [value, scalar] : llvm::zip(body.getArguments(), arguments)) {
                             translator.bind(value, scalar);
                           }
                           FailureOr<SmallVector<Scalar>> all = translator.translate(body);
                           if (failed(all)) {
                             return failure();
                           }
                           SmallVector<Scalar> wanted;
                           for (unsigned position : positions) {
                             wanted.push_back((*all)[position]);
                           }
                           return wanted;
                         });
  if (failed(added)) {
    return failure();
  }
  return open;
}

FailureOr<OpenPipeline> Former::openExpand(frame::ExpandOp expand, const Names &needed) {
  Names below = needed;
  below.erase(expand.getNumber().str());
  below.insert(expand.getBy().str());
  FailureOr<OpenPipeline> open = this->open(expand.getInput(), below);
  if (failed(open)) {
    return failure();
  }
  std::vector<ColumnInfo> columns;
  for (const ColumnInfo &column : open->columns) {
    if (needed.contains(column.name)) {
      columns.push_back(column);
    }
  }
  ColumnInfo &number = columns.emplace_back();
  number.name = expand.getNumber().str();
  number.type = number.body = b_.getI64Type();
  OpBuilder builder = atEnd(*open);
  auto op = pipe::ExpandOp::create(builder, expand.getLoc(), rowsType(columns), open->rows,
                                   expand.getByAttr(), expand.getNumberAttr(),
                                   selectivity(expand.getResult(), expand.getInput()));
  open->rows = op.getRows();
  open->columns = std::move(columns);
  open->rowsMax = std::nullopt;
  return open;
}

FailureOr<OpenPipeline> Former::openRename(frame::RenameOp rename, const Names &needed) {
  auto from = rename.getInput().getType(), to = rename.getResult().getType();
  Names below;
  std::vector<std::string> columns, computed;
  for (size_t index = 0; index < to.getNumColumns(); ++index) {
    if (needed.contains(to.getColumns()[index].name.getValue())) {
      below.insert(from.getColumns()[index].name.getValue());
      columns.push_back(from.getColumns()[index].name.str());
      computed.push_back(to.getColumns()[index].name.str());
    }
  }
  FailureOr<OpenPipeline> open = this->open(rename.getInput(), below);
  if (failed(open)) {
    return failure();
  }
  auto added = appendMap(
      *open, columns, Names(), computed, rename.getLoc(),
      [](ExpressionTranslator &, ArrayRef<Scalar> arguments) -> FailureOr<SmallVector<Scalar>> {
        return SmallVector<Scalar>(arguments.begin(), arguments.end());
      });
  if (failed(added)) {
    return failure();
  }
  if (auto ordinals = llvm::find(columns, open->ordinals); ordinals != columns.end()) {
    open->ordinals = computed[static_cast<size_t>(ordinals - columns.begin())];
  }
  return open;
}

// ---- exchanges ----

/// What `pipe` calls an exchange.
static pipe::StreamKind streamKind(dist::ExchangeKind kind) {
  switch (kind) {
  case dist::ExchangeKind::Hash:
    return pipe::StreamKind::Hash;
  case dist::ExchangeKind::Broadcast:
    return pipe::StreamKind::Broadcast;
  case dist::ExchangeKind::Gather:
    return pipe::StreamKind::Gather;
  case dist::ExchangeKind::Range:
    return pipe::StreamKind::Range;
  }
  llvm_unreachable("unknown kind of exchange");
}

FailureOr<OpenPipeline> Former::openExchange(dist::ExchangeOp exchange, const Names &needed) {
  Names below = needed;
  std::vector<std::string> keys;
  if (exchange.getKeys()) {
    keys = listOf(*exchange.getKeys());
    for (const std::string &key : keys) {
      below.insert(key);
    }
  }
  const bool ranged = exchange.getKind() == dist::ExchangeKind::Range;
  ArrayAttr order = ranged ? *exchange.getOrder() : b_.getArrayAttr({});
  for (auto key : order.getAsRange<frame::SortKeyAttr>()) {
    below.insert(key.getColumn().getValue());
  }
  FailureOr<OpenPipeline> input = open(exchange.getInput(), below);
  if (failed(input)) {
    return failure();
  }
  pipe::StreamKind kind = streamKind(exchange.getKind());
  std::string name = fresh("exchange");
  OpBuilder outer = OpBuilder::atBlockEnd(module_.getBody());
  outer.setInsertionPoint(input->pipeline);
  auto stream =
      pipe::StreamOp::create(outer, exchange.getLoc(), name, kind, rowsType(input->columns),
                             localRows_.attributeOf(exchange.getInput()));
  stream.setAxesAttr(exchange.getAxesAttr());
  stream.setTowardAttr(exchange.getTowardAttr());
  stream.setCycleAttr(exchange.getCycleAttr());
  if (ranged) {
    stream.setSortKeysAttr(b_.getArrayAttr(sortKeys(order)));
  }
  if (exchange.getSkewAttr()) {
    stream.setSkewAttr(exchange.getSkewAttr());
  }
  if (kind == pipe::StreamKind::Hash) {
    double fullest =
        localRows_.fullest(exchange.getInput(), exchange.getKeysAttr(), exchange.getAxesAttr());
    stream.setFullestAttr(b_.getF64FloatAttr(std::max(fullest, 1.0)));
  }
  {
    OpBuilder builder = atEnd(*input);
    pipe::EmitOp::create(builder, exchange.getLoc(), input->rows,
                         b_.getAttr<FlatSymbolRefAttr>(name), strings(keys),
                         textBytes(input->columns));
  }
  OpenPipeline out = startPipeline(exchange.getLoc(), "received");
  OpBuilder builder = atEnd(out);
  out.rows = pipe::ReceiveOp::create(builder, exchange.getLoc(), rowsType(input->columns),
                                     b_.getAttr<FlatSymbolRefAttr>(name));
  out.columns = input->columns;
  out.rowsMax = input->rowsMax;
  return out;
}

FailureOr<OpenPipeline> Former::openKeep(dist::KeepOp keep, const Names &needed) {
  std::vector<std::string> keys =
      keep.getKeys() ? listOf(*keep.getKeys()) : std::vector<std::string>();
  Names below = needed;
  for (const std::string &key : keys) {
    below.insert(key);
  }
  FailureOr<OpenPipeline> open = this->open(keep.getInput(), below);
  if (failed(open)) {
    return failure();
  }
  auto region = std::make_unique<Region>();
  Block &body = region->emplaceBlock();
  OpBuilder inside(b_.getContext()); // the region has no parent yet
  inside.setInsertionPointToEnd(&body);
  bindArguments(*open, keys, body, nullptr, {});
  SmallVector<bool> nullable;
  for (const std::string &key : keys) {
    nullable.push_back(open->find(key)->nullable);
  }
  Value owns = pipe::OwnsOp::create(inside, keep.getLoc(), b_.getI1Type(), body.getArguments(),
                                    nullable, keep.getCycleAttr(), keep.getAxesAttr());
  pipe::YieldOp::create(inside, keep.getLoc(), owns);
  std::vector<ColumnInfo> kept;
  for (const ColumnInfo &column : open->columns) {
    if (needed.contains(column.name)) {
      kept.push_back(column);
    }
  }
  OpBuilder builder = atEnd(*open);
  auto op = pipe::FilterOp::create(builder, keep.getLoc(), rowsType(kept), open->rows,
                                   strings(keys), selectivity(keep.getResult(), keep.getInput()),
                                   textBytes(*open, keys));
  op.getBody().takeBody(*region);
  open->rows = op.getRows();
  open->columns = kept;
  return open;
}

FailureOr<OpenPipeline> Former::openPlace(dist::PlaceOp place, const Names &needed) {
  Names below = needed;
  below.erase(place.getColumn());
  FailureOr<OpenPipeline> open = this->open(place.getInput(), below);
  if (failed(open) || !needed.contains(place.getColumn())) {
    return open;
  }
  auto added = appendMap(
      *open, {}, below, {place.getColumn().str()}, place.getLoc(),
      [&](ExpressionTranslator &translator, ArrayRef<Scalar>) -> FailureOr<SmallVector<Scalar>> {
        return SmallVector<Scalar>{translator.placeAlong(place.getAxes())};
      });
  return failed(added) ? FailureOr<OpenPipeline>(failure()) : open;
}

// ---- the whole ----

FailureOr<OpenPipeline> Former::open(Value value, const Names &needed) {
  if (auto formed = formed_.find(value); formed != formed_.end()) {
    OpenPipeline taken = std::move(formed->second);
    formed_.erase(formed);
    return taken;
  }
  return isShared(value) ? openShared(value, needed) : openOnce(value, needed);
}

/// How each relational op is formed.
struct Former::Visitor {
  Former &former;
  const Names &needed;
  using Result = FailureOr<OpenPipeline>;

  Result operator()(frame::ScanOp op) { return former.openScan(op, needed); }
  Result operator()(frame::ValuesOp op) { return former.openValues(op, needed); }
  Result operator()(frame::FromTensorOp op) { return unsupportedIn(op); }
  Result operator()(frame::FilterOp op) { return former.openFilter(op, needed); }
  Result operator()(frame::ProjectOp op) { return former.openProject(op, needed); }
  Result operator()(frame::RenameOp op) { return former.openRename(op, needed); }
  Result operator()(frame::ExpandOp op) { return former.openExpand(op, needed); }
  Result operator()(frame::JoinOp op) { return former.openJoin(op, needed); }
  Result operator()(frame::AggregateOp op) { return former.openAggregate(op, needed); }
  Result operator()(frame::WindowOp op) { return former.openWindow(op, needed); }
  Result operator()(frame::DistinctOp op) { return unsupportedIn(op); }
  Result operator()(frame::SortOp op) { return former.openOrder(op, op.getInput(), needed); }
  Result operator()(frame::LimitOp op) { return former.openOrder(op, op.getInput(), needed); }
  Result operator()(frame::TopKOp op) { return former.openOrder(op, op.getInput(), needed); }
  Result operator()(frame::UnionOp op) { return former.openUnion(op, needed); }

  static LogicalResult unsupportedIn(Operation *op) {
    return unsupported(op->emitError("not supported in pipelines yet: ")) << op->getName();
  }
};

FailureOr<OpenPipeline> Former::openOnce(Value value, const Names &needed) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    return unsupported(
        main_.emitError("tables as function arguments are not supported; scan them"));
  }
  if (auto relation = dyn_cast<frame::RelationalOpInterface>(op)) {
    return frame::visitRelation(relation, Visitor{*this, needed});
  }
  if (auto exchange = dyn_cast<dist::ExchangeOp>(op)) {
    return openExchange(exchange, needed);
  }
  if (auto keep = dyn_cast<dist::KeepOp>(op)) {
    return openKeep(keep, needed);
  }
  if (auto place = dyn_cast<dist::PlaceOp>(op)) {
    return openPlace(place, needed);
  }
  if (auto choose = dyn_cast<dist::ChooseOp>(op)) {
    return openChoose(choose, needed);
  }
  return Visitor::unsupportedIn(op);
}

LogicalResult Former::run() {
  auto terminator = cast<func::ReturnOp>(main_.getBody().front().getTerminator());
  if (terminator.getNumOperands() != 1 ||
      !isa<frame::TableType>(terminator.getOperand(0).getType())) {
    return unsupported(main_.emitError("a relational program returns one table"));
  }
  Value value = terminator.getOperand(0);
  auto table = cast<frame::TableType>(value.getType());
  Names needed;
  for (size_t index = 0; index < table.getNumColumns(); ++index) {
    needed.insert(table.getColumns()[index].name.getValue());
  }
  FailureOr<OpenPipeline> last = open(value, needed);
  if (failed(last)) {
    return failure();
  }
  // The result's columns in the user's order, under the user's names where those are unique.
  std::vector<ColumnInfo> columns;
  SmallVector<Attribute> logical, shown;
  auto resultNames = main_->getAttrOfType<ArrayAttr>(frame::FrameDialect::getResultNamesAttrName());
  for (size_t index = 0; index < table.getNumColumns(); ++index) {
    const ColumnInfo *column = last->find(table.getColumns()[index].name.getValue());
    if (!column) {
      // no test: every op gives the columns that are needed of it
      return main_.emitError("result column was lost: ") << table.getColumns()[index].name;
    }
    columns.push_back(*column);
    logical.push_back(TypeAttr::get(frame::dropNullable(table.getColumns()[index].type)));
    shown.push_back(resultNames ? resultNames[index] : table.getColumns()[index].name);
  }
  OpBuilder builder = atEnd(*last);
  pipe::RowsType rows = rowsType(columns);
  OpBuilder outer = OpBuilder::atBlockEnd(module_.getBody());
  outer.setInsertionPoint(last->pipeline);
  bool result = sink_ == TableSink::kResult;
  std::string name = result ? "result" : main_.getSymName().str();
  if (!result) {
    main_.setSymName(name + "_formed"); // the stream takes the name
  }
  auto stream = pipe::StreamOp::create(
      outer, main_.getLoc(), name, result ? pipe::StreamKind::Result : pipe::StreamKind::ToTensor,
      rows, localRows_.attributeOf(value));
  stream.setNamesAttr(b_.getArrayAttr(shown));
  stream.setLogicalAttr(b_.getArrayAttr(logical));
  stream.setOrdered(last->ordered);
  if (auto keys = main_->getAttrOfType<ArrayAttr>(frame::FrameDialect::getResultResidentAttrName());
      keys && result) {
    SmallVector<Attribute> names;
    for (auto key : keys.getAsRange<StringAttr>()) {
      names.push_back(shown[llvm::find(table.getNames(), key) - table.getNames().begin()]);
    }
    stream.setResidentAttr(b_.getArrayAttr(names));
  }
  // Sinks take the rows as they are: a map without bodies puts the columns in order.
  if (last->rows.getType() != rows) {
    auto map = pipe::MapOp::create(builder, main_.getLoc(), rows, last->rows, strings({}),
                                   strings({}), FloatAttr());
    OpBuilder inside = OpBuilder::atBlockEnd(&map.getBody().emplaceBlock());
    pipe::YieldOp::create(inside, main_.getLoc(), ValueRange());
    last->rows = map.getRows();
  }
  pipe::EmitOp::create(builder, main_.getLoc(), last->rows, b_.getAttr<FlatSymbolRefAttr>(name),
                       strings({}), textBytes(last->columns));
  for (auto &[table, open] : shared_) {
    open.pipeline.erase();
  }
  main_.erase();
  return success();
}

LogicalResult formPipelines(func::FuncOp main, TableSink sink) { return Former(main, sink).run(); }

} // namespace headrace::form
