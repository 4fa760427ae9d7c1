// The class that writes plans, for the files that it is written in: emit_plan.cpp (the whole),
// emit_states.cpp (kernels, states), emit_rows.cpp (tasks over streams), emit_tensors.cpp.
#pragma once

#include "dialects/pipe/PipeDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "model/plan/plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace headrace::schedule {

using namespace mlir;

class PlanEmitter {
public:
  explicit PlanEmitter(sched::ProgramOp program)
      : program_(program), module_(program->getParentOfType<ModuleOp>()) {}
  FailureOr<plan::Plan> run();
  /// What each op has become.
  const DenseMap<Operation *, int32_t> &tasks() const { return tasks_; }

private:
  void addKernels(sched::KernelsOp kernels);
  void addStates();
  void addLoad(sched::LoadOp op);
  void addValues(sched::ValuesOp op);
  LogicalResult addRun(sched::RunOp op);
  void addExchange(sched::ExchangeOp op);
  void addResult(sched::ResultOp op);
  void addInput(sched::InputOp op);
  void addToTensor(sched::ToTensorOp op);
  LogicalResult addCompute(sched::ComputeOp op);
  void addCollective(sched::CollectiveOp op);
  void addTensorResult(sched::TensorResultOp op);
  int32_t addBuffer(Value buffer, std::string name);
  /// The operands of a tensor task, which are ready when the tasks that write them have ended.
  std::vector<int32_t> readBuffers(plan::Task &task, ValueRange buffers);
  /// Outputs with as many rows as a to_tensor got cannot be made before it has counted them.
  void waitForRows(plan::Task &task, ValueRange outputs);
  void addReserve(sched::ReserveOp op);
  void addRelease(sched::ReleaseOp op);
  LogicalResult addChoose(sched::ChooseOp op);
  LogicalResult addRepeat(sched::RepeatOp op);
  LogicalResult addTasks(Block &block);
  /// What the program says of a stream that a pipeline writes.
  void describeStream(plan::Stream &stream, pipe::EmitOp emit);
  int32_t addStream(Value stream, std::string name);
  /// The stream of the plan that a run or repeat writes, one for all that are united.
  int32_t streamOf(Value written, std::string name);
  int32_t kernelNamed(StringRef symbol);
  int32_t place(Location location, const std::string &operation);
  /// As the plan numbers them.
  std::vector<int32_t> axesNamed(ArrayRef<StringAttr> names) const;
  std::vector<int32_t> axesNamed(ArrayAttr names) const;
  void addTask(plan::Task task, Operation *op);
  bool hasMovableKeys();

  sched::ProgramOp program_;
  ModuleOp module_;
  plan::Plan plan_;
  llvm::StringMap<int32_t> kernels_;       ///< by symbol
  llvm::StringMap<int32_t> deviceKernels_; ///< likewise, for GPUs
  llvm::StringMap<int32_t> links_;         ///< join state -> the kernel that links its rows
  llvm::StringMap<int32_t> states_;
  DenseMap<Value, int32_t> streams_;
  DenseMap<Value, int32_t> buffers_;
  DenseMap<int64_t, int32_t> rowCounts_; ///< number of a to_tensor -> the buffer that has its rows
  DenseMap<int64_t, int32_t> rowTasks_;  ///< number of a to_tensor -> its task
  DenseMap<Operation *, int32_t> tasks_;
};

} // namespace headrace::schedule
