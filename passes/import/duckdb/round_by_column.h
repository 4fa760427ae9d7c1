// round and trunc to digits that differ from row to row.
#ifndef HEADRACE_PASSES_IMPORT_DUCKDB_ROUNDBYCOLUMN_H
#define HEADRACE_PASSES_IMPORT_DUCKDB_ROUNDBYCOLUMN_H

#include "passes/import/ExpressionBuilder.h"

namespace headrace::import::duckdb {

/// A double rounded or truncated to so many digits behind the point, or before it, as `type`.
MaybeExpression realByColumn(ExpressionBuilder &b, frame::NumberFunction function,
                             const Expression &value, const Expression &digits, mlir::Type type,
                             mlir::Location at);

/// The same of an integer, of which `cut` gives what it is to a constant number of digits.
MaybeExpression integerByColumn(ExpressionBuilder &b, const Expression &value,
                                const Expression &digits, mlir::Type type, mlir::Location at,
                                llvm::function_ref<MaybeExpression(int64_t)> cut);

} // namespace headrace::import::duckdb

#endif // HEADRACE_PASSES_IMPORT_DUCKDB_ROUNDBYCOLUMN_H
