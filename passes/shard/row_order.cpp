// Follows orders from their users back to the sorts that make them.
#include "passes/shard/row_order.h"
#include "dialects/frame/FrameOps.h"

using namespace mlir;
using namespace headrace::frame;

namespace headrace::shard {

namespace {

/// The tables from the one given back to the sort or top-k that its order comes from; empty if it
/// has none.
SmallVector<Value> pathToSort(Value table) {
  SmallVector<Value> path;
  while (Operation *op = table.getDefiningOp()) {
    path.push_back(table);
    auto relation = dyn_cast<RelationalOpInterface>(op);
    if (relation && relation.getOrdering() == RowOrdering::kMade) {
      return path;
    }
    if (relation ? relation.getOrdering() == RowOrdering::kNone : !isa<dist::ConstrainOp>(op)) {
      break;
    }
    table = op->getOperand(0);
  }
  return {};
}

/// The tables from the one given back to the scan whose rows it has, in their order; empty if there
/// is none. Rows of a join are in no promised order.
SmallVector<Value> pathToScan(Value table) {
  SmallVector<Value> path;
  while (Operation *op = table.getDefiningOp()) {
    path.push_back(table);
    auto relation = dyn_cast<RelationalOpInterface>(op);
    if (relation && relation.getRowFlow() == RowFlow::kSource) {
      return path;
    }
    bool isRowByRow = relation && relation.getRowFlow() == RowFlow::kRowByRow &&
                      relation.getOrdering() == RowOrdering::kKept;
    if (!isRowByRow && !isa<dist::ConstrainOp>(op)) {
      break;
    }
    table = op->getOperand(0);
  }
  return {};
}

} // namespace

ArrayAttr residentKeys(func::FuncOp function) {
  return function->getAttrOfType<ArrayAttr>(FrameDialect::getResultResidentAttrName());
}

bool isOrdered(Value table) { return !pathToSort(table).empty(); }

OrderedTables orderedTables(func::FuncOp function) {
  OrderedTables ordered;
  ArrayAttr keys = residentKeys(function);
  const bool divided = keys && !keys.empty();
  function.walk([&](Operation *op) {
    auto relation = dyn_cast<RelationalOpInterface>(op);
    bool byPosition = relation && relation.getOrdering() == RowOrdering::kKept &&
                      relation.getState().choosesRows();
    bool isSeen = isa<ToTensorOp>(op) || (isa<func::ReturnOp>(op) && !divided);
    if (byPosition || isSeen) {
      for (Value operand : op->getOperands()) {
        if (isa<TableType>(operand.getType())) {
          SmallVector<Value> path = pathToSort(operand);
          ordered.all.insert(path.begin(), path.end());
          if (byPosition) {
            ordered.taken.insert(path.begin(), path.end());
          }
        }
      }
    }
  });
  return ordered;
}

llvm::DenseSet<Value> storedTables(func::FuncOp function) {
  llvm::DenseSet<Value> stored;
  ArrayAttr keys = residentKeys(function);
  function.walk([&](Operation *op) {
    if (isa<ToTensorOp>(op) || (isa<func::ReturnOp>(op) && keys && keys.empty())) {
      SmallVector<Value> path = pathToScan(op->getOperand(0));
      stored.insert(path.begin(), path.end());
    }
  });
  return stored;
}

bool keepsStoredOrder(const ReshardPlan &plan) {
  return llvm::all_of(plan, [](const ReshardStep &step) {
    return step.kind == StepKind::kGather || step.kind == StepKind::kBroadcast ||
           (step.kind == StepKind::kKeep && step.after.isRoot()); // all of a copy
  });
}

bool keepsOrder(const ReshardPlan &plan) {
  ArrayRef<ReshardStep> steps = plan;
  while (!steps.empty() && steps.back().kind == StepKind::kKeep) {
    steps = steps.drop_back(); // a rank leaves out rows, the others stay as they are
  }
  return steps.empty() || steps.back().kind == StepKind::kFinish;
}

} // namespace headrace::shard
