// The pass dist-localize: every rank's own types. Split dimensions become dynamic, sizes come from
// dist.local_extent.
#include "dialects/dist/DistDialect.h"
#include "dialects/frame/FrameOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/shard/layout.h"
#include "passes/shard/passes.h"
#include "passes/shard/sized_starts.h"

using namespace mlir;
using namespace headrace::dist;

namespace headrace::shard {

#define GEN_PASS_DEF_DISTLOCALIZEPASS
#include "passes/shard/Passes.h.inc"

namespace {

class Localizer {
public:
  explicit Localizer(func::FuncOp function) : function_(function) {}

  LogicalResult run() {
    localizeArguments();
    if (failed(localize(function_.getBody().front()))) {
      return failure();
    }
    localizeResults();
    return success();
  }

private:
  void localizeArguments() {
    auto layouts = function_->getAttrOfType<ArrayAttr>(DistDialect::getLayoutsAttrName());
    if (!layouts) {
      return;
    }
    SmallVector<Type> types;
    SmallVector<Attribute> global;
    unsigned next = 0;
    for (BlockArgument argument : function_.getArguments()) {
      global.push_back(TypeAttr::get(argument.getType()));
      if (hasLayout(argument.getType())) {
        argument.setType(localType(argument.getType(), cast<LayoutAttr>(layouts[next++])));
      }
      types.push_back(argument.getType());
    }
    function_->setAttr(DistDialect::getArgumentsAttrName(),
                       ArrayAttr::get(function_.getContext(), global));
    function_.setFunctionType(
        FunctionType::get(function_.getContext(), types, function_.getFunctionType().getResults()));
  }

  /// Of tensors that stay, each rank returns its part.
  void localizeResults() {
    Operation *end = function_.getBody().front().getTerminator();
    function_.setFunctionType(FunctionType::get(
        function_.getContext(), function_.getFunctionType().getInputs(), end->getOperandTypes()));
  }

  LogicalResult localize(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto choose = dyn_cast<ChooseOp>(op);
      if (failed(localize(&op))) { // others may be gone then
        return failure();
      }
      if (choose) {
        for (Region &way : choose->getRegions()) {
          if (failed(localize(way.front()))) {
            return failure();
          }
        }
      }
    }
    return success();
  }

  LogicalResult localize(Operation *op) {
    auto layouts = op->getAttrOfType<ArrayAttr>(DistDialect::getLayoutsAttrName());
    op->removeAttr(DistDialect::getNeedsAttrName());
    op->removeAttr(DistDialect::getLevelsAttrName());
    if (!layouts) {
      return success();
    }
    op->removeAttr(DistDialect::getLayoutsAttrName());
    auto layout = cast<LayoutAttr>(layouts[0]);
    if (auto scan = dyn_cast<frame::ScanOp>(op)) {
      if (RowsAttr rows = layout.getRows()) {
        SmallVector<Attribute> names(rows.getAxes().begin(), rows.getAxes().end());
        auto axes = ArrayAttr::get(op->getContext(), names);
        if (rows.getCycle()) {
          keepStretches(scan, rows, axes);
        } else {
          scan->setAttr(DistDialect::getSplitAttrName(), axes);
        }
      }
      return success();
    }
    if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      return localizeEmpty(empty, layout);
    }
    if (op->hasTrait<OpTrait::ConstantLike>()) {
      return localizeConstant(op, layout);
    }
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      localizeExpand(expand, layout);
      return success();
    }
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      localizeSlice(slice, layout);
      return success();
    }
    unsigned next = 0;
    for (Value result : op->getResults()) {
      if (hasLayout(result.getType())) {
        result.setType(localType(result.getType(), cast<LayoutAttr>(layouts[next++])));
      }
    }
    return success();
  }

  /// Each rank could read all rows, and keeps those of its own stretches of keys; storage leaves
  /// out what has none of them.
  static void keepStretches(frame::ScanOp scan, RowsAttr rows, ArrayAttr axes) {
    OpBuilder builder(scan.getContext());
    builder.setInsertionPointAfter(scan);
    auto keep = KeepOp::create(builder, scan.getLoc(), scan.getType(), scan,
                               builder.getArrayAttr({rows.getKeys().front()}),
                               builder.getI64IntegerAttr(rows.getCycle()), axes);
    scan.getResult().replaceAllUsesExcept(keep, keep);
  }

  ArrayAttr axesOf(LayoutAttr layout, int64_t dim) const {
    ArrayRef<StringAttr> axes = layout.getDims()[dim].getAxes();
    return ArrayAttr::get(layout.getContext(), SmallVector<Attribute>(axes.begin(), axes.end()));
  }

  LogicalResult localizeEmpty(tensor::EmptyOp empty, LayoutAttr layout) {
    OpBuilder builder(empty);
    Location location = empty.getLoc();
    auto type = cast<RankedTensorType>(localType(empty.getType(), layout));
    SmallVector<Value> sizes;
    std::optional<SmallVector<TensorDimension>> carried = carriedSizes(empty);
    unsigned dynamic = 0;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      bool wasDynamic = empty.getType().isDynamicDim(dim);
      if (!type.isDynamicDim(dim)) {
        continue;
      }
      if (wasDynamic) {
        // Of a tensor that is split alike: already this rank's size.
        if (carried) {
          const TensorDimension &size = (*carried)[dynamic];
          sizes.push_back(
              tensor::DimOp::create(builder, location, size.tensor, size.dimension).getResult());
        } else {
          sizes.push_back(empty.getDynamicSizes()[dynamic]);
        }
        ++dynamic;
        continue;
      }
      Value extent =
          arith::ConstantIndexOp::create(builder, location, empty.getType().getDimSize(dim));
      sizes.push_back(LocalExtentOp::create(builder, location, builder.getIndexType(), extent,
                                            axesOf(layout, dim)));
    }
    auto local = tensor::EmptyOp::create(builder, location, type, sizes);
    empty.getResult().replaceAllUsesWith(local.getResult());
    empty.erase();
    return success();
  }

  /// Its sizes are those of the whole.
  void localizeExpand(tensor::ExpandShapeOp expand, LayoutAttr layout) {
    OpBuilder builder(expand);
    SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
    for (auto [dim, split] : llvm::enumerate(layout.getDims())) {
      bool known = !expand.getResultType().isDynamicDim(static_cast<int64_t>(dim));
      if (known && !split.getAxes().empty()) {
        Value extent = arith::ConstantIndexOp::create(
            builder, expand.getLoc(), expand.getResultType().getDimSize(static_cast<int64_t>(dim)));
        sizes[dim] = LocalExtentOp::create(builder, expand.getLoc(), builder.getIndexType(), extent,
                                           axesOf(layout, static_cast<int64_t>(dim)))
                         .getResult();
      }
    }
    auto local = tensor::ExpandShapeOp::create(
        builder, expand.getLoc(), localType(expand.getResultType(), layout), expand.getSrc(),
        expand.getReassociationIndices(), sizes);
    expand.getResult().replaceAllUsesWith(local.getResult());
    expand.erase();
  }

  /// What a rank has a part of is taken whole: all that it has of the source.
  void localizeSlice(tensor::ExtractSliceOp slice, LayoutAttr layout) {
    OpBuilder builder(slice);
    SmallVector<Value> sizes;
    SmallVector<int64_t> known(slice.getStaticSizes());
    for (auto [d, size] : llvm::enumerate(known)) {
      auto dimension = static_cast<int64_t>(d);
      if (slice.getSourceType().isDynamicDim(dimension)) {
        size = ShapedType::kDynamic;
        sizes.push_back(tensor::DimOp::create(builder, slice.getLoc(), slice.getSource(), dimension)
                            .getResult());
      }
    }
    slice.getSizesMutable().assign(sizes);
    slice.setStaticSizes(known);
    slice.getResult().setType(cast<RankedTensorType>(localType(slice.getType(), layout)));
  }

  LogicalResult localizeConstant(Operation *op, LayoutAttr layout) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Value whole = op->getResult(0);
    Value part = whole;
    Operation *first = nullptr;
    for (int64_t dim = 0; dim < static_cast<int64_t>(layout.getDims().size()); ++dim) {
      if (layout.getDims()[dim].getAxes().empty()) {
        continue;
      }
      auto before = cast<RankedTensorType>(part.getType());
      SmallVector<int64_t> shape(before.getShape());
      shape[dim] = ShapedType::kDynamic;
      part = SliceOp::create(builder, op->getLoc(),
                             RankedTensorType::get(shape, before.getElementType()), part,
                             builder.getI64IntegerAttr(dim), axesOf(layout, dim));
      first = first ? first : part.getDefiningOp();
    }
    if (first) {
      whole.replaceAllUsesExcept(part, first);
    }
    return success();
  }

  func::FuncOp function_;
};

struct DistLocalize : impl::DistLocalizePassBase<DistLocalize> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isExternal() && failed(Localizer(function).run())) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
} // namespace headrace::shard
