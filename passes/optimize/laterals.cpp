// optimize-laterals: rows made of a row's lists carry its other columns, so that nothing is joined
// to them.
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"
#include "passes/optimize/provenance.h"

#include "llvm/ADT/MapVector.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZELATERALS
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

using Names = llvm::MapVector<StringAttr, StringAttr>;

/// A join of an outer table with rows that are made, row by row, of distinct values of its columns.
struct Lateral {
  JoinOp join;
  Value outer;
  SmallVector<Operation *> steps; ///< from the distinct values on
  Names columns;                  ///< those of the distinct values, and the outer table's they are
};

/// The steps from a table with distinct rows, an UNNEST among them, up to `table`.
SmallVector<Operation *> stepsTo(Value table) {
  SmallVector<Operation *> steps;
  bool expands = false;
  for (Operation *op = table.getDefiningOp();
       op && op->hasOneUse() && isa<FilterOp, ProjectOp, RenameOp, ExpandOp>(op);
       op = op->getOperand(0).getDefiningOp()) {
    steps.push_back(op);
    expands |= isa<ExpandOp>(op);
  }
  std::reverse(steps.begin(), steps.end());
  return expands ? steps : SmallVector<Operation *>();
}

/// The columns that a table with distinct rows has all values of.
std::optional<ColumnsOf> distinctValues(Value table) {
  if (!makesDistinct(table.getDefiningOp())) {
    return std::nullopt;
  }
  std::optional<ColumnsOf> values =
      stepDown({table, SmallVector<StringAttr>(cast<TableType>(table.getType()).getNames())});
  // Down to where the outer table, which is made of the same rows, may branch off.
  for (std::optional<ColumnsOf> below = values;
       below && isa_and_nonnull<RenameOp, ProjectOp>(below->table.getDefiningOp());) {
    below = stepDown(*below);
    values = below ? below : values;
  }
  return values;
}

/// Whether no two rows of the table have the same value of the column.
bool isUnique(Value table, StringAttr column) {
  auto window = table.getDefiningOp<WindowOp>();
  return window && window.getPartition().empty() &&
         llvm::any_of(window.getFunctionRange(), [&](WindowFunctionAttr function) {
           return function.getKind() == WindowFunctionKind::RowNumber &&
                  function.getName() == column;
         });
}

/// Completes `columns`, in which the join's keys are: where one of these tells the rows of the
/// values' table apart, each column of it in the outer table is that of the same row.
bool addColumnsOfRow(const ColumnsOf &values, ArrayRef<StringAttr> distinct, Value outer,
                     Names &columns) {
  bool tellsApart = false;
  ColumnsOf known{outer, {}}, sources{values.table, {}};
  for (auto [name, source] : llvm::zip_equal(distinct, values.columns)) {
    if (StringAttr key = columns.lookup(name)) {
      tellsApart |= isUnique(values.table, source);
      known.columns.push_back(key);
      sources.columns.push_back(source);
    }
  }
  std::optional<ColumnsOf> found = stepDownTo(values.table, known);
  if (!found || found->columns != sources.columns) {
    return false;
  }
  if (columns.size() == distinct.size()) {
    return true;
  }
  llvm::DenseMap<StringAttr, StringAttr> outerOf; // columns of the values' table
  for (StringAttr candidate : cast<TableType>(outer.getType()).getNames()) {
    ColumnsOf more = known;
    more.columns.push_back(candidate);
    if (std::optional<ColumnsOf> below = stepDownTo(values.table, std::move(more))) {
      outerOf.insert({below->columns.back(), candidate});
    }
  }
  for (auto [name, source] : llvm::zip_equal(distinct, values.columns)) {
    if (StringAttr candidate = outerOf.lookup(source)) {
      columns.insert({name, candidate});
    }
  }
  return tellsApart && columns.size() == distinct.size();
}

/// `side`: that of the rows that are made.
std::optional<Lateral> lateralOf(JoinOp join, unsigned side) {
  const bool isRight = side == 1;
  Lateral lateral{join,
                  isRight ? join.getLeft() : join.getRight(),
                  stepsTo(isRight ? join.getRight() : join.getLeft()),
                  {}};
  if (join.getKind() != JoinKind::Inner || join.hasResidual() || lateral.steps.empty()) {
    return std::nullopt;
  }
  Value distinct = lateral.steps.front()->getOperand(0);
  std::optional<ColumnsOf> values = distinctValues(distinct);
  if (!values) {
    return std::nullopt;
  }
  ColumnsOf made{isRight ? join.getRight() : join.getLeft(), {}};
  llvm::append_range(made.columns,
                     (isRight ? join.getRightKeys() : join.getLeftKeys()).getAsRange<StringAttr>());
  std::optional<ColumnsOf> keys = stepDownTo(distinct, made);
  if (!keys) {
    return std::nullopt;
  }
  for (auto [index, key, outer] : llvm::enumerate(
           keys->columns,
           (isRight ? join.getLeftKeys() : join.getRightKeys()).getAsRange<StringAttr>())) {
    if ((!join.isNullSafe(index) && canBeNull(lateral.outer, outer)) ||
        !lateral.columns.insert({key, outer}).second) {
      return std::nullopt;
    }
  }
  auto names = cast<TableType>(distinct.getType()).getNames();
  return addColumnsOfRow(*values, names, lateral.outer, lateral.columns) ? std::optional(lateral)
                                                                         : std::nullopt;
}

/// The rows of a lateral join, made of the outer table's rows.
class Rows {
public:
  Rows(OpBuilder &builder, Lateral lateral)
      : b_(builder), lateral_(std::move(lateral)),
        outerType_(cast<TableType>(lateral_.outer.getType())) {
    llvm::SmallDenseSet<StringAttr> taken;
    auto take = [&](Value table) {
      auto names = cast<TableType>(table.getType()).getNames();
      taken.insert(names.begin(), names.end());
    };
    take(lateral_.outer);
    take(lateral_.join.getResult());
    take(lateral_.steps.front()->getOperand(0));
    for (Operation *step : lateral_.steps) {
      take(step->getResult(0));
    }
    size_t number = 0;
    for (StringAttr name : outerType_.getNames()) {
      StringAttr unused;
      do {
        unused = b_.getStringAttr("outer_" + Twine(number++));
      } while (taken.contains(unused));
      carried_[name] = unused;
    }
  }

  Value make() {
    b_.setInsertionPoint(lateral_.join);
    Value rows = start();
    for (Operation *step : lateral_.steps) {
      rows = again(step, rows);
    }
    // The outer table's columns under their names again, in the order of the join's.
    TableType type = lateral_.join.getType();
    SmallVector<Attribute> kept;
    SmallVector<Column> columns;
    for (const Column &column : type.getColumns()) {
      StringAttr carried = carried_.lookup(column.name);
      columns.push_back({carried ? carried : column.name, column.type});
      kept.push_back(columns.back().name);
    }
    Value ordered = project(rows, kept, {}, columns, {});
    return RenameOp::create(b_, lateral_.join.getLoc(), type, ordered);
  }

private:
  Value project(Value input, ArrayRef<Attribute> kept, ArrayRef<Attribute> computed,
                ArrayRef<Column> columns, ArrayRef<StringAttr> from) {
    Location location = lateral_.join.getLoc();
    auto project =
        ProjectOp::create(b_, location, TableType::get(b_.getContext(), columns), input,
                          b_.getArrayAttr(kept), b_.getArrayAttr(computed), b_.getArrayAttr({}));
    RegionBuilder inside(b_, project.getExpressions(), cast<TableType>(input.getType()));
    SmallVector<Value> values;
    for (StringAttr name : from) {
      values.push_back(inside.column(name));
    }
    inside.yield(location, values);
    project.setColumnsAttr(inside.columns());
    return project.getResult();
  }

  /// The outer table, with the columns that the distinct values have.
  Value start() {
    SmallVector<Column> columns;
    SmallVector<Attribute> kept, computed;
    for (const Column &column : outerType_.getColumns()) {
      columns.push_back({carried_.lookup(column.name), column.type});
      kept.push_back(columns.back().name);
    }
    Value outer = RenameOp::create(b_, lateral_.join.getLoc(),
                                   TableType::get(b_.getContext(), columns), lateral_.outer);
    SmallVector<StringAttr> from;
    auto distinct = cast<TableType>(lateral_.steps.front()->getOperand(0).getType());
    for (const Column &column : distinct.getColumns()) {
      columns.push_back(column);
      computed.push_back(column.name);
      from.push_back(carried_.lookup(lateral_.columns.lookup(column.name)));
    }
    return project(outer, kept, computed, columns, from);
  }

  /// The step over rows that have more columns, which it lets through.
  Value again(Operation *step, Value rows) {
    SmallVector<Column> columns(cast<TableType>(rows.getType()).getColumns());
    auto before = cast<TableType>(step->getOperand(0).getType()),
         after = cast<TableType>(step->getResult(0).getType());
    IRMapping mapping;
    mapping.map(step->getOperand(0), rows);
    Operation *copy = b_.clone(*step, mapping);
    if (isa<RenameOp>(step)) {
      for (auto [from, to] : llvm::zip_equal(before.getNames(), after.getNames())) {
        llvm::find_if(columns, [&](const Column &column) { return column.name == from; })->name =
            to;
      }
    } else if (auto expand = dyn_cast<ExpandOp>(step)) {
      columns.push_back({expand.getNumberAttr(), b_.getI64Type()});
    } else if (auto project = dyn_cast<ProjectOp>(copy)) {
      columns = after.getColumns();
      SmallVector<Attribute> kept(project.getKept().begin(), project.getKept().end());
      for (const Column &column : outerType_.getColumns()) {
        columns.push_back({carried_.lookup(column.name), column.type});
        kept.push_back(columns.back().name);
      }
      project.setKeptAttr(b_.getArrayAttr(kept));
    }
    copy->getResult(0).setType(TableType::get(b_.getContext(), columns));
    return copy->getResult(0);
  }

  OpBuilder &b_;
  Lateral lateral_;
  TableType outerType_;
  llvm::DenseMap<StringAttr, StringAttr>
      carried_; ///< names of the outer table's columns on the way
};

/// Whether the outer table's columns have the types of the distinct values.
bool haveSameTypes(const Lateral &lateral) {
  auto outer = cast<TableType>(lateral.outer.getType()),
       distinct = cast<TableType>(lateral.steps.front()->getOperand(0).getType());
  return llvm::all_of(lateral.columns, [&](const auto &pair) {
    return distinct.getColumnType(pair.first) == outer.getColumnType(pair.second);
  });
}

struct LateralsPass : optimize::impl::OptimizeLateralsBase<LateralsPass> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    SmallVector<JoinOp> joins;
    getOperation().walk([&](JoinOp join) { joins.push_back(join); });
    for (JoinOp join : joins) {
      std::optional<Lateral> lateral = lateralOf(join, 1);
      lateral = lateral ? lateral : lateralOf(join, 0);
      if (lateral && haveSameTypes(*lateral)) {
        join.getResult().replaceAllUsesWith(Rows(builder, std::move(*lateral)).make());
        join.erase();
      }
    }
    for (Block &block : getOperation().getBody()) {
      tidyBlock(block); // the distinct values, which nobody needs
    }
  }
};

} // namespace
