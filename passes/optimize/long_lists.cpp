// optimize-long-lists: `x IN (…)` with very many literals looks them up in a table of them.
#include "dialects/frame/FreshNames.h"
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZELONGLISTS
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

/// Up to here a kernel compares with each literal, in vectors or once an entry of a dictionary.
constexpr size_t kComparedMax = 128;

/// The argument that is looked for in a long list; null where there is none.
BlockArgument soughtBy(Operation *op) {
  auto in = dyn_cast_or_null<InOp>(op);
  return in && in.getValues().size() > kComparedMax ? dyn_cast<BlockArgument>(in.getOperand())
                                                    : BlockArgument();
}

/// Joins with tables of literals, below the ops whose expressions have long lists.
class LongLists {
public:
  explicit LongLists(func::FuncOp function)
      : b_(function.getContext()), names_(function.getOperation()) {}

  /// Rows whose column is in a list that all of them must be in.
  void filter(FilterOp filter) {
    b_.setInsertionPoint(filter);
    Value input = filter.getInput();
    SmallVector<Expression> others;
    for (const Expression &conjunct : conjunctsOf(predicateOf(filter))) {
      Operation *op = conjunct.value.getDefiningOp();
      if (BlockArgument column = soughtBy(op)) {
        input = join(JoinKind::Semi, input, columnOf(filter.getColumns(), column), cast<InOp>(op));
      } else {
        others.push_back(conjunct);
      }
    }
    auto type = cast<TableType>(filter.getType());
    Value kept = input;
    if (!others.empty()) {
      FilterOp rest = createFilter(b_, filter.getLoc(), input, others);
      kept = mark(rest, rest.getPredicate(), rest.getInputMutable(), rest.getColumnsAttr(),
                  [&](ArrayAttr columns) { rest.setColumnsAttr(columns); })
                 ? widened(rest, type)
                 : rest.getResult();
    }
    filter.getResult().replaceAllUsesWith(kept);
    filter.erase();
  }

  void project(ProjectOp project) {
    mark(project, project.getExpressions(), project.getInputMutable(), project.getColumnsAttr(),
         [&](ArrayAttr columns) { project.setColumnsAttr(columns); });
  }

private:
  static StringAttr columnOf(ArrayAttr columns, BlockArgument argument) {
    return cast<StringAttr>(columns[argument.getArgNumber()]);
  }

  /// `table` joined with the literals of `in` by its column.
  Value join(JoinKind kind, Value table, StringAttr column, InOp in, StringAttr match = {}) {
    SetVector<Attribute> literals(in.getValues().begin(), in.getValues().end());
    SmallVector<Attribute> rows = llvm::map_to_vector(
        literals, [&](Attribute literal) -> Attribute { return b_.getArrayAttr({literal}); });
    auto left = cast<TableType>(table.getType());
    Column member{names_.make("member"), dropNullable(left.getColumnType(column))};
    auto values = ValuesOp::create(b_, in.getLoc(), TableType::get(b_.getContext(), {member}),
                                   b_.getArrayAttr(rows));
    TableType type = JoinOp::inferResultType(kind, left, values.getType(), {match, b_.getI1Type()});
    return JoinOp::create(b_, in.getLoc(), type, kind, table, values, b_.getArrayAttr({column}),
                          b_.getArrayAttr({member.name}));
  }

  /// Gives an op's region a column for each long list in it; whether there was one.
  bool mark(Operation *op, Region &region, OpOperand &input, ArrayAttr columns,
            llvm::function_ref<void(ArrayAttr)> setColumns) {
    SmallVector<InOp> lists;
    region.walk([&](InOp in) {
      if (soughtBy(in) && in->getParentRegion() == &region) {
        lists.push_back(in);
      }
    });
    SmallVector<Attribute> all(columns.begin(), columns.end());
    for (InOp in : lists) {
      b_.setInsertionPoint(op);
      StringAttr match = names_.make("is_member");
      input.set(join(JoinKind::Mark, input.get(), columnOf(columns, soughtBy(in)), in, match));
      all.push_back(match);
      Value found = region.front().addArgument(b_.getI1Type(), in.getLoc());
      b_.setInsertionPoint(in);
      in.getResult().replaceAllUsesWith(unknownOfNull(in, found));
      in.erase();
    }
    setColumns(b_.getArrayAttr(all));
    return !lists.empty();
  }

  /// What `in` says of a value that was found or not: of NULL that it is not known.
  Value unknownOfNull(InOp in, Value found) {
    Type truth = in.getType();
    if (!isNullable(truth)) {
      return found;
    }
    Value isNull = IsNullOp::create(b_, in.getLoc(), b_.getI1Type(), in.getOperand());
    Value unknown = ConstantOp::create(b_, in.getLoc(), truth, b_.getUnitAttr());
    Value known = CastOp::create(b_, in.getLoc(), truth, found);
    return CaseOp::create(b_, in.getLoc(), truth, ValueRange{isNull}, ValueRange{unknown}, known);
  }

  /// A filter whose input has more columns by now, as one of `type`.
  Value widened(FilterOp filter, TableType type) {
    filter.getResult().setType(cast<TableType>(filter.getInput().getType()));
    b_.setInsertionPointAfter(filter);
    return createKeep(b_, filter.getLoc(), filter, type.getNames());
  }

  OpBuilder b_;
  FreshNames names_;
};

struct LongListsPass : optimize::impl::OptimizeLongListsBase<LongListsPass> {
  void runOnOperation() override {
    llvm::SetVector<Operation *> having;
    getOperation().walk([&](InOp in) {
      if (soughtBy(in) && isa<FilterOp, ProjectOp>(in->getParentOp())) {
        having.insert(in->getParentOp());
      }
    });
    if (having.empty()) {
      return;
    }
    LongLists lists(getOperation());
    for (Operation *op : having) {
      if (auto filter = dyn_cast<FilterOp>(op)) {
        lists.filter(filter);
      } else {
        lists.project(cast<ProjectOp>(op));
      }
    }
  }
};

} // namespace
