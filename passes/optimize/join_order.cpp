// optimize-join-order: inner joins in the order that is cheapest by estimate, the smaller side to
// build on.
#include "mlir/IR/Iterators.h"
#include "passes/optimize/Passes.h"
#include "passes/optimize/join_graph.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZEJOINORDER
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

// A semi or anti join that keeps less than this share of rows goes below the joins.
constexpr double kSelectiveShare = 0.5;

/// The columns of the left side that a semi or anti join looks at.
ColumnSet leftColumnsOf(JoinOp semi) {
  ColumnSet columns;
  for (StringAttr key : semi.getLeftKeys().getAsRange<StringAttr>()) {
    columns.insert(key);
  }
  if (semi.hasResidual()) {
    for (StringAttr name : semi.getResidualColumns()->getAsRange<StringAttr>()) {
      if (semi.getLeft().getType().hasColumn(name)) {
        columns.insert(name);
      }
    }
  }
  return columns;
}

/// `semi` with another left side (before `semi`; the caller replaces and erases).
JoinOp withLeft(OpBuilder &builder, JoinOp semi, Value left) {
  auto result =
      JoinOp::create(builder, semi.getLoc(), cast<TableType>(left.getType()), semi.getKind(), left,
                     semi.getRight(), semi.getLeftKeys(), semi.getRightKeys(),
                     semi.getNullSafeAttr(), semi.getResidualColumnsAttr(), semi.getNullAware());
  result.getResidual().takeBody(semi.getResidual());
  return result;
}

/// The operand of `op` into which a semi join on these columns can move.
OpOperand *operandBelow(Operation *op, const ColumnSet &columns) {
  if (!op || !op->hasOneUse()) {
    return nullptr;
  }
  if (auto join = dyn_cast<JoinOp>(op); join && join.getKind() == JoinKind::Inner) {
    if (coveredBy(columns, join.getLeft().getType())) {
      return &join.getLeftMutable();
    }
    return coveredBy(columns, join.getRight().getType()) ? &join.getRightMutable() : nullptr;
  }
  if (auto project = dyn_cast<ProjectOp>(op)) {
    return project.getComputed().empty() ? &project.getInputMutable() : nullptr;
  }
  // A filter that can fail must still see only the rows it saw: fewer is allowed.
  if (auto filter = dyn_cast<FilterOp>(op)) {
    return &filter.getInputMutable();
  }
  return nullptr;
}

/// Moves `semi` down to the relation that it is about.
void sink(OpBuilder &builder, JoinOp semi) {
  ColumnSet columns = leftColumnsOf(semi);
  OpOperand *target = nullptr;
  bool passesJoin = false;
  Operation *op = semi.getLeft().getDefiningOp();
  while (OpOperand *below = operandBelow(op, columns)) {
    passesJoin |= isa<JoinOp>(op);
    target = below;
    op = below->get().getDefiningOp();
    if (!isa_and_nonnull<JoinOp, ProjectOp>(op)) {
      break; // above the relation's own filters
    }
  }
  if (!passesJoin) {
    return;
  }
  builder.setInsertionPoint(target->getOwner());
  JoinOp moved = withLeft(builder, semi, target->get());
  target->set(moved.getResult());
  semi.getResult().replaceAllUsesWith(semi.getLeft());
  semi.erase();
}

void sinkSelectiveSemiJoins(func::FuncOp function) {
  analysis::CardinalityAnalysis analysis;
  SmallVector<JoinOp> selective;
  function.walk([&](JoinOp join) {
    bool reduces = join.getKind() == JoinKind::Semi || join.getKind() == JoinKind::Anti;
    if (reduces && analysis.rowsOf(join.getResult()).expected <
                       kSelectiveShare * analysis.rowsOf(join.getLeft()).expected) {
      selective.push_back(join);
    }
  });
  OpBuilder builder(function.getContext());
  for (JoinOp join : selective) {
    sink(builder, join);
  }
}

/// Makes the ops of a join tree, each with the predicates that first fit there.
class TreeBuilder {
public:
  TreeBuilder(OpBuilder &builder, const JoinGraph &graph, Location location)
      : builder_(builder), graph_(graph), location_(location) {}

  Value build(const JoinTree &tree) {
    if (!tree.probe) {
      return filtered(withEqualColumns(tree.relation), graph_.predicatesOf(tree.relations, 0, 0));
    }
    Value left = build(*tree.probe);
    Value right = build(*tree.build);
    RelationSet probe = tree.probe->relations;
    RelationSet built = tree.build->relations;
    SmallVector<StringAttr> leftKeys;
    SmallVector<StringAttr> rightKeys;
    graph_.keysBetween(probe, built, leftKeys, rightKeys);
    auto type = JoinOp::inferResultType(JoinKind::Inner, cast<TableType>(left.getType()),
                                        cast<TableType>(right.getType()));
    Value join =
        JoinOp::create(builder_, locationOf(leftKeys, rightKeys), type, JoinKind::Inner, left,
                       right, builder_.getArrayAttr(llvm::to_vector_of<Attribute>(leftKeys)),
                       builder_.getArrayAttr(llvm::to_vector_of<Attribute>(rightKeys)));
    return filtered(join, graph_.predicatesOf(tree.relations, probe, built));
  }

private:
  /// A relation, its rows in which columns of one equality class are equal.
  Value withEqualColumns(unsigned relation) {
    Value table = graph_.relations[relation];
    auto pairs = graph_.equalWithin(relation);
    if (pairs.empty()) {
      return table;
    }
    auto filter =
        FilterOp::create(builder_, location_, table.getType(), table, builder_.getArrayAttr({}));
    RegionBuilder inside(builder_, filter.getPredicate(), cast<TableType>(table.getType()));
    SmallVector<Value> equal;
    for (auto [a, b] : pairs) {
      Value x = inside.column(a), y = inside.column(b);
      Type truth = withNullability(builder_.getI1Type(), nullabilityOf({x.getType(), y.getType()}));
      equal.push_back(CompareOp::create(inside.builder(), location_, truth, CompareKind::Eq, x, y));
    }
    inside.yield(location_, inside.allOf(location_, equal));
    filter.setColumnsAttr(inside.columns());
    return filter;
  }

  Value filtered(Value table, ArrayRef<const JoinPredicate *> predicates) {
    if (predicates.empty()) {
      return table;
    }
    SmallVector<Expression> conjuncts;
    for (const JoinPredicate *predicate : predicates) {
      conjuncts.push_back(predicate->expression);
    }
    return createFilter(builder_, conjuncts.front().value.getLoc(), table, conjuncts);
  }

  /// Of the join in the source that had the first key, called by its own keys: the source may have
  /// had it with others, or as a condition behind a cross join.
  Location locationOf(ArrayRef<StringAttr> leftKeys, ArrayRef<StringAttr> rightKeys) const {
    const auto *equal = llvm::find_if(graph_.classes, [&](const EqualityClass &each) {
      return !leftKeys.empty() && llvm::any_of(each.members, [&](auto &member) {
        return member.column == leftKeys.front();
      });
    });
    if (equal == graph_.classes.end()) {
      return location_;
    }
    std::string name = "inner join";
    const char *separator = " ";
    for (auto [left, right] : llvm::zip_equal(leftKeys, rightKeys)) {
      name += separator + left.str() + " = " + right.str();
      separator = ", ";
    }
    auto source = dyn_cast<NameLoc>(equal->location);
    return NameLoc::get(builder_.getStringAttr(name),
                        source ? source.getChildLoc() : equal->location);
  }

  OpBuilder &builder_;
  const JoinGraph &graph_;
  Location location_;
};

/// Whether `join` is a part of the tree of another inner join that will be ordered as a whole.
bool isRoot(JoinOp join, const llvm::SmallPtrSetImpl<Operation *> &inner) {
  return join.getKind() == JoinKind::Inner && !join.hasNullSafe() && !inner.contains(join);
}

struct JoinOrderPass : optimize::impl::OptimizeJoinOrderBase<JoinOrderPass> {
  using OptimizeJoinOrderBase::OptimizeJoinOrderBase;

  void runOnOperation() override {
    sinkSelectiveSemiJoins(getOperation());
    for (Block &block : getOperation().getBody()) {
      tidyBlock(block);
    }
    // Trees below others first, so that estimates of relations rest on ordered joins.
    SmallVector<JoinOp> roots;
    llvm::SmallPtrSet<Operation *, 16> inner;
    getOperation().walk<WalkOrder::PostOrder, ReverseIterator>([&](JoinOp join) {
      if (!isRoot(join, inner)) {
        return;
      }
      roots.push_back(join);
      markInner(join, collectJoinGraph(join), inner);
    });
    OpBuilder builder(&getContext());
    analysis::CardinalityAnalysis analysis; // nothing is erased until all are ordered
    for (JoinOp root : llvm::reverse(roots)) {
      order(builder, root, analysis);
    }
    for (Block &block : getOperation().getBody()) {
      tidyBlock(block);
    }
  }

  /// Everything between the root and the relations belongs to the root's tree.
  static void markInner(JoinOp root, const JoinGraph &graph,
                        llvm::SmallPtrSetImpl<Operation *> &inner) {
    SmallVector<Value> open{root.getLeft(), root.getRight()};
    while (!open.empty()) {
      Value table = open.pop_back_val();
      if (llvm::is_contained(graph.relations, table)) {
        continue;
      }
      Operation *op = table.getDefiningOp();
      inner.insert(op);
      if (auto join = dyn_cast<JoinOp>(op)) {
        open.push_back(join.getRight());
      }
      open.push_back(op->getOperand(0));
    }
  }

  void order(OpBuilder &builder, JoinOp root, analysis::CardinalityAnalysis &analysis) {
    JoinGraph graph = collectJoinGraph(root);
    std::unique_ptr<JoinTree> tree = orderJoins(graph, analysis, relationsMax);
    builder.setInsertionPoint(root);
    Value result = TreeBuilder(builder, graph, root.getLoc()).build(*tree);
    if (result.getType() != root.getResult().getType()) {
      result = createKeep(builder, root.getLoc(), result, root.getResult().getType().getNames());
    }
    root.getResult().replaceAllUsesWith(result);
  }
};

} // namespace
