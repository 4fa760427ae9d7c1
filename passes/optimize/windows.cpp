// optimize-windows: windows over one partitioning become one, windows over whole partitions
// aggregates, and what keeps the first rows of partitions says so.
#include "dialects/frame/FrameConstants.h"
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"
#include "passes/optimize/null_safe.h"
#include "passes/optimize/provenance.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZEWINDOWS
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

using Kind = WindowFunctionKind;
using Bound = FrameBoundKind;

/// Whether every row sees all rows of its partition.
bool seesAll(WindowFunctionAttr function, ArrayAttr order) {
  WindowFrameAttr frame = function.getFrame();
  if (!frame || frame.getExclude() != FrameExclusion::None) {
    return false;
  }
  // Without an order all rows are peers.
  bool peers = order.empty() && frame.getUnit() != FrameUnit::Rows;
  return (frame.getStart() == Bound::UnboundedPreceding ||
          (peers && frame.getStart() == Bound::CurrentRow)) &&
         (frame.getEnd() == Bound::UnboundedFollowing ||
          (peers && frame.getEnd() == Bound::CurrentRow));
}

/// Whether a function gives the places of groups of peers.
bool ranksPeers(WindowFunctionAttr function) {
  Kind kind = function.getKind();
  return !function.getOrder() && (kind == Kind::Rank || kind == Kind::DenseRank ||
                                  kind == Kind::PercentRank || kind == Kind::CumeDist);
}

/// Whether it matters which rows are peers.
bool looksAtPeers(WindowFunctionAttr function) {
  WindowFrameAttr frame = function.getFrame();
  return ranksPeers(function) || (frame && (frame.getUnit() != FrameUnit::Rows ||
                                            frame.getExclude() == FrameExclusion::Group ||
                                            frame.getExclude() == FrameExclusion::Ties));
}

/// Whether a function has no value that depends on the order of its rows.
bool ignoresOrder(WindowFunctionAttr function) { return function.getKind() == Kind::Aggregate; }

/// The function over rows in another order; null if it means something else there.
WindowFunctionAttr inOrder(WindowFunctionAttr function, ArrayAttr from, ArrayAttr to) {
  bool isPrefix = from.size() <= to.size() &&
                  llvm::equal(from, ArrayRef(to.getValue()).take_front(from.size()));
  if (from == to || (isPrefix && !looksAtPeers(function))) {
    return function;
  }
  if (ranksPeers(function) || !seesAll(function, from) || !(ignoresOrder(function) || isPrefix)) {
    return {};
  }
  MLIRContext *context = function.getContext();
  auto whole = WindowFrameAttr::get(context, FrameUnit::Rows, Bound::UnboundedPreceding, {},
                                    Bound::UnboundedFollowing, {}, FrameExclusion::None);
  return WindowFunctionAttr::get(context, function.getKind(), function.getAggregate(),
                                 function.getArguments(), function.getName(), whole,
                                 function.getOrder(), function.getIgnoreNulls());
}

/// The window's functions in another order; nothing if one means something else there.
std::optional<SmallVector<Attribute>> functionsIn(WindowOp window, ArrayAttr order) {
  SmallVector<Attribute> functions;
  for (WindowFunctionAttr function : window.getFunctionRange()) {
    WindowFunctionAttr other = inOrder(function, window.getOrder(), order);
    if (!other) {
      return std::nullopt;
    }
    functions.push_back(other);
  }
  return functions;
}

bool haveSamePartition(WindowOp a, WindowOp b) {
  return a.getPartition().size() == b.getPartition().size() &&
         llvm::all_of(a.getPartition(),
                      [&](Attribute key) { return llvm::is_contained(b.getPartition(), key); });
}

/// Makes `upper` and the window below it one, if it is over the same partitions.
void merge(OpBuilder &builder, WindowOp upper) {
  Value below = upper.getInput();
  for (ProjectOp keep; (keep = below.getDefiningOp<ProjectOp>()) && keep.getComputed().empty() &&
                       keep->hasOneUse();) {
    below = keep.getInput();
  }
  auto lower = below.getDefiningOp<WindowOp>();
  if (!lower || !lower->hasOneUse() || !haveSamePartition(upper, lower)) {
    return;
  }
  TableType input = lower.getInput().getType();
  ColumnSet needed;
  for (WindowFunctionAttr function : upper.getFunctionRange()) {
    needed.insert_range(function.getColumns());
    if (lower.getType().hasColumn(function.getName())) {
      return; // a column that is no longer there has that name
    }
  }
  for (auto key : upper.getOrder().getAsRange<SortKeyAttr>()) {
    needed.insert(key.getColumn());
  }
  if (!coveredBy(needed, input)) {
    return; // it is computed from what the lower one computes
  }
  for (ArrayAttr order : {lower.getOrder(), upper.getOrder()}) {
    auto functions = functionsIn(lower, order), others = functionsIn(upper, order);
    if (!functions || !others) {
      continue;
    }
    functions->append(*others);
    SmallVector<Column> columns(lower.getType().getColumns());
    for (WindowFunctionAttr function : upper.getFunctionRange()) {
      columns.push_back({function.getName(), upper.getType().getColumnType(function.getName())});
    }
    builder.setInsertionPoint(upper);
    auto merged = WindowOp::create(builder, upper.getLoc(),
                                   TableType::get(builder.getContext(), columns), lower.getInput(),
                                   lower.getPartition(), order, builder.getArrayAttr(*functions));
    upper.getResult().replaceAllUsesWith(
        createKeep(builder, upper.getLoc(), merged, upper.getType().getNames()).getResult());
    return;
  }
}

/// Aggregates of whole partitions are made once for each of these, and joined to their rows.
void aggregateWhole(OpBuilder &builder, WindowOp window) {
  bool isWhole = llvm::all_of(window.getFunctionRange(), [&](WindowFunctionAttr function) {
    return function.getKind() == Kind::Aggregate && seesAll(function, window.getOrder());
  });
  if (!isWhole) {
    return;
  }
  builder.setInsertionPoint(window);
  MLIRContext *context = builder.getContext();
  Location location = window.getLoc();
  TableType input = window.getInput().getType(), type = window.getType();
  SmallVector<Column> columns, renamed;
  SmallVector<Attribute> rightKeys, measures;
  SmallVector<bool> nullable;
  for (auto key : window.getPartition().getAsRange<StringAttr>()) {
    Type keyType = input.getColumnType(key);
    std::string name = (key.getValue() + ".partition").str();
    while (type.hasColumn(builder.getStringAttr(name))) {
      name += "_1";
    }
    columns.push_back({key, keyType});
    renamed.push_back({builder.getStringAttr(name), keyType});
    rightKeys.push_back(renamed.back().name);
    nullable.push_back(canBeNull(window.getInput(), key));
  }
  Grouping grouping = columns.empty() ? Grouping::kGlobal : Grouping::kByKeys;
  SmallVector<StringAttr> widened; // may be NULL over a frame, but not over a partition
  for (WindowFunctionAttr function : window.getFunctionRange()) {
    StringAttr argument = function.getColumn(0), name = function.getName();
    Type result = type.getColumnType(name);
    Type measure = withNullability(
        result, nullabilityOf(measureType(*function.getAggregate(),
                                          argument ? input.getColumnType(argument) : Type(),
                                          grouping, context)));
    measures.push_back(MeasureAttr::get(context, *function.getAggregate(), argument, name));
    columns.push_back({name, measure});
    renamed.push_back({name, measure});
    if (measure != result) {
      widened.push_back(name);
    }
  }
  Value groups =
      AggregateOp::create(builder, location, TableType::get(context, columns), window.getInput(),
                          window.getPartition(), builder.getArrayAttr(measures));
  if (!rightKeys.empty()) {
    groups = RenameOp::create(builder, location, TableType::get(context, renamed), groups);
  }
  Value joined = JoinOp::create(
      builder, location,
      JoinOp::inferResultType(JoinKind::Inner, input, cast<TableType>(groups.getType())),
      JoinKind::Inner, window.getInput(), groups, window.getPartition(),
      builder.getArrayAttr(rightKeys), nullSafeAttr(context, nullable), ArrayAttr(),
      /*null_aware=*/false);
  auto widen = [&](RegionBuilder &inside, StringAttr name) -> Value {
    return CastOp::create(inside.builder(), location, type.getColumnType(name),
                          inside.column(name));
  };
  ProjectOp project = createProject(builder, location, joined, type, widened, widen);
  window.getResult().replaceAllUsesWith(project.getResult());
}

/// The most that a column may be for the conjunct to hold.
std::optional<int64_t> mostOf(const Expression &conjunct, StringAttr *column) {
  auto compare = conjunct.value.getDefiningOp<CompareOp>();
  if (!compare) {
    return std::nullopt;
  }
  CompareKind kind = compare.getKind();
  Value value = compare.getLhs(), bound = compare.getRhs();
  if (value.getDefiningOp<ConstantOp>()) {
    std::swap(value, bound);
    kind = kind == CompareKind::Gt   ? CompareKind::Lt
           : kind == CompareKind::Ge ? CompareKind::Le
           : kind == CompareKind::Eq ? kind
                                     : CompareKind::Ne;
  }
  auto constant = bound.getDefiningOp<ConstantOp>();
  auto number = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  *column = asColumn(conjunct.with(value));
  if (!number || !*column || !value.getType().isInteger(64)) {
    return std::nullopt;
  }
  switch (kind) {
  case CompareKind::Lt:
    return number.getInt() - 1;
  case CompareKind::Le:
  case CompareKind::Eq:
    return number.getInt();
  default:
    return std::nullopt;
  }
}

/// Only the first rows of partitions are wanted of a window.
void keepFirst(OpBuilder &builder, WindowOp window, int64_t most) {
  bool numbers = llvm::all_of(window.getFunctionRange(), [](WindowFunctionAttr function) {
    return function.getKind() == Kind::RowNumber;
  });
  if (numbers && window.getPartition().empty() && !window.getOrder().empty()) {
    // Peers have different numbers, so these are the first rows of all: every rank has its own.
    builder.setInsertionPoint(window);
    Value input = window.getInput();
    window.getInputMutable().assign(TopKOp::create(builder, window.getLoc(), input.getType(), input,
                                                   window.getOrder(), builder.getI64IntegerAttr(0),
                                                   builder.getI64IntegerAttr(most)));
    return;
  }
  window.setFirst(std::min<int64_t>(most, window.getFirst().value_or(INT64_MAX)));
}

/// Tells a window whose filter keeps the first rows of partitions only.
void boundRanks(OpBuilder &builder, FilterOp filter) {
  for (const Expression &conjunct : conjunctsOf(predicateOf(filter))) {
    StringAttr column;
    std::optional<int64_t> most = mostOf(conjunct, &column);
    if (!most || *most < 1) {
      continue;
    }
    ColumnsOf at{filter.getInput(), {column}};
    while (at.table.hasOneUse() &&
           isa_and_nonnull<FilterOp, ProjectOp, RenameOp>(at.table.getDefiningOp())) {
      std::optional<ColumnsOf> below = stepDown(at);
      if (!below) {
        break;
      }
      at = *below;
    }
    auto window = at.table.getDefiningOp<WindowOp>();
    if (!window || !window->hasOneUse() || !window.canLeaveOutLast()) {
      continue;
    }
    bool isRank = llvm::any_of(window.getFunctionRange(), [&](WindowFunctionAttr function) {
      return function.getName() == at.columns.front();
    });
    if (isRank) {
      keepFirst(builder, window, *most);
    }
  }
}

struct WindowsPass : optimize::impl::OptimizeWindowsBase<WindowsPass> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    auto windows = [&] {
      SmallVector<WindowOp> found;
      getOperation().walk([&](WindowOp window) { found.push_back(window); });
      return found;
    };
    for (WindowOp window : windows()) {
      merge(builder, window);
    }
    eraseUnused();
    for (WindowOp window : windows()) {
      aggregateWhole(builder, window);
    }
    eraseUnused();
    getOperation().walk([&](FilterOp filter) { boundRanks(builder, filter); });
  }

  void eraseUnused() {
    for (Block &block : getOperation().getBody()) {
      tidyBlock(block);
    }
  }
};

} // namespace
