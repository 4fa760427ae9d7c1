// The strategies of every op: which layouts its operands may have together, what layouts its
// results then have, and what the work costs.
#ifndef HEADRACE_PASSES_SHARD_STRATEGIES_H
#define HEADRACE_PASSES_SHARD_STRATEGIES_H

#include "model/cost/cost.h"
#include "passes/shard/column_classes.h"
#include "passes/shard/key_cycles.h"
#include "passes/shard/layout.h"
#include "passes/shard/op_work.h"
#include "passes/shard/reshard_plan.h"

namespace headrace::shard {

struct Strategy {
  std::string label;
  llvm::SmallVector<Layout, 2> needs; ///< one per laid-out operand of the node, in order
  llvm::SmallVector<Layout, 1> gives; ///< one per laid-out result
  double seconds = 0;
  double memoryBytes = 0; ///< held on one rank while the op runs
  double readRows = 0;    ///< a scan's, of one rank: more than its own where row groups are shared
  // Of the seconds:
  double storageSeconds = 0; ///< a scan's, if storage holds it up
  double deviceSeconds = 0;  ///< a scan's that storage holds up, of the device meanwhile
  double buildSeconds = 0;   ///< a join's, before the first row is looked up
  bool turned = false;       ///< a join whose left side is built: JoinSides
};

/// One op, or one block argument, with its choices.
struct PlacedNode {
  mlir::Operation *op = nullptr; ///< null for a block argument
  llvm::SmallVector<mlir::Value, 2> operands;
  /// Operands that only fix sizes (of tensor.empty): their layout must match, nothing is moved for
  /// them.
  llvm::SmallVector<bool, 2> onlySizes;
  llvm::SmallVector<mlir::Value, 1> results;
  llvm::SmallVector<Strategy, 0> strategies;
};

/// What enumeration needs to know; filled node by node in program order.
class StrategyContext {
public:
  StrategyContext(topo::MeshAttr mesh, const cost::CostModel &model)
      : mesh(mesh), model(model), work(rows, model) {}
  StrategyContext(const StrategyContext &) = delete; // `work` points to `rows`

  topo::MeshAttr mesh;
  const cost::CostModel &model;
  RowEstimates rows;
  OpWork work;
  ColumnClasses classes;
  KeyCycles cycles;

  /// Non-empty sets of axes with more than one rank, smaller sets first.
  llvm::SmallVector<AxisSet> axisSets() const;
  /// All axes with more than one rank.
  AxisSet allAxes() const;
  double parts(AxisSet axes) const { return static_cast<double>(model.mesh().sizeOf(axes)); }

  /// Layouts that the value can have without being unreduced: those its producer gives, what an
  /// unreduced one can be finished to, replicated, and for tables root.
  llvm::ArrayRef<Layout> available(mlir::Value value) const;
  /// Records what a finished node offers to its users.
  void publish(const PlacedNode &node);

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Layout, 0>> available_;
};

/// Enumerates the strategies of a node whose op is of `frame` (relations, to_tensor, from_tensor).
/// False if it is another op.
bool enumerateFrame(PlacedNode &node, StrategyContext &context);

/// Enumerates the strategies of tensor ops through their factor rule. False if the op has no rule.
bool enumerateTensor(PlacedNode &node, StrategyContext &context);

/// Enumerates how a tensor that the program gets from outside may be loaded: each rank its part.
void enumerateInputTensor(PlacedNode &node, StrategyContext &context);

/// Bytes of the whole tensor; a guess where extents are dynamic.
double tensorBytes(mlir::Value tensor);

/// Adds a strategy unless an equal one exists; of two equal ones the cheaper stays.
void addStrategy(PlacedNode &node, Strategy strategy);

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_STRATEGIES_H
