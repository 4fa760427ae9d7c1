// optimize-or-factoring: common conjuncts out of OR, and what an OR implies about one table.
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZEORFACTORING
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

using Conjunction = SmallVector<Expression>;

/// An OR as its branches, each a list of conjuncts, without what all branches share.
struct Factored {
  SmallVector<Expression> shared;
  SmallVector<Conjunction> branches; // empty: an OR of these is true
};

Factored factor(const Expression &disjunction) {
  Factored result;
  std::vector<ExpressionSet> others; // of the branches behind the first
  for (const Expression &branch : disjunctsOf(disjunction)) {
    bool first = result.branches.empty();
    result.branches.push_back(conjunctsOf(branch));
    if (!first) {
      others.emplace_back().insertAll(result.branches.back());
    }
  }
  ExpressionSet shared;
  for (const Expression &candidate : result.branches.front()) {
    bool inAll = llvm::all_of(
        others, [&](const ExpressionSet &branch) { return branch.contains(candidate); });
    if (inAll && shared.insert(candidate)) {
      result.shared.push_back(candidate);
    }
  }
  for (Conjunction &branch : result.branches) {
    llvm::erase_if(branch, [&](const Expression &e) { return shared.contains(e); });
  }
  // A branch that is nothing but what is shared makes the rest true.
  if (llvm::any_of(result.branches, [](const Conjunction &branch) { return branch.empty(); })) {
    result.branches.clear();
  }
  return result;
}

/// Where columns of a table come from, looking through ops that pass rows on: the leaves of a join
/// tree.
class Leaves {
public:
  explicit Leaves(ValueRange tables) {
    for (Value table : tables) {
      collect(table);
    }
  }
  /// The only leaf with all these columns, as an index; nothing if there is none.
  std::optional<unsigned> leafOf(const ColumnSet &columns) const {
    for (auto [index, leaf] : llvm::enumerate(leaves_)) {
      if (!columns.empty() && coveredBy(columns, leaf)) {
        return index;
      }
    }
    return std::nullopt;
  }
  unsigned size() const { return leaves_.size(); }

private:
  void collect(Value table) {
    Operation *op = table.getDefiningOp();
    if (auto join = dyn_cast_or_null<JoinOp>(op)) {
      collect(join.getLeft());
      if (join.getKind() == JoinKind::Inner) {
        collect(join.getRight());
      }
    } else if (isa_and_nonnull<FilterOp, SortOp>(op)) {
      collect(op->getOperand(0));
    } else if (auto project = dyn_cast_or_null<ProjectOp>(op);
               project && project.getComputed().empty()) {
      collect(project.getInput());
    } else {
      leaves_.push_back(cast<TableType>(table.getType()));
    }
  }
  SmallVector<TableType> leaves_;
};

/// What the branches say about each leaf, if all of them say something that cannot fail.
SmallVector<SmallVector<Conjunction>> impliedByLeaf(const Factored &factored,
                                                    const Leaves &leaves) {
  SmallVector<SmallVector<Conjunction>> result;
  for (unsigned leaf = 0; leaf < leaves.size(); ++leaf) {
    SmallVector<Conjunction> branches;
    bool whole = true;
    for (const Conjunction &branch : factored.branches) {
      Conjunction &part = branches.emplace_back();
      for (const Expression &conjunct : branch) {
        if (!canFail(conjunct) && leaves.leafOf(columnsOf(conjunct)) == leaf) {
          part.push_back(conjunct);
        }
      }
      whole &= part.size() == branch.size();
    }
    bool all = !branches.empty() &&
               llvm::all_of(branches, [](const Conjunction &part) { return !part.empty(); });
    if (all && !whole) { // else the OR itself is about this leaf alone
      result.push_back(std::move(branches));
    }
  }
  return result;
}

Value copyBranches(RegionBuilder &inside, Location location, ArrayRef<Conjunction> branches) {
  SmallVector<Value> alternatives;
  for (const Conjunction &branch : branches) {
    SmallVector<Value> conjuncts;
    for (const Expression &conjunct : branch) {
      conjuncts.push_back(inside.copy(conjunct));
    }
    alternatives.push_back(inside.allOf(location, conjuncts));
  }
  return inside.anyOf(location, alternatives);
}

bool canImprove(ArrayRef<Expression> conjuncts, const Leaves &leaves) {
  return llvm::any_of(conjuncts, [&](const Expression &conjunct) {
    if (!conjunct.value.getDefiningOp<OrOp>()) {
      return false;
    }
    Factored factored = factor(conjunct);
    return !factored.shared.empty() || !impliedByLeaf(factored, leaves).empty();
  });
}

/// Fills a new predicate region with `conjuncts`, each OR factored and followed by what it implies.
ArrayAttr rewrite(OpBuilder &builder, Location location, Region &region, ArrayRef<TableType> tables,
                  ArrayRef<Expression> conjuncts, const Leaves &leaves) {
  RegionBuilder inside(builder, region, tables);
  SmallVector<Value> all;
  for (const Expression &conjunct : conjuncts) {
    if (!conjunct.value.getDefiningOp<OrOp>()) {
      all.push_back(inside.copy(conjunct));
      continue;
    }
    Factored factored = factor(conjunct);
    for (const Expression &shared : factored.shared) {
      all.push_back(inside.copy(shared));
    }
    for (const auto &implied : impliedByLeaf(factored, leaves)) {
      all.push_back(copyBranches(inside, location, implied));
    }
    if (!factored.branches.empty()) {
      all.push_back(copyBranches(inside, location, factored.branches));
    }
  }
  inside.yield(location, inside.allOf(location, all));
  return inside.columns();
}

struct OrFactoringPass : optimize::impl::OptimizeOrFactoringBase<OrFactoringPass> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    getOperation().walk([&](Operation *op) {
      builder.setInsertionPoint(op);
      if (auto filter = dyn_cast<FilterOp>(op)) {
        rewriteFilter(builder, filter);
      } else if (auto join = dyn_cast<JoinOp>(op); join && join.hasResidual()) {
        rewriteJoin(builder, join);
      }
    });
  }

  static void rewriteFilter(OpBuilder &builder, FilterOp filter) {
    SmallVector<Expression> conjuncts = conjunctsOf(predicateOf(filter));
    Leaves leaves(filter.getInput());
    if (!canImprove(conjuncts, leaves)) {
      return;
    }
    auto result = FilterOp::create(builder, filter.getLoc(), filter.getResult().getType(),
                                   filter.getInput(), builder.getArrayAttr({}));
    result.setColumnsAttr(rewrite(builder, filter.getLoc(), result.getPredicate(),
                                  filter.getInput().getType(), conjuncts, leaves));
    filter.getResult().replaceAllUsesWith(result);
    filter.erase();
  }

  static void rewriteJoin(OpBuilder &builder, JoinOp join) {
    SmallVector<Expression> conjuncts = conjunctsOf(residualOf(join));
    Leaves leaves({join.getLeft(), join.getRight()});
    if (!canImprove(conjuncts, leaves)) {
      return;
    }
    JoinOp result = withResidual(builder, join, {});
    result.setResidualColumnsAttr(rewrite(builder, join.getLoc(), result.getResidual(),
                                          {join.getLeft().getType(), join.getRight().getType()},
                                          conjuncts, leaves));
    join.getResult().replaceAllUsesWith(result);
    join.erase();
  }
};

} // namespace
