// Other names for the columns that an op makes, reads or passes on.
#ifndef HEADRACE_PASSES_OPTIMIZE_COLUMNNAMES_H
#define HEADRACE_PASSES_OPTIMIZE_COLUMNNAMES_H

#include "dialects/frame/FrameOps.h"

namespace headrace::optimize {

/// The new name of a column, or the name itself.
using NewName = llvm::function_ref<mlir::StringAttr(mlir::StringAttr)>;

/// The same columns under their new names.
frame::TableType renamed(frame::TableType type, NewName newName);

/// Writes the new names into all that `op` says of columns, its result type included; its operands
/// must have them already. Ops that connect columns by position (`rename`, `union`) get new names
/// for their results.
void renameColumns(mlir::Operation *op, NewName newName);

} // namespace headrace::optimize

#endif // HEADRACE_PASSES_OPTIMIZE_COLUMNNAMES_H
