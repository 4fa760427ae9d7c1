// A type of `frame` as plans have it.
#ifndef HEADRACE_PASSES_ANALYSIS_LOGICAL_TYPE_H
#define HEADRACE_PASSES_ANALYSIS_LOGICAL_TYPE_H

#include "mlir/IR/Types.h"
#include "runtime/base/logical_type.h"

namespace headrace {

/// `type`: a scalar, not nullable.
LogicalType logicalType(mlir::Type type);

} // namespace headrace

#endif
