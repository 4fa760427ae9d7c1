// A type of `frame` as plans have it.
#ifndef HEADRACE_DIALECTS_FRAME_LOGICALTYPES_H
#define HEADRACE_DIALECTS_FRAME_LOGICALTYPES_H

#include "mlir/IR/Types.h"
#include "runtime/base/logical_type.h"

namespace headrace {

/// `type`: a scalar, not nullable.
LogicalType logicalType(mlir::Type type);

} // namespace headrace

#endif
