// Evaluates the expression region of a relation (filter, project, the residual of a join) on one
// row.
#pragma once

#include "mlir/IR/Region.h"
#include "passes/interpreter/value.h"

namespace headrace::interpreter {

/// Looks up scalars that are defined outside of the region (scalar subqueries, constants).
using OuterScalars = llvm::function_ref<llvm::Expected<Scalar>(mlir::Value)>;

/// Evaluates by demand, from the yielded values (analysis::RegionValues).
class RowExpressions {
public:
  RowExpressions(mlir::Region &region, OuterScalars outer) : region_(region), outer_(outer) {}

  /// The yielded values for a row; `arguments` has one value per block argument.
  llvm::Expected<Row> evaluate(const Row &arguments) const;

private:
  mlir::Region &region_;
  OuterScalars outer_;
};

} // namespace headrace::interpreter
