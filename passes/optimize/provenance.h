// Where the values of columns come from, op by op, and whether they can be NULL there.
#ifndef HEADRACE_PASSES_OPTIMIZE_PROVENANCE_H
#define HEADRACE_PASSES_OPTIMIZE_PROVENANCE_H

#include "dialects/frame/FrameOps.h"

namespace headrace::optimize {

/// Columns of a table.
struct ColumnsOf {
  mlir::Value table;
  llvm::SmallVector<mlir::StringAttr> columns;
};

/// Columns of an operand of the op that makes `from`, of which every row's values together are
/// those of one of the operand's rows; nothing if the op computes one of them, or adds rows.
std::optional<ColumnsOf> stepDown(const ColumnsOf &from);

/// The same down to a table; nothing if they do not come from there.
std::optional<ColumnsOf> stepDownTo(mlir::Value table, ColumnsOf from);

/// Whether `op` (may be null) makes rows distinct, and nothing else.
bool makesDistinct(mlir::Operation *op);

/// Whether rows of one side of a join (0: left) that find no partner are of no use to it.
bool ignoresUnmatched(frame::JoinOp join, unsigned side);

/// The ops from a scan or literal rows up to `table`, if nothing else is between them than filters,
/// projects and renames: what is as cheap to compute again as to keep. Else none.
llvm::SmallVector<mlir::Operation *> cheapChain(mlir::Value table);

/// Whether a column may hold NULL: by its type, and the filters and joins that it came through.
bool canBeNull(mlir::Value table, mlir::StringAttr column);

} // namespace headrace::optimize

#endif // HEADRACE_PASSES_OPTIMIZE_PROVENANCE_H
