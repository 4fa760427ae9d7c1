// optimize-simplify: constant expressions, projects of projects, ops that do nothing.
#include "dialects/frame/FrameConstants.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/analysis/scalar_evaluation.h"
#include "passes/optimize/Passes.h"
#include "passes/optimize/constant_folding.h"
#include "passes/optimize/expressions.h"
#include "passes/optimize/limits.h"
#include "passes/optimize/null_safe.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZESIMPLIFY
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

std::optional<bool> constantTruth(Value boolean) {
  auto constant = boolean.getDefiningOp<ConstantOp>();
  auto value = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  return value ? std::optional(!value.getValue().isZero()) : std::nullopt;
}

struct DropTrueFilter : OpRewritePattern<FilterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(FilterOp filter, PatternRewriter &rewriter) const override {
    if (constantTruth(predicateOf(filter).value) != true) {
      return failure();
    }
    rewriter.replaceOp(filter, filter.getInput());
    return success();
  }
};

/// A filter that keeps nothing needs no input.
struct FalseFilterToNothing : OpRewritePattern<FilterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(FilterOp filter, PatternRewriter &rewriter) const override {
    auto constant = predicateOf(filter).value.getDefiningOp<ConstantOp>();
    bool null = constant && isa<UnitAttr>(constant.getValue());
    if ((!null && constantTruth(predicateOf(filter).value) != false) ||
        filter.getType().getNumColumns() == 0) {
      return failure();
    }
    rewriter.replaceOpWithNewOp<ValuesOp>(filter, filter.getType(), rewriter.getArrayAttr({}));
    return success();
  }
};

/// A right join is a left join of the sides in the other order.
struct RightJoinToLeft : OpRewritePattern<JoinOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(JoinOp join, PatternRewriter &rewriter) const override {
    if (join.getKind() != JoinKind::Right) {
      return failure();
    }
    TableType type = JoinOp::inferResultType(JoinKind::Left, join.getRight().getType(),
                                             join.getLeft().getType());
    auto left = JoinOp::create(rewriter, join.getLoc(), type, JoinKind::Left, join.getRight(),
                               join.getLeft(), join.getRightKeys(), join.getLeftKeys(),
                               join.getNullSafeAttr(), join.getResidualColumnsAttr(),
                               /*null_aware=*/false);
    left.getResidual().takeBody(join.getResidual());
    // The columns in their places: what reads them by position must not notice.
    rewriter.replaceOp(join, createKeep(rewriter, join.getLoc(), left, join.getType().getNames()));
    return success();
  }
};

/// A column in two keys: of the second pair it is a condition on the other side's columns.
struct RepeatedKeyToResidual : OpRewritePattern<JoinOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(JoinOp join, PatternRewriter &rewriter) const override {
    if (join.getNullAware()) {
      return failure(); // its last key is not like the others
    }
    auto left = llvm::to_vector(join.getLeftKeys().getAsRange<StringAttr>()),
         right = llvm::to_vector(join.getRightKeys().getAsRange<StringAttr>());
    for (unsigned second = 1; second < left.size(); ++second) {
      for (unsigned first = 0; first < second; ++first) {
        if (join.isNullSafe(first) != join.isNullSafe(second)) {
          continue;
        }
        if (left[first] == left[second] || right[first] == right[second]) {
          bool onRight = left[first] == left[second];
          auto &side = onRight ? right : left;
          rewriter.replaceOp(join,
                             withCondition(rewriter, join, second, side[first], side[second]));
          return success();
        }
      }
    }
    return failure();
  }

  /// `join` without a key pair, and with `a = b` (in the pair's sense of NULL) beside its residual.
  static JoinOp withCondition(PatternRewriter &rewriter, JoinOp join, unsigned pair, StringAttr a,
                              StringAttr b) {
    auto without = [&](ArrayAttr keys) {
      SmallVector<Attribute> kept(keys.getValue());
      kept.erase(kept.begin() + pair);
      return rewriter.getArrayAttr(kept);
    };
    DenseBoolArrayAttr safe = join.getNullSafeAttr();
    if (safe) {
      SmallVector<bool> flags(safe.asArrayRef());
      flags.erase(flags.begin() + pair);
      safe = nullSafeAttr(rewriter.getContext(), flags);
    }
    SmallVector<Expression> conjuncts;
    if (join.hasResidual()) {
      conjuncts = conjunctsOf(residualOf(join));
    }
    Location location = join.getLoc();
    auto result = JoinOp::create(rewriter, location, join.getType(), join.getKind(), join.getLeft(),
                                 join.getRight(), without(join.getLeftKeys()),
                                 without(join.getRightKeys()), safe, rewriter.getArrayAttr({}),
                                 /*null_aware=*/false);
    RegionBuilder inside(rewriter, result.getResidual(),
                         {join.getLeft().getType(), join.getRight().getType()});
    SmallVector<Value> parts;
    for (const Expression &conjunct : conjuncts) {
      parts.push_back(inside.copy(conjunct));
    }
    if (a != b) {
      Value x = inside.column(a), y = inside.column(b);
      bool nullSafe = join.isNullSafe(pair);
      Type truth = rewriter.getI1Type();
      Type type =
          nullSafe ? truth : withNullability(truth, nullabilityOf({x.getType(), y.getType()}));
      auto kind = nullSafe ? CompareKind::IsNotDistinctFrom : CompareKind::Eq;
      parts.push_back(CompareOp::create(inside.builder(), location, type, kind, x, y));
    } else if (parts.empty()) { // the same pair twice
      parts.push_back(ConstantOp::create(inside.builder(), location, rewriter.getI1Type(),
                                         rewriter.getBoolAttr(true)));
    }
    inside.yield(location, inside.allOf(location, parts));
    result.setResidualColumnsAttr(inside.columns());
    return result;
  }
};

/// A condition that always holds is none.
struct DropTrueResidual : OpRewritePattern<JoinOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(JoinOp join, PatternRewriter &rewriter) const override {
    if (!join.hasResidual() || constantTruth(residualOf(join).value) != true ||
        (join.getNullAware() && join.getLeftKeys().empty())) {
      return failure();
    }
    rewriter.replaceOpWithNewOp<JoinOp>(join, join.getType(), join.getKind(), join.getLeft(),
                                        join.getRight(), join.getLeftKeys(), join.getRightKeys(),
                                        join.getNullSafeAttr(), ArrayAttr(), join.getNullAware());
    return success();
  }
};

/// Rows are chosen before columns are computed for them.
struct DropIdentityProject : OpRewritePattern<ProjectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ProjectOp project, PatternRewriter &rewriter) const override {
    if (!project.getComputed().empty() ||
        project.getInput().getType() != project.getResult().getType()) {
      return failure();
    }
    rewriter.replaceOp(project, project.getInput());
    return success();
  }
};

/// A computed column that is a column of the input under its own name is a kept one.
struct KeepColumnsComputedAsThemselves : OpRewritePattern<ProjectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ProjectOp project, PatternRewriter &rewriter) const override {
    SmallVector<Attribute> kept(project.getKept().getValue());
    SmallVector<StringAttr> computed;
    SmallVector<Expression> values;
    for (auto [name, value] :
         llvm::zip_equal(project.getComputed().getAsRange<StringAttr>(),
                         yieldedBy(project.getExpressions(), project.getColumns()))) {
      if (asColumn(value) == name) {
        kept.push_back(name);
      } else {
        computed.push_back(name);
        values.push_back(value);
      }
    }
    if (kept.size() == project.getKept().size()) {
      return failure();
    }
    ProjectOp result = createProject(rewriter, project.getLoc(), project.getInput(),
                                     project.getResult().getType(), computed, values);
    rewriter.replaceOp(project, result);
    return success();
  }
};

/// How often the arguments of `project` for `column` are used in its expressions.
unsigned usesOf(ProjectOp project, StringAttr column) {
  for (auto [argument, name] :
       llvm::zip_equal(project.getExpressions().getArguments(), project.getColumns())) {
    if (name == column) {
      return std::distance(argument.use_begin(), argument.use_end());
    }
  }
  return 0;
}

/// project(project(x)) becomes project(x), unless something would be computed twice.
struct MergeProjects : OpRewritePattern<ProjectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ProjectOp outer, PatternRewriter &rewriter) const override {
    auto inner = outer.getInput().getDefiningOp<ProjectOp>();
    if (!inner || !inner->hasOneUse()) {
      return failure();
    }
    for (StringAttr name : inner.getComputed().getAsRange<StringAttr>()) {
      Expression value = computedBy(inner, name);
      unsigned uses = usesOf(outer, name) + llvm::is_contained(outer.getKept(), Attribute(name));
      Operation *op = value.value.getDefiningOp();
      if (uses > 1 && op && !isa<ConstantOp>(op)) {
        return failure();
      }
    }
    rewriter.setInsertionPoint(outer);
    rewriter.replaceOp(outer, composeProjects(rewriter, inner, outer));
    return success();
  }
};

struct DistinctToAggregate : OpRewritePattern<DistinctOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DistinctOp distinct, PatternRewriter &rewriter) const override {
    TableType type = distinct.getInput().getType();
    if (type.getNumColumns() == 0) {
      return failure(); // an aggregate without keys has a row for no input too
    }
    auto keys = rewriter.getArrayAttr(llvm::to_vector_of<Attribute>(type.getNames()));
    rewriter.replaceOpWithNewOp<AggregateOp>(distinct, type, distinct.getInput(), keys,
                                             rewriter.getArrayAttr({}));
    return success();
  }
};

struct DropIdentityRename : OpRewritePattern<RenameOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RenameOp rename, PatternRewriter &rewriter) const override {
    if (rename.getInput().getType() != rename.getResult().getType()) {
      return failure();
    }
    rewriter.replaceOp(rename, rename.getInput());
    return success();
  }
};

struct SimplifyPass : optimize::impl::OptimizeSimplifyBase<SimplifyPass> {
  void runOnOperation() override {
    getOperation().walk([&](RelationalOpInterface op) {
      for (Region &region : op->getRegions()) {
        foldConstants(region);
      }
    });
    RewritePatternSet patterns(&getContext());
    patterns.add<DropTrueFilter, FalseFilterToNothing, RightJoinToLeft, RepeatedKeyToResidual,
                 DropTrueResidual, DropIdentityProject, KeepColumnsComputedAsThemselves,
                 MergeProjects, DistinctToAggregate, DropIdentityRename>(&getContext());
    addLimitPatterns(patterns);
    // No folding: the driver would hoist constants out of the expression regions.
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config))) {
      signalPassFailure();
    }
    for (Block &block : getOperation().getBody()) {
      tidyBlock(block);
    }
  }
};

} // namespace
