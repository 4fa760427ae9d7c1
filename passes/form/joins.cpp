// Joins: the right side is built into a table, the left side goes on through a lookup. Of a semi or
// anti join with few left rows it is the other way round.
#include "passes/form/former.h"

#include "passes/analysis/join_sides.h"
#include "passes/analysis/key_directory.h"

using namespace mlir;

namespace headrace::form {

/// Joins spread values; an estimate may be larger, but a 64-bit sum needs a proof.
std::optional<uint64_t> product(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  uint64_t out;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &out)) {
    return std::nullopt;
  }
  return out;
}

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

/// A join while its pipelines are formed: first the sides, then the state between them, then the
/// lookup.
struct Former::OpenJoin {
  frame::JoinOp op;
  analysis::JoinSides sides;
  pipe::LookupKind kind;
  /// What is read of each side, and what of the build side comes out of the join.
  Names probeNeeds, buildNeeds, payloadNames;
  std::vector<std::string> residualColumns;
  OpenPipeline build, probe;
  std::vector<std::string> buildKeys, probeKeys; ///< at one width
  std::optional<Range> keyRange;                 ///< of the build side, if there is one key
  ColumnInfo matched;                            ///< of the build side: the row found a match
  std::string state;
  std::vector<ColumnInfo> payload; ///< columns of the state that come out

  bool full() const { return kind == pipe::LookupKind::Full; }
  /// A semi or anti join whose left side is built.
  bool turned() const { return sides.turned; }
  bool anti() { return op.getKind() == frame::JoinKind::Anti; }
  /// Whether rows of the build side come out when all lookups are done.
  bool readsMarks() const { return full() || turned(); }
  /// Whether a row of the left side comes out without a right one.
  bool mayMiss() const { return full() || kind == pipe::LookupKind::Left; }
  Location loc() { return op.getLoc(); }
};

static FailureOr<pipe::LookupKind> lookupKind(frame::JoinOp join) {
  if (join.getNullAware()) {
    return join.emitError("NOT IN must be an ordinary anti join before pipelines are formed");
  }
  switch (join.getKind()) {
  case frame::JoinKind::Inner:
    return pipe::LookupKind::Inner;
  case frame::JoinKind::Left:
    return pipe::LookupKind::Left;
  case frame::JoinKind::Full:
    return pipe::LookupKind::Full;
  case frame::JoinKind::Semi:
    return pipe::LookupKind::Semi;
  case frame::JoinKind::Anti:
    return pipe::LookupKind::Anti;
  case frame::JoinKind::Mark:
    return pipe::LookupKind::Mark;
  case frame::JoinKind::Single:
    return join.emitError("a single join must be a left join before pipelines are formed");
  case frame::JoinKind::Right:
    return join.emitError("a right join must be a left join before pipelines are formed");
  }
  llvm_unreachable("unknown kind of join");
}

/// Keys of both sides at one width: the wider.
static std::vector<std::optional<Range>> commonRanges(const OpenPipeline &left,
                                                      ArrayRef<std::string> leftKeys,
                                                      const OpenPipeline &right,
                                                      ArrayRef<std::string> rightKeys) {
  auto rangeOf = [](const OpenPipeline &side, const std::string &key) {
    const ColumnInfo *column = side.find(key);
    return column->range ? column->range : typeRange(column->type);
  };
  std::vector<std::optional<Range>> ranges;
  for (auto [leftKey, rightKey] : llvm::zip(leftKeys, rightKeys)) {
    std::optional<Range> a = rangeOf(left, leftKey), b = rangeOf(right, rightKey);
    ranges.push_back(
        a && b ? std::optional(Range{std::min(a->low, b->low), std::max(a->high, b->high)})
               : std::nullopt);
  }
  return ranges;
}

LogicalResult Former::openSides(OpenJoin &join, const Names &needed) {
  Names probeColumns, buildColumns;
  for (auto [columns, table] :
       {std::pair(&probeColumns, join.sides.probe), std::pair(&buildColumns, join.sides.build)}) {
    for (const frame::Column &column : cast<frame::TableType>(table.getType()).getColumns()) {
      columns->insert(column.name.getValue());
    }
  }
  // Both sides may have a name if the right one's columns do not come out.
  auto need = [&](StringRef name) {
    const bool isBuilt = join.turned() && buildColumns.contains(name);
    if (!isBuilt && probeColumns.contains(name)) {
      join.probeNeeds.insert(name);
    } else if (buildColumns.contains(name)) {
      join.buildNeeds.insert(name);
    }
  };
  for (const auto &entry : needed) {
    need(entry.getKey());
  }
  join.probeKeys = listOf(join.sides.probeKeys);
  join.buildKeys = listOf(join.sides.buildKeys);
  join.payloadNames = join.buildNeeds;
  if (join.turned() && join.payloadNames.empty()) {
    join.payloadNames.insert(join.buildKeys.front()); // rows are counted by their columns
  }
  if (join.op.hasResidual()) {
    join.residualColumns = listOf(*join.op.getResidualColumns());
    llvm::for_each(join.residualColumns, need);
  }
  join.probeNeeds.insert(join.probeKeys.begin(), join.probeKeys.end());
  join.buildNeeds.insert(join.buildKeys.begin(), join.buildKeys.end());
  FailureOr<OpenPipeline> build = open(join.sides.build, join.buildNeeds);
  if (failed(build)) {
    return failure();
  }
  FailureOr<OpenPipeline> probe = open(join.sides.probe, join.probeNeeds);
  if (failed(probe)) {
    return failure();
  }
  join.build = std::move(*build);
  join.probe = std::move(*probe);
  return success();
}

LogicalResult Former::conformSides(OpenJoin &join) {
  std::vector<std::optional<Range>> ranges =
      commonRanges(join.probe, join.probeKeys, join.build, join.buildKeys);
  if (join.buildKeys.size() == 1 && !join.build.columns.empty()) {
    join.keyRange = join.build.find(join.buildKeys[0])->range;
  }
  return failure(
      failed(conformKeys(join.build, join.buildKeys, ranges, join.buildNeeds, join.loc())) ||
      failed(conformKeys(join.probe, join.probeKeys, ranges, join.probeNeeds, join.loc())));
}

LogicalResult Former::addMatched(OpenJoin &join) {
  join.matched.name = fresh("matched");
  join.matched.type = b_.getI1Type();
  Names all;
  for (const ColumnInfo &column : join.build.columns) {
    all.insert(column.name);
  }
  auto added = appendMap(
      join.build, {}, all, {join.matched.name}, join.loc(),
      [&](ExpressionTranslator &translator, ArrayRef<Scalar>) -> FailureOr<SmallVector<Scalar>> {
        Scalar no = translator.nullOf(join.matched.type, std::nullopt); // false under NULL
        no.valid = Value();
        return SmallVector<Scalar>{no};
      });
  if (failed(added)) {
    return failure();
  }
  join.matched = added->front();
  return success();
}

void Former::addBuildState(OpenJoin &join) {
  SmallVector<Attribute> fields;
  for (const std::string &key : join.buildKeys) {
    fields.push_back(field(*join.build.find(key), pipe::Combine::Key));
  }
  for (const ColumnInfo &column : join.build.columns) {
    if (!llvm::is_contained(join.buildKeys, column.name)) {
      fields.push_back(field(column, pipe::Combine::Payload));
    }
    if (join.payloadNames.contains(column.name)) {
      join.payload.push_back(column);
    }
  }
  OpBuilder outer = OpBuilder::atBlockEnd(module_.getBody());
  outer.setInsertionPoint(join.probe.pipeline);
  join.state = fresh("build");
  auto state = pipe::StateOp::create(outer, join.loc(), join.state, pipe::StateKind::Join, fields,
                                     localRows_.attributeOf(join.sides.build));
  if (pipe::DirectAttr direct = directAttr(join)) {
    state.setDirectAttr(direct);
  }
  bool keepsAll = join.full() || (join.turned() && join.anti()); // rows without a match come out
  OpBuilder builder = atEnd(join.build);
  pipe::InsertOp::create(builder, join.loc(), join.build.rows,
                         b_.getAttr<FlatSymbolRefAttr>(join.state), strings(join.buildKeys),
                         keepsAll ? UnitAttr() : b_.getUnitAttr(), textBytes(join.build.columns));
}

/// Integer keys of a range that is not too wide. Keys of the other side may need 128 bits, of which
/// no index is made.
pipe::DirectAttr Former::directAttr(const OpenJoin &join) {
  const ColumnInfo *key = join.keyRange ? join.build.find(join.buildKeys[0]) : nullptr;
  if (!key || key->nullable || key->body.getIntOrFloatBitWidth() > 64) {
    return {};
  }
  analysis::KeyDirectory directory = analysis::keyDirectory(
      join.keyRange->low, join.keyRange->high, localRows_.of(join.sides.build).expected,
      localRows_.of(join.sides.probe).expected);
  if (directory.kind == plan::Directory::kHash) {
    return {};
  }
  return pipe::DirectAttr::get(b_.getContext(), static_cast<int64_t>(join.keyRange->low),
                               static_cast<int64_t>(directory.extent),
                               directory.kind == plan::Directory::kRanks);
}

std::vector<ColumnInfo> Former::columnsBehind(const OpenJoin &join, const Names &needed) {
  std::vector<ColumnInfo> columns;
  for (const ColumnInfo &column : join.probe.columns) {
    if (needed.contains(column.name)) {
      columns.push_back(column);
    }
  }
  if (join.full() && columns.empty() && join.payload.empty() && !join.probe.columns.empty()) {
    columns.push_back(join.probe.columns.front()); // rows are counted by their columns
  }
  for (ColumnInfo column : join.payload) {
    column.nullable |= join.mayMiss();
    if (join.mayMiss() && column.range) {
      column.range = Range{std::min<__int128>(column.range->low, 0),
                           std::max<__int128>(column.range->high, 0)};
    }
    columns.push_back(column);
  }
  return columns;
}

LogicalResult Former::addLookup(OpenJoin &join, const Names &needed) {
  frame::JoinOp op = join.op;
  std::vector<ColumnInfo> columns =
      join.turned() ? std::vector<ColumnInfo>() : columnsBehind(join, needed);
  std::vector<ColumnInfo> payload = join.turned() ? std::vector<ColumnInfo>() : join.payload;
  StringAttr mark = join.readsMarks() ? b_.getStringAttr(join.matched.name) : StringAttr();
  if (join.kind == pipe::LookupKind::Mark) {
    ColumnInfo column;
    mark = op.getResult().getType().getColumns().back().name;
    column.name = mark.str();
    column.type = column.body = b_.getI1Type();
    columns.push_back(column);
  }
  OpBuilder builder = atEnd(join.probe);
  auto lookup = pipe::LookupOp::create(
      builder, join.loc(), rowsType(columns), join.probe.rows, StringRef(join.state), join.kind,
      strings(join.probeKeys), strings(namesOf(payload)), mark, strings(join.residualColumns),
      join.turned() ? b_.getF64FloatAttr(0) : selectivity(op.getResult(), op.getLeft()));
  if (op.hasResidual()) {
    Block &body = lookup.getResidual().emplaceBlock();
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    ExpressionTranslator translator(inside, join.loc());
    Block &frameBody = op.getResidual().front();
    OpenPipeline both = join.probe;
    llvm::append_range(both.columns, join.build.columns);
    bindArguments(both, join.residualColumns, body, &translator, frameBody.getArguments());
    FailureOr<SmallVector<Scalar>> values = translator.translate(frameBody);
    if (failed(values)) {
      return failure();
    }
    pipe::YieldOp::create(inside, join.loc(), ValueRange{translator.isTrue(values->front())});
  }
  join.probe.rows = lookup.getRows();
  join.probe.columns = columns;
  join.probe.ordered = false;
  if (join.mayMiss() || join.kind == pipe::LookupKind::Inner) {
    std::optional<uint64_t> matches = join.build.rowsMax;
    if (matches && join.mayMiss()) {
      matches = std::max<uint64_t>(*matches, 1); // a row that is kept without a match counts as one
    }
    join.probe.rowsMax = product(join.probe.rowsMax, matches);
  }
  return success();
}

FailureOr<OpenPipeline> Former::openJoin(frame::JoinOp op, const Names &needed) {
  FailureOr<pipe::LookupKind> kind = lookupKind(op);
  if (failed(kind)) {
    return failure();
  }
  // The ways of a choice differ in the rows of the right side, so that is always built.
  auto sides = branch_ ? analysis::JoinSides::asWritten(op)
                       : analysis::JoinSides::of(op, localRows_.of(op.getLeft()).expected,
                                                 localRows_.of(op.getRight()).expected);
  OpenJoin join{op, sides, sides.turned ? pipe::LookupKind::Seen : *kind};
  if (failed(openSides(join, needed)) || failed(conformSides(join)) ||
      (join.readsMarks() && failed(addMatched(join)))) {
    return failure();
  }
  addBuildState(join);
  if (failed(addLookup(join, needed))) {
    return failure();
  }
  if (!join.readsMarks()) {
    return std::move(join.probe);
  }
  OpenPipeline marked = openMarked(join);
  if (join.turned()) {
    return marked;
  }
  std::vector<std::string> names = namesOf(join.probe.columns);
  std::array<OpenPipeline, 2> parts{std::move(join.probe), std::move(marked)};
  return unite(parts, names, join.loc());
}

OpenPipeline Former::openMarked(OpenJoin &join) {
  Location location = join.loc();
  bool matches = join.turned() && !join.anti(); // of a full join, they came out of the lookup
  std::vector<ColumnInfo> read = join.payload;
  read.push_back(join.matched);
  OpenPipeline out = openState(location, join.state, read, matches ? "matched" : "unmatched");
  auto region = std::make_unique<Region>();
  Block &body = region->emplaceBlock();
  OpBuilder inside(b_.getContext()); // the region has no parent yet
  inside.setInsertionPointToEnd(&body);
  Value wanted = body.addArgument(b_.getI1Type(), location);
  if (!matches) {
    Value one = arith::ConstantOp::create(inside, location, b_.getBoolAttr(true));
    wanted = arith::XOrIOp::create(inside, location, wanted, one);
  }
  pipe::YieldOp::create(inside, location, wanted);
  FloatAttr kept =
      join.turned() ? selectivity(join.op.getResult(), join.op.getLeft()) : FloatAttr();
  OpBuilder builder = atEnd(out);
  auto filter = pipe::FilterOp::create(builder, location, rowsType(join.payload), out.rows,
                                       strings({join.matched.name}), kept, FloatAttr());
  filter.getBody().takeBody(*region);
  out.rows = filter.getRows();
  out.columns = join.payload;
  out.rowsMax = join.build.rowsMax;
  out.pipeline.setAfter(join.probe.pipeline.getSymName());
  if (join.full()) {
    addNulls(out, join.probe.columns, location);
  }
  return out;
}

void Former::addNulls(OpenPipeline &open, ArrayRef<ColumnInfo> columns, Location location) {
  Names kept;
  std::vector<std::string> missing;
  std::vector<ColumnInfo> missingInfo;
  for (const ColumnInfo &column : open.columns) {
    kept.insert(column.name);
  }
  for (const ColumnInfo &column : columns) {
    if (!kept.contains(column.name)) {
      missing.push_back(column.name);
      missingInfo.push_back(column);
    }
  }
  (void)appendMap(
      open, {}, kept, missing, location,
      [&](ExpressionTranslator &translator, ArrayRef<Scalar>) -> FailureOr<SmallVector<Scalar>> {
        SmallVector<Scalar> nulls;
        for (const ColumnInfo &column : missingInfo) {
          nulls.push_back(translator.nullOf(column.type, Range{0, 0}));
        }
        return nulls;
      });
}

} // namespace headrace::form
