// Joins: the right side is built into a table, the left side goes on through a lookup.
#include "passes/form/former.h"

#include "passes/analysis/direct_table.h"

using namespace mlir;

namespace headrace::form {

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
                   [&](ExpressionTranslator &translator,
                       ArrayRef<Scalar> arguments) -> FailureOr<SmallVector<Scalar>> {
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
  case frame::JoinKind::Full:
    kind = pipe::LookupKind::Full;
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
  case frame::JoinKind::Single:
    return join.emitError("a single join must be a left join before pipelines are formed");
  case frame::JoinKind::Right:
    return join.emitError("a right join must be a left join before pipelines are formed");
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
  std::vector<std::string> leftKeys = listOf(join.getLeftKeys()),
                           rightKeys = listOf(join.getRightKeys());
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
    return join.emitError("NOT IN must be an ordinary anti join before pipelines are formed");
  }
  // Keys of both sides at one width: the wider.
  std::vector<std::optional<Range>> ranges;
  for (auto [left, right] : llvm::zip(leftKeys, rightKeys)) {
    const ColumnInfo *a = probe->find(left), *b = build->find(right);
    auto rangeA = a->range ? a->range : typeRange(a->type),
         rangeB = b->range ? b->range : typeRange(b->type);
    if (rangeA && rangeB) {
      ranges.push_back(
          Range{std::min(rangeA->low, rangeB->low), std::max(rangeA->high, rangeB->high)});
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
  // A full join marks the rows that found a match.
  bool full = kind == pipe::LookupKind::Full;
  ColumnInfo matched;
  if (full) {
    matched.name = fresh("matched");
    matched.type = b_.getI1Type();
    Names all;
    for (const ColumnInfo &column : build->columns) {
      all.insert(column.name);
    }
    auto added = appendMap(
        *build, {}, all, {matched.name}, join.getLoc(),
        [&](ExpressionTranslator &translator, ArrayRef<Scalar>) -> FailureOr<SmallVector<Scalar>> {
          Scalar no = translator.nullOf(matched.type, std::nullopt); // false under NULL
          no.valid = Value();
          return SmallVector<Scalar>{no};
        });
    if (failed(added)) {
      return failure();
    }
    matched = added->front();
  }
  SmallVector<Attribute> fields;
  std::vector<std::string> payload;
  std::vector<ColumnInfo> payloadInfo;
  for (const std::string &key : buildKeys) {
    fields.push_back(field(*build->find(key), pipe::Combine::Key));
  }
  for (const ColumnInfo &column : build->columns) {
    bool isKey = llvm::is_contained(buildKeys, column.name);
    if (!isKey) {
      fields.push_back(field(column, pipe::Combine::Payload));
    }
    if (needed.contains(column.name) && payloadNames.contains(column.name)) {
      payload.push_back(column.name);
      payloadInfo.push_back(column);
    }
  }
  OpBuilder outer = OpBuilder::atBlockEnd(module_.getBody());
  outer.setInsertionPoint(probe->pipeline);
  std::string name = fresh("build");
  auto state = pipe::StateOp::create(outer, join.getLoc(), name, pipe::StateKind::Join, fields,
                                     localRows_.attributeOf(join.getRight()));
  // Dense integer keys: the directory is an array over [low, high], if it is not much larger than
  // the hash one. Keys of the other side may need 128 bits, of which no index is made.
  const ColumnInfo *onlyKey = singleRange ? build->find(buildKeys[0]) : nullptr;
  if (onlyKey && build->rowsMax && !onlyKey->nullable &&
      onlyKey->body.getIntOrFloatBitWidth() <= 64) {
    if (auto extent =
            analysis::directExtent(singleRange->low, singleRange->high, *build->rowsMax)) {
      state.setDirectAttr(pipe::DirectAttr::get(b_.getContext(),
                                                static_cast<int64_t>(singleRange->low),
                                                static_cast<int64_t>(*extent)));
    }
  }
  {
    OpBuilder builder = atEnd(*build);
    pipe::InsertOp::create(builder, join.getLoc(), build->rows, b_.getAttr<FlatSymbolRefAttr>(name),
                           strings(buildKeys), full ? UnitAttr() : b_.getUnitAttr(),
                           textBytes(build->columns));
  }
  // The lookup.
  std::vector<ColumnInfo> columns;
  for (const ColumnInfo &column : probe->columns) {
    if (needed.contains(column.name)) {
      columns.push_back(column);
    }
  }
  if (full && columns.empty() && payloadInfo.empty() && !probe->columns.empty()) {
    columns.push_back(probe->columns.front()); // rows are counted by their columns
  }
  for (ColumnInfo column : payloadInfo) {
    bool mayMiss = full || kind == pipe::LookupKind::Left;
    column.nullable |= mayMiss;
    if (mayMiss && column.range) {
      column.range = Range{std::min<__int128>(column.range->low, 0),
                           std::max<__int128>(column.range->high, 0)};
    }
    columns.push_back(column);
  }
  StringAttr mark = full ? b_.getStringAttr(matched.name) : StringAttr();
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
                                       StringRef(name), kind, strings(probeKeys), strings(payload),
                                       mark, strings(residualColumns),
                                       selectivity(join.getResult(), join.getLeft()));
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
  bool multiplies = kind == pipe::LookupKind::Inner || kind == pipe::LookupKind::Left || full;
  if (multiplies) {
    // A row that is kept without a match counts as one.
    auto atLeastOne = [](std::optional<uint64_t> rows) {
      return rows ? std::max<uint64_t>(*rows, 1) : rows;
    };
    probe->rowsMax =
        product(probe->rowsMax,
                kind == pipe::LookupKind::Inner ? build->rowsMax : atLeastOne(build->rowsMax));
  }
  probe->ordered = false;
  if (!full) {
    return probe;
  }
  OpenPipeline unmatched = openUnmatched(join.getLoc(), name, matched, payloadInfo, probe->columns);
  unmatched.rowsMax = build->rowsMax;
  unmatched.pipeline.setAfter(probe->pipeline.getSymName());
  std::vector<std::string> names;
  for (const ColumnInfo &column : columns) {
    names.push_back(column.name);
  }
  std::array<OpenPipeline, 2> parts{std::move(*probe), std::move(unmatched)};
  return unite(parts, names, join.getLoc());
}

OpenPipeline Former::openUnmatched(Location location, StringRef state, const ColumnInfo &matched,
                                   ArrayRef<ColumnInfo> payload, ArrayRef<ColumnInfo> columns) {
  std::vector<ColumnInfo> read(payload.begin(), payload.end());
  read.push_back(matched);
  OpenPipeline out = openState(location, state, read, "unmatched");
  // Rows that the lookup marked came out of it.
  auto region = std::make_unique<Region>();
  Block &body = region->emplaceBlock();
  OpBuilder inside(b_.getContext()); // the region has no parent yet
  inside.setInsertionPointToEnd(&body);
  Value was = body.addArgument(b_.getI1Type(), location);
  Value one = arith::ConstantOp::create(inside, location, b_.getBoolAttr(true));
  pipe::YieldOp::create(inside, location, Value(arith::XOrIOp::create(inside, location, was, one)));
  OpBuilder builder = atEnd(out);
  auto filter = pipe::FilterOp::create(builder, location, rowsType(payload), out.rows,
                                       strings({matched.name}), FloatAttr(), FloatAttr());
  filter.getBody().takeBody(*region);
  out.rows = filter.getRows();
  out.columns.assign(payload.begin(), payload.end());
  // NULL for the columns of the other side.
  Names kept;
  std::vector<std::string> missing;
  std::vector<ColumnInfo> missingInfo;
  for (const ColumnInfo &column : payload) {
    kept.insert(column.name);
  }
  for (const ColumnInfo &column : columns) {
    if (!kept.contains(column.name)) {
      missing.push_back(column.name);
      missingInfo.push_back(column);
    }
  }
  (void)appendMap(
      out, {}, kept, missing, location,
      [&](ExpressionTranslator &translator, ArrayRef<Scalar>) -> FailureOr<SmallVector<Scalar>> {
        SmallVector<Scalar> nulls;
        for (const ColumnInfo &column : missingInfo) {
          nulls.push_back(translator.nullOf(column.type, Range{0, 0}));
        }
        return nulls;
      });
  return out;
}

} // namespace headrace::form
