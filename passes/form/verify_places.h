// On which ranks the rows of pipelines are, and what relies on it.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace headrace::form {

/// Follows rows from scans through exchanges. What meets, is grouped or computed over partitions
/// must be together on a rank; what every rank has is neither sent nor found once by each; groups
/// and first rows of which other ranks have parts are finished by a state like theirs; a result is
/// on the first rank.
mlir::LogicalResult verifyPlaces(mlir::ModuleOp module);

} // namespace headrace::form
