// Walks the function in program order, which is a valid order of the tasks; tokens say what may
// overlap.
#include "passes/schedule/tensor_schedule.h"

#include "dialects/interfaces/DiagnosticKind.h"
#include "dialects/interfaces/TensorSlice.h"
#include "model/plan/plan.h"
#include "passes/analysis/matrix_product.h"
#include "passes/analysis/tensor_kernel.h"
#include "passes/schedule/plan_enums.h"
#include "passes/schedule/tensor_placement.h"

#include "dialects/dist/DistDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace headrace::schedule {

namespace {

std::string argumentName(BlockArgument argument) {
  if (auto name = dyn_cast<NameLoc>(argument.getLoc())) {
    return name.getName().str();
  }
  return "arg" + std::to_string(argument.getArgNumber());
}

/// What the user would call an op: "matmul", "exp", "sum".
std::string operationName(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic) {
    return op->getName().stripDialect().str();
  }
  std::string names;
  for (Operation &inner : generic.getBody()->without_terminator()) {
    if (!inner.hasTrait<OpTrait::ConstantLike>()) {
      names += (names.empty() ? "" : " ") + inner.getName().stripDialect().str();
    }
  }
  return names.empty() ? "copy" : names;
}

class TensorScheduler {
public:
  TensorScheduler(func::FuncOp function, sched::ProgramOp program,
                  const llvm::StringMap<Value> &streams)
      : function_(function), streams_(streams),
        b_(OpBuilder::atBlockEnd(&program.getBody().front())) {}

  LogicalResult run() {
    if (!llvm::hasSingleElement(function_.getBody())) {
      return unsupported(function_.emitError("a tensor program is one block"));
    }
    if (failed(placements_.addArguments(function_))) {
      return failure();
    }
    for (BlockArgument argument : function_.getArguments()) {
      unsigned number = argument.getArgNumber();
      bool resident =
          function_.getArgAttr(number, dist::DistDialect::getResidentAttrName()) != nullptr;
      buffers_[argument] = sched::InputOp::create(b_, argument.getLoc(), bufferOf(argument), number,
                                                  argumentName(argument), resident)
                               .getBuffer();
    }
    for (Operation &op : function_.getBody().front()) {
      if (failed(addOp(&op))) {
        return failure();
      }
    }
    return success();
  }

private:
  sched::BufferType bufferType(Type element, const TensorPlacement &placement) {
    return sched::BufferType::get(
        b_.getContext(), sched::Tier::Host, RankedTensorType::get(placement.shape, element),
        placement.isDivided() ? placement.splits : ArrayRef<dist::DimSplitAttr>(), placement.rows);
  }
  sched::BufferType bufferOf(Value tensor) {
    return bufferType(getElementTypeOrSelf(tensor.getType()), placements_.of(tensor));
  }

  LogicalResult addOp(Operation *op) {
    if (auto result = dyn_cast<func::ReturnOp>(op)) {
      addResults(result);
      return success();
    }
    bool tensor =
        llvm::any_of(op->getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
    // Sizes, scalars, and tensors that exist only as something to write to.
    if (!tensor || isa<tensor::EmptyOp, linalg::FillOp>(op)) {
      return success();
    }
    if (failed(placements_.addResults(op))) {
      return failure();
    }
    if (auto rows = dyn_cast<pipe::ToTensorOp>(op)) {
      return addRows(rows);
    }
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      return addKernel(generic);
    }
    if (auto product = dyn_cast<linalg::LinalgOp>(op)) {
      addProduct(product);
    } else if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op)) {
      addCompute(op, sched::Action::Reshape, {}, op->getOperand(0), {}, op->getResults());
    } else if (isa<tensor::ExtractSliceOp, dist::SliceOp>(op)) {
      addSlice(op);
    } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
      addCompute(op, sched::Action::Concat, {}, concat.getInputs(),
                 {static_cast<int64_t>(concat.getDim())}, concat->getResults());
    } else if (auto gather = dyn_cast<tensor::GatherOp>(op)) {
      addCompute(op, sched::Action::Gather, {}, gather->getOperands(), {}, gather->getResults());
    } else {
      return addCollective(op);
    }
    return success();
  }

  LogicalResult addRows(pipe::ToTensorOp op) {
    auto stream = streams_.find(op.getStream());
    auto declared = SymbolTable::lookupNearestSymbolFrom<pipe::StreamOp>(op, op.getStreamAttr());
    if (stream == streams_.end() || !declared || !declared.getLogical()) {
      return op.emitError("no pipeline writes the rows of: ") << op.getStream();
    }
    SmallVector<Type> types;
    for (Value tensor : op.getTensors()) {
      types.push_back(bufferOf(tensor));
    }
    auto made = sched::ToTensorOp::create(b_, op.getLoc(), types, stream->second, op.getGroups(),
                                          *declared.getLogical());
    for (auto [tensor, buffer] : llvm::zip_equal(op.getTensors(), made.getBuffers())) {
      buffers_[tensor] = buffer;
    }
    return success();
  }

  void addCompute(Operation *op, sched::Action action, FlatSymbolRefAttr kernel, ValueRange inputs,
                  ArrayRef<int64_t> parameters, ValueRange outputs) {
    SmallVector<Value> operands;
    for (Value input : inputs) {
      operands.push_back(buffers_.lookup(input));
    }
    SmallVector<Type> types;
    for (Value output : outputs) {
      types.push_back(bufferOf(output));
    }
    auto task = sched::ComputeOp::create(b_, op->getLoc(), types, action, kernel, operands,
                                         b_.getDenseI64ArrayAttr(parameters),
                                         b_.getStringAttr(operationName(op)));
    for (auto [output, buffer] : llvm::zip_equal(outputs, task.getOutputs())) {
      buffers_[output] = buffer;
    }
  }

  /// The numbers are those of the whole tensor; of a dist.slice each rank takes its part of all.
  void addSlice(Operation *op) {
    const TensorPlacement &source = placements_.of(op->getOperand(0));
    size_t rank = source.shape.size();
    SmallVector<int64_t> offsets(rank, 0), sizes(source.shape), strides(rank, 1);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      for (auto [d, dimension] : llvm::enumerate(*slicedDimensions(slice))) {
        if (!dimension.whole) {
          offsets[d] = dimension.elements.offset;
          sizes[d] = dimension.elements.size;
          strides[d] = dimension.elements.stride;
        }
      }
    }
    llvm::replace(sizes, ShapedType::kDynamic, plan::kUnknownExtent);
    SmallVector<int64_t> parameters(offsets);
    llvm::append_range(parameters, sizes);
    llvm::append_range(parameters, strides);
    addCompute(op, sched::Action::Slice, {}, op->getOperand(0), parameters, op->getResults());
  }

  void addProduct(linalg::LinalgOp op) {
    MatrixProduct product = *matrixProduct(op); // form-tensors left no others
    addCompute(op, sched::Action::Matmul, {}, op->getOperands().take_front(2),
               {product.leftTransposed, product.rightTransposed, product.batch}, op->getResults());
  }

  LogicalResult addCollective(Operation *op) {
    using Kind = sched::CollectiveKind;
    Kind kind = Kind::AllToAll;
    std::optional<dist::Combine> combine;
    if (auto reduce = dyn_cast<dist::AllReduceOp>(op)) {
      kind = Kind::AllReduce;
      combine = reduce.getCombine();
    } else if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op)) {
      kind = Kind::ReduceScatter;
      combine = scatter.getCombine();
    } else if (isa<dist::AllGatherOp>(op)) {
      kind = Kind::AllGather;
    }
    sched::ReductionAttr reduction;
    if (combine) {
      std::optional<sched::Reduction> how = reductionOf(*combine);
      if (!how) {
        return unsupported(op->emitError("no collective combines by: "))
               << dist::stringifyCombine(*combine);
      }
      reduction = sched::ReductionAttr::get(op->getContext(), *how);
    }
    buffers_[op->getResult(0)] =
        communicate(op->getLoc(), kind, reduction, op->getAttrOfType<ArrayAttr>("axes"),
                    buffers_.lookup(op->getOperand(0)), bufferOf(op->getResult(0)));
    return success();
  }

  static std::optional<sched::Reduction> reductionOf(dist::Combine combine) {
    return combine == dist::Combine::Sum   ? std::optional(sched::Reduction::Sum)
           : combine == dist::Combine::Max ? std::optional(sched::Reduction::Max)
           : combine == dist::Combine::Min ? std::optional(sched::Reduction::Min)
                                           : std::nullopt;
  }

  /// One order on every rank.
  Value communicate(Location location, sched::CollectiveKind kind, sched::ReductionAttr reduction,
                    ArrayAttr axes, Value input, Type output) {
    auto task = sched::CollectiveOp::create(b_, location, b_.getType<sched::TokenType>(), output,
                                            kind, reduction, axes, input,
                                            last_ ? ValueRange(last_) : ValueRange());
    last_ = task.getDone();
    return task.getOutput();
  }

  LogicalResult addKernel(linalg::GenericOp op) {
    FailureOr<TensorKernelShape> shape = tensorKernelShape(op);
    if (failed(shape)) {
      return failure();
    }
    SmallVector<Value> inputs, outputs;
    for (const TensorKernelBuffer &input : shape->inputs) {
      inputs.push_back(input.tensor);
    }
    for (const TensorKernelBuffer &output : shape->outputs) {
      outputs.push_back(output.tensor);
    }
    SmallVector<int64_t> rows;
    if (shape->rowLoop) {
      const TensorKernelExtent &extent = shape->extents[*shape->rowLoop];
      rows = {extent.buffer, extent.dimension};
      if (shape->combines != ReductionKind::kNone) {
        rows.push_back(static_cast<int64_t>(planReduction(shape->combines)));
      }
    }
    addCompute(op, sched::Action::Kernel,
               FlatSymbolRefAttr::get(op.getContext(), tensorKernelSymbol(op)), inputs, rows,
               outputs);
    return success();
  }

  void addResults(func::ReturnOp op) {
    bool stay = function_->hasAttr(frame::FrameDialect::getResultResidentAttrName());
    for (Value value : op.getOperands()) {
      Value buffer = stay ? buffers_.lookup(value) : handedOver(op, value);
      sched::TensorResultOp::create(b_, op.getLoc(), buffer, stay);
    }
  }

  /// Whole on every rank, and the caller's own: what lies on the ranks stays as it is.
  Value handedOver(func::ReturnOp op, Value value) {
    Value buffer = buffers_.lookup(value);
    TensorPlacement placement = placements_.of(value);
    Type element = getElementTypeOrSelf(value.getType());
    for (dist::DimSplitAttr &split : placement.splits) {
      ArrayRef<StringAttr> axes = split.getAxes();
      if (!axes.empty()) {
        split = dist::DimSplitAttr::get(op.getContext(), {}, dist::SplitKind::Even);
        buffer = communicate(op.getLoc(), sched::CollectiveKind::AllGather, {},
                             b_.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end())),
                             buffer, bufferType(element, placement));
      }
    }
    auto input = buffer.getDefiningOp<sched::InputOp>();
    return input && input.getResident()
               ? sched::ComputeOp::create(b_, op.getLoc(), TypeRange(buffer.getType()),
                                          sched::Action::Reshape, FlatSymbolRefAttr(), buffer,
                                          b_.getDenseI64ArrayAttr({}), b_.getStringAttr("copy"))
                     .getOutputs()
                     .front()
               : buffer;
  }

  func::FuncOp function_;
  const llvm::StringMap<Value> &streams_;
  TensorPlacements placements_;
  OpBuilder b_;
  llvm::DenseMap<Value, Value> buffers_;
  Value last_; ///< token of the last collective
};

} // namespace

LogicalResult scheduleTensors(func::FuncOp function, sched::ProgramOp program,
                              const llvm::StringMap<Value> &streams) {
  return TensorScheduler(function, program, streams).run();
}

} // namespace headrace::schedule
