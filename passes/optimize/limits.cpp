// Limits: of projections, sorts, unions and each other.
#include "passes/optimize/limits.h"

#include "dialects/frame/Expression.h"
#include "dialects/frame/FrameConstants.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

struct LimitBelowProject : OpRewritePattern<LimitOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LimitOp limit, PatternRewriter &rewriter) const override {
    Operation *project = limit.getInput().getDefiningOp();
    if (!isa_and_nonnull<ProjectOp, RenameOp>(project) || !project->hasOneUse()) {
      return failure();
    }
    Value input = project->getOperand(0);
    Value limited = LimitOp::create(rewriter, limit.getLoc(), input.getType(), input,
                                    limit.getOffsetAttr(), limit.getCountAttr());
    rewriter.modifyOpInPlace(project, [&] { project->setOperand(0, limited); });
    rewriter.moveOpAfter(project, limited.getDefiningOp());
    rewriter.replaceOp(limit, project->getResult(0));
    return success();
  }
};

/// Whether the column has the ordinals of a scan whose rows come to `table` and nowhere else.
bool growsAsStored(Value table, StringAttr column) {
  while (auto op = table.getDefiningOp<RelationalOpInterface>()) {
    if (!table.hasOneUse()) {
      return false;
    }
    if (auto scan = dyn_cast<ScanOp>(op.getOperation())) {
      return scan.getOrdinals() && scan.getType().getNames().back() == column;
    }
    const SmallVector<PassedColumn> passed = op.getPassedColumns();
    const auto *from =
        llvm::find_if(passed, [&](const PassedColumn &each) { return each.to == column; });
    if (op.getOrdering() != RowOrdering::kKept || op.getState().choosesRows() ||
        from == passed.end()) {
      return false;
    }
    column = from->from;
    table = op->getOperand(0);
  }
  return false;
}

/// Whether the rows are those of a result, as they come.
bool areShown(Value table) {
  while (table.hasOneUse()) {
    Operation *user = *table.user_begin();
    if (isa<func::ReturnOp>(user)) {
      return true;
    }
    auto op = dyn_cast<RelationalOpInterface>(user);
    if (!op || op.getOrdering() != RowOrdering::kKept || op.getState().choosesRows()) {
      return false;
    }
    table = user->getResult(0);
  }
  return false;
}

/// The rows of a table come in their order by themselves where nothing stops them.
struct DropSortAsStored : OpRewritePattern<SortOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SortOp sort, PatternRewriter &rewriter) const override {
    auto first = cast<SortKeyAttr>(sort.getKeys()[0]);
    if (first.getDirection() != SortDirection::Asc ||
        !growsAsStored(sort.getInput(), first.getColumn()) || !areShown(sort)) {
      return failure();
    }
    rewriter.replaceOp(sort, sort.getInput());
    return success();
  }
};

struct LimitOfSortToTopK : OpRewritePattern<LimitOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LimitOp limit, PatternRewriter &rewriter) const override {
    auto sort = limit.getInput().getDefiningOp<SortOp>();
    if (!sort) {
      return failure();
    }
    constexpr uint64_t kAll = uint64_t{1} << 62; // so that an offset can be added
    rewriter.replaceOpWithNewOp<TopKOp>(limit, limit.getResult().getType(), sort.getInput(),
                                        sort.getKeys(), limit.getOffset(),
                                        limit.getCount().value_or(kAll));
    return success();
  }
};

/// Of chosen rows the next choice takes some: one choice. With an order or without.
template <typename Choice> struct MergeLimits : OpRewritePattern<LimitOp> {
  using OpRewritePattern<LimitOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(LimitOp limit, PatternRewriter &rewriter) const override {
    auto inner = limit.getInput().getDefiningOp<Choice>();
    auto innerCount = inner ? inner->template getAttrOfType<IntegerAttr>("count") : IntegerAttr();
    if (!inner || !inner->hasOneUse() || !innerCount) {
      return failure();
    }
    int64_t left =
        std::max<int64_t>(0, innerCount.getInt() - static_cast<int64_t>(limit.getOffset()));
    int64_t count =
        limit.getCount() ? std::min<int64_t>(left, static_cast<int64_t>(*limit.getCount())) : left;
    auto number = [&](int64_t value) { return rewriter.getI64IntegerAttr(value); };
    rewriter.modifyOpInPlace(inner, [&] {
      inner.setOffsetAttr(number(static_cast<int64_t>(inner.getOffset() + limit.getOffset())));
      inner.setCountAttr(number(count));
    });
    rewriter.replaceOp(limit, inner->getResult(0));
    return success();
  }
};

struct DropWholeLimit : OpRewritePattern<LimitOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LimitOp limit, PatternRewriter &rewriter) const override {
    if (limit.getOffset() != 0 || limit.getCount()) {
      return failure();
    }
    rewriter.replaceOp(limit, limit.getInput());
    return success();
  }
};

/// LIMIT 0 keeps nothing, whatever the order: a filter that is false, which can sink to the scan.
template <typename Choice> struct LimitOfNothing : OpRewritePattern<Choice> {
  using OpRewritePattern<Choice>::OpRewritePattern;
  LogicalResult matchAndRewrite(Choice limit, PatternRewriter &rewriter) const override {
    auto count = limit->template getAttrOfType<IntegerAttr>("count");
    if (!count || count.getInt() != 0) {
      return failure();
    }
    auto filter = FilterOp::create(rewriter, limit.getLoc(), limit.getType(), limit.getInput(),
                                   rewriter.getArrayAttr({}));
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.createBlock(&filter.getPredicate());
    Type boolean = rewriter.getI1Type();
    Value never =
        ConstantOp::create(rewriter, limit.getLoc(), boolean, literalAttr(false, boolean));
    YieldOp::create(rewriter, limit.getLoc(), never);
    rewriter.replaceOp(limit, filter);
    return success();
  }
};

/// The operand's columns of these keys of a union, without those that are the same in all its rows.
SmallVector<Attribute> keysOfPart(UnionOp unite, Value part, ArrayAttr keys) {
  auto whole = unite.getResult().getType(), own = cast<TableType>(part.getType());
  auto project = part.getDefiningOp<ProjectOp>();
  SmallVector<Attribute> found;
  for (auto key : keys.getAsRange<SortKeyAttr>()) {
    auto name = own.getNames()[*whole.findColumn(key.getColumn())];
    Value computed = project ? computedBy(project, name).value : Value();
    if (computed && computed.getDefiningOp<ConstantOp>()) {
      continue;
    }
    found.push_back(SortKeyAttr::get(key.getContext(), name, key.getDirection(), key.getNulls()));
  }
  return found;
}

/// No part of a union needs to give more rows than are chosen of all. With an order only where a
/// part stops early for it: where its rows come in that order.
template <typename Choice> struct LimitParts : OpRewritePattern<Choice> {
  using OpRewritePattern<Choice>::OpRewritePattern;
  LogicalResult matchAndRewrite(Choice choice, PatternRewriter &rewriter) const override {
    auto unite = choice.getInput().template getDefiningOp<UnionOp>();
    auto count = choice->template getAttrOfType<IntegerAttr>("count");
    constexpr int64_t kRowsMax = int64_t{1} << 20;
    if (!unite || !unite->hasOneUse() || !count || count.getInt() > kRowsMax ||
        static_cast<int64_t>(choice.getOffset()) > kRowsMax) {
      return failure();
    }
    const int64_t rows = count.getInt() + static_cast<int64_t>(choice.getOffset());
    rewriter.setInsertionPoint(unite);
    SmallVector<Value> parts;
    bool limited = false;
    for (Value part : unite.getInputs()) {
      Value fewer = limit(rewriter, choice, unite, part, rows);
      limited |= fewer != part;
      parts.push_back(fewer);
    }
    if (!limited) {
      return failure();
    }
    rewriter.modifyOpInPlace(unite, [&] { unite.getInputsMutable().assign(parts); });
    return success();
  }

  static Value limit(PatternRewriter &rewriter, LimitOp choice, UnionOp, Value part, int64_t rows) {
    if (isFew(part, rows)) {
      return part;
    }
    return LimitOp::create(rewriter, choice.getLoc(), part.getType(), part,
                           rewriter.getI64IntegerAttr(0), rewriter.getI64IntegerAttr(rows));
  }
  static Value limit(PatternRewriter &rewriter, TopKOp choice, UnionOp unite, Value part,
                     int64_t rows) {
    SmallVector<Attribute> keys = keysOfPart(unite, part, choice.getKeys());
    auto first = keys.empty() ? SortKeyAttr() : cast<SortKeyAttr>(keys.front());
    if (isFew(part, rows) || !first || first.getDirection() != SortDirection::Asc ||
        !growsAsStored(part, first.getColumn())) {
      return part;
    }
    return TopKOp::create(rewriter, choice.getLoc(), part.getType(), part,
                          rewriter.getArrayAttr(keys), rewriter.getI64IntegerAttr(0),
                          rewriter.getI64IntegerAttr(rows));
  }
  /// Whether it has been limited, or is a constant that small.
  static bool isFew(Value part, int64_t rows) {
    Operation *op = part.getDefiningOp();
    while (isa_and_nonnull<ProjectOp, RenameOp>(op)) {
      part = op->getOperand(0);
      op = part.getDefiningOp();
    }
    auto count = op ? op->getAttrOfType<IntegerAttr>("count") : IntegerAttr();
    auto values = part.getDefiningOp<ValuesOp>();
    return (isa_and_nonnull<LimitOp, TopKOp>(op) && count && count.getInt() <= rows) ||
           (values && static_cast<int64_t>(values.getRows().size()) <= rows);
  }
};

} // namespace

void optimize::addLimitPatterns(RewritePatternSet &patterns) {
  patterns.add<LimitBelowProject, MergeLimits<TopKOp>, MergeLimits<LimitOp>, LimitOfSortToTopK,
               DropSortAsStored, DropWholeLimit, LimitOfNothing<LimitOp>, LimitOfNothing<TopKOp>,
               LimitParts<LimitOp>, LimitParts<TopKOp>>(patterns.getContext());
}
