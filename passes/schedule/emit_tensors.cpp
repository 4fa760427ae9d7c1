// Tasks over tensors: buffers, inputs, kernels and library calls, collectives, results.
#include "passes/schedule/plan_emitter.h"

#include "passes/schedule/plan_enums.h"

namespace headrace::schedule {

int32_t PlanEmitter::addBuffer(Value value, std::string name) {
  auto type = cast<sched::BufferType>(value.getType());
  auto shape = cast<RankedTensorType>(type.getShape());
  plan::Buffer buffer;
  buffer.name = std::move(name);
  buffer.tier = planTier(type.getTier());
  Type element = shape.getElementType();
  buffer.element = element.isF32()   ? plan::Element::kF32
                   : element.isF64() ? plan::Element::kF64
                                     : plan::Element::kI64;
  for (auto [dimension, split] : llvm::enumerate(type.getSplits())) {
    if (!split.getAxes().empty()) {
      buffer.splits.push_back({static_cast<int32_t>(dimension), axesNamed(split.getAxes()),
                               split.getKind() == dist::SplitKind::Ragged});
    }
  }
  buffer.bytes = static_cast<uint64_t>(plan::bytesOf(buffer.element));
  for (int64_t extent : shape.getShape()) {
    bool known = !ShapedType::isDynamic(extent);
    buffer.shape.push_back(known ? extent : plan::kUnknownExtent);
    buffer.bytes *=
        known ? extent : 1; // an upper bound: a rank's part is not larger than the whole
  }
  if (!shape.hasStaticShape()) {
    // The first buffer of a to_tensor counts its rows.
    auto own = static_cast<int32_t>(plan_.buffers.size());
    buffer.sizedBy = rowCounts_.try_emplace(type.getRows(), own).first->second;
    buffer.bytes = 0; // asked for at run time
  }
  buffers_[value] = static_cast<int32_t>(plan_.buffers.size());
  plan_.buffers.push_back(std::move(buffer));
  return buffers_[value];
}

std::vector<int32_t> PlanEmitter::readBuffers(plan::Task &task, ValueRange buffers) {
  std::vector<int32_t> read;
  for (Value buffer : buffers) {
    read.push_back(buffers_.lookup(buffer));
    int32_t writer = tasks_.lookup(buffer.getDefiningOp());
    if (!llvm::is_contained(task.after, writer)) {
      task.after.push_back(writer);
    }
  }
  return read;
}

void PlanEmitter::addInput(sched::InputOp op) {
  auto shape = cast<RankedTensorType>(op.getBuffer().getType().getShape());
  plan::Task task;
  plan::InputTask input;
  task.name = "load " + op.getName().str();
  task.place = place(op.getLoc(), task.name);
  input.output = addBuffer(op.getBuffer(), op.getName().str());
  input.slot = static_cast<int32_t>(op.getArgument());
  plan::Slot &slot = plan_.slots[input.slot];
  slot.name = op.getName().str();
  slot.kind = plan::SlotKind::kTensor;
  slot.shape.assign(shape.getShape().begin(), shape.getShape().end());
  slot.element = plan_.buffers.back().element;
  slot.resident = op.getResident();
  task.work = input;
  addTask(std::move(task), op);
}

void PlanEmitter::addToTensor(sched::ToTensorOp op) {
  plan::Task task;
  plan::ToTensorTask rows;
  task.name = "to_tensor";
  task.place = place(op.getLoc(), "to_tensor");
  rows.inputStream = streams_.lookup(op.getRows());
  const std::vector<plan::Column> &columns = plan_.streams[rows.inputStream].schema.columns;
  for (auto [group, buffer] :
       llvm::zip_equal(op.getGroups().getAsRange<ArrayAttr>(), op.getBuffers())) {
    for (StringAttr name : group.getAsRange<StringAttr>()) {
      auto column =
          llvm::find_if(columns, [&](const plan::Column &c) { return c.name == name.getValue(); });
      rows.columns.push_back(static_cast<int32_t>(column - columns.begin()));
    }
    rows.outputs.push_back(addBuffer(buffer, "rows"));
  }
  task.work = std::move(rows);
  addTask(std::move(task), op);
  rowTasks_[cast<sched::BufferType>(op.getBuffers().front().getType()).getRows()] =
      tasks_.lookup(op);
}

void PlanEmitter::waitForRows(plan::Task &task, ValueRange outputs) {
  for (Value output : outputs) {
    int64_t rows = cast<sched::BufferType>(output.getType()).getRows();
    auto counted = rowTasks_.find(rows);
    if (counted != rowTasks_.end() && !llvm::is_contained(task.after, counted->second)) {
      task.after.push_back(counted->second);
    }
  }
}

LogicalResult PlanEmitter::addCompute(sched::ComputeOp op) {
  plan::Task task;
  plan::ComputeTask compute;
  task.name = op.getLabel().str();
  compute.operation = planKind(op.getAction());
  task.place = place(op.getLoc(), task.name);
  compute.parameters.assign(op.getParameters().begin(), op.getParameters().end());
  if (op.getKernel()) {
    compute.kernel = kernelNamed(*op.getKernel());
    if (compute.kernel == plan::kNone) {
      return op.emitError("no kernel was compiled for: ") << *op.getKernel();
    }
  }
  compute.inputs = readBuffers(task, op.getInputs());
  for (Value output : op.getOutputs()) {
    compute.outputs.push_back(addBuffer(output, task.name));
  }
  task.work = std::move(compute);
  waitForRows(task, op.getOutputs());
  addTask(std::move(task), op);
  return success();
}

void PlanEmitter::addCollective(sched::CollectiveOp op) {
  plan::Task task;
  plan::CollectiveTask collective;
  task.name = sched::stringifyCollectiveKind(op.getCollective()).str();
  collective.operation = planKind(op.getCollective());
  if (op.getReduction()) {
    collective.combine = planReduction(*op.getReduction());
  }
  task.place = place(op.getLoc(), task.name);
  collective.axes = axesNamed(op.getAxes());
  collective.input = readBuffers(task, op.getInput()).front();
  collective.output = addBuffer(op.getOutput(), task.name);
  task.work = collective;
  waitForRows(task, op.getOutput());
  addTask(std::move(task), op);
}

void PlanEmitter::addTensorResult(sched::TensorResultOp op) {
  plan::Task task;
  task.name = "result";
  task.place = place(op.getLoc(), "result");
  plan_.resident |= op.getResident();
  task.work = plan::TensorResultTask{readBuffers(task, op.getBuffer()).front()};
  addTask(std::move(task), op);
}

} // namespace headrace::schedule
