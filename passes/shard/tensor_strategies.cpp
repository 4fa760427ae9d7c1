// Strategies of tensor ops: every assignment of mesh axes to the factors of their rule.
#include "dialects/interfaces/ShardingRule.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "model/cost/tensor_work.h"
#include "passes/analysis/matrix_product.h"
#include "passes/shard/rematerialize.h"
#include "passes/shard/sized_starts.h"
#include "passes/shard/strategies.h"

#include <algorithm>

using namespace mlir;
using namespace headrace::dist;

namespace headrace::shard {
namespace {

// More would slow the solver; assignments come in order of how few axes they use last.
constexpr size_t kStrategiesMax = 96;
// Stands for extents known only at run time where nothing better is known.
constexpr double kUnknownExtent = 1e5;

Combine combineOf(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::kMax:
    return Combine::Max;
  case ReductionKind::kMin:
    return Combine::Min;
  case ReductionKind::kProduct:
    return Combine::Product;
  default:
    return Combine::Sum;
  }
}

double elementBytes(RankedTensorType type) {
  return type.getElementType().isIntOrFloat() ? std::max(1u, type.getElementTypeBitWidth() / 8) : 8;
}

/// One way to split: axes per factor, one of which may be ragged, and axes over which a neutral
/// result is unreduced.
struct Assignment {
  SmallVector<AxisSet, 4> factors;
  int32_t raggedFactor = -1;
  Operation *raggedOrigin = nullptr;
  AxisSet neutral = 0;
  ReductionKind neutralKind = ReductionKind::kNone;
};

class TensorEnumerator {
public:
  /// `sizes`: of a tensor without operands, what may make its dimensions ragged, by factor.
  TensorEnumerator(PlacedNode &node, const ShardingRule &rule, StrategyContext &context,
                   ArrayRef<std::pair<int32_t, TensorDimension>> sizes = {})
      : node_(node), rule_(rule), context_(context), sizes_(sizes) {}

  void run() {
    Assignment start;
    start.factors.assign(rule_.factors.size(), 0);
    assignAxis(0, start);
    // Ragged splits come from an operand that has one; the other factors stay whole beside it.
    for (auto [index, operand] : llvm::enumerate(node_.operands)) {
      for (const Layout &layout : context_.available(operand)) {
        if (layout.raggedDim < 0) {
          continue;
        }
        addRagged(start, rule_.operands[index][layout.raggedDim], layout);
      }
    }
    for (const auto &[factor, size] : sizes_) {
      for (const Layout &layout : context_.available(size.tensor)) {
        if (layout.raggedDim == static_cast<int32_t>(size.dimension)) {
          addRagged(start, factor, layout);
        }
      }
    }
  }

private:
  void addRagged(Assignment ragged, int32_t factor, const Layout &layout) {
    if (factor == ShardingRule::kNoFactor) {
      return;
    }
    ragged.factors[factor] = layout.dims[layout.raggedDim];
    ragged.raggedFactor = factor;
    ragged.raggedOrigin = layout.raggedOrigin;
    addAssignment(ragged);
  }

  void assignAxis(size_t axis, Assignment &assignment) {
    if (node_.strategies.size() >= kStrategiesMax) {
      return;
    }
    if (axis == context_.mesh.getAxisSizes().size()) {
      addAssignment(assignment);
      return;
    }
    assignAxis(axis + 1, assignment);
    AxisSet bit = AxisSet{1} << axis;
    if (!(context_.allAxes() & bit)) {
      return;
    }
    for (AxisSet &axes : assignment.factors) {
      axes |= bit;
      assignAxis(axis + 1, assignment);
      axes &= ~bit;
    }
    for (ReductionKind kind : rule_.neutralFor) {
      if (assignment.neutral && assignment.neutralKind != kind) {
        continue;
      }
      ReductionKind before = assignment.neutralKind;
      assignment.neutral |= bit;
      assignment.neutralKind = kind;
      assignAxis(axis + 1, assignment);
      assignment.neutral &= ~bit;
      assignment.neutralKind = assignment.neutral ? before : ReductionKind::kNone;
    }
  }

  /// A factor may be split if its kind allows it and every rank gets something.
  bool allowed(const Assignment &assignment) const {
    for (auto [factor, axes] : llvm::zip_equal(rule_.factors, assignment.factors)) {
      auto parts = static_cast<int64_t>(context_.parts(axes));
      bool small = factor.size >= 0 && factor.size < parts;
      bool unequal = factor.equalParts && factor.size % parts != 0;
      if (axes && (factor.kind == FactorKind::kNeedsReplication || small || unequal)) {
        return false;
      }
    }
    return true;
  }

  Layout layoutFor(ArrayRef<int32_t> dims, const Assignment &assignment) const {
    Layout layout = replicatedTensor(static_cast<int64_t>(dims.size()));
    for (auto [dim, factor] : llvm::enumerate(dims)) {
      if (factor == ShardingRule::kNoFactor) {
        continue;
      }
      layout.dims[dim] = assignment.factors[factor];
      if (factor == assignment.raggedFactor) {
        layout.raggedDim = static_cast<int32_t>(dim);
        layout.raggedOrigin = assignment.raggedOrigin;
      }
    }
    return layout;
  }

  void addAssignment(const Assignment &assignment) {
    if (!allowed(assignment)) {
      return;
    }
    AxisSet unreduced = assignment.neutral;
    ReductionKind kind = assignment.neutralKind;
    for (auto [factor, axes] : llvm::zip_equal(rule_.factors, assignment.factors)) {
      if (factor.kind == FactorKind::kReduction && axes) {
        unreduced |= axes;
        kind = rule_.reduction;
      }
    }
    auto reduce = [&](Layout layout) {
      if (unreduced) {
        layout.unreduced = unreduced;
        layout.combine = CombineAttr::get(node_.op->getContext(), combineOf(kind));
      }
      return layout;
    };
    Strategy strategy;
    for (auto [dims, accumulator] : llvm::zip_equal(rule_.operands, rule_.accumulators)) {
      Layout layout = layoutFor(dims, assignment);
      strategy.needs.push_back(accumulator ? reduce(layout) : layout);
    }
    for (ArrayRef<int32_t> dims : rule_.results) {
      strategy.gives.push_back(reduce(layoutFor(dims, assignment)));
    }
    strategy.label = strategy.gives.empty() ? "" : describe(strategy.gives.front(), context_.mesh);
    work(assignment, strategy);
    addStrategy(node_, std::move(strategy));
  }

  double localExtent(const Assignment &assignment, size_t factor) const {
    double extent = rule_.factors[factor].size >= 0
                        ? static_cast<double>(rule_.factors[factor].size)
                        : kUnknownExtent;
    return extent / context_.parts(assignment.factors[factor]);
  }

  void work(const Assignment &assignment, Strategy &strategy) const {
    double bytes = 0;
    double points = 0; // of the largest
    double outBytes = 0;
    bool wide = false;
    auto add = [&](Value value, const Layout &layout) {
      double local = tensorBytes(value) / localParts(layout);
      double width = elementBytes(cast<RankedTensorType>(value.getType()));
      bytes += local;
      points = std::max(points, local / width);
      wide = wide || width > 4;
      return local;
    };
    for (auto [index, layout] : llvm::enumerate(strategy.needs)) {
      // What a result starts from is made where it is needed.
      if (!isRematerializable(node_.operands[index])) {
        add(node_.operands[index], layout);
      }
    }
    for (auto [value, layout] : llvm::zip_equal(node_.results, strategy.gives)) {
      outBytes += add(value, layout);
    }
    strategy.memoryBytes += outBytes;
    // Empty tensors and constants are no work of their own.
    if (rule_.operands.empty() || isRematerializable(node_.results.front())) {
      return;
    }
    if (isa<tensor::ExtractSliceOp, tensor::ConcatOp>(node_.op)) {
      strategy.seconds = cost::copySeconds(context_.model, outBytes, outBytes);
      return;
    }
    if (auto gather = dyn_cast<tensor::GatherOp>(node_.op)) {
      double places = tensorBytes(gather.getIndices()) / localParts(strategy.needs[1]);
      strategy.seconds = cost::copySeconds(context_.model, outBytes + places, outBytes);
      return;
    }
    auto element = wide ? cost::ProductShape::Element::kF64 : cost::ProductShape::Element::kF32;
    if (std::optional<MatrixProduct> form = matrixProduct(node_.op)) {
      ArrayRef<int32_t> rows = ArrayRef(rule_.results.front()).drop_front(form->batch).drop_back();
      cost::ProductShape product;
      product.elements =
          outBytes / elementBytes(cast<RankedTensorType>(node_.results.front().getType()));
      product.inner = 1;
      for (auto [factor, axes] : llvm::enumerate(assignment.factors)) {
        bool reduced = rule_.factors[factor].kind == FactorKind::kReduction;
        product.inner *= reduced ? localExtent(assignment, factor) : 1;
      }
      product.outRows = 1;
      for (int32_t factor : rows) {
        product.outRows *= localExtent(assignment, static_cast<size_t>(factor));
      }
      product.rightBytes = tensorBytes(node_.operands[1]) / localParts(strategy.needs[1]);
      product.bytes = bytes;
      product.element = element;
      strategy.seconds = cost::secondsOf(context_.model, product);
      return;
    }
    cost::ElementShape shape;
    shape.points = points;
    shape.bytes = bytes;
    shape.element = element;
    countOps(shape);
    strategy.seconds = cost::secondsOf(context_.model, shape);
  }

  /// Scalar ops a point, and whether a reduction goes across rows.
  void countOps(cost::ElementShape &shape) const {
    auto count = [&](Operation *op) {
      shape.ops += op->hasTrait<OpTrait::ConstantLike>() ? 0 : 1;
      shape.math += isa<math::MathDialect>(op->getDialect()) ? 1 : 0;
    };
    auto linalgOp = dyn_cast<linalg::LinalgOp>(node_.op);
    if (!linalgOp) {
      count(node_.op);
      return;
    }
    for (Operation &op : linalgOp.getBlock()->without_terminator()) {
      count(&op);
    }
    bool reduces = linalgOp.getNumReductionLoops() > 0;
    shape.across =
        reduces && linalgOp.getIteratorTypesArray().back() != utils::IteratorType::reduction;
  }

  double localParts(const Layout &layout) const {
    double parts = 1;
    for (AxisSet axes : layout.dims) {
      parts *= context_.parts(axes);
    }
    return parts;
  }

  PlacedNode &node_;
  const ShardingRule &rule_;
  StrategyContext &context_;
  ArrayRef<std::pair<int32_t, TensorDimension>> sizes_;
};

/// The rule of a tensor that comes from outside: every dimension may be split.
ShardingRule inputRule(RankedTensorType type) {
  ShardingRule rule;
  SmallVector<int32_t, 4> dims;
  for (int64_t size : type.getShape()) {
    dims.push_back(static_cast<int32_t>(rule.factors.size()));
    rule.factors.push_back({FactorKind::kPassThrough, ShapedType::isDynamic(size) ? -1 : size});
  }
  rule.results.push_back(dims);
  return rule;
}

} // namespace

double tensorBytes(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  double bytes = elementBytes(type);
  for (int64_t size : type.getShape()) {
    bytes *= ShapedType::isDynamic(size) ? kUnknownExtent : static_cast<double>(size);
  }
  return bytes;
}

bool enumerateTensor(PlacedNode &node, StrategyContext &context) {
  std::optional<ShardingRule> rule = tensorShardingRule(node.op);
  if (!rule) {
    return false;
  }
  SmallVector<std::pair<int32_t, TensorDimension>> sizes;
  if (auto empty = dyn_cast<tensor::EmptyOp>(node.op); empty && node.operands.empty()) {
    if (std::optional<SmallVector<TensorDimension>> carried = carriedSizes(empty)) {
      // A factor per dimension.
      for (int32_t dim = 0; dim < static_cast<int32_t>(empty.getType().getRank()); ++dim) {
        if (empty.getType().isDynamicDim(dim)) {
          sizes.push_back({dim, (*carried)[sizes.size()]});
        }
      }
    }
  } else if (empty) {
    // The sizes of an empty tensor come from other tensors, which must then be split alike.
    for (size_t index = 0; index < node.operands.size(); ++index) {
      auto dimOp = cast<tensor::DimOp>(empty.getDynamicSizes()[index].getDefiningOp());
      auto source = cast<RankedTensorType>(node.operands[index].getType());
      SmallVector<int32_t, 4> dims(static_cast<size_t>(source.getRank()), ShardingRule::kNoFactor);
      int64_t resultDim = empty.getType().getDynamicDimIndex(0);
      for (int64_t dim = 0, dynamic = 0; dim < empty.getType().getRank(); ++dim) {
        if (empty.getType().isDynamicDim(dim) && dynamic++ == static_cast<int64_t>(index)) {
          resultDim = dim;
        }
      }
      dims[*dimOp.getConstantIndex()] = static_cast<int32_t>(resultDim);
      rule->operands.push_back(dims);
      rule->accumulators.push_back(false);
    }
  }
  TensorEnumerator(node, *rule, context, sizes).run();
  return true;
}

void enumerateInputTensor(PlacedNode &node, StrategyContext &context) {
  Value value = node.results.front();
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  ShardingRule rule = inputRule(cast<RankedTensorType>(value.getType()));
  TensorEnumerator(node, rule, context).run();
  for (Strategy &strategy : node.strategies) {
    double parts = 1;
    for (AxisSet axes : strategy.gives.front().dims) {
      parts *= context.parts(axes);
    }
    strategy.label = describe(strategy.gives.front(), context.mesh);
    bool inOnePiece = llvm::none_of(ArrayRef(strategy.gives.front().dims).drop_front(rank ? 1 : 0),
                                    [](AxisSet axes) { return axes != 0; });
    strategy.seconds =
        cost::tensorLoadSeconds(context.model, tensorBytes(value) / parts, inOnePiece);
  }
}

} // namespace headrace::shard
