// Expressions of filters, projects and joins as values that passes move about: split, compared,
// rebuilt over other columns.
#ifndef HEADRACE_PASSES_OPTIMIZE_EXPRESSIONS_H
#define HEADRACE_PASSES_OPTIMIZE_EXPRESSIONS_H

#include "dialects/frame/FrameOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace headrace::optimize {

using ColumnSet = llvm::SetVector<mlir::StringAttr>;

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
/// The predicate of a filter; the residual of a join that has one.
Expression predicateOf(frame::FilterOp filter);
Expression residualOf(frame::JoinOp join);

/// The operands of nested ANDs (ORs); the expression itself if it is none.
llvm::SmallVector<Expression> conjunctsOf(const Expression &predicate);
llvm::SmallVector<Expression> disjunctsOf(const Expression &predicate);

void addColumnsOf(const Expression &expression, ColumnSet &columns);
ColumnSet columnsOf(const Expression &expression);
/// Whether a cast of any value gives a value, of numbers the nearest one.
bool isWidening(mlir::Type from, mlir::Type to);
/// Whether evaluating it can raise an error.
bool canFail(const Expression &expression);
/// The column that the expression is, if it is nothing else.
mlir::StringAttr asColumn(const Expression &expression);
/// Whether two expressions compute the same from columns of the same names.
bool isSame(const Expression &a, const Expression &b);
/// Whether all of `columns` are in `table`.
bool coveredBy(const ColumnSet &columns, frame::TableType table);

/// Fills an expression region. Arguments are added as columns are asked for.
class RegionBuilder {
public:
  /// The columns are those of `tables`, searched in turn. The region is empty.
  RegionBuilder(mlir::OpBuilder &builder, mlir::Region &region,
                llvm::ArrayRef<frame::TableType> tables);

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
  llvm::SmallVector<frame::TableType, 2> tables_;
  ColumnSet columns_;
  mlir::IRMapping copied_;
};

/// A filter by the conjunction of `conjuncts` (at least one).
frame::FilterOp createFilter(mlir::OpBuilder &builder, mlir::Location location, mlir::Value input,
                             llvm::ArrayRef<Expression> conjuncts);
/// `filter` with other conjuncts: a new filter in its place, or its input if there are none.
mlir::Value withConjuncts(mlir::OpBuilder &builder, frame::FilterOp filter,
                          llvm::ArrayRef<Expression> conjuncts);
/// A project that only keeps `names`, in that order.
frame::ProjectOp createKeep(mlir::OpBuilder &builder, mlir::Location location, mlir::Value input,
                            llvm::ArrayRef<mlir::StringAttr> names);
/// A project with the columns of `type`: `computed` as `values` (expressions over the input), the
/// others kept. The region lists each value once, in the order of `computed`.
frame::ProjectOp createProject(mlir::OpBuilder &builder, mlir::Location location, mlir::Value input,
                               frame::TableType type, llvm::ArrayRef<mlir::StringAttr> computed,
                               llvm::ArrayRef<Expression> values);
/// `outer` of `inner` as one project of inner's input. `outer` reads `inner`.
frame::ProjectOp composeProjects(mlir::OpBuilder &builder, frame::ProjectOp inner,
                                 frame::ProjectOp outer);
/// `join` with another residual (none if empty), before it; the caller replaces and erases.
frame::JoinOp withResidual(mlir::OpBuilder &builder, frame::JoinOp join,
                           llvm::ArrayRef<Expression> conjuncts);

/// The expression that a project computes for `column`; null value if the project keeps it.
Expression computedBy(frame::ProjectOp project, mlir::StringAttr column);

/// Copies `expression` over a project's result into `inside`, over the project's input.
mlir::Value copyThrough(RegionBuilder &inside, frame::ProjectOp project,
                        const Expression &expression);

/// Erases pure ops without uses, and puts every op behind what it uses.
void tidyBlock(mlir::Block &block);

} // namespace headrace::optimize

#endif // HEADRACE_PASSES_OPTIMIZE_EXPRESSIONS_H
