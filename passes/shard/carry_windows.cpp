// The pass shard-carry-windows: a window without partition keys whose rows are divided becomes one
// over each rank's own rows, and what follows from the other ranks' rows.
#include "dialects/dist/DistDialect.h"

#include "dialects/frame/AggregateFunctions.h"
#include "dialects/frame/FreshNames.h"
#include "passes/shard/carried_windows.h"
#include "passes/shard/passes.h"
#include "passes/shard/record_operators.h"
#include "passes/shard/row_arithmetic.h"

using namespace mlir;
using namespace headrace::dist;
using namespace headrace::frame;

namespace headrace::shard {

#define GEN_PASS_DEF_SHARDCARRYWINDOWSPASS
#include "passes/shard/Passes.h.inc"

namespace {

using Kind = WindowFunctionKind;
using Bound = FrameBoundKind;
using Function = AggregateFunction;

/// One window, taken apart. Functions ask for what they need of the own rows, of each rank's
/// summary and of all summaries together; then the ops are made.
class CarriedWindow {
public:
  CarriedWindow(WindowOp window, ArrayAttr axes)
      : op_(window), axes_(axes), b_(window), loc_(window.getLoc()), names_(window.getContext()),
        counted_(window.getInput().getType()) {
    names_.take(window.getType().getNames());
    place_ = fresh("rank");
  }

  void run() {
    for (WindowFunctionAttr function : op_.getFunctionRange()) {
      add(function);
    }
    if (near_.before + near_.after > 0) {
      ownRows();
      row();
    }
    Value rows = op_.getInput();
    if (!own_.empty()) {
      rows = makeWindow(rows, op_.getOrder(), own_, ownColumns_);
      markOwn(rows);
      markDecided(rows);
    }
    if (!measures_.empty()) {
      rows = withNeighbours(rows, makeCarry(rows));
    }
    if (!haloFunctions_.empty()) {
      rows = withHalo(rows);
    }
    auto compute = [&](RegionBuilder &inside, StringAttr name) {
      RowArithmetic arithmetic(inside, loc_);
      return values_.find(name)->second(arithmetic);
    };
    SmallVector<StringAttr> computed;
    for (auto &[name, value] : values_) {
      computed.push_back(name);
    }
    op_.getResult().replaceAllUsesWith(
        createProject(b_, loc_, rows, op_.getType(), computed, compute).getResult());
    op_.erase();
  }

private:
  using Compute = std::function<Value(RowArithmetic &)>;

  StringAttr fresh(const Twine &stem) { return names_.make(stem); }

  /// What was decided of the window is of one that is made for it: of the rows' own, if there is.
  void markDecided(Value window) {
    if (Attribute number = op_->getAttr(kChoiceAttr)) {
      window.getDefiningOp()->setAttr(kChoiceAttr, number);
      op_->removeAttr(kChoiceAttr);
    }
  }

  /// The window is over rows that this rank has, perhaps beside some of the others'.
  void markOwn(Value window) {
    window.getDefiningOp()->setAttr(DistDialect::getWithinAttrName(), axes_);
  }

  // ---- what is asked for ----

  WindowFrameAttr frameOf(Bound start, Attribute startDistance, Bound end, Attribute endDistance,
                          FrameUnit unit = FrameUnit::Rows) {
    return WindowFrameAttr::get(b_.getContext(), unit, start, startDistance, end, endDistance,
                                FrameExclusion::None);
  }
  WindowFrameAttr wholeFrame() {
    return frameOf(Bound::UnboundedPreceding, {}, Bound::UnboundedFollowing, {});
  }

  WindowFrameAttr frameBefore() {
    return frameOf(Bound::UnboundedPreceding, {}, Bound::Preceding, b_.getI64IntegerAttr(1));
  }
  WindowFrameAttr frameAfter() {
    return frameOf(Bound::Following, b_.getI64IntegerAttr(1), Bound::UnboundedFollowing, {});
  }

  /// A function over the rank's own rows, under its own name.
  StringAttr addOwn(WindowFunctionAttr function, Type type) {
    own_.push_back(function);
    ownColumns_.push_back({function.getName(), type});
    return function.getName();
  }
  StringAttr addOwn(Kind kind, StringRef stem, WindowFrameAttr frame = {}) {
    auto aggregate =
        kind == Kind::Aggregate ? std::optional(Function::CountStar) : std::optional<Function>();
    return addOwn(WindowFunctionAttr::get(b_.getContext(), kind, aggregate, {}, fresh(stem), frame,
                                          ArrayAttr(), /*ignoreNulls=*/false),
                  b_.getI64Type());
  }
  /// The same function, as a column beside the result.
  StringAttr addOwn(WindowFunctionAttr function) {
    auto other = WindowFunctionAttr::get(
        b_.getContext(), function.getKind(), function.getAggregate(), function.getArguments(),
        fresh("own_" + function.getName().getValue()), function.getFrame(), function.getOrder(),
        function.getIgnoreNulls());
    return addOwn(other, op_.getType().getColumnType(function.getName()));
  }
  /// A count of the column's values, from the rank's first row up to the current one, or the last.
  StringAttr addOwn(Function aggregate, StringAttr column, Bound end, StringRef stem) {
    auto frame = frameOf(Bound::UnboundedPreceding, {}, end, {});
    return addOwn(WindowFunctionAttr::get(b_.getContext(), Kind::Aggregate, aggregate,
                                          b_.getArrayAttr({column}), fresh(stem), frame,
                                          ArrayAttr(), /*ignoreNulls=*/false),
                  b_.getI64Type());
  }
  StringAttr row() { return row_ = row_ ? row_ : addOwn(Kind::RowNumber, "row"); }

  /// A column of the ranks' summaries; `type` is what it has at most.
  StringAttr addMeasure(Function function, StringAttr input, Type inputType, StringRef stem,
                        Type type) {
    Type made = measureType(function, inputType, Grouping::kByKeys, b_.getContext());
    Type plain = dropNullable(type);
    measures_.push_back(MeasureAttr::get(b_.getContext(), function, input, fresh(stem)));
    measureColumns_.push_back(
        {measures_.back().getName(), isNullable(made) ? addNullable(plain) : plain});
    return measures_.back().getName();
  }
  StringAttr ownRows() {
    return ownRows_ = ownRows_ ? ownRows_
                               : addMeasure(Function::CountStar, {}, {}, "rows", b_.getI64Type());
  }
  StringAttr ownGroups() {
    if (!ownGroups_) {
      denseRank_ = addOwn(Kind::DenseRank, "group");
      ownGroups_ =
          addMeasure(Function::Max, denseRank_, b_.getI64Type(), "groups", b_.getI64Type());
    }
    return ownGroups_;
  }

  /// What a column of the summaries comes to over those of some ranks.
  StringAttr addCarried(StringAttr measure, Kind kind, std::optional<Function> fold,
                        WindowFrameAttr frame, StringRef stem, bool ignoreNulls = false) {
    auto column = llvm::find_if(measureColumns_, [&](Column &c) { return c.name == measure; });
    carried_.push_back(WindowFunctionAttr::get(b_.getContext(), kind, fold,
                                               b_.getArrayAttr({measure}), fresh(stem), frame,
                                               ArrayAttr(), ignoreNulls));
    carriedColumns_.push_back({carried_.back().getName(), addNullable(dropNullable(column->type))});
    return carried_.back().getName();
  }
  StringAttr foldedBefore(StringAttr measure, Function fold) {
    return addCarried(measure, Kind::Aggregate, fold, frameBefore(), "before");
  }
  StringAttr foldedAfter(StringAttr measure, Function fold) {
    return addCarried(measure, Kind::Aggregate, fold, frameAfter(), "after");
  }
  StringAttr foldedAll(StringAttr measure, Function fold) {
    return addCarried(measure, Kind::Aggregate, fold, wholeFrame(), "all");
  }
  StringAttr rowsBefore() {
    return rowsBefore_ = rowsBefore_ ? rowsBefore_ : foldedBefore(ownRows(), Function::Sum);
  }
  StringAttr rowsOfAll() {
    return rowsOfAll_ = rowsOfAll_ ? rowsOfAll_ : foldedAll(ownRows(), Function::Sum);
  }

  // ---- functions ----

  void add(WindowFunctionAttr function) {
    Type type = op_.getType().getColumnType(function.getName());
    switch (*carryOf(function, op_.getOrder(), type)) {
    case Carry::kNothing:
      addOwn(function, type);
      return;
    case Carry::kNear: {
      addOwn(function, type);
      nearFunctions_.push_back(function);
      NearRows rows = nearRowsOf(function);
      near_ = {std::max(near_.before, rows.before), std::max(near_.after, rows.after)};
      return;
    }
    case Carry::kHalo:
      return addHalo(function, type);
    case Carry::kKnown:
      return addKnown(function, type);
    case Carry::kPlaces:
      return addPlace(function);
    case Carry::kBefore:
    case Carry::kAfter:
    case Carry::kAll:
      return addFold(function, *carryOf(function, op_.getOrder(), type));
    case Carry::kFirst:
    case Carry::kLast: {
      // All rows of a rank have the same.
      StringAttr own = addOwn(function);
      StringAttr value = addMeasure(Function::Min, own, type, "value", type);
      StringAttr carried =
          addCarried(value, function.getKind(), std::nullopt, wholeFrame(), "value");
      values_[function.getName()] = [=](RowArithmetic &a) { return a.column(carried); };
      return;
    }
    }
    llvm_unreachable("unknown carry");
  }

  void addPlace(WindowFunctionAttr function) {
    Compute &value = values_[function.getName()];
    switch (function.getKind()) {
    case Kind::RowNumber: {
      StringAttr own = row(), before = rowsBefore();
      value = [=](RowArithmetic &a) { return a.plus(a.column(own), a.count(before)); };
      return;
    }
    case Kind::Rank: {
      StringAttr own = addOwn(Kind::Rank, "own_rank"), before = rowsBefore();
      value = [=](RowArithmetic &a) { return a.plus(a.column(own), a.count(before)); };
      return;
    }
    case Kind::DenseRank: {
      StringAttr groups = ownGroups(), own = denseRank_;
      StringAttr before = foldedBefore(groups, Function::Sum);
      value = [=](RowArithmetic &a) { return a.plus(a.column(own), a.count(before)); };
      return;
    }
    case Kind::PercentRank: {
      StringAttr own = addOwn(Kind::Rank, "own_rank"), before = rowsBefore(), all = rowsOfAll();
      value = [=](RowArithmetic &a) {
        Value others = a.minus(a.count(all), a.number(1));
        Value first = a.minus(a.plus(a.column(own), a.count(before)), a.number(1));
        return a.choose(a.compare(CompareKind::Gt, others, a.number(0)),
                        a.over(a.real(first), a.real(others)), a.real(0.0));
      };
      return;
    }
    case Kind::CumeDist: {
      auto frame = frameOf(Bound::UnboundedPreceding, {}, Bound::CurrentRow, {}, FrameUnit::Range);
      StringAttr own = addOwn(Kind::Aggregate, "own_rows", frame);
      StringAttr before = rowsBefore(), all = rowsOfAll();
      value = [=](RowArithmetic &a) {
        return a.over(a.real(a.plus(a.column(own), a.count(before))), a.real(a.count(all)));
      };
      return;
    }
    case Kind::Ntile: {
      StringAttr own = row(), before = rowsBefore(), all = rowsOfAll();
      int64_t parts = cast<IntegerAttr>(function.getArgumentRange()[0]).getInt();
      value = [=](RowArithmetic &a) { // the first `longer` parts have a row more than the others
        Value one = a.number(1);
        Value row = a.minus(a.plus(a.column(own), a.count(before)), one);
        Value length = a.over(a.count(all), a.number(parts));
        Value longer = a.rest(a.count(all), a.number(parts)), more = a.plus(length, one);
        Value inLonger = a.times(longer, more);
        Value part = a.choose(a.compare(CompareKind::Lt, row, inLonger), a.over(row, more),
                              a.plus(longer, a.over(a.minus(row, inLonger), length)));
        return a.plus(part, one);
      };
      return;
    }
    default:
      llvm_unreachable("a function without a place");
    }
  }

  void addFold(WindowFunctionAttr function, Carry carry) {
    Function aggregate = *function.getAggregate();
    StringAttr input = function.getColumn(0), name = function.getName();
    Type type = op_.getType().getColumnType(name);
    bool counts = aggregate == Function::Count || aggregate == Function::CountStar;
    Function fold = counts ? Function::Sum : aggregate;
    StringAttr measure = aggregate == Function::CountStar
                             ? ownRows()
                             : addMeasure(aggregate, input, counted_.getColumnType(input),
                                          "part_" + name.getValue().str(), type);
    if (carry == Carry::kAll) {
      StringAttr all = foldedAll(measure, fold);
      values_[name] = [=](RowArithmetic &a) { return counts ? a.count(all) : a.column(all); };
      return;
    }
    StringAttr own = addOwn(function);
    StringAttr others =
        carry == Carry::kBefore ? foldedBefore(measure, fold) : foldedAfter(measure, fold);
    values_[name] = [=](RowArithmetic &a) {
      return counts ? a.plus(a.column(own), a.count(others))
                    : a.fold(fold, a.column(own), a.column(others));
    };
  }

  void addKnown(WindowFunctionAttr function, Type type) {
    WindowFrameAttr frame = function.getFrame();
    const bool fromFirst = frame.getStart() == Bound::UnboundedPreceding;
    const bool toLast = frame.getEnd() == Bound::UnboundedFollowing;
    const Kind kind = function.getKind();
    // All rows of a rank have the same.
    auto whole = WindowFunctionAttr::get(
        b_.getContext(), kind, std::nullopt, function.getArguments(),
        fresh("known_" + function.getName().getValue()), wholeFrame(), ArrayAttr(),
        /*ignoreNulls=*/true);
    StringAttr known = addMeasure(Function::Min, addOwn(whole, type), type, "known", type);
    if (fromFirst && toLast) {
      StringAttr all = addCarried(known, kind, std::nullopt, wholeFrame(), "known", true);
      values_[function.getName()] = [=](RowArithmetic &a) { return a.column(all); };
      return;
    }
    StringAttr own = addOwn(function);
    StringAttr others = addCarried(known, kind, std::nullopt,
                                   fromFirst ? frameBefore() : frameAfter(), "known", true);
    const bool othersFirst = (kind == Kind::FirstValue) == fromFirst;
    values_[function.getName()] = [=](RowArithmetic &a) {
      Value here = a.column(own), there = a.column(others);
      return othersFirst ? a.firstOf({there, here}) : a.firstOf({here, there});
    };
  }

  // ---- rows that others see ----

  void addHalo(WindowFunctionAttr function, Type type) {
    haloFunctions_.push_back(function);
    haloColumns_.push_back({function.getName(), type});
    WindowFrameAttr frame = function.getFrame();
    if (frame && frame.getUnit() != FrameUnit::Rows) {
      haloOfPeers_ = true;
    } else {
      row();
    }
    StringAttr value = function.getColumn(0);
    const Halo halo = *haloOf(function, op_.getOrder());
    switch (halo) {
    case Halo::kRange:
      return addHaloOfRange(frame);
    case Halo::kGroups: {
      StringAttr groups = ownGroups(), own = denseRank_;
      kept_.insert(groups);
      NearRows near = haloRowsOf(function, halo);
      sent_.push_back([=](RowArithmetic &a) {
        return isAtEnd(a, a.column(own), a.column(groups), near.after, near.before);
      });
      return;
    }
    case Halo::kKnown: {
      StringAttr before = addOwn(Function::Count, value, Bound::CurrentRow, "known");
      StringAttr all = addOwn(Function::Count, value, Bound::UnboundedFollowing, "all_known");
      NearRows near = haloRowsOf(function, halo);
      sent_.push_back([=](RowArithmetic &a) {
        return a.both(a.isKnown(a.column(value)),
                      isAtEnd(a, a.column(before), a.column(all), near.after, near.before));
      });
      return;
    }
    case Halo::kFirst: {
      const int64_t count = haloRowsOf(function, halo).after;
      StringAttr number = function.getIgnoreNulls()
                              ? addOwn(Function::Count, value, Bound::CurrentRow, "known")
                              : row();
      sent_.push_back([=](RowArithmetic &a) {
        return a.compare(CompareKind::Le, a.column(number), a.number(count));
      });
      return;
    }
    case Halo::kDistinct: {
      // One more than in front of the row.
      StringAttr here = addOwn(Function::CountDistinct, value, Bound::CurrentRow, "values");
      auto frameInFront = frameBefore();
      StringAttr before =
          addOwn(WindowFunctionAttr::get(b_.getContext(), Kind::Aggregate, Function::CountDistinct,
                                         b_.getArrayAttr({value}), fresh("values_before"),
                                         frameInFront, ArrayAttr(), /*ignoreNulls=*/false),
                 b_.getI64Type());
      sent_.push_back([=](RowArithmetic &a) {
        return a.compare(CompareKind::Gt, a.column(here), a.column(before));
      });
      return;
    }
    }
    llvm_unreachable("unknown halo");
  }

  void addHaloOfRange(WindowFrameAttr frame) {
    auto key = cast<SortKeyAttr>(op_.getOrder()[0]);
    const bool isAscending = key.getDirection() == SortDirection::Asc;
    const Function least = isAscending ? Function::Min : Function::Max;
    const Function greatest = isAscending ? Function::Max : Function::Min;
    auto send = [&](Attribute distance, Function fold, bool behind) {
      auto bound = dyn_cast_or_null<StringAttr>(distance);
      if (!bound) { // the row's peers, who are here
        return;
      }
      Type type = counted_.getColumnType(bound);
      StringAttr measure = addMeasure(fold, bound, type, "bound", type);
      StringAttr others = behind ? foldedAfter(measure, fold) : foldedBefore(measure, fold);
      const CompareKind reaches = (fold == Function::Min) ? CompareKind::Ge : CompareKind::Le;
      sent_.push_back([=](RowArithmetic &a) {
        return a.compare(reaches, a.column(key.getColumn()), a.column(others));
      });
    };
    send(frame.getStartDistance(), least, /*behind=*/true);
    send(frame.getEndDistance(), greatest, /*behind=*/false);
  }

  /// The rows with what functions give that are computed once more, of the rank's rows and of those
  /// of the others that these may see.
  Value withHalo(Value rows) {
    StringAttr home = fresh("home"), here = fresh("here"), at = fresh("at");
    Value mine = placed(rows, home);
    Value sent = filtered(mine, [&](RowArithmetic &a) {
      Value any = sent_.front()(a);
      for (const Compute &other : ArrayRef(sent_).drop_front()) {
        any = a.either(any, other(a));
      }
      return any;
    });
    Value others = filtered(placed(broadcast(sent), here), [&](RowArithmetic &a) {
      return a.compare(CompareKind::Ne, a.column(home), a.column(here));
    });
    SmallVector<StringAttr> names(cast<TableType>(mine.getType()).getNames());
    SmallVector<Value> parts{mine, createKeep(b_, loc_, others, names).getResult()};
    Value all = UnionOp::create(b_, loc_, mine.getType(), parts);
    Value computed = makeWindow(all, haloOfPeers_ ? op_.getOrder() : ascending({home, row_}),
                                haloFunctions_, haloColumns_);
    markOwn(computed);
    markDecided(computed);
    return filtered(placed(computed, at), [&](RowArithmetic &a) {
      return a.compare(CompareKind::Eq, a.column(home), a.column(at));
    });
  }

  // ---- ops ----

  Value makeWindow(Value input, ArrayAttr order, ArrayRef<WindowFunctionAttr> functions,
                   ArrayRef<Column> results) {
    SmallVector<Column> columns = cast<TableType>(input.getType()).getColumns();
    columns.append(results.begin(), results.end());
    return WindowOp::create(
        b_, loc_, TableType::get(b_.getContext(), columns), input, b_.getArrayAttr({}), order,
        b_.getArrayAttr(SmallVector<Attribute>(functions.begin(), functions.end())));
  }

  Value placed(Value rows, StringAttr name) {
    SmallVector<Column> columns = cast<TableType>(rows.getType()).getColumns();
    columns.push_back({name, b_.getI64Type()});
    return PlaceOp::create(b_, loc_, TableType::get(b_.getContext(), columns), rows, name, axes_);
  }

  Value broadcast(Value rows) {
    return ExchangeOp::create(b_, loc_, ExchangeKind::Broadcast, rows, /*keys=*/ArrayAttr(),
                              /*order=*/ArrayAttr(), axes_);
  }

  ArrayAttr ascending(ArrayRef<StringAttr> names) {
    return b_.getArrayAttr(llvm::map_to_vector(names, [&](StringAttr name) -> Attribute {
      return SortKeyAttr::get(b_.getContext(), name, SortDirection::Asc, NullsOrder::Last);
    }));
  }

  /// For each rank that has rows, what is carried to it.
  Value makeCarry(Value rows) {
    SmallVector<Column> columns{{place_, b_.getI64Type()}};
    columns.append(measureColumns_);
    Value summaries = broadcast(AggregateOp::create(
        b_, loc_, TableType::get(b_.getContext(), columns), placed(rows, place_),
        b_.getArrayAttr({place_}),
        b_.getArrayAttr(SmallVector<Attribute>(measures_.begin(), measures_.end()))));
    return carried_.empty() ? summaries
                            : makeWindow(summaries, ascending({place_}), carried_, carriedColumns_);
  }

  /// Each row with what is carried to its rank.
  Value withCarry(Value rows, Value carry) {
    SmallVector<StringAttr> names{place_};
    if (ownRows_) {
      kept_.insert(ownRows_);
    }
    names.append(kept_.begin(), kept_.end());
    for (WindowFunctionAttr function : carried_) {
      names.push_back(function.getName());
    }
    Value kept = createKeep(b_, loc_, carry, names).getResult();
    SmallVector<Column> columns = cast<TableType>(kept.getType()).getColumns();
    columns.front().name = fresh("carried_to");
    Value right = RenameOp::create(b_, loc_, TableType::get(b_.getContext(), columns), kept);
    Value left = placed(rows, place_);
    return JoinOp::create(b_, loc_,
                          JoinOp::inferResultType(JoinKind::Inner, cast<TableType>(left.getType()),
                                                  cast<TableType>(right.getType())),
                          JoinKind::Inner, left, right, b_.getArrayAttr({place_}),
                          b_.getArrayAttr({columns.front().name}));
  }

  Value filtered(Value rows, llvm::function_ref<Value(RowArithmetic &)> condition) {
    auto filter = FilterOp::create(b_, loc_, rows.getType(), rows, b_.getArrayAttr({}));
    RegionBuilder inside(b_, filter.getPredicate(), {cast<TableType>(rows.getType())});
    RowArithmetic arithmetic(inside, loc_);
    Value value = condition(arithmetic);
    inside.yield(loc_, value);
    filter.setColumnsAttr(inside.columns());
    return filter;
  }

  /// Whether a number is among the last `last` of so many. Of few it is one: estimates know how
  /// seldom columns are equal, but not how often one is greater than another.
  static Value isLast(RowArithmetic &a, Value number, Value all, int64_t last) {
    constexpr int64_t kFew = 4;
    if (last > kFew) {
      return a.compare(CompareKind::Gt, number, a.minus(all, a.number(last)));
    }
    Value any = a.compare(CompareKind::Eq, number, all);
    for (int64_t before = 1; before < last; ++before) {
      any = a.either(any, a.compare(CompareKind::Eq, number, a.minus(all, a.number(before))));
    }
    return any;
  }
  /// Whether a number is among the first `first` or the last `last` of so many.
  static Value isAtEnd(RowArithmetic &a, Value number, Value all, int64_t first, int64_t last) {
    auto isFirst = [&] { return a.compare(CompareKind::Le, number, a.number(first)); };
    auto isLast = [&] { return CarriedWindow::isLast(a, number, all, last); };
    return last == 0 ? isFirst() : first == 0 ? isLast() : a.either(isFirst(), isLast());
  }
  /// Whether a row is among the first `first` or the last `last` of its rank.
  Value isAtEnd(RowArithmetic &a, int64_t first, int64_t last) {
    return isAtEnd(a, a.column(row_), a.column(ownRows_), first, last);
  }

  /// Rows that look beyond their rank's: all ranks know those near any end, compute them in the
  /// order of all, and each takes its own.
  Value withNeighbours(Value rows, Value carry) {
    Value all = withCarry(rows, carry);
    if (nearFunctions_.empty()) {
      return all;
    }
    Value inner = filtered(
        all, [&](RowArithmetic &a) { return a.isNot(isAtEnd(a, near_.before, near_.after)); });
    int64_t reach = near_.before + near_.after;
    Value ends = filtered(withCarry(rows, carry),
                          [&](RowArithmetic &a) { return isAtEnd(a, reach, reach); });
    SmallVector<StringAttr> kept;
    SmallVector<Column> columns;
    for (const Column &column : cast<TableType>(ends.getType()).getColumns()) {
      bool isNear = llvm::any_of(nearFunctions_, [&](WindowFunctionAttr function) {
        return function.getName() == column.name;
      });
      isNear ? columns.push_back(column) : kept.push_back(column.name);
    }
    ends = makeWindow(broadcast(createKeep(b_, loc_, ends, kept).getResult()),
                      ascending({place_, row_}), nearFunctions_, columns);
    StringAttr here = fresh("here");
    ends = filtered(placed(ends, here), [&](RowArithmetic &a) {
      return a.both(a.compare(CompareKind::Eq, a.column(place_), a.column(here)),
                    isAtEnd(a, near_.before, near_.after));
    });
    SmallVector<StringAttr> names(op_.getInput().getType().getNames());
    for (const Column &column : ownColumns_) {
      names.push_back(column.name);
    }
    for (const Column &column : carriedColumns_) {
      names.push_back(column.name);
    }
    names.append(kept_.begin(), kept_.end());
    SmallVector<Value> parts{createKeep(b_, loc_, inner, names).getResult(),
                             createKeep(b_, loc_, ends, names).getResult()};
    return UnionOp::create(b_, loc_, parts.front().getType(), parts);
  }

  WindowOp op_;
  ArrayAttr axes_;
  OpBuilder b_;
  Location loc_;
  FreshNames names_;
  StringAttr place_; ///< the column with the rank of a row
  TableType counted_;

  SmallVector<WindowFunctionAttr> own_, carried_, nearFunctions_, haloFunctions_;
  SmallVector<MeasureAttr> measures_;
  SmallVector<Column> ownColumns_, measureColumns_, carriedColumns_, haloColumns_;
  llvm::SetVector<StringAttr> kept_;            ///< columns of the summary that the rank's rows get
  SmallVector<Compute> sent_;                   ///< whether other ranks may see a row
  bool haloOfPeers_ = false;                    ///< a function of the halo looks at peers
  llvm::MapVector<StringAttr, Compute> values_; ///< of results that are not the own
  NearRows near_;
  StringAttr row_, denseRank_, ownRows_, ownGroups_, rowsBefore_, rowsOfAll_;
};

struct ShardCarryWindows : impl::ShardCarryWindowsPassBase<ShardCarryWindows> {
  void runOnOperation() override {
    SmallVector<WindowOp> windows;
    getOperation().walk([&](WindowOp window) { windows.push_back(window); });
    for (WindowOp window : windows) {
      auto layouts = window->getAttrOfType<ArrayAttr>(DistDialect::getLayoutsAttrName());
      RowsAttr rows = layouts ? cast<LayoutAttr>(layouts[0]).getRows() : RowsAttr();
      if (!rows || rows.getKind() == RowKind::Root || !window.getPartition().empty()) {
        continue;
      }
      SmallVector<Attribute> axes(rows.getAxes().begin(), rows.getAxes().end());
      CarriedWindow(window, ArrayAttr::get(&getContext(), axes)).run();
    }
  }
};

} // namespace
} // namespace headrace::shard
