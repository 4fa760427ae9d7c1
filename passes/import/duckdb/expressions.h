// Bound expressions of DuckDB's plans.
#ifndef HEADRACE_PASSES_IMPORT_DUCKDB_EXPRESSIONS_H
#define HEADRACE_PASSES_IMPORT_DUCKDB_EXPRESSIONS_H

#include "passes/import/RelationBuilder.h"
#include "passes/import/duckdb/plan.h"

namespace headrace::import::duckdb {

/// Imports expressions into the regions of ExpressionBuilders. One for a query.
class ExpressionImporter {
public:
  ExpressionImporter(ImportContext &context, const ImportOptions &options);

  /// `fieldsBefore` is added to the positions of columns: those of a right side count behind the
  /// left side's. `at`: the place of what the expression is part of.
  MaybeExpression import(ExpressionBuilder &b, Node expression, mlir::Location at,
                         int64_t fieldsBefore = 0);
  /// The same for later.
  Computed computed(Node expression, mlir::Location at, int64_t fieldsBefore = 0);

  mlir::Location locate(Node expression, mlir::Location otherwise) const {
    return text.locate(expression, otherwise);
  }

private:
  using Arguments = llvm::ArrayRef<Expression>;
  /// A call that is being imported.
  struct Call {
    Node node;
    llvm::StringRef name;
    mlir::Type type; ///< of the result
    mlir::Location at;
  };

  MaybeExpression importByType(ExpressionBuilder &b, Node expression, llvm::StringRef type,
                               mlir::Location at, int64_t fieldsBefore);
  MaybeExpression importCast(ExpressionBuilder &b, Node expression, mlir::Location at,
                             int64_t fieldsBefore);
  MaybeExpression importCase(ExpressionBuilder &b, Node expression, mlir::Location at,
                             int64_t fieldsBefore);
  mlir::FailureOr<llvm::SmallVector<Expression>> importAll(ExpressionBuilder &b,
                                                           llvm::ArrayRef<Node> nodes,
                                                           mlir::Location at, int64_t fieldsBefore);
  // functions.cpp
  MaybeExpression importCall(ExpressionBuilder &b, Node expression, mlir::Location at,
                             int64_t fieldsBefore);
  std::optional<MaybeExpression> importOperator(ExpressionBuilder &b, const Call &call,
                                                Arguments arguments);
  std::optional<MaybeExpression> importNumberFunction(ExpressionBuilder &b, const Call &call,
                                                      Arguments arguments);
  /// Date or timestamp plus or minus an interval constant; nothing if there is no interval.
  std::optional<MaybeExpression> importInterval(ExpressionBuilder &b, Node expression,
                                                llvm::StringRef name, mlir::Location at,
                                                int64_t fieldsBefore);
  std::optional<MaybeExpression> importDateFunction(ExpressionBuilder &b, const Call &call,
                                                    Arguments arguments);
  // text_functions.cpp
  std::optional<MaybeExpression> importPattern(ExpressionBuilder &b, const Call &call,
                                               Arguments arguments);
  /// Parts of a text by positions: substring, left, right.
  std::optional<MaybeExpression> importCut(ExpressionBuilder &b, const Call &call,
                                           Arguments arguments);
  std::optional<MaybeExpression> importTextFunction(ExpressionBuilder &b, const Call &call,
                                                    Arguments arguments);
  mlir::LogicalResult unsupported(const Call &call, const llvm::Twine &why);

  ImportContext &context;
  const ImportOptions &options;
  QueryText text;
  unsigned depth = 0;
};

} // namespace headrace::import::duckdb

#endif // HEADRACE_PASSES_IMPORT_DUCKDB_EXPRESSIONS_H
