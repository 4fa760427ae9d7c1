// Patterns of limits, and of orders that rows have by themselves.
#pragma once

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace headrace::optimize {

void addLimitPatterns(mlir::RewritePatternSet &patterns);

} // namespace headrace::optimize
