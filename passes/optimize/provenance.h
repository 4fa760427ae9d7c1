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

/// Whether a column may hold NULL: by its type, and the filters and joins that it came through.
bool canBeNull(mlir::Value table, mlir::StringAttr column);

} // namespace headrace::optimize

#endif // HEADRACE_PASSES_OPTIMIZE_PROVENANCE_H
