// Factor rules of upstream tensor ops, from indexing maps and iterator types.
#include "dialects/interfaces/ShardingRule.h"
#include "dialects/interfaces/TensorSlice.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace headrace {
namespace {

/// The reduction that the body of `op` applies to its output number `index`; kNone if it is none we
/// know.
ReductionKind reductionOf(linalg::LinalgOp op, unsigned index) {
  SmallVector<Operation *> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), index, combiners) || combiners.size() != 1) {
    return ReductionKind::kNone;
  }
  Operation *combiner = combiners.front();
  if (isa<arith::AddFOp, arith::AddIOp>(combiner)) {
    return ReductionKind::kSum;
  }
  if (isa<arith::MulFOp, arith::MulIOp>(combiner)) {
    return ReductionKind::kProduct;
  }
  if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(combiner)) {
    return ReductionKind::kMax;
  }
  if (isa<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(combiner)) {
    return ReductionKind::kMin;
  }
  return ReductionKind::kNone;
}

SmallVector<ReductionKind, 2> neutralKinds(Attribute value) {
  SmallVector<ReductionKind, 2> kinds;
  if (auto elements = dyn_cast_or_null<SplatElementsAttr>(value)) {
    value = elements.getSplatValue<Attribute>();
  }
  if (auto number = dyn_cast_or_null<FloatAttr>(value)) {
    APFloat real = number.getValue();
    if (real.isZero() && !real.isNegative()) {
      kinds.push_back(ReductionKind::kSum);
    } else if (real.isExactlyValue(1.0)) {
      kinds.push_back(ReductionKind::kProduct);
    } else if (real.isInfinity() || real.isLargest()) {
      kinds.push_back(real.isNegative() ? ReductionKind::kMax : ReductionKind::kMin);
    }
  } else if (auto integer = dyn_cast_or_null<IntegerAttr>(value)) {
    APInt bits = integer.getValue();
    if (bits.isZero()) {
      kinds.push_back(ReductionKind::kSum);
    } else if (bits.isOne()) {
      kinds.push_back(ReductionKind::kProduct);
    } else if (bits.isMinSignedValue()) {
      kinds.push_back(ReductionKind::kMax);
    } else if (bits.isMaxSignedValue()) {
      kinds.push_back(ReductionKind::kMin);
    }
  }
  return kinds;
}

/// A new factor, passing through, for a dimension of `type`.
int32_t addFactor(ShardingRule &rule, RankedTensorType type, int64_t dimension) {
  int64_t size = type.getDimSize(dimension);
  rule.factors.push_back({FactorKind::kPassThrough, ShapedType::isDynamic(size) ? -1 : size});
  return static_cast<int32_t>(rule.factors.size()) - 1;
}

/// One factor per dimension of a tensor, all passing through.
void addDimensionFactors(ShardingRule &rule, RankedTensorType type) {
  SmallVector<int32_t, 4> dims;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    dims.push_back(addFactor(rule, type, d));
  }
  rule.results.push_back(dims);
}

/// Whether the body looks at where it is: then a part does not compute what the whole does.
bool usesIndexes(linalg::LinalgOp op) {
  return op.getBlock()
      ->walk([](linalg::IndexOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

std::optional<ShardingRule> linalgRule(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics()) {
    return std::nullopt;
  }
  ShardingRule rule;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  bool indexed = usesIndexes(op);
  for (auto [iterator, extent] : llvm::zip_equal(op.getIteratorTypesArray(), extents)) {
    FactorKind kind = indexed                                      ? FactorKind::kNeedsReplication
                      : iterator == utils::IteratorType::reduction ? FactorKind::kReduction
                                                                   : FactorKind::kPassThrough;
    rule.factors.push_back({kind, ShapedType::isDynamic(extent) ? -1 : extent});
  }
  bool reduces =
      llvm::any_of(rule.factors, [](Factor f) { return f.kind == FactorKind::kReduction; });
  if (reduces) {
    rule.reduction = reductionOf(op, 0);
    for (unsigned index = 1; index < op.getRegionOutputArgs().size(); ++index) {
      if (reductionOf(op, index) != rule.reduction) {
        rule.reduction = ReductionKind::kNone;
      }
    }
  }
  SmallVector<bool> inAccumulator(rule.factors.size(), false);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType())) {
      continue;
    }
    SmallVector<int32_t, 4> dims;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        dims.push_back(static_cast<int32_t>(dim.getPosition()));
        continue;
      }
      dims.push_back(ShardingRule::kNoFactor);
      // A window or stride: neighbours' elements would be needed.
      expr.walk([&](AffineExpr part) {
        if (auto dim = dyn_cast<AffineDimExpr>(part)) {
          rule.factors[dim.getPosition()].kind = FactorKind::kNeedsReplication;
        }
      });
    }
    rule.operands.push_back(dims);
    rule.accumulators.push_back(op.isDpsInit(&operand));
    if (op.isDpsInit(&operand)) {
      rule.results.push_back(dims);
    }
  }
  for (Factor &factor : rule.factors) {
    if (factor.kind == FactorKind::kReduction && rule.reduction == ReductionKind::kNone) {
      factor.kind = FactorKind::kNeedsReplication;
    }
  }
  if (auto fill = dyn_cast<linalg::FillOp>(op.getOperation())) {
    Attribute value;
    if (matchPattern(fill.getInputs()[0], m_Constant(&value))) {
      rule.neutralFor = neutralKinds(value);
    }
  }
  rule.operationsPerPoint = std::max<double>(
      1, static_cast<double>(std::distance(op.getBlock()->begin(), op.getBlock()->end())) - 1);
  return rule;
}

/// Of `dimensions` of a tensor the outermost of more than one element, or the first.
int64_t outermostOf(ArrayRef<int64_t> dimensions, RankedTensorType type) {
  auto found = llvm::find_if(dimensions, [&](int64_t d) { return type.getDimSize(d) != 1; });
  return found == dimensions.end() ? dimensions.front() : *found;
}

/// Elements stay in their order, so a group of dimensions is divided along its outermost one.
ShardingRule reshapeRule(RankedTensorType from, RankedTensorType to,
                         ArrayRef<ReassociationIndices> groups, bool collapses) {
  ShardingRule rule;
  SmallVector<int32_t, 4> fromFactors(static_cast<size_t>(from.getRank()), ShardingRule::kNoFactor);
  SmallVector<int32_t, 4> toFactors(static_cast<size_t>(to.getRank()), ShardingRule::kNoFactor);
  for (auto [index, group] : llvm::enumerate(groups)) {
    ReassociationIndices single{static_cast<int64_t>(index)};
    RankedTensorType many = collapses ? from : to;
    int64_t outermost = outermostOf(group, many);
    bool alone =
        llvm::all_of(group, [&](int64_t d) { return d == outermost || many.getDimSize(d) == 1; });
    int64_t size = many.getDimSize(outermost);
    Factor factor;
    factor.size = ShapedType::isDynamic(size) ? -1 : size;
    factor.equalParts = !alone;
    // Equal parts of what only the run knows cannot be promised.
    factor.kind =
        !alone && factor.size < 0 ? FactorKind::kNeedsReplication : FactorKind::kPassThrough;
    auto number = static_cast<int32_t>(rule.factors.size());
    rule.factors.push_back(factor);
    fromFactors[collapses ? outermost : single.front()] = number;
    toFactors[collapses ? single.front() : outermost] = number;
  }
  rule.operands = {fromFactors};
  rule.accumulators = {false};
  rule.results = {toFactors};
  return rule;
}

/// What is taken whole may be divided, the others are whole on every rank.
std::optional<ShardingRule> sliceRule(tensor::ExtractSliceOp op) {
  std::optional<SmallVector<SlicedDimension>> dimensions = slicedDimensions(op);
  if (!dimensions) {
    return std::nullopt;
  }
  ShardingRule rule;
  RankedTensorType from = op.getSourceType();
  SmallVector<int32_t, 4> source(dimensions->size(), ShardingRule::kNoFactor);
  SmallVector<int32_t, 4> result(static_cast<size_t>(op.getType().getRank()),
                                 ShardingRule::kNoFactor);
  for (auto [d, dimension] : llvm::enumerate(*dimensions)) {
    if (dimension.whole && dimension.result) {
      source[d] = result[*dimension.result] = addFactor(rule, from, static_cast<int64_t>(d));
    }
  }
  rule.operands = {source};
  rule.accumulators = {false};
  rule.results = {result};
  return rule;
}

/// The dimension along which the operands follow each other is whole on every rank.
ShardingRule concatRule(tensor::ConcatOp op) {
  ShardingRule rule;
  SmallVector<int32_t, 4> dims(static_cast<size_t>(op.getRank()), ShardingRule::kNoFactor);
  for (int64_t d = 0; d < op.getRank(); ++d) {
    if (d != static_cast<int64_t>(op.getDim())) {
      dims[d] = addFactor(rule, op.getResultType(), d);
    }
  }
  rule.operands.assign(op.getInputs().size(), dims);
  rule.accumulators.assign(op.getInputs().size(), false);
  rule.results = {dims};
  return rule;
}

/// The dimension that places are along is whole on every rank; the places may be divided, and what
/// a row has.
ShardingRule gatherRule(tensor::GatherOp op) {
  ShardingRule rule;
  RankedTensorType source = op.getSourceType(), places = op.getIndicesType();
  SmallVector<int32_t, 4> from{ShardingRule::kNoFactor}, by, result;
  for (int64_t d = 0; d + 1 < places.getRank(); ++d) {
    by.push_back(addFactor(rule, places, d));
  }
  for (int64_t d = 1; d < source.getRank(); ++d) {
    from.push_back(addFactor(rule, source, d));
  }
  llvm::append_range(result, by);
  llvm::append_range(result, ArrayRef(from).drop_front());
  by.push_back(ShardingRule::kNoFactor);
  rule.operands = {from, by};
  rule.accumulators = {false, false};
  rule.results = {result};
  return rule;
}

} // namespace

std::optional<ShardingRule> tensorShardingRule(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    return linalgRule(linalgOp);
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    return reshapeRule(collapse.getSrcType(), collapse.getResultType(),
                       collapse.getReassociationIndices(), /*collapses=*/true);
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    return reshapeRule(expand.getSrcType(), expand.getResultType(),
                       expand.getReassociationIndices(), /*collapses=*/false);
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    return sliceRule(slice);
  }
  if (auto gather = dyn_cast<tensor::GatherOp>(op)) {
    return gatherRule(gather);
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    return concatRule(concat);
  }
  if (op->getNumResults() != 1) {
    return std::nullopt;
  }
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type) {
    return std::nullopt;
  }
  ShardingRule rule;
  addDimensionFactors(rule, type);
  if (isa<tensor::EmptyOp>(op)) {
    rule.neutralFor = {ReductionKind::kSum, ReductionKind::kMax, ReductionKind::kMin,
                       ReductionKind::kProduct};
    return rule;
  }
  Attribute value;
  if (matchPattern(op, m_Constant(&value))) {
    rule.neutralFor = neutralKinds(value);
    return rule;
  }
  if (!OpTrait::hasElementwiseMappableTraits(op)) {
    return std::nullopt;
  }
  for (Value operand : op->getOperands()) {
    if (isa<RankedTensorType>(operand.getType())) {
      rule.operands.push_back(rule.results.front());
      rule.accumulators.push_back(false);
    }
  }
  rule.operationsPerPoint = 1;
  return rule;
}

} // namespace headrace
