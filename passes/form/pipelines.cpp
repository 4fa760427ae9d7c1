// Works from the result back to the scans: open(value, needed) gives a pipeline whose rows are that value.
// A join closes its build side's pipeline, an aggregate, sort or exchange closes its input's.
#include "passes/form/pipelines.h"

#include "dialects/dist/DistDialect.h"
#include "dialects/topo/TopoDialect.h"
#include "passes/form/local_rows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

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

namespace {

using Names = llvm::StringSet<>;

/// Joins spread values; an estimate may be larger, but a 64-bit sum needs a proof.
std::optional<uint64_t> product(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  uint64_t out;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &out)) {
    return std::nullopt;
  }
  return out;
}

class Former {
public:
  Former(func::FuncOp main, TableSink sink)
      : main_(main), sink_(sink), module_(main->getParentOfType<ModuleOp>()), b_(main.getContext()),
        localRows_(ranksOf(module_)) {}

  LogicalResult run();

private:
  FailureOr<OpenPipeline> open(Value value, const Names &needed);
  FailureOr<OpenPipeline> openScan(frame::ScanOp scan, const Names &needed);
  FailureOr<OpenPipeline> openFilter(frame::FilterOp filter, const Names &needed);
  FailureOr<OpenPipeline> openProject(frame::ProjectOp project, const Names &needed);
  FailureOr<OpenPipeline> openRename(frame::RenameOp rename, const Names &needed);
  FailureOr<OpenPipeline> openJoin(frame::JoinOp join, const Names &needed);
  FailureOr<OpenPipeline> openAggregate(frame::AggregateOp aggregate, const Names &needed);
  FailureOr<OpenPipeline> openSort(Value input, ArrayAttr keys, std::optional<uint64_t> limit,
                                   const Names &needed, Location location);
  FailureOr<OpenPipeline> openExchange(dist::ExchangeOp exchange, const Names &needed);
  FailureOr<OpenPipeline> openChoose(dist::ChooseOp choose, const Names &needed);
  /// Forms a region of a choose up to its stream; `left` and `counted` are its tables.
  LogicalResult formBranch(Region &region, const Names &needed, StringRef stream, OpenPipeline left,
                           OpenPipeline counted, std::vector<ColumnInfo> &columns);
  /// Whether pipelines that are started belong to a branch of a choice.
  struct Branch {
    std::string choice;
    std::string name;
  };
  void putIntoBranch(pipe::PipelineOp pipeline);
  /// A new pipeline over the rows of a finished state.
  OpenPipeline openState(Location location, StringRef state, ArrayRef<ColumnInfo> columns, StringRef stem);

  OpenPipeline startPipeline(Location location, StringRef stem);
  /// Continues `open` with rows of these columns.
  pipe::RowsType rowsType(ArrayRef<ColumnInfo> columns);
  /// Appends a map that computes `computed` from `columns`; the body is made by `fill`, which returns the values.
  FailureOr<std::vector<ColumnInfo>>
  appendMap(OpenPipeline &open, ArrayRef<std::string> columns, const Names &keep,
            ArrayRef<std::string> computed, Location location,
            llvm::function_ref<FailureOr<SmallVector<Scalar>>(ExpressionTranslator &, ArrayRef<Scalar>)> fill);
  /// Gives `names` of `open` these body types, under new names where they have another.
  LogicalResult conformKeys(OpenPipeline &open, std::vector<std::string> &names,
                            ArrayRef<std::optional<Range>> ranges, const Names &keep, Location location);
  std::vector<Scalar> bindArguments(OpenPipeline &open, ArrayRef<std::string> columns, Block &body,
                                    ExpressionTranslator *translator, ValueRange frameArguments);
  ArrayAttr strings(ArrayRef<std::string> names);
  pipe::FieldAttr field(const ColumnInfo &column, StringRef combine);
  std::string fresh(StringRef stem);
  OpBuilder atEnd(OpenPipeline &open) { return OpBuilder::atBlockEnd(&open.pipeline.getBody().front()); }
  void emitMerge(pipe::StateOp state, ArrayRef<ColumnInfo> fields, ArrayAttr keys);

  static int64_t ranksOf(ModuleOp module) {
    topo::MeshAttr mesh = topo::meshOf(module);
    return mesh ? mesh.getRankCount() : 1;
  }
  /// How many rows of `table` a state is thought to hold on a rank.
  void setRows(pipe::StateOp state, Value table) { state->setAttr("rows", localRows_.attributeOf(table)); }

  func::FuncOp main_;
  TableSink sink_;
  ModuleOp module_;
  OpBuilder b_;
  LocalRows localRows_;
  llvm::StringMap<int> counters_;
  std::optional<Branch> branch_;
  /// Tables that have been formed already; taken by the first who opens them.
  llvm::MapVector<Value, OpenPipeline> formed_;
};

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
  } while (module_.lookupSymbol(name)); // of another table of the program
  return name;
}

pipe::FieldAttr Former::field(const ColumnInfo &column, StringRef combine) {
  return pipe::FieldAttr::get(b_.getContext(), b_.getStringAttr(column.name), column.body,
                              b_.getStringAttr(combine), column.nullable);
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

OpenPipeline Former::startPipeline(Location location, StringRef stem) {
  OpBuilder builder = OpBuilder::atBlockEnd(module_.getBody());
  OpenPipeline out;
  out.pipeline = pipe::PipelineOp::create(builder, location, b_.getStringAttr(fresh(stem)));
  out.pipeline.getBody().emplaceBlock();
  putIntoBranch(out.pipeline);
  return out;
}

void Former::putIntoBranch(pipe::PipelineOp pipeline) {
  if (branch_) {
    pipeline->setAttr("choice", FlatSymbolRefAttr::get(b_.getContext(), branch_->choice));
    pipeline->setAttr("branch", b_.getStringAttr(branch_->name));
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
    OpenPipeline &open, ArrayRef<std::string> columns, const Names &keep, ArrayRef<std::string> computed,
    Location location,
    llvm::function_ref<FailureOr<SmallVector<Scalar>>(ExpressionTranslator &, ArrayRef<Scalar>)> fill) {
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
  auto map = pipe::MapOp::create(builder, location, rowsType(all), open.rows, strings(computed), strings(columns));
  map.getBody().takeBody(*region);
  open.rows = map.getRows();
  open.columns = all;
  return added;
}

// ---- sources ----

std::optional<__int128> integerAttr(Attribute attr) {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attr)) {
    return integer.getValue().getSExtValue();
  }
  return std::nullopt;
}

FailureOr<OpenPipeline> Former::openScan(frame::ScanOp scan, const Names &needed) {
  OpenPipeline out = startPipeline(scan.getLoc(), "scan_" + scan.getTableName().str() + "_");
  DictionaryAttr statistics = scan.getStatisticsAttr();
  DictionaryAttr byColumn = statistics ? dyn_cast_or_null<DictionaryAttr>(statistics.get("columns")) : nullptr;
  IntegerAttr expected;
  if (statistics) {
    // `rows` is an estimate if a bound stands beside it, else it is counted.
    auto rows = integerAttr(statistics.get("rows")), bound = integerAttr(statistics.get("rows_max"));
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
    auto known = byColumn ? dyn_cast_or_null<DictionaryAttr>(byColumn.get(fileName)) : nullptr;
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
    descriptions.push_back(description.getDictionary(b_.getContext()));
    out.columns.push_back(info);
  }
  OpBuilder builder = atEnd(out);
  ArrayAttr bounds = scan->getAttrOfType<ArrayAttr>("bounds");
  out.rows = pipe::ScanOp::create(builder, scan.getLoc(), rowsType(out.columns), scan.getTableNameAttr(),
                                  b_.getArrayAttr(descriptions), bounds, expected,
                                  scan->hasAttr(dist::DistDialect::getSplitAttrName()) ? b_.getUnitAttr() : UnitAttr());
  return out;
}

// ---- row by row ----

Names withColumns(const Names &needed, ArrayAttr columns) {
  Names out = needed;
  for (auto name : columns.getAsRange<StringAttr>()) {
    out.insert(name.getValue());
  }
  return out;
}

std::vector<std::string> listOf(ArrayAttr columns) {
  std::vector<std::string> out;
  for (auto name : columns.getAsRange<StringAttr>()) {
    out.push_back(name.str());
  }
  return out;
}

/// Conjuncts `column op constant` of a filter, as bounds by which storage leaves out row groups.
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
    if (!constant || !argument || argument.getOwner() != &body || !ordered || isa<UnitAttr>(constant.getValue())) {
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

FailureOr<OpenPipeline> Former::openFilter(frame::FilterOp filter, const Names &needed) {
  FailureOr<OpenPipeline> open = this->open(filter.getInput(), withColumns(needed, filter.getColumns()));
  if (failed(open)) {
    return failure();
  }
  // Straight over a scan, or over filters of it, what the predicate says holds for row groups too.
  bool straight = llvm::all_of(open->pipeline.getBody().front(),
                               [](Operation &op) { return isa<pipe::ScanOp, pipe::FilterOp>(op); });
  if (auto scan = dyn_cast<pipe::ScanOp>(open->pipeline.getBody().front().front()); scan && straight) {
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
  auto op = pipe::FilterOp::create(builder, filter.getLoc(), rowsType(kept), open->rows, strings(columns));
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
  // All inputs of the region: expressions that nobody needs are dropped by canonicalisation in `lower`.
  below = withColumns(below, project.getColumns());
  FailureOr<OpenPipeline> open = this->open(project.getInput(), below);
  if (failed(open)) {
    return failure();
  }
  std::vector<std::string> columns = listOf(project.getColumns());
  auto added = appendMap(*open, columns, kept, computed, project.getLoc(),
                         [&](ExpressionTranslator &translator, ArrayRef<Scalar> arguments) -> FailureOr<SmallVector<Scalar>> {
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
  auto added = appendMap(*open, columns, Names(), computed, rename.getLoc(),
                         [](ExpressionTranslator &, ArrayRef<Scalar> arguments) -> FailureOr<SmallVector<Scalar>> {
                           return SmallVector<Scalar>(arguments.begin(), arguments.end());
                         });
  if (failed(added)) {
    return failure();
  }
  return open;
}

// ---- joins ----

LogicalResult Former::conformKeys(OpenPipeline &open, std::vector<std::string> &names,
                                  ArrayRef<std::optional<Range>> ranges, const Names &keep,
                                  Location location) {
  std::vector<std::string> from, to;
  std::vector<std::optional<Range>> wanted;
  Names kept = keep;
  for (auto [name, range] : llvm::zip(names, ranges)) {
    const ColumnInfo *column = open.find(name);
    if (column->body == bodyType(column->type, range)) {
      kept.insert(name);
      continue;
    }
    from.push_back(name);
    to.push_back(fresh(name + ".key"));
    wanted.push_back(range);
    name = to.back();
  }
  if (from.empty()) {
    return success();
  }
  return appendMap(open, from, kept, to, location,
                   [&](ExpressionTranslator &translator, ArrayRef<Scalar> arguments) -> FailureOr<SmallVector<Scalar>> {
                     SmallVector<Scalar> out;
                     for (auto [argument, range] : llvm::zip(arguments, wanted)) {
                       Scalar scalar = argument;
                       scalar.range = range;
                       scalar.value = translator.toWidth(
                           scalar.value, bodyType(scalar.type, range).getIntOrFloatBitWidth());
                       out.push_back(scalar);
                     }
                     return out;
                   });
}

FailureOr<OpenPipeline> Former::openJoin(frame::JoinOp join, const Names &needed) {
  pipe::LookupKind kind;
  switch (join.getKind()) {
  case frame::JoinKind::Inner:
    kind = pipe::LookupKind::Inner;
    break;
  case frame::JoinKind::Left:
    kind = pipe::LookupKind::Left;
    break;
  case frame::JoinKind::Semi:
    kind = pipe::LookupKind::Semi;
    break;
  case frame::JoinKind::Anti:
    kind = pipe::LookupKind::Anti;
    break;
  case frame::JoinKind::Mark:
    kind = pipe::LookupKind::Mark;
    break;
  default:
    return join.emitError("this kind of join is not supported yet: ")
           << frame::stringifyJoinKind(join.getKind()) << "; write a left join";
  }
  Names leftNeeds, rightNeeds, leftColumns, rightColumns;
  auto leftType = join.getLeft().getType(), rightType = join.getRight().getType();
  for (size_t index = 0; index < leftType.getNumColumns(); ++index) {
    leftColumns.insert(leftType.getColumns()[index].name.getValue());
  }
  for (size_t index = 0; index < rightType.getNumColumns(); ++index) {
    rightColumns.insert(rightType.getColumns()[index].name.getValue());
  }
  auto need = [&](StringRef name) {
    if (leftColumns.contains(name)) {
      leftNeeds.insert(name);
    } else if (rightColumns.contains(name)) {
      rightNeeds.insert(name);
    }
  };
  for (const auto &entry : needed) {
    need(entry.getKey());
  }
  std::vector<std::string> residualColumns;
  if (join.hasResidual()) {
    residualColumns = listOf(*join.getResidualColumns());
    for (const std::string &name : residualColumns) {
      need(name);
    }
  }
  Names payloadNames = rightNeeds;
  std::vector<std::string> leftKeys = listOf(join.getLeftKeys()), rightKeys = listOf(join.getRightKeys());
  for (const std::string &key : leftKeys) {
    leftNeeds.insert(key);
  }
  for (const std::string &key : rightKeys) {
    rightNeeds.insert(key);
  }
  FailureOr<OpenPipeline> build = open(join.getRight(), rightNeeds);
  if (failed(build)) {
    return failure();
  }
  FailureOr<OpenPipeline> probe = open(join.getLeft(), leftNeeds);
  if (failed(probe)) {
    return failure();
  }
  if (join.getNullAware()) {
    for (const std::string &key : rightKeys) {
      if (build->find(key)->nullable || probe->find(leftKeys[0])->nullable) {
        return join.emitError("NOT IN over values that may be NULL is not supported yet; use NOT EXISTS");
      }
    }
  }
  // Keys of both sides at one width: the wider.
  std::vector<std::optional<Range>> ranges;
  for (auto [left, right] : llvm::zip(leftKeys, rightKeys)) {
    const ColumnInfo *a = probe->find(left), *b = build->find(right);
    auto rangeA = a->range ? a->range : typeRange(a->type), rangeB = b->range ? b->range : typeRange(b->type);
    if (rangeA && rangeB) {
      ranges.push_back(Range{std::min(rangeA->low, rangeB->low), std::max(rangeA->high, rangeB->high)});
    } else {
      ranges.push_back(std::nullopt);
    }
  }
  std::vector<std::string> buildKeys = rightKeys, probeKeys = leftKeys;
  std::optional<Range> singleRange = build->columns.empty() || rightKeys.size() != 1
                                         ? std::nullopt
                                         : build->find(rightKeys[0])->range;
  if (failed(conformKeys(*build, buildKeys, ranges, rightNeeds, join.getLoc())) ||
      failed(conformKeys(*probe, probeKeys, ranges, leftNeeds, join.getLoc()))) {
    return failure();
  }
  SmallVector<Attribute> fields;
  std::vector<std::string> payload;
  std::vector<ColumnInfo> payloadInfo;
  for (const std::string &key : buildKeys) {
    fields.push_back(field(*build->find(key), "key"));
  }
  for (const ColumnInfo &column : build->columns) {
    bool isKey = llvm::is_contained(buildKeys, column.name);
    if (!isKey) {
      fields.push_back(field(column, "payload"));
    }
    if (needed.contains(column.name) && payloadNames.contains(column.name)) {
      payload.push_back(column.name);
      payloadInfo.push_back(column);
    }
  }
  OpBuilder outer = OpBuilder::atBlockEnd(module_.getBody());
  outer.setInsertionPoint(probe->pipeline);
  std::string name = fresh("build");
  auto state = pipe::StateOp::create(outer, join.getLoc(), b_.getStringAttr(name), pipe::StateKind::Join,
                                     b_.getArrayAttr(fields), ArrayAttr(), IntegerAttr(), IntegerAttr());
  setRows(state, join.getRight());
  // Dense integer keys: the directory is an array over [low, high], if it is not much larger than the hash one.
  constexpr uint64_t kDirectMax = 1u << 27;
  if (singleRange && build->rowsMax) {
    __int128 extent = singleRange->high - singleRange->low + 1;
    bool dense = extent > 0 && extent <= kDirectMax &&
                 extent <= static_cast<__int128>(*build->rowsMax) * 8 + 1024;
    if (dense && !build->find(buildKeys[0])->nullable) {
      state->setAttr("direct", b_.getDictionaryAttr(
                                   {b_.getNamedAttr("base", b_.getI64IntegerAttr(static_cast<int64_t>(singleRange->low))),
                                    b_.getNamedAttr("extent", b_.getI64IntegerAttr(static_cast<int64_t>(extent)))}));
    }
  }
  {
    OpBuilder builder = atEnd(*build);
    pipe::InsertOp::create(builder, join.getLoc(), build->rows, b_.getAttr<FlatSymbolRefAttr>(name),
                           strings(buildKeys), b_.getUnitAttr());
  }
  // The lookup.
  std::vector<ColumnInfo> columns;
  for (const ColumnInfo &column : probe->columns) {
    if (needed.contains(column.name)) {
      columns.push_back(column);
    }
  }
  for (ColumnInfo column : payloadInfo) {
    column.nullable |= kind == pipe::LookupKind::Left;
    if (kind == pipe::LookupKind::Left && column.range) {
      column.range = Range{std::min<__int128>(column.range->low, 0), std::max<__int128>(column.range->high, 0)};
    }
    columns.push_back(column);
  }
  StringAttr mark;
  if (kind == pipe::LookupKind::Mark) {
    ColumnInfo column;
    auto result = join.getResult().getType();
    mark = result.getColumns()[result.getNumColumns() - 1].name;
    column.name = mark.str();
    column.type = column.body = b_.getI1Type();
    columns.push_back(column);
  }
  OpBuilder builder = atEnd(*probe);
  auto lookup = pipe::LookupOp::create(builder, join.getLoc(), rowsType(columns), probe->rows,
                                       StringRef(name), kind, strings(probeKeys),
                                       strings(payload), mark, strings(residualColumns));
  if (join.hasResidual()) {
    Block &body = lookup.getResidual().emplaceBlock();
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    ExpressionTranslator translator(inside, join.getLoc());
    Block &frameBody = join.getResidual().front();
    OpenPipeline both = *probe;
    llvm::append_range(both.columns, build->columns);
    bindArguments(both, residualColumns, body, &translator, frameBody.getArguments());
    FailureOr<SmallVector<Scalar>> values = translator.translate(frameBody);
    if (failed(values)) {
      return failure();
    }
    pipe::YieldOp::create(inside, join.getLoc(), ValueRange{translator.isTrue(values->front())});
  }
  probe->rows = lookup.getRows();
  probe->columns = columns;
  bool multiplies = kind == pipe::LookupKind::Inner || kind == pipe::LookupKind::Left;
  if (multiplies) {
    probe->rowsMax = product(probe->rowsMax, build->rowsMax);
  }
  probe->ordered = false;
  return probe;
}

// ---- aggregates and orders ----

void Former::emitMerge(pipe::StateOp state, ArrayRef<ColumnInfo> fields, ArrayAttr keys) {
  OpBuilder builder = OpBuilder::atBlockEnd(module_.getBody());
  auto pipeline = pipe::PipelineOp::create(builder, state.getLoc(), b_.getStringAttr("merge_" + state.getSymName()));
  pipeline->setAttr("merges", FlatSymbolRefAttr::get(state.getSymNameAttr()));
  Block &body = pipeline.getBody().emplaceBlock();
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  Value rows = pipe::ReadOp::create(inside, state.getLoc(), rowsType(fields), FlatSymbolRefAttr::get(state.getSymNameAttr()));
  pipe::CombineOp::create(inside, state.getLoc(), rows, FlatSymbolRefAttr::get(state.getSymNameAttr()), keys);
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
  // What partial aggregates give: counts to add up, and sums whose range already holds for all ranks together.
  bool combinesPartials = aggregate.getStage() == frame::AggregateStage::Final;
  // One map gives every measure its input, under the measure's name.
  auto inputs = appendMap(
      *input, sources, keyNames, names, aggregate.getLoc(),
      [&](ExpressionTranslator &translator, ArrayRef<Scalar> arguments) -> FailureOr<SmallVector<Scalar>> {
        SmallVector<Scalar> out;
        for (frame::MeasureAttr measure : measures) {
          Scalar scalar;
          if (measure.getInput()) {
            scalar = arguments[llvm::find(sources, measure.getInput().str()) - sources.begin()];
          }
          bool counts = !combinesPartials && (measure.getFunction() == frame::AggregateFunction::Count ||
                                              measure.getFunction() == frame::AggregateFunction::CountStar);
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
    fieldAttrs.push_back(field(fields.back(), "key"));
  }
  bool grouped = !keys.empty();
  for (auto [measure, column] : llvm::zip(measures, *inputs)) {
    ColumnInfo out = column;
    StringRef combine = "sum";
    switch (measure.getFunction()) {
    case frame::AggregateFunction::Count:
    case frame::AggregateFunction::CountStar:
      out.body = b_.getI64Type();
      out.range = Range{0, input->rowsMax ? static_cast<__int128>(*input->rowsMax) : INT64_MAX};
      out.nullable = false;
      break;
    case frame::AggregateFunction::Sum: {
      out.nullable |= !grouped;
      out.type = frame::dropNullable(result.getColumnType(measure.getName().getValue()));
      if (frame::isFloat(out.type)) {
        out.body = b_.getF64Type();
        break;
      }
      if (combinesPartials && out.range) {
        out.body = b_.getIntegerType(std::max(64u, bitsFor(*out.range)));
        break;
      }
      __int128 low, high;
      bool bounded = out.range && input->rowsMax &&
                     !__builtin_mul_overflow(out.range->low, static_cast<__int128>(*input->rowsMax), &low) &&
                     !__builtin_mul_overflow(out.range->high, static_cast<__int128>(*input->rowsMax), &high);
      out.range = bounded ? std::optional<Range>(Range{std::min<__int128>(low, 0), std::max<__int128>(high, 0)})
                          : std::nullopt;
      unsigned bits = bounded ? std::max(64u, bitsFor(*out.range)) : 128;
      out.body = b_.getIntegerType(bits);
      break;
    }
    case frame::AggregateFunction::Min:
    case frame::AggregateFunction::Max:
      combine = measure.getFunction() == frame::AggregateFunction::Min ? "min" : "max";
      // A string has no neutral element: its validity byte says that there is one.
      out.nullable |= !grouped || frame::isString(out.type);
      break;
    default:
      return aggregate.emitError("must be lowered before pipelines are formed: ") << measure;
    }
    fields.push_back(out);
    fieldAttrs.push_back(field(out, combine));
  }
  OpBuilder outer = OpBuilder::atBlockEnd(module_.getBody());
  outer.setInsertionPoint(input->pipeline);
  std::string name = fresh("aggregate");
  auto kind = grouped ? pipe::StateKind::Group : pipe::StateKind::Scalar;
  auto state = pipe::StateOp::create(outer, aggregate.getLoc(), b_.getStringAttr(name), kind,
                                     b_.getArrayAttr(fieldAttrs), ArrayAttr(), IntegerAttr(), IntegerAttr());
  setRows(state, aggregate.getResult());
  ArrayAttr keyAttr = strings(keys);
  {
    OpBuilder builder = atEnd(*input);
    pipe::CombineOp::create(builder, aggregate.getLoc(), input->rows, b_.getAttr<FlatSymbolRefAttr>(name), keyAttr);
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
  // Sums wider than their SQL type are brought back to it, with a check.
  std::vector<std::string> wide;
  Names kept;
  for (const ColumnInfo &column : read) {
    bool tooWide = frame::isInteger(column.type) && column.body.getIntOrFloatBitWidth() == 128;
    if (tooWide) {
      wide.push_back(column.name);
    } else {
      kept.insert(column.name);
    }
  }
  if (!wide.empty()) {
    auto narrowed = appendMap(out, wide, kept, wide, aggregate.getLoc(),
                              [](ExpressionTranslator &translator, ArrayRef<Scalar> arguments) -> FailureOr<SmallVector<Scalar>> {
                                SmallVector<Scalar> values;
                                for (const Scalar &argument : arguments) {
                                  values.push_back(translator.checkedToType(argument));
                                }
                                return values;
                              });
    if (failed(narrowed)) {
      return failure();
    }
  }
  return out;
}

OpenPipeline Former::openState(Location location, StringRef state, ArrayRef<ColumnInfo> columns, StringRef stem) {
  OpenPipeline out = startPipeline(location, stem);
  OpBuilder builder = atEnd(out);
  out.rows = pipe::ReadOp::create(builder, location, rowsType(columns), b_.getAttr<FlatSymbolRefAttr>(state));
  out.columns.assign(columns.begin(), columns.end());
  return out;
}

FailureOr<OpenPipeline> Former::openSort(Value value, ArrayAttr keys, std::optional<uint64_t> limit,
                                         const Names &needed, Location location) {
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
  SmallVector<Attribute> fields, sortKeys;
  for (const ColumnInfo &column : input->columns) {
    fields.push_back(field(column, "payload"));
  }
  if (keys) {
    for (auto key : keys.getAsRange<frame::SortKeyAttr>()) {
      sortKeys.push_back(pipe::SortKeyAttr::get(b_.getContext(), key.getColumn(),
                                                key.getDirection() == frame::SortDirection::Desc,
                                                key.getNulls() == frame::NullsOrder::First));
    }
  }
  OpBuilder outer = OpBuilder::atBlockEnd(module_.getBody());
  outer.setInsertionPoint(input->pipeline);
  std::string name = fresh("order");
  auto state = pipe::StateOp::create(outer, location, b_.getStringAttr(name), pipe::StateKind::Sort,
                                     b_.getArrayAttr(fields), b_.getArrayAttr(sortKeys),
                                     limit ? b_.getI64IntegerAttr(static_cast<int64_t>(*limit)) : IntegerAttr(),
                                     IntegerAttr());
  setRows(state, value);
  {
    OpBuilder builder = atEnd(*input);
    pipe::InsertOp::create(builder, location, input->rows, b_.getAttr<FlatSymbolRefAttr>(name), strings({}), UnitAttr());
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

FailureOr<OpenPipeline> Former::openExchange(dist::ExchangeOp exchange, const Names &needed) {
  Names below = needed;
  std::vector<std::string> keys;
  if (exchange.getKeys()) {
    keys = listOf(*exchange.getKeys());
    for (const std::string &key : keys) {
      below.insert(key);
    }
  }
  FailureOr<OpenPipeline> input = open(exchange.getInput(), below);
  if (failed(input)) {
    return failure();
  }
  StringRef kind = dist::stringifyExchangeKind(exchange.getKind());
  if (kind == "range") {
    return exchange.emitError("exchange by range is not supported yet");
  }
  std::string name = fresh("exchange");
  OpBuilder outer = OpBuilder::atBlockEnd(module_.getBody());
  outer.setInsertionPoint(input->pipeline);
  pipe::StreamOp::create(outer, exchange.getLoc(), b_.getStringAttr(name), b_.getStringAttr(kind),
                         TypeAttr::get(rowsType(input->columns)), ArrayAttr());
  {
    OpBuilder builder = atEnd(*input);
    pipe::EmitOp::create(builder, exchange.getLoc(), input->rows, b_.getAttr<FlatSymbolRefAttr>(name), strings(keys));
  }
  OpenPipeline out = startPipeline(exchange.getLoc(), "received");
  OpBuilder builder = atEnd(out);
  out.rows = pipe::ReceiveOp::create(builder, exchange.getLoc(), rowsType(input->columns), b_.getAttr<FlatSymbolRefAttr>(name));
  out.columns = input->columns;
  out.rowsMax = input->rowsMax;
  return out;
}

// ---- ways that are chosen at run time ----

/// The join in a region of a choose, and the keys of the exchange on one of its sides.
frame::JoinOp joinIn(Region &region) {
  return region.front().getTerminator()->getOperand(0).getDefiningOp<frame::JoinOp>();
}

std::pair<Value, std::vector<std::string>> behindExchange(Value table) {
  auto exchange = table.getDefiningOp<dist::ExchangeOp>();
  if (!exchange) {
    return {table, {}};
  }
  return {exchange.getInput(), exchange.getKeys() ? listOf(*exchange.getKeys()) : std::vector<std::string>()};
}

LogicalResult Former::formBranch(Region &region, const Names &needed, StringRef stream, OpenPipeline left,
                                 OpenPipeline counted, std::vector<ColumnInfo> &columns) {
  frame::JoinOp join = joinIn(region);
  formed_[behindExchange(join.getLeft()).first] = std::move(left);
  formed_[behindExchange(join.getRight()).first] = std::move(counted);
  FailureOr<OpenPipeline> joined = openJoin(join, needed);
  if (failed(joined)) {
    return failure();
  }
  columns = joined->columns;
  OpBuilder builder = atEnd(*joined);
  pipe::EmitOp::create(builder, join.getLoc(), joined->rows, b_.getAttr<FlatSymbolRefAttr>(stream), strings({}));
  return success();
}

FailureOr<OpenPipeline> Former::openChoose(dist::ChooseOp choose, const Names &needed) {
  frame::JoinOp few = joinIn(choose.getFew()), many = joinIn(choose.getMany());
  if (!few || !many) {
    return choose.emitError("chooses between other ops than joins");
  }
  // What the joins need of their sides, and the exchanges in front of them.
  Names leftNeeds, rightNeeds;
  Location location = choose.getLoc();
  auto add = [](Names &names, ArrayRef<std::string> more) {
    for (const std::string &name : more) {
      names.insert(name);
    }
  };
  std::vector<std::string> residual = few.hasResidual() ? listOf(*few.getResidualColumns()) : std::vector<std::string>();
  for (auto [side, needs, keys] : {std::tuple(few.getLeft(), &leftNeeds, few.getLeftKeys()),
                                   std::tuple(few.getRight(), &rightNeeds, few.getRightKeys())}) {
    auto type = cast<frame::TableType>(side.getType());
    for (const frame::Column &column : type.getColumns()) {
      if (needed.contains(column.name.getValue()) || llvm::is_contained(residual, column.name.getValue())) {
        needs->insert(column.name.getValue());
      }
    }
    add(*needs, listOf(keys));
  }
  add(leftNeeds, behindExchange(many.getLeft()).second);
  add(rightNeeds, behindExchange(many.getRight()).second);
  // The right side is kept as rows, which are counted and then read in the one way or the other.
  FailureOr<OpenPipeline> build = open(choose.getCounted(), rightNeeds);
  if (failed(build)) {
    return failure();
  }
  std::string rows = fresh("rows");
  SmallVector<Attribute> fields;
  for (const ColumnInfo &column : build->columns) {
    fields.push_back(field(column, "payload"));
  }
  {
    OpBuilder outer(build->pipeline);
    auto state = pipe::StateOp::create(outer, location, b_.getStringAttr(rows), pipe::StateKind::Rows,
                                       b_.getArrayAttr(fields), ArrayAttr(), IntegerAttr(), IntegerAttr());
    setRows(state, choose.getCounted());
    OpBuilder builder = atEnd(*build);
    pipe::InsertOp::create(builder, location, build->rows, b_.getAttr<FlatSymbolRefAttr>(rows), strings({}), UnitAttr());
  }
  // The left side's pipeline is made once and continued twice.
  FailureOr<OpenPipeline> left = open(behindExchange(few.getLeft()).first, leftNeeds);
  if (failed(left)) {
    return failure();
  }
  Operation &source = left->pipeline.getBody().front().front();
  if (!isa<pipe::ScanOp, pipe::ReadOp>(source)) {
    return choose.emitError("its left side comes from an exchange; only scans and states can be read twice: ")
           << source.getName();
  }
  std::string stream = fresh("chosen"), choice = fresh("choice");
  OpenPipeline second = *left;
  {
    OpBuilder after(left->pipeline);
    after.setInsertionPointAfter(left->pipeline);
    IRMapping mapping;
    second.pipeline = cast<pipe::PipelineOp>(after.clone(*left->pipeline, mapping));
    second.pipeline.setSymName(fresh(left->pipeline.getSymName().str() + "_many"));
    second.rows = mapping.lookup(left->rows);
    OpBuilder outer(left->pipeline);
    pipe::ChoiceOp::create(outer, location, b_.getStringAttr(choice), b_.getAttr<FlatSymbolRefAttr>(rows),
                           choose.getAtMostAttr(),
                           b_.getI64IntegerAttr(static_cast<int64_t>(localRows_.everywhere(choose.getCounted()).expected)));
  }
  std::vector<ColumnInfo> columns, again;
  for (auto [region, name, side, given] :
       {std::tuple(&choose.getFew(), "few", *left, &columns), std::tuple(&choose.getMany(), "many", second, &again)}) {
    branch_ = Branch{choice, name};
    putIntoBranch(side.pipeline);
    OpenPipeline counted = openState(location, rows, build->columns, "kept");
    counted.rowsMax = build->rowsMax;
    LogicalResult formed = formBranch(*region, needed, stream, side, counted, *given);
    branch_.reset();
    if (failed(formed)) {
      return failure();
    }
  }
  if (rowsType(columns) != rowsType(again)) {
    return choose.emitError("its ways give different rows: ") << rowsType(columns) << " and " << rowsType(again);
  }
  OpBuilder outer(left->pipeline);
  pipe::StreamOp::create(outer, location, b_.getStringAttr(stream), b_.getStringAttr("none"),
                         TypeAttr::get(rowsType(columns)), ArrayAttr());
  OpenPipeline out = startPipeline(location, "chosen_rows");
  OpBuilder builder = atEnd(out);
  out.rows = pipe::ReceiveOp::create(builder, location, rowsType(columns), b_.getAttr<FlatSymbolRefAttr>(stream));
  out.columns = columns;
  bool multiplies = few.getKind() == frame::JoinKind::Inner || few.getKind() == frame::JoinKind::Left;
  out.rowsMax = multiplies ? product(left->rowsMax, build->rowsMax) : left->rowsMax;
  return out;
}

FailureOr<OpenPipeline> Former::open(Value value, const Names &needed) {
  if (auto formed = formed_.find(value); formed != formed_.end()) {
    OpenPipeline taken = std::move(formed->second);
    formed_.erase(formed);
    return taken;
  }
  Operation *op = value.getDefiningOp();
  if (!op) {
    return main_.emitError("tables as function arguments are not supported; scan them");
  }
  if (auto scan = dyn_cast<frame::ScanOp>(op)) {
    return openScan(scan, needed);
  }
  if (auto filter = dyn_cast<frame::FilterOp>(op)) {
    return openFilter(filter, needed);
  }
  if (auto project = dyn_cast<frame::ProjectOp>(op)) {
    return openProject(project, needed);
  }
  if (auto rename = dyn_cast<frame::RenameOp>(op)) {
    return openRename(rename, needed);
  }
  if (auto join = dyn_cast<frame::JoinOp>(op)) {
    return openJoin(join, needed);
  }
  if (auto aggregate = dyn_cast<frame::AggregateOp>(op)) {
    return openAggregate(aggregate, needed);
  }
  if (auto sort = dyn_cast<frame::SortOp>(op)) {
    return openSort(sort.getInput(), sort.getKeys(), std::nullopt, needed, sort.getLoc());
  }
  if (auto topk = dyn_cast<frame::TopKOp>(op)) {
    if (topk.getOffset() != 0) {
      return topk.emitError("OFFSET is not supported yet");
    }
    return openSort(topk.getInput(), topk.getKeys(), static_cast<uint64_t>(topk.getCount()), needed, topk.getLoc());
  }
  if (auto limit = dyn_cast<frame::LimitOp>(op)) {
    if (limit.getOffset() != 0 || !limit.getCount()) {
      return limit.emitError("OFFSET is not supported yet");
    }
    auto count = static_cast<uint64_t>(*limit.getCount());
    // A limit over an order is a top-k; the optimiser may have left the two apart.
    if (auto sort = limit.getInput().getDefiningOp<frame::SortOp>()) {
      return openSort(sort.getInput(), sort.getKeys(), count, needed, limit.getLoc());
    }
    return openSort(limit.getInput(), nullptr, count, needed, limit.getLoc());
  }
  if (auto exchange = dyn_cast<dist::ExchangeOp>(op)) {
    return openExchange(exchange, needed);
  }
  if (auto choose = dyn_cast<dist::ChooseOp>(op)) {
    return openChoose(choose, needed);
  }
  return op->emitError("not supported in pipelines yet: ") << op->getName();
}

LogicalResult Former::run() {
  auto terminator = cast<func::ReturnOp>(main_.getBody().front().getTerminator());
  if (terminator.getNumOperands() != 1 || !isa<frame::TableType>(terminator.getOperand(0).getType())) {
    return main_.emitError("a relational program returns one table");
  }
  Value value = terminator.getOperand(0);
  auto table = cast<frame::TableType>(value.getType());
  Names needed;
  for (size_t index = 0; index < table.getNumColumns(); ++index) {
    needed.insert(table.getColumns()[index].name.getValue());
  }
  FailureOr<OpenPipeline> result = open(value, needed);
  if (failed(result)) {
    return failure();
  }
  // The result's columns in the user's order, under the user's names where those are unique.
  std::vector<ColumnInfo> columns;
  SmallVector<Attribute> logical, shown;
  auto resultNames = main_->getAttrOfType<ArrayAttr>(frame::FrameDialect::getResultNamesAttrName());
  for (size_t index = 0; index < table.getNumColumns(); ++index) {
    const ColumnInfo *column = result->find(table.getColumns()[index].name.getValue());
    if (!column) {
      return main_.emitError("result column was lost: ") << table.getColumns()[index].name;
    }
    columns.push_back(*column);
    logical.push_back(b_.getStringAttr(logicalText(table.getColumns()[index].type)));
    shown.push_back(resultNames ? resultNames[index] : table.getColumns()[index].name);
  }
  OpBuilder builder = atEnd(*result);
  pipe::RowsType rows = rowsType(columns);
  OpBuilder outer = OpBuilder::atBlockEnd(module_.getBody());
  outer.setInsertionPoint(result->pipeline);
  StringAttr name = b_.getStringAttr(sink_ == TableSink::kResult ? StringRef("result") : main_.getSymName());
  StringAttr use = b_.getStringAttr(sink_ == TableSink::kResult ? "result" : "to_tensor");
  if (sink_ == TableSink::kTensor) {
    main_.setSymName((name.getValue() + "_formed").str()); // the stream takes the name
  }
  auto stream = pipe::StreamOp::create(outer, main_.getLoc(), name, use, TypeAttr::get(rows), b_.getArrayAttr(logical));
  stream->setAttr("names", b_.getArrayAttr(shown));
  stream->setAttr("ordered", b_.getBoolAttr(result->ordered));
  // Sinks take the rows as they are: a map without bodies puts the columns in order.
  if (result->rows.getType() != rows) {
    auto map = pipe::MapOp::create(builder, main_.getLoc(), rows, result->rows, strings({}), strings({}));
    OpBuilder inside = OpBuilder::atBlockEnd(&map.getBody().emplaceBlock());
    pipe::YieldOp::create(inside, main_.getLoc(), ValueRange());
    result->rows = map.getRows();
  }
  pipe::EmitOp::create(builder, main_.getLoc(), result->rows, FlatSymbolRefAttr::get(name), strings({}));
  main_.erase();
  return success();
}

} // namespace

LogicalResult formPipelines(func::FuncOp main, TableSink sink) { return Former(main, sink).run(); }

} // namespace headrace::form
