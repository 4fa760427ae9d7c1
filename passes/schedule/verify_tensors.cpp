// Schedules the function once more: the tasks must be those of the program, in any order.
#include "passes/schedule/verify_tensors.h"

#include "dialects/pipe/PipeDialect.h"
#include "passes/schedule/tensor_schedule.h"

#include <map>

using namespace mlir;

namespace headrace::schedule {
namespace {

bool isOfTensors(Operation *op) {
  return isa<sched::InputOp, sched::ToTensorOp, sched::ComputeOp, sched::CollectiveOp,
             sched::TensorResultOp>(op);
}

/// What a task does with its inputs: all of its attributes but those that are for people.
DictionaryAttr meaningOf(Operation *op) {
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase("label");
  attributes.erase("name");
  return attributes.getDictionary(op->getContext());
}

/// Numbers for tasks, of which those that give the same have the same one: what they do, and the
/// numbers of what they do it with. Tokens say only what comes after what.
class TaskNumbers {
public:
  /// Of the tasks of tensors, in the order of the program.
  SmallVector<std::pair<Operation *, unsigned>> of(sched::ProgramOp program) {
    SmallVector<std::pair<Operation *, unsigned>> tasks;
    unsigned results = 0;
    for (Operation &op : program.getBody().front()) {
      if (isOfTensors(&op)) {
        bool isResult = isa<sched::TensorResultOp>(op);
        tasks.emplace_back(&op, number(&op, isResult ? results++ : 0));
      }
    }
    return tasks;
  }

private:
  using Key = std::tuple<const void *, const void *, SmallVector<const void *>, unsigned>;

  unsigned number(Operation *op, unsigned position) {
    SmallVector<const void *> parts;
    for (Value operand : op->getOperands()) {
      if (isa<sched::StreamType>(operand.getType())) {
        parts.push_back(operand.getAsOpaquePointer());
      } else if (isa<sched::BufferType>(operand.getType())) {
        parts.push_back(keys_[buffers_.lookup(operand)]);
      }
    }
    for (Type type : op->getResultTypes()) {
      parts.push_back(type.getAsOpaquePointer());
    }
    Key key(op->getName().getAsOpaquePointer(), meaningOf(op).getAsOpaquePointer(),
            std::move(parts), position);
    auto [known, added] = numbers_.try_emplace(std::move(key), numbers_.size());
    if (added) {
      keys_.push_back(&known->first);
    }
    for (Value result : op->getResults()) {
      buffers_[result] = known->second;
    }
    return known->second;
  }

  std::map<Key, unsigned> numbers_;
  SmallVector<const void *> keys_; ///< by number
  DenseMap<Value, unsigned> buffers_;
};

/// The streams that become tensors, by the name that their pipelines know.
llvm::StringMap<Value> streamsOf(ModuleOp module, sched::ProgramOp program) {
  llvm::StringMap<Value> streams;
  for (auto rows : program.getOps<sched::ToTensorOp>()) {
    sched::RunOp run = sched::writerOf(rows.getRows());
    auto pipeline = run ? module.lookupSymbol<pipe::PipelineOp>(run.getKernelAttr().getAttr())
                        : pipe::PipelineOp();
    auto emit =
        pipeline ? dyn_cast<pipe::EmitOp>(pipeline.getBody().front().back()) : pipe::EmitOp();
    if (emit) {
      streams[emit.getStream()] = rows.getRows();
    }
  }
  return streams;
}

} // namespace

LogicalResult verifyTensors(ModuleOp module, sched::ProgramOp program) {
  llvm::StringMap<Value> streams = streamsOf(module, program);
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(module.getLoc()));
  OpBuilder builder = OpBuilder::atBlockEnd(scratch->getBody());
  auto wanted = sched::ProgramOp::create(builder, module.getLoc(), "wanted", IntegerAttr());
  wanted.getBody().emplaceBlock();
  func::FuncOp asking;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isDeclaration()) {
      asking = function;
      if (failed(scheduleTensors(function, wanted, streams))) {
        return failure();
      }
    }
  }
  if (!asking) {
    return success();
  }
  TaskNumbers numbers;
  DenseMap<unsigned, unsigned> missing;
  for (auto [task, number] : numbers.of(wanted)) {
    ++missing[number];
  }
  for (auto [task, number] : numbers.of(program)) {
    if (missing.lookup(number) == 0) {
      return task->emitOpError("is a task that no function asks for");
    }
    --missing[number];
  }
  for (auto [task, number] : numbers.of(wanted)) {
    if (missing.lookup(number) > 0) {
      return asking.emitOpError("asks for a task that is not in the program: ") << task->getName();
    }
  }
  return success();
}

} // namespace headrace::schedule
