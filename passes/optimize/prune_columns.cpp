// optimize-prune-columns: what nobody uses is not scanned, computed or carried.
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZEPRUNECOLUMNS
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

/// Rebuilds the table ops of one block with narrower types: needs are found backward, ops made
/// forward.
class ColumnPruning {
public:
  explicit ColumnPruning(Block &block)
      : block_(block), builder_(block.getParentOp()->getContext()) {}

  void run() {
    for (Operation &op : llvm::reverse(block_)) {
      collectNeeds(&op);
    }
    SmallVector<Operation *> old;
    for (Operation &op : block_) {
      old.push_back(&op);
    }
    for (Operation *op : old) {
      rebuild(op);
    }
    tidyBlock(block_);
  }

private:
  void collectNeeds(Operation *op);
  void rebuild(Operation *op);
  void rebuild(RelationalOpInterface op);
  Value current(Value old) const { return current_.lookup(old) ? current_.lookup(old) : old; }
  /// The new value of `old` with no other columns than `wanted`, in the order of its old ones.
  Value restricted(Value old, const ColumnSet &wanted, Location location);
  /// The new value of `old` with exactly its old type.
  Value restored(Value old, Location location);

  Block &block_;
  OpBuilder builder_;
  llvm::DenseMap<Value, ColumnSet> needs_;
  llvm::DenseMap<Value, Value> current_;
};

void ColumnPruning::collectNeeds(Operation *op) {
  if (auto relation = dyn_cast<RelationalOpInterface>(op)) {
    const ColumnSet own = needs_.lookup(op->getResult(0));
    for (OpOperand &operand : op->getOpOperands()) {
      if (isa<TableType>(operand.get().getType())) {
        needs_[operand.get()].insert_range(
            relation.getNeededColumns(operand.getOperandNumber(), own));
      }
    }
  } else if (auto toTensor = dyn_cast<ToTensorOp>(op)) {
    for (ArrayAttr group : toTensor.getGroups().getAsRange<ArrayAttr>()) {
      needs_[toTensor.getInput()].insert_range(group.getAsRange<StringAttr>());
    }
  } else { // whole rows: return, scalar_subquery, unknown ops
    for (Value operand : op->getOperands()) {
      if (auto table = dyn_cast<TableType>(operand.getType())) {
        needs_[operand].insert_range(table.getNames());
      }
    }
  }
}

Value ColumnPruning::restricted(Value old, const ColumnSet &wanted, Location location) {
  Value value = current(old);
  SmallVector<StringAttr> names;
  for (StringAttr name : cast<TableType>(old.getType()).getNames()) {
    if (wanted.contains(name)) {
      names.push_back(name);
    }
  }
  bool same = ArrayRef(names) == cast<TableType>(value.getType()).getNames();
  return same ? value : createKeep(builder_, location, value, names).getResult();
}

Value ColumnPruning::restored(Value old, Location location) {
  Value value = current(old);
  return value.getType() == old.getType()
             ? value
             : createKeep(builder_, location, value, cast<TableType>(old.getType()).getNames())
                   .getResult();
}

void ColumnPruning::rebuild(RelationalOpInterface op) {
  const ColumnSet wanted = needs_.lookup(op->getResult(0));
  SmallVector<Value> inputs;
  for (OpOperand &operand : op->getOpOperands()) {
    bool table = isa<TableType>(operand.get().getType());
    bool allowsMore = op.getSpareColumns() == SpareColumns::kAllow;
    inputs.push_back(!table || allowsMore
                         ? current(operand.get())
                         : restricted(operand.get(),
                                      op.getNeededColumns(operand.getOperandNumber(), wanted),
                                      op.getLoc()));
  }
  Value result = op.createNarrowed(builder_, inputs, wanted);
  if (!result) {
    return;
  }
  if (!llvm::is_contained(inputs, result)) {
    result.getDefiningOp()->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  }
  current_[op->getResult(0)] = result;
}

void ColumnPruning::rebuild(Operation *op) {
  builder_.setInsertionPoint(op);
  if (auto relation = dyn_cast<RelationalOpInterface>(op)) {
    rebuild(relation);
  } else if (auto toTensor = dyn_cast<ToTensorOp>(op)) {
    toTensor.getInputMutable().assign(current(toTensor.getInput()));
  } else {
    for (OpOperand &operand : op->getOpOperands()) {
      if (isa<TableType>(operand.get().getType())) {
        operand.set(restored(operand.get(), op->getLoc()));
      }
    }
  }
}

struct PruneColumnsPass : optimize::impl::OptimizePruneColumnsBase<PruneColumnsPass> {
  void runOnOperation() override {
    for (Block &block : getOperation().getBody()) {
      ColumnPruning(block).run();
    }
  }
};

} // namespace
