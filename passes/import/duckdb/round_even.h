// round_even: what is halfway goes to the even neighbour.
#ifndef HEADRACE_PASSES_IMPORT_DUCKDB_ROUNDEVEN_H
#define HEADRACE_PASSES_IMPORT_DUCKDB_ROUNDEVEN_H

#include "passes/import/ExpressionBuilder.h"

namespace headrace::import::duckdb {

/// A number to so many digits behind the point, or before it, as `type`. What does not fit raises.
MaybeExpression roundedToEven(ExpressionBuilder &b, const Expression &value, int64_t digits,
                              mlir::Type type, mlir::Location at);

} // namespace headrace::import::duckdb

#endif // HEADRACE_PASSES_IMPORT_DUCKDB_ROUNDEVEN_H
