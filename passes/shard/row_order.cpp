// Follows orders from their users back to the sorts that make them.
#include "passes/shard/row_order.h"
#include "dialects/frame/FrameOps.h"

using namespace mlir;
using namespace headrace::frame;

namespace headrace::shard {

llvm::DenseSet<Value> orderedTables(func::FuncOp function) {
  llvm::DenseSet<Value> ordered;
  auto follow = [&](Value table) {
    SmallVector<Value> path;
    while (Operation *op = table.getDefiningOp()) {
      path.push_back(table);
      if (isa<SortOp, TopKOp>(op)) {
        ordered.insert(path.begin(), path.end());
        return;
      }
      if (!isa<FilterOp, ProjectOp, RenameOp, LimitOp, dist::ConstrainOp>(op)) {
        return;
      }
      table = op->getOperand(0);
    }
  };
  function.walk([&](Operation *op) {
    if (isa<func::ReturnOp, LimitOp>(op)) {
      for (Value operand : op->getOperands()) {
        if (isa<TableType>(operand.getType())) {
          follow(operand);
        }
      }
    }
  });
  return ordered;
}

bool keepsOrder(const ReshardPlan &plan) {
  ArrayRef<ReshardStep> steps = plan;
  while (!steps.empty() && steps.back().kind == StepKind::kKeep) {
    steps = steps.drop_back(); // a rank leaves out rows, the others stay as they are
  }
  return steps.empty() || steps.back().kind == StepKind::kFinish;
}

} // namespace headrace::shard
