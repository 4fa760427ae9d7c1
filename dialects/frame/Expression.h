// Expressions of filters, projects and joins as values: walked, copied, put into regions.
#ifndef HEADRACE_DIALECTS_FRAME_EXPRESSION_H
#define HEADRACE_DIALECTS_FRAME_EXPRESSION_H

#include "dialects/frame/FrameOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Visitors.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace headrace::frame {

/// A scalar in an expression region, with the names of the region's arguments. It does not own its
/// ops.
struct Expression {
  mlir::Value value;
  mlir::Region *region = nullptr;
  mlir::ArrayAttr columns;

  mlir::StringAttr columnOf(mlir::BlockArgument argument) const {
    return mlir::cast<mlir::StringAttr>(columns[argument.getArgNumber()]);
  }
  Expression with(mlir::Value other) const { return {other, region, columns}; }
};

/// The yielded values of a region whose arguments are `columns`.
llvm::SmallVector<Expression> yieldedBy(mlir::Region &region, mlir::ArrayAttr columns);
/// The op of the expression's region that defines its value; null for arguments and scalars from
/// outside.
mlir::Operation *innerOp(const Expression &expression);
/// Calls `visit` once for each value that the expression is made of, itself first, from left to
/// right; below a value that it skips only for what other values need too.
void walkValues(const Expression &expression,
                llvm::function_ref<mlir::WalkResult(mlir::Value)> visit);
void addColumnsOf(const Expression &expression, ColumnSet &columns);
ColumnSet columnsOf(const Expression &expression);
/// The column that the expression is, if it is nothing else.
mlir::StringAttr asColumn(const Expression &expression);

/// Fills an expression region. Arguments are added as columns are asked for.
class RegionBuilder {
public:
  /// The columns are those of `tables`, searched in turn. The region is empty.
  RegionBuilder(mlir::OpBuilder &builder, mlir::Region &region, llvm::ArrayRef<TableType> tables);

  mlir::Value column(mlir::StringAttr name);
  /// Copies an expression, whose ops outlive this builder; `replaced` gives the value for a column,
  /// null for the column itself.
  mlir::Value copy(const Expression &expression,
                   llvm::function_ref<mlir::Value(mlir::StringAttr)> replaced = nullptr);
  /// The conjunction of booleans; there is at least one.
  mlir::Value allOf(mlir::Location location, mlir::ValueRange booleans);
  mlir::Value anyOf(mlir::Location location, mlir::ValueRange booleans);
  void yield(mlir::Location location, mlir::ValueRange values);
  /// The names of the arguments so far.
  mlir::ArrayAttr columns();
  mlir::OpBuilder &builder() { return inner_; }

private:
  mlir::OpBuilder inner_;
  mlir::Block *block_;
  llvm::SmallVector<TableType, 2> tables_;
  ColumnSet columns_;
  mlir::IRMapping copied_;
};

/// A project that only keeps `names`, in that order.
ProjectOp createKeep(mlir::OpBuilder &builder, mlir::Location location, mlir::Value input,
                     llvm::ArrayRef<mlir::StringAttr> names);
/// A project with the columns of `type`: `computed` as `compute` makes them in its region, one
/// after the other, the others kept.
ProjectOp createProject(mlir::OpBuilder &builder, mlir::Location location, mlir::Value input,
                        TableType type, llvm::ArrayRef<mlir::StringAttr> computed,
                        llvm::function_ref<mlir::Value(RegionBuilder &, mlir::StringAttr)> compute);
/// Likewise, with a value for each of `computed` (expressions over the input).
ProjectOp createProject(mlir::OpBuilder &builder, mlir::Location location, mlir::Value input,
                        TableType type, llvm::ArrayRef<mlir::StringAttr> computed,
                        llvm::ArrayRef<Expression> values);
/// The expression that a project computes for `column`; null value if the project keeps it.
Expression computedBy(ProjectOp project, mlir::StringAttr column);

} // namespace headrace::frame

#endif // HEADRACE_DIALECTS_FRAME_EXPRESSION_H
