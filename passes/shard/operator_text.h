// Ops of the local program in words: what an explanation calls them.
#ifndef HEADRACE_PASSES_SHARD_OPERATOR_TEXT_H
#define HEADRACE_PASSES_SHARD_OPERATOR_TEXT_H

#include "mlir/IR/Operation.h"

#include <string>

namespace headrace::shard {

/// "scan lineitem", "join inner", "aggregate partial", "exchange hash", "matmul".
std::string operatorName(mlir::Operation *op);

/// Keys, a condition, measures, a shape; cut after some hundred letters.
std::string operatorDetail(mlir::Operation *op);

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_OPERATOR_TEXT_H
