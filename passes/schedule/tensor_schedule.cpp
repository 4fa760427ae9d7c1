// Walks the function in program order, which is a valid order of the tasks; tokens say what may overlap.
#include "passes/schedule/tensor_schedule.h"

#include "passes/analysis/tensor_kernel.h"
#include "passes/schedule/tensor_placement.h"
#include "runtime/abi/imports.h"

#include "dialects/dist/DistDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace headrace::schedule {

namespace {

std::string elementName(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF32() ? "f32" : element.isF64() ? "f64" : "i64";
}

/// "file.py:12", from the first file position in a location.
std::string placeText(Location location) {
  std::string text;
  location->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file) {
      return WalkResult::advance();
    }
    text = (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
    return WalkResult::interrupt();
  });
  return text;
}

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
  TensorScheduler(func::FuncOp function, std::vector<plan::Kernel> kernels) : function_(function) {
    plan_.kernels = std::move(kernels);
    for (auto [index, kernel] : llvm::enumerate(plan_.kernels)) {
      kernelIndex_[kernel.symbol] = index;
    }
  }

  FailureOr<plan::Plan> run() {
    if (!llvm::hasSingleElement(function_.getBody())) {
      return function_.emitError("a tensor program is one block");
    }
    if (failed(placements_.addArguments(function_))) {
      return failure();
    }
    for (BlockArgument argument : function_.getArguments()) {
      addSlot(argument);
    }
    for (Operation &op : function_.getBody().front()) {
      if (failed(addOp(&op))) {
        return failure();
      }
    }
    char hash[17];
    std::snprintf(hash, sizeof(hash), "%016llx", static_cast<unsigned long long>(abi::importsHash()));
    plan_.importsHash = hash;
    return std::move(plan_);
  }

private:
  int32_t place(Operation *op) {
    plan::Place place{placeText(op->getLoc()), operationName(op)};
    for (auto [index, known] : llvm::enumerate(plan_.places)) {
      if (known.text == place.text && known.operation == place.operation) {
        return index;
      }
    }
    plan_.places.push_back(place);
    return plan_.places.size() - 1;
  }

  int32_t addBuffer(std::string name, Type type, const TensorPlacement &placement) {
    plan::Buffer buffer;
    buffer.name = std::move(name);
    buffer.element = elementName(type);
    buffer.shape.assign(placement.shape.begin(), placement.shape.end());
    buffer.splitDimension = placement.splitDimension;
    buffer.bytes = buffer.element == "f32" ? 4 : 8;
    for (int64_t extent : buffer.shape) {
      buffer.bytes *= extent; // an upper bound: a rank's part is not larger than the whole
    }
    plan_.buffers.push_back(std::move(buffer));
    producers_.push_back(plan::kNone);
    return plan_.buffers.size() - 1;
  }

  /// Adds the task; it waits for the tasks that make its inputs.
  int32_t addTask(plan::Task task) {
    for (int32_t input : task.inputs) {
      int32_t producer = producers_[input];
      if (producer != plan::kNone && !llvm::is_contained(task.after, producer)) {
        task.after.push_back(producer);
      }
    }
    for (int32_t output : task.outputs) {
      producers_[output] = plan_.tasks.size();
    }
    plan_.tasks.push_back(std::move(task));
    return plan_.tasks.size() - 1;
  }

  void addSlot(BlockArgument argument) {
    auto type = cast<RankedTensorType>(argument.getType());
    const TensorPlacement &placement = placements_.of(argument);
    plan::Slot slot;
    slot.name = argumentName(argument);
    slot.kind = "tensor";
    slot.shape.assign(placement.shape.begin(), placement.shape.end());
    slot.element = elementName(type);
    plan_.slots.push_back(slot);
    if (argument.use_empty()) {
      return; // still a slot, so that arguments and slots correspond
    }
    plan::Task load;
    load.kind = plan::TaskKind::kLoad;
    load.name = "load " + slot.name;
    load.phase = "load";
    load.slot = plan_.slots.size() - 1;
    load.outputs = {addBuffer(slot.name, type, placement)};
    buffers_[argument] = load.outputs.front();
    addTask(std::move(load));
  }

  LogicalResult addOp(Operation *op) {
    if (auto result = dyn_cast<func::ReturnOp>(op)) {
      return addResults(result);
    }
    bool tensor = llvm::any_of(op->getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
    // Sizes, scalars, and tensors that exist only as something to write to.
    if (!tensor || isa<tensor::EmptyOp, linalg::FillOp>(op)) {
      return success();
    }
    if (failed(placements_.addResults(op))) {
      return failure();
    }
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      return addKernel(generic);
    }
    plan::Task task = makeTask(op);
    bool communicates = false;
    if (auto product = dyn_cast<linalg::LinalgOp>(op)) {
      // form-tensors left these two forms only.
      SmallVector<AffineMap> maps = product.getIndexingMapsArray();
      unsigned last = product.getNumLoops() - 1; // the reduction
      auto transposed = [&](AffineMap map, unsigned reductionPosition) {
        return cast<AffineDimExpr>(map.getResults().take_back(2)[reductionPosition]).getPosition() != last;
      };
      task.operation = isa<linalg::BatchMatmulOp>(op) ? "batch_matmul" : "matmul";
      task.parameters = {transposed(maps[0], 1), transposed(maps[1], 0)};
      task.inputs = {buffers_.lookup(op->getOperand(0)), buffers_.lookup(op->getOperand(1))};
    } else {
      task.inputs = {buffers_.lookup(op->getOperand(0))};
      communicates = describeDistributed(op, task);
    }
    if (communicates) {
      task.kind = plan::TaskKind::kCollective;
      task.phase = "communicate";
      // One order on every rank.
      if (lastCollective_ != plan::kNone) {
        task.after.push_back(lastCollective_);
      }
    }
    task.outputs = {addBuffer(task.name, op->getResult(0).getType(), placements_.of(op->getResult(0)))};
    buffers_[op->getResult(0)] = task.outputs.front();
    int32_t index = addTask(std::move(task));
    if (communicates) {
      lastCollective_ = index;
    }
    return success();
  }

  plan::Task makeTask(Operation *op) {
    plan::Task task;
    task.kind = plan::TaskKind::kCompute;
    task.name = operationName(op);
    task.place = place(op);
    task.phase = "compute";
    return task;
  }

  /// Operation and parameters of `dist` and reshaping ops; true if it is a collective.
  bool describeDistributed(Operation *op, plan::Task &task) {
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op)) {
      task.operation = "reshape";
      return false;
    }
    if (auto slice = dyn_cast<dist::SliceOp>(op)) {
      task.operation = "slice";
      task.parameters = {static_cast<int64_t>(slice.getDim())};
      return false;
    }
    if (auto reduce = dyn_cast<dist::AllReduceOp>(op)) {
      task.operation = "all_reduce";
      task.combine = dist::stringifyCombine(reduce.getCombine()).str();
    } else if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op)) {
      task.operation = "reduce_scatter";
      task.combine = dist::stringifyCombine(scatter.getCombine()).str();
      task.parameters = {static_cast<int64_t>(scatter.getDim())};
    } else if (auto gather = dyn_cast<dist::AllGatherOp>(op)) {
      task.operation = "all_gather";
      task.parameters = {static_cast<int64_t>(gather.getDim())};
    } else {
      auto all = cast<dist::AllToAllOp>(op);
      task.operation = "all_to_all";
      task.parameters = {static_cast<int64_t>(all.getSplit()), static_cast<int64_t>(all.getConcat())};
    }
    return true;
  }

  LogicalResult addKernel(linalg::GenericOp op) {
    FailureOr<TensorKernelShape> shape = tensorKernelShape(op);
    if (failed(shape)) {
      return failure();
    }
    auto kernel = kernelIndex_.find(tensorKernelSymbol(op));
    if (kernel == kernelIndex_.end()) {
      return op.emitError("has no kernel; its symbol is: '") << tensorKernelSymbol(op) << "'";
    }
    plan::Task task = makeTask(op);
    task.operation = "kernel";
    task.kernel = kernel->second;
    for (const TensorKernelBuffer &input : shape->inputs) {
      task.inputs.push_back(buffers_.lookup(input.tensor));
    }
    for (const TensorKernelBuffer &output : shape->outputs) {
      task.outputs.push_back(addBuffer(task.name, output.tensor.getType(), placements_.of(output.tensor)));
      buffers_[output.tensor] = task.outputs.back();
    }
    if (shape->rowLoop) {
      const TensorKernelExtent &rows = shape->extents[*shape->rowLoop];
      task.parameters = {rows.buffer, rows.dimension};
    }
    addTask(std::move(task));
    return success();
  }

  LogicalResult addResults(func::ReturnOp op) {
    for (Value value : op.getOperands()) {
      int32_t buffer = buffers_.lookup(value);
      if (placements_.of(value).splitDimension >= 0) {
        buffer = gather(value, op);
      }
      plan::Task task;
      task.kind = plan::TaskKind::kResult;
      task.name = "result";
      task.phase = "result";
      task.place = place(op);
      task.buffer = buffer;
      task.after = {producers_[buffer]};
      addTask(std::move(task));
    }
    return success();
  }

  int32_t gather(Value value, Operation *op) {
    TensorPlacement whole = placements_.of(value);
    plan::Task task;
    task.kind = plan::TaskKind::kCollective;
    task.name = "gather result";
    task.operation = "all_gather";
    task.phase = "communicate";
    task.place = place(op);
    task.parameters = {whole.splitDimension};
    task.inputs = {buffers_.lookup(value)};
    whole.splitDimension = -1;
    int32_t buffer = addBuffer("result", value.getType(), whole);
    task.outputs = {buffer};
    if (lastCollective_ != plan::kNone) {
      task.after.push_back(lastCollective_);
    }
    lastCollective_ = addTask(std::move(task));
    return buffer;
  }

  func::FuncOp function_;
  plan::Plan plan_;
  TensorPlacements placements_;
  llvm::StringMap<int32_t> kernelIndex_;
  llvm::DenseMap<Value, int32_t> buffers_;
  std::vector<int32_t> producers_; ///< per buffer: task
  int32_t lastCollective_ = plan::kNone;
};

} // namespace

void recordGlobalTypes(func::FuncOp function) {
  SmallVector<Attribute> types;
  for (Type type : function.getArgumentTypes()) {
    types.push_back(TypeAttr::get(type));
  }
  for (Type type : function.getResultTypes()) {
    types.push_back(TypeAttr::get(type));
  }
  function->setAttr(kGlobalTypesAttr, ArrayAttr::get(function.getContext(), types));
}

FailureOr<plan::Plan> scheduleTensors(func::FuncOp function, std::vector<plan::Kernel> kernels) {
  return TensorScheduler(function, std::move(kernels)).run();
}

} // namespace headrace::schedule
