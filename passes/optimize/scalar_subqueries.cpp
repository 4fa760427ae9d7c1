// optimize-scalar-subqueries: the value of a subquery becomes a column, joined to every row.
#include "dialects/interfaces/DiagnosticKind.h"

#include "dialects/frame/FreshNames.h"
#include "dialects/frame/MadeTable.h"
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZESCALARSUBQUERIES
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

/// `table` with a column of zeros behind its own.
Value withZero(OpBuilder &builder, Location location, Value table, StringAttr name) {
  auto type = cast<TableType>(table.getType());
  SmallVector<Column> columns(type.getColumns());
  columns.push_back({name, builder.getI32Type()});
  SmallVector<Attribute> kept = llvm::to_vector_of<Attribute>(type.getNames());
  auto project = ProjectOp::create(builder, location, TableType::get(builder.getContext(), columns),
                                   table, builder.getArrayAttr(kept), builder.getArrayAttr({name}),
                                   builder.getArrayAttr({}));
  RegionBuilder inside(builder, project.getExpressions(), type);
  Value zero = ConstantOp::create(inside.builder(), location, builder.getI32Type(),
                                  builder.getI32IntegerAttr(0));
  inside.yield(location, zero);
  return project.getResult();
}

/// The rows of `table`, each with the subquery's value as another column, whose name is returned in
/// `column`.
Value withValue(OpBuilder &builder, Location location, Value table, ScalarSubqueryOp subquery,
                StringAttr *column) {
  auto left = cast<TableType>(table.getType());
  auto right = cast<TableType>(subquery.getInput().getType());
  FreshNames names(builder.getContext());
  names.take(left.getNames());
  names.take(right.getNames());
  StringAttr leftKey = names.make("every_row");
  Value rows = withZero(builder, location, table, leftKey);
  StringAttr rightKey = names.make("one_row");
  Value value = withZero(builder, location, subquery.getInput(), rightKey);
  *column = right.getColumns().front().name;
  TableType joined = JoinOp::inferResultType(JoinKind::Left, cast<TableType>(rows.getType()),
                                             cast<TableType>(value.getType()));
  return JoinOp::create(builder, location, joined, JoinKind::Left, rows, value,
                        builder.getArrayAttr({leftKey}), builder.getArrayAttr({rightKey}));
}

/// The subqueries whose values the op's expressions use.
SmallVector<ScalarSubqueryOp> subqueriesOf(Operation *op) {
  llvm::SetVector<Operation *> found;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      if (inner != op && operand.getDefiningOp<ScalarSubqueryOp>()) {
        found.insert(operand.getDefiningOp());
      }
    }
  });
  return llvm::map_to_vector(found, [](Operation *each) { return cast<ScalarSubqueryOp>(each); });
}

/// Joins the values to the input of a filter or project, or the left side of a join, and gives its
/// region arguments for them.
void joinValues(OpBuilder &builder, Operation *op, ArrayRef<ScalarSubqueryOp> subqueries) {
  builder.setInsertionPoint(op);
  Value input = op->getOperand(0);
  Region &region = op->getRegion(0);
  SmallVector<Attribute> columns(
      op->getAttrOfType<ArrayAttr>(isa<JoinOp>(op) ? "residual_columns" : "columns").getValue());
  for (ScalarSubqueryOp subquery : subqueries) {
    StringAttr column;
    input = withValue(builder, op->getLoc(), input, subquery, &column);
    columns.push_back(column);
    BlockArgument argument = region.addArgument(subquery.getType(), op->getLoc());
    subquery.getResult().replaceUsesWithIf(argument, [&](OpOperand &use) {
      return region.isAncestor(use.getOwner()->getParentRegion());
    });
  }
  op->setOperand(0, input);
  op->setAttr(isa<JoinOp>(op) ? "residual_columns" : "columns", builder.getArrayAttr(columns));
  if (isa<ProjectOp>(op)) {
    return;
  }
  // A filter has its input's columns, a join those of its left side: the values end behind it.
  SmallVector<StringAttr> names(cast<TableType>(op->getResult(0).getType()).getNames());
  if (auto join = dyn_cast<JoinOp>(op)) {
    join.getResult().setType(JoinOp::inferResultType(join.getKind(), join.getLeft().getType(),
                                                     join.getRight().getType(), join.getMark()));
  } else {
    op->getResult(0).setType(cast<TableType>(input.getType()));
  }
  builder.setInsertionPointAfter(op);
  ProjectOp kept = createKeep(builder, op->getLoc(), op->getResult(0), names);
  op->getResult(0).replaceAllUsesExcept(kept.getResult(), kept);
}

struct ScalarSubqueriesPass : optimize::impl::OptimizeScalarSubqueriesBase<ScalarSubqueriesPass> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    SmallVector<ScalarSubqueryOp> all;
    getOperation().walk([&](ScalarSubqueryOp op) { all.push_back(op); });
    for (ScalarSubqueryOp op : all) {
      if (mostRows(op.getInput()).value_or(2) > 1) {
        unsupported(
            op.emitError("a scalar subquery that may have several rows is not supported; aggregate "
                         "without GROUP BY or use LIMIT 1"));
        return signalPassFailure();
      }
    }
    if (all.empty()) {
      return;
    }
    SmallVector<Operation *> users;
    getOperation().walk([&](Operation *op) {
      if (op->getNumRegions() == 1 && isa_and_present<func::FuncOp>(op->getParentOp()) &&
          !subqueriesOf(op).empty()) {
        users.push_back(op);
      }
    });
    for (Operation *op : users) {
      if (!isa<FilterOp, ProjectOp, JoinOp>(op)) {
        unsupported(op->emitError("a scalar subquery in this place is not supported, got: "))
            << op->getName();
        return signalPassFailure();
      }
      joinValues(builder, op, subqueriesOf(op));
    }
    for (ScalarSubqueryOp op : all) {
      op.erase();
    }
  }
};

} // namespace
