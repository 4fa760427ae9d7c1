// Which columns of a table are equal in every row, so that hash<a> and hash<b> are the same layout.
#ifndef HEADRACE_PASSES_SHARD_COLUMN_CLASSES_H
#define HEADRACE_PASSES_SHARD_COLUMN_CLASSES_H

#include "dialects/frame/FrameOps.h"
#include "llvm/ADT/DenseMap.h"

namespace headrace::shard {

/// Classes per table value: an inner join makes its key pairs equal. Every class is named by its
/// first column in the table type.
class ColumnClasses {
public:
  /// Derives the classes of the op's table results; operands must have been added before.
  void add(mlir::Operation *op);

  /// The name of the class of a column of `table`.
  mlir::StringAttr nameOf(mlir::Value table, mlir::StringAttr column) const;
  llvm::SmallVector<mlir::StringAttr, 2> namesOf(mlir::Value table,
                                                 llvm::ArrayRef<mlir::StringAttr> columns) const;

  /// A column of `source` (by class name), seen in `target`, a result of the op that reads
  /// `source`: the class name there, or null if no column of the class survives.
  mlir::StringAttr follow(mlir::Value source, mlir::StringAttr column, mlir::Operation *op) const;

private:
  using Classes = llvm::DenseMap<mlir::StringAttr, mlir::StringAttr>; // column to class name
  llvm::DenseMap<mlir::Value, Classes> classes_;
};

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_COLUMN_CLASSES_H
