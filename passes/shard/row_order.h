// Tables whose order of rows counts: it must not pass through an exchange, which does not keep it.
#ifndef HEADRACE_PASSES_SHARD_ROW_ORDER_H
#define HEADRACE_PASSES_SHARD_ROW_ORDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/shard/reshard_plan.h"
#include "llvm/ADT/DenseSet.h"

namespace headrace::shard {

/// Of a function whose result stays on the ranks, the columns by whose hash its rows are divided;
/// null of another.
mlir::ArrayAttr residentKeys(mlir::func::FuncOp function);

/// Whether a table's rows are in the order of a sort or top-k above it.
bool isOrdered(mlir::Value table);

/// The tables between a sort or top-k and who its order is for.
struct OrderedTables {
  llvm::DenseSet<mlir::Value> all;
  /// Those of a limit and its like, which takes rows as they come: gathered ones come in any order.
  /// The return and to_tensor put in order what comes from the ranks.
  llvm::DenseSet<mlir::Value> taken;
};

/// Rows that are divided by keys have no order in the result.
OrderedTables orderedTables(mlir::func::FuncOp function);

/// The tables between a scan and a to_tensor, or the return of a resident result that is not
/// divided by keys, to which rows come one by one: the tensor or the ranks have them as they are
/// stored.
llvm::DenseSet<mlir::Value> storedTables(mlir::func::FuncOp function);

/// Whether rows that lie behind each other by rank still do when the steps are done.
bool keepsStoredOrder(const ReshardPlan &plan);

/// Whether rows come out of the steps as they went in, or are put in order by the last one.
bool keepsOrder(const ReshardPlan &plan);

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_ROW_ORDER_H
