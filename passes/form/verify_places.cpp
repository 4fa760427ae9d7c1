// Places of rows: along which axes of the mesh ranks have different ones, and by what they are
// divided.
#include "passes/form/verify_places.h"

#include "dialects/pipe/PipeDialect.h"
#include "dialects/topo/TopoDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::pipe;

namespace headrace::form {
namespace {

/// Of the mesh, by position; those along which there is one rank are left out.
using Axes = uint32_t;
/// Columns of one number are equal in every row.
using ColumnId = unsigned;

/// By what the ranks along an axis have different rows.
struct Division {
  SmallVector<ColumnId> keys; ///< rows that are equal in these are on one rank
  Attribute scheme;           ///< rows of equal keys are on the same rank in two of one scheme
  bool skewed = false; ///< not those of heavy keys, which only the other side of a pair meets
};

struct Rows {
  Axes split = 0; ///< along the other axes all ranks have the same rows
  Axes root = 0;  ///< of `split`: the first rank has all rows
  llvm::SmallDenseMap<unsigned, Division> divided; ///< by axis
  StateOp partial;                                 ///< what made groups or first rows
  Axes parts = 0;  ///< axes along which other ranks have parts of the same groups, or other firsts
  Axes others = 0; ///< not of `split`: a rank has only rows that were sent by others
  Axes copies = 0; ///< of `split`: beside a rank's own rows there are some of others
  llvm::SmallDenseMap<StringAttr, ColumnId> columns;

  std::optional<ColumnId> idOf(StringAttr name) const {
    auto found = columns.find(name);
    return found == columns.end() ? std::nullopt : std::optional(found->second);
  }
  void divide(unsigned axis, std::optional<Division> by) {
    divided.erase(axis);
    if (by) {
      divided[axis] = *std::move(by);
    }
  }
  void renumber(llvm::function_ref<ColumnId(ColumnId)> to) {
    for (auto &column : columns) {
      column.second = to(column.second);
    }
    for (auto &by : divided) {
      llvm::transform(by.second.keys, by.second.keys.begin(), to);
    }
  }
};

SmallVector<unsigned> axesIn(Axes axes) {
  SmallVector<unsigned> list;
  for (unsigned axis = 0; axes >> axis; ++axis) {
    if (axes >> axis & 1) {
      list.push_back(axis);
    }
  }
  return list;
}

bool keepsFirst(StateOp state) { return state.getKind() == StateKind::Sort && state.getLimit(); }

/// Whether a state makes whole what others of its kind made of parts.
bool finishes(StateOp last, StateOp first) {
  if (last.getKind() != first.getKind()) {
    return false;
  }
  if (keepsFirst(first)) {
    return last.getSortKeysAttr() == first.getSortKeysAttr() &&
           last.getLimit() == first.getLimit() && first.getOffset().value_or(0) == 0;
  }
  return last.countKeys() == first.countKeys();
}

class PlaceVerifier {
public:
  PlaceVerifier(ModuleOp module, topo::MeshAttr mesh)
      : module_(module), symbols_(module), mesh_(mesh) {
    for (auto [axis, ranks] : llvm::enumerate(mesh.getAxisSizes())) {
      all_ |= ranks > 1 ? Axes{1} << axis : 0;
    }
    for (auto pipeline : module.getOps<PipelineOp>()) {
      if (pipeline.getMerges()) {
        continue;
      }
      llvm::TypeSwitch<Operation *>(&pipeline.getBody().front().back())
          .Case(
              [&](EmitOp emit) { writers_[symbols_.lookup(emit.getStream())].push_back(pipeline); })
          .Case<InsertOp, CombineOp>(
              [&](auto sink) { writers_[symbols_.lookup(sink.getState())].push_back(pipeline); });
    }
  }

  LogicalResult run() {
    for (auto pipeline : module_.getOps<PipelineOp>()) {
      if (!pipeline.getMerges() && failed(follow(pipeline))) {
        return failure();
      }
    }
    return success();
  }

private:
  Axes axesOf(ArrayAttr names) const {
    Axes axes = 0;
    for (auto name : names.getAsRange<StringAttr>()) {
      auto index = llvm::find(mesh_.getAxisNames(), name) - mesh_.getAxisNames().begin();
      axes |= Axes{1} << index;
    }
    return axes & all_;
  }

  /// The rows at the end of a pipeline, which goes its way once.
  LogicalResult follow(PipelineOp pipeline) {
    if (!followed_.insert(pipeline).second) {
      return success();
    }
    Rows rows;
    for (Operation &op : pipeline.getBody().front()) {
      LogicalResult result =
          llvm::TypeSwitch<Operation *, LogicalResult>(&op)
              .Case<ScanOp, ValuesOp, ReadOp, ReceiveOp>(
                  [&](auto source) { return begin(source, rows); })
              .Case<FilterOp, MapOp, ExpandOp, LookupOp>([&](auto step) { return go(step, rows); })
              .Case<InsertOp, CombineOp>([&](auto sink) { return fill(sink, rows); })
              .Case([&](EmitOp emit) { return send(emit, rows); })
              .Default([](Operation *) { return success(); });
      if (failed(result)) {
        return failure();
      }
    }
    return success();
  }

  /// What has been written there, by all who write it.
  FailureOr<Rows> rowsOf(Operation *symbol) {
    for (PipelineOp writer : writers_[symbol]) {
      if (failed(follow(writer))) {
        return failure();
      }
    }
    return known_.lookup(symbol);
  }

  //===------------------------------------------------------------------===//
  // Sources
  //===------------------------------------------------------------------===//

  /// A column that no writer has, which only a text with a circle of pipelines asks for, is one of
  /// its own.
  ColumnId idIn(const Rows &rows, StringAttr name) {
    std::optional<ColumnId> id = rows.idOf(name);
    return id ? *id : nextId_++;
  }

  void nameColumns(RowsType type, Rows &rows) {
    for (StringAttr name : type.getNames()) {
      rows.columns[name] = nextId_++;
    }
  }

  LogicalResult begin(ScanOp scan, Rows &rows) {
    nameColumns(scan.getRows().getType(), rows);
    if (ArrayAttr split = scan.getSplitAttr()) {
      rows.split = axesOf(split);
      if (ArrayAttr resident = scan.getResidentAttr()) {
        divideBy(rows, rows.split, resident, split, false);
      }
    }
    return success();
  }
  LogicalResult begin(ValuesOp values, Rows &rows) {
    nameColumns(values.getRows().getType(), rows);
    return success();
  }
  LogicalResult begin(ReadOp read, Rows &rows) {
    FailureOr<Rows> kept = rowsOf(symbols_.lookup(read.getState()));
    return failed(kept) ? failure() : (rows = *std::move(kept), success());
  }
  LogicalResult begin(ReceiveOp receive, Rows &rows) {
    FailureOr<Rows> sent = rowsOf(symbols_.lookup(receive.getStream()));
    return failed(sent) ? failure() : (rows = *std::move(sent), success());
  }

  /// Of rows that are divided along these axes by hash, or by their places in a cycle.
  static Attribute schemeOf(ArrayAttr axes, IntegerAttr cycle) {
    return cycle ? Attribute(ArrayAttr::get(axes.getContext(), {axes, cycle})) : Attribute(axes);
  }

  void divideBy(Rows &rows, Axes axes, ArrayAttr keys, Attribute scheme, bool skewed) {
    Division by{{}, scheme, skewed};
    for (auto key : keys.getAsRange<StringAttr>()) {
      by.keys.push_back(idIn(rows, key));
    }
    for (unsigned axis : axesIn(axes)) {
      rows.divide(axis, by.keys.empty() ? std::nullopt : std::optional(by));
    }
  }

  //===------------------------------------------------------------------===//
  // Row by row
  //===------------------------------------------------------------------===//

  void keepColumns(RowsType type, Rows &rows) {
    llvm::SmallDenseMap<StringAttr, ColumnId> left;
    for (StringAttr name : type.getNames()) {
      left[name] = idIn(rows, name);
    }
    rows.columns = std::move(left);
  }

  using Arguments = llvm::SmallDenseMap<Value, ColumnId>;

  /// What the arguments of a body stand for: behind a column that may be NULL is its validity.
  template <typename Step> Arguments argumentsOf(Step step, const Rows &rows) {
    RowsType from = step.getInput().getType();
    Arguments arguments;
    unsigned at = 0;
    for (auto name : step.getColumns().template getAsRange<StringAttr>()) {
      arguments[step.getBody().getArgument(at)] = idIn(rows, name);
      at += 1 + from.getNullable()[from.indexOf(name.getValue())];
    }
    return arguments;
  }

  LogicalResult go(FilterOp filter, Rows &rows) {
    for (auto owns : filter.getBody().getOps<OwnsOp>()) {
      Axes axes = axesOf(owns.getAxes());
      if (axes & rows.split) {
        return filter.emitOpError("keeps each rank's rows of those that not every rank has, over ")
               << owns.getAxes();
      }
      rows.split |= axes;
      if (owns.getValues().empty()) {
        rows.root |= axes;
      }
      divideBy(rows, axes, filter.getColumns(), schemeOf(owns.getAxes(), owns.getCycleAttr()),
               false);
    }
    choosePlaces(filter, rows);
    keepColumns(filter.getRows().getType(), rows);
    return success();
  }

  /// Conditions on where rows were, and where they are now: those of others, or a rank's own.
  void choosePlaces(FilterOp filter, Rows &rows) {
    const Arguments arguments = argumentsOf(filter, rows);
    auto axesBy = [&](Value value) {
      auto known = arguments.find(withoutWidth(value));
      return known == arguments.end() ? Axes{0} : placeIds_.lookup(known->second);
    };
    SmallVector<Value> conditions{filter.getBody().front().back().getOperand(0)};
    while (!conditions.empty()) {
      Operation *condition = conditions.pop_back_val().getDefiningOp();
      if (auto both = dyn_cast_or_null<arith::AndIOp>(condition)) {
        llvm::append_range(conditions, both->getOperands());
      } else if (auto compare = dyn_cast_or_null<arith::CmpIOp>(condition)) {
        const Axes axes = axesBy(compare.getLhs()) & axesBy(compare.getRhs());
        if (compare.getPredicate() == arith::CmpIPredicate::ne) {
          rows.others |= axes & ~rows.split;
        } else if (compare.getPredicate() == arith::CmpIPredicate::eq) {
          rows.copies &= ~axes;
          rows.split |= axes;
        }
      }
    }
  }

  LogicalResult go(ExpandOp expand, Rows &rows) {
    rows.columns[expand.getNumberAttr()] = nextId_++;
    keepColumns(expand.getRows().getType(), rows);
    return success();
  }

  LogicalResult go(MapOp map, Rows &rows) {
    RowsType to = map.getRows().getType();
    const Arguments arguments = argumentsOf(map, rows);
    auto yield = cast<YieldOp>(map.getBody().front().back());
    llvm::SmallDenseMap<StringAttr, ColumnId> made;
    unsigned at = 0;
    for (auto name : map.getNames().getAsRange<StringAttr>()) {
      made[name] = idOf(yield.getOperand(at), arguments);
      at += 1 + to.getNullable()[to.indexOf(name.getValue())];
    }
    for (auto [name, id] : made) {
      rows.columns[name] = id;
    }
    keepColumns(to, rows);
    return success();
  }

  static Value withoutWidth(Value value) {
    while (
        isa_and_present<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(value.getDefiningOp())) {
      value = value.getDefiningOp()->getOperand(0);
    }
    return value;
  }

  /// A column that is passed on, if in another width, stays what it is.
  ColumnId idOf(Value value, const Arguments &arguments) {
    value = withoutWidth(value);
    if (auto known = arguments.find(value); known != arguments.end()) {
      return known->second;
    }
    if (auto place = value.getDefiningOp<PlaceOp>()) {
      placeIds_[nextId_] = axesOf(place.getAxes());
    }
    return nextId_++;
  }

  //===------------------------------------------------------------------===//
  // Joins
  //===------------------------------------------------------------------===//

  LogicalResult go(LookupOp lookup, Rows &rows) {
    auto state = symbols_.lookup<StateOp>(lookup.getState());
    FailureOr<Rows> built = rowsOf(state);
    if (failed(built) || failed(requireWhole(lookup, rows))) {
      return failure();
    }
    LookupKind kind = lookup.getKind();
    bool inner = kind == LookupKind::Inner, marks = kind == LookupKind::Seen;
    Axes both = rows.split & built->split;
    bool onceEach = inner ||
                    ((marks || kind == LookupKind::Full) && !(rows.split & ~built->split) &&
                     (marks || rows.split == built->split)) ||
                    (!marks && kind != LookupKind::Full && !(built->split & ~rows.split));
    if (!onceEach) {
      return lookup.emitOpError("meets a part of the rows on each rank: @") << lookup.getState();
    }
    SmallVector<std::pair<ColumnId, ColumnId>> pairs;
    auto probed = lookup.getKeys().getAsRange<StringAttr>().begin();
    for (auto field : state.getFields().getAsRange<FieldAttr>()) {
      if (field.getCombine() == Combine::Key) {
        pairs.emplace_back(idIn(rows, *probed++), idIn(*built, field.getName()));
      }
    }
    for (unsigned axis : axesIn(both)) {
      if (!meet(rows, *built, axis, pairs)) {
        return lookup.emitOpError("meets rows that are on other ranks: @") << lookup.getState();
      }
    }
    if (inner) {
      renumberMatches(pairs, rows, *built);
    }
    addMatches(lookup, rows, *built);
    if (inner) {
      for (unsigned axis : axesIn(built->split & ~rows.split)) {
        auto by = built->divided.find(axis);
        rows.divide(axis, by == built->divided.end() ? std::nullopt : std::optional(by->second));
      }
      rows.root |= built->root & ~rows.split;
      rows.split |= built->split;
    }
    for (unsigned axis : axesIn(both)) {
      if (auto by = rows.divided.find(axis); by != rows.divided.end() && by->second.skewed) {
        rows.divided.erase(axis);
      }
    }
    return success();
  }

  /// Whether rows of equal keys are on the same rank along an axis.
  static bool meet(const Rows &left, const Rows &right, unsigned axis,
                   ArrayRef<std::pair<ColumnId, ColumnId>> pairs) {
    if (left.root >> axis & 1 || right.root >> axis & 1) {
      return left.root >> axis & right.root >> axis & 1;
    }
    auto one = left.divided.find(axis), other = right.divided.find(axis);
    if (one == left.divided.end() || other == right.divided.end() ||
        one->second.scheme != other->second.scheme ||
        one->second.keys.size() != other->second.keys.size()) {
      return false;
    }
    return llvm::all_of(llvm::zip(one->second.keys, other->second.keys), [&](auto keys) {
      return llvm::any_of(pairs, [&](auto pair) {
        return std::get<0>(keys) == pair.first && std::get<1>(keys) == pair.second;
      });
    });
  }

  /// Where rows met, keys are equal; what else the other side has is of another row, even if both
  /// are of one table.
  void renumberMatches(ArrayRef<std::pair<ColumnId, ColumnId>> pairs, Rows &rows, Rows &built) {
    llvm::SmallDenseMap<ColumnId, ColumnId> mine, theirs;
    for (auto [probed, key] : pairs) {
      const ColumnId id = nextId_++;
      for (auto [numbers, column] : {std::pair(&mine, probed), std::pair(&theirs, key)}) {
        auto known = numbers->find(column);
        const ColumnId before = known == numbers->end() ? column : known->second;
        for (auto *all : {&mine, &theirs}) {
          for (auto &other : *all) {
            other.second = other.second == before ? id : other.second;
          }
        }
        (*numbers)[column] = id;
        placeAlike(id, before);
      }
    }
    rows.renumber([&](ColumnId column) {
      auto known = mine.find(column);
      return known == mine.end() ? column : known->second;
    });
    built.renumber([&](ColumnId column) {
      auto [known, isNew] = theirs.try_emplace(column, nextId_);
      if (isNew) {
        placeAlike(nextId_++, column);
      }
      return known->second;
    });
  }
  void placeAlike(ColumnId column, ColumnId other) {
    if (Axes axes = placeIds_.lookup(other)) {
      placeIds_[column] |= axes;
    }
  }

  void addMatches(LookupOp lookup, Rows &rows, const Rows &built) {
    if (lookup.isSink()) {
      return;
    }
    bool inner = lookup.getKind() == LookupKind::Inner;
    llvm::SmallDenseMap<StringAttr, ColumnId> columns;
    for (StringAttr name : lookup.getRows().getType().getNames()) {
      bool payload = llvm::is_contained(lookup.getPayload(), Attribute(name));
      std::optional<ColumnId> id = payload ? built.idOf(name) : rows.idOf(name);
      // A column that is NULL without a match is another one.
      columns[name] = id && (!payload || inner) ? *id : nextId_++;
    }
    rows.columns = std::move(columns);
  }

  //===------------------------------------------------------------------===//
  // States
  //===------------------------------------------------------------------===//

  LogicalResult requireWhole(Operation *op, const Rows &rows) {
    if (failed(requireOwn(op, rows))) {
      return failure();
    }
    return rows.parts == 0 ? success()
                           : op->emitOpError("takes parts that nothing has finished, of @")
                                 << StateOp(rows.partial).getSymName();
  }
  static LogicalResult requireOwn(Operation *op, const Rows &rows) {
    return rows.copies == 0 ? success()
                            : op->emitOpError("takes rows of other ranks beside a rank's own");
  }

  /// The axes along which rows that are equal in these columns may be on several ranks.
  Axes apart(const Rows &rows, ArrayRef<ColumnId> columns) const {
    Axes axes = rows.split & ~rows.root;
    for (ColumnId column : columns) {
      axes &= ~placeIds_.lookup(column);
    }
    for (unsigned axis : axesIn(axes)) {
      auto by = rows.divided.find(axis);
      if (by != rows.divided.end() && !by->second.skewed &&
          llvm::all_of(by->second.keys,
                       [&](ColumnId key) { return llvm::is_contained(columns, key); })) {
        axes &= ~(Axes{1} << axis);
      }
    }
    return axes;
  }

  /// Windows over what each rank has along exactly these axes; in an order, if not beside rows of
  /// others, over a range of it on each.
  LogicalResult requireWithin(Operation *sink, StateOp state, const Rows &rows) {
    const Axes within = axesOf(*state.getWithin());
    if (rows.parts) {
      return requireWhole(sink, rows);
    }
    if ((rows.split & ~rows.root) != within) {
      return sink->emitOpError("is over a rank's own rows along other axes than those along which "
                               "they are divided: @")
             << state.getSymName();
    }
    if (!state.getSortKeys() || state.getSortKeys()->empty()) {
      return success();
    }
    for (unsigned axis : axesIn(within & ~rows.copies)) {
      auto by = rows.divided.find(axis);
      if (by == rows.divided.end() || !isRange(by->second, state, rows)) {
        return sink->emitOpError("is in an order of which ranks have no ranges: @")
               << state.getSymName();
      }
    }
    return success();
  }

  /// Whether ranks have ranges of the order of a window, by all of its keys or the first ones.
  bool isRange(const Division &by, StateOp state, const Rows &rows) {
    auto stream = dyn_cast_or_null<StringAttr>(by.scheme);
    if (!stream) {
      return false;
    }
    ArrayAttr ranged = *symbols_.lookup<StreamOp>(stream).getSortKeys(),
              ordered = *state.getSortKeys();
    return ranged.size() <= ordered.size() &&
           llvm::all_of(llvm::zip(by.keys, ranged.getAsRange<SortKeyAttr>(),
                                  ordered.getAsRange<SortKeyAttr>()),
                        [&](auto each) {
                          auto [id, range, order] = each;
                          return rows.idOf(order.getField()) == id &&
                                 range.getDescending() == order.getDescending() &&
                                 range.getNullsFirst() == order.getNullsFirst();
                        });
  }

  template <typename Sink> LogicalResult fill(Sink sink, Rows &rows) {
    auto state = symbols_.lookup<StateOp>(sink.getState());
    SmallVector<ColumnId> keys;
    for (auto name : sink.getKeys().template getAsRange<StringAttr>()) {
      keys.push_back(idIn(rows, name));
    }
    bool combines = isa<CombineOp>(sink), first = keepsFirst(state);
    if (combines || first) {
      if (failed(requireOwn(sink, rows))) {
        return failure();
      }
      if (rows.parts && !finishes(state, rows.partial)) {
        return sink.emitOpError("does not finish the parts of @")
               << StateOp(rows.partial).getSymName();
      }
      rows.parts = combines ? apart(rows, keys) : rows.split & ~rows.root;
      rows.partial = rows.parts ? state : StateOp();
    } else if (state.getWithin()) {
      if (failed(requireWithin(sink, state, rows))) {
        return failure();
      }
    } else if (state.getKind() != StateKind::Rows && failed(requireWhole(sink, rows))) {
      return failure();
    }
    if (state.getKind() == StateKind::Window && !state.getWithin() && apart(rows, keys)) {
      return sink.emitOpError("has rows of one partition on several ranks: @") << sink.getState();
    }
    for (auto field : state.getFields().template getAsRange<FieldAttr>()) {
      bool kept = field.getCombine() == Combine::Key || field.getCombine() == Combine::Payload;
      std::optional<ColumnId> id = rows.idOf(field.getName());
      rows.columns[field.getName()] = kept && id ? *id : nextId_++;
    }
    return write(sink, state, rows);
  }

  //===------------------------------------------------------------------===//
  // Streams
  //===------------------------------------------------------------------===//

  LogicalResult send(EmitOp emit, Rows &rows) {
    auto stream = symbols_.lookup<StreamOp>(emit.getStream());
    Axes axes = stream.getAxes() ? axesOf(*stream.getAxes()) : 0;
    if (axes & ~rows.split) {
      return emit.emitOpError("sends rows that every rank has, over ") << *stream.getAxes();
    }
    if (axes && failed(requireOwn(emit, rows))) {
      return failure();
    }
    rows.root &= ~axes;
    rows.others &= ~axes;
    switch (stream.getKind()) {
    case StreamKind::Hash: {
      ArrayAttr named = stream.getTowardAttr() ? stream.getTowardAttr() : stream.getAxesAttr();
      Attribute scheme = schemeOf(named, stream.getCycleAttr());
      if (dist::SkewAttr skew = stream.getSkewAttr()) {
        scheme = IntegerAttr::get(IndexType::get(emit.getContext()), skew.getPair());
      }
      divideBy(rows, axes, emit.getKeys(), scheme, stream.getSkewAttr() != nullptr);
      break;
    }
    case StreamKind::Range: {
      SmallVector<Attribute> keys;
      for (auto key : stream.getSortKeys()->getAsRange<SortKeyAttr>()) {
        keys.push_back(key.getField());
      }
      divideBy(rows, axes, ArrayAttr::get(emit.getContext(), keys), stream.getSymNameAttr(), false);
      break;
    }
    case StreamKind::Broadcast:
      rows.split &= ~axes;
      [[fallthrough]];
    case StreamKind::Gather:
      for (unsigned axis : axesIn(axes)) {
        rows.divide(axis, std::nullopt);
      }
      rows.root |= stream.getKind() == StreamKind::Gather ? axes : 0;
      break;
    case StreamKind::Local:
    case StreamKind::Parted:
      break;
    case StreamKind::Result:
    case StreamKind::ToTensor:
      if (failed(requireWhole(emit, rows))) {
        return failure();
      }
      if (stream.getKind() == StreamKind::Result && !stream.getResident() &&
          (rows.split & ~rows.root)) {
        return emit.emitOpError("gives a result of which each rank has a part");
      }
      break;
    }
    return write(emit, stream, rows);
  }

  /// Adds what one writer writes to what others have written.
  LogicalResult write(Operation *writer, Operation *symbol, const Rows &rows) {
    auto [known, first] = known_.try_emplace(symbol, rows);
    if (first) {
      return success();
    }
    Rows &all = known->second;
    // Rows of others may come beside a rank's own.
    if (rows.split & ~all.split & ~all.others || all.split & ~rows.split & ~rows.others) {
      return writer->emitOpError("writes rows on other ranks than those that are there");
    }
    Rows before = all;
    all.copies |= rows.copies | (all.split ^ rows.split);
    all.split |= rows.split;
    all.others &= rows.others;
    all.root &= rows.root;
    all.divided.clear();
    all.columns.clear();
    for (auto [name, id] : rows.columns) {
      std::optional<ColumnId> known = before.idOf(name);
      if (known == id) {
        all.columns[name] = id;
        continue;
      }
      all.columns[name] = nextId_;
      if (Axes axes = known ? placeIds_.lookup(*known) & placeIds_.lookup(id) : 0) {
        placeIds_[nextId_] = axes;
      }
      ++nextId_;
    }
    for (auto &[axis, by] : rows.divided) {
      auto other = before.divided.find(axis);
      if (other != before.divided.end() && by.scheme == other->second.scheme && !by.skewed) {
        if (std::optional<Division> common = commonDivision(before, other->second, rows, by, all)) {
          all.divided[axis] = *common;
        }
      }
    }
    if (rows.parts | all.parts) {
      if (all.partial && rows.partial && !finishes(all.partial, rows.partial)) {
        return writer->emitOpError("writes other parts than those of @")
               << all.partial.getSymName();
      }
      all.partial = all.partial ? all.partial : rows.partial;
      all.parts |= rows.parts;
    }
    return success();
  }

  /// By the columns of one name that both are divided by.
  static std::optional<Division> commonDivision(const Rows &one, const Division &left,
                                                const Rows &other, const Division &right,
                                                const Rows &all) {
    Division common{{}, left.scheme, false};
    for (auto [leftKey, rightKey] : llvm::zip(left.keys, right.keys)) {
      auto name = llvm::find_if(all.columns, [&, a = leftKey, b = rightKey](auto column) {
        std::optional<ColumnId> mine = one.idOf(column.first), theirs = other.idOf(column.first);
        return mine == a && theirs == b;
      });
      if (name == all.columns.end()) {
        return std::nullopt;
      }
      common.keys.push_back(name->second);
    }
    return left.keys.size() == right.keys.size() ? std::optional(common) : std::nullopt;
  }

  ModuleOp module_;
  SymbolTable symbols_;
  topo::MeshAttr mesh_;
  Axes all_ = 0;
  llvm::DenseMap<Operation *, SmallVector<PipelineOp>> writers_; ///< by state or stream
  llvm::DenseSet<Operation *> followed_;
  llvm::DenseMap<Operation *, Rows> known_; ///< of states and streams
  llvm::DenseMap<ColumnId, Axes> placeIds_; ///< columns that name the rank along axes
  ColumnId nextId_ = 0;
};

} // namespace

LogicalResult verifyPlaces(ModuleOp module) {
  topo::MeshAttr mesh = topo::meshOf(module);
  return mesh ? PlaceVerifier(module, mesh).run() : success();
}

} // namespace headrace::form
