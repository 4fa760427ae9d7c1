// Checks that several ops of `frame` share.
#ifndef HEADRACE_DIALECTS_FRAME_FRAMEVERIFY_H
#define HEADRACE_DIALECTS_FRAME_FRAMEVERIFY_H

#include "dialects/frame/FrameOps.h"

namespace headrace::frame {

/// Fails with a diagnostic naming `what` if a name is listed twice.
mlir::LogicalResult verifyUnique(mlir::Operation *op, mlir::ArrayAttr names, llvm::StringRef what);

/// Fails unless the arguments of `region` are, in order, the `columns` of `tables` (searched in
/// turn).
mlir::LogicalResult verifyColumnArguments(mlir::Operation *op, mlir::Region &region,
                                          mlir::ArrayAttr columns,
                                          llvm::ArrayRef<TableType> tables);

/// Fails unless `region` yields one boolean.
mlir::LogicalResult verifyPredicate(mlir::Operation *op, mlir::Region &region);

/// Fails unless there are sort keys and they are unique columns of `table`.
mlir::LogicalResult verifySortKeys(mlir::Operation *op, TableType table, mlir::ArrayAttr keys);

/// Whether `actual` is the type `expected` of a measure, or another that the table of
/// `frame.aggregate` allows: a decimal of another precision, an exact sum of integers, an average
/// of decimals as a double.
bool isMeasureType(AggregateFunction function, mlir::Type input, mlir::Type expected,
                   mlir::Type actual);

/// Names the arguments of an expression region after their columns.
void nameColumnArguments(mlir::Region &region, mlir::ArrayAttr columns,
                         mlir::OpAsmSetValueNameFn setName);

} // namespace headrace::frame

#endif // HEADRACE_DIALECTS_FRAME_FRAMEVERIFY_H
