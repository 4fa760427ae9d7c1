// Conditions and projects that passes move about: split, compared, rebuilt over other columns.
#ifndef HEADRACE_PASSES_OPTIMIZE_EXPRESSIONS_H
#define HEADRACE_PASSES_OPTIMIZE_EXPRESSIONS_H

#include "dialects/frame/Expression.h"

namespace headrace::optimize {

using frame::ColumnSet;
using frame::Expression;
using frame::RegionBuilder;

/// The predicate of a filter; the residual of a join that has one.
Expression predicateOf(frame::FilterOp filter);
Expression residualOf(frame::JoinOp join);

/// The operands of nested ANDs (ORs); the expression itself if it is none.
llvm::SmallVector<Expression> conjunctsOf(const Expression &predicate);
llvm::SmallVector<Expression> disjunctsOf(const Expression &predicate);

/// Whether a cast of any value gives a value, of numbers the nearest one.
bool isWidening(mlir::Type from, mlir::Type to);
/// Whether evaluating it can raise an error.
bool canFail(const Expression &expression);
/// Whether two expressions compute the same from columns of the same names.
bool isSame(const Expression &a, const Expression &b);

/// Expressions, each once of those that are the same. Their ops stay as they are while it lives.
class ExpressionSet {
public:
  /// False if it had it.
  bool insert(const Expression &expression);
  void insertAll(llvm::ArrayRef<Expression> expressions);
  bool contains(const Expression &expression) const;

private:
  llvm::hash_code hash(const Expression &expression) const;

  llvm::DenseMap<size_t, llvm::SmallVector<Expression, 1>> byHash_;
  mutable llvm::DenseMap<mlir::Value, llvm::hash_code> hashes_; ///< of all their values
};

/// Whether all of `columns` are in `table`.
bool coveredBy(const ColumnSet &columns, frame::TableType table);

/// A filter by the conjunction of `conjuncts` (at least one).
frame::FilterOp createFilter(mlir::OpBuilder &builder, mlir::Location location, mlir::Value input,
                             llvm::ArrayRef<Expression> conjuncts);
/// `filter` with other conjuncts: a new filter in its place, or its input if there are none.
mlir::Value withConjuncts(mlir::OpBuilder &builder, frame::FilterOp filter,
                          llvm::ArrayRef<Expression> conjuncts);
/// `outer` of `inner` as one project of inner's input. `outer` reads `inner`.
frame::ProjectOp composeProjects(mlir::OpBuilder &builder, frame::ProjectOp inner,
                                 frame::ProjectOp outer);
/// `join` with another residual (none if empty), before it; the caller replaces and erases.
frame::JoinOp withResidual(mlir::OpBuilder &builder, frame::JoinOp join,
                           llvm::ArrayRef<Expression> conjuncts);

/// Copies `expression` over a project's result into `inside`, over the project's input.
mlir::Value copyThrough(RegionBuilder &inside, frame::ProjectOp project,
                        const Expression &expression);

/// Erases pure ops without uses, and puts every op behind what it uses.
void tidyBlock(mlir::Block &block);

} // namespace headrace::optimize

#endif // HEADRACE_PASSES_OPTIMIZE_EXPRESSIONS_H
