// A function as the solver sees it: nodes with strategies, edges with reshard costs.
#ifndef HEADRACE_PASSES_SHARD_SHARD_PROGRAM_H
#define HEADRACE_PASSES_SHARD_SHARD_PROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "model/solve/solve.h"
#include "passes/shard/row_order.h"
#include "passes/shard/strategies.h"
#include "llvm/ADT/DenseSet.h"

namespace headrace::shard {

/// A value on its way from the node that makes it to one that uses it.
struct ShardEdge {
  int32_t source = 0;
  int32_t sourceResult = 0;
  int32_t target = 0;
  int32_t targetOperand = 0;
  mlir::Value value;
};

class ShardProgram {
public:
  ShardProgram(mlir::func::FuncOp function, topo::MeshAttr mesh, const cost::CostModel &model)
      : function_(function), context_(mesh, model) {}

  /// Enumerates strategies in program order. Emits an error at an op that cannot be placed.
  mlir::LogicalResult build();

  const llvm::SmallVector<PlacedNode, 0> &nodes() const { return nodes_; }
  const llvm::SmallVector<ShardEdge, 0> &edges() const { return edges_; }
  const solve::Problem &problem() const { return problem_; }
  StrategyContext &context() { return context_; }
  mlir::func::FuncOp function() { return function_; }

  /// Over several axes at once, or over one after the other.
  struct Way {
    ReshardPlan plan;
    bool inLevels = false;
  };
  /// How a value comes from one layout to the other; nothing if it cannot.
  std::optional<Way> cheaperWay(ReshardPricer &pricer, mlir::Value value, const Layout &given,
                                const Layout &needed) const;
  /// What the reshard on an edge costs under a choice; zero bytes if none is needed.
  ReshardCost edgeCost(const ShardEdge &edge, const solve::Choice &choice);
  /// The plan of an edge's reshard under a choice that is not forbidden.
  ReshardPlan edgePlan(const ShardEdge &edge, const solve::Choice &choice);

  /// Writes `dist.layouts` and `dist.needs` on every op, and the arguments' layouts on the
  /// function.
  void annotate(const solve::Choice &choice);

private:
  mlir::LogicalResult addNode(mlir::Operation *op);
  void addResidentTensors(mlir::Operation *op);
  mlir::LogicalResult addArgument(mlir::BlockArgument argument);
  void finishNode(PlacedNode node);
  ValueSize sizeOf(mlir::Value value, AxisSet unreduced);
  ReshardPricer pricerOf(const ShardEdge &edge, const Layout &given);
  const Layout &givenOn(const ShardEdge &edge, const solve::Choice &choice) const;
  Way edgeWay(const ShardEdge &edge, const solve::Choice &choice);
  void addEdgeCosts(const ShardEdge &edge);
  void addMemory();

  mlir::func::FuncOp function_;
  StrategyContext context_;
  llvm::SmallVector<PlacedNode, 0> nodes_;
  llvm::SmallVector<ShardEdge, 0> edges_;
  llvm::DenseMap<mlir::Value, std::pair<int32_t, int32_t>> producers_; // node, result
  OrderedTables ordered_;              ///< tables whose order counts
  llvm::DenseSet<mlir::Value> stored_; ///< likewise, where it is the stored one
  solve::Problem problem_;
};

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_SHARD_PROGRAM_H
