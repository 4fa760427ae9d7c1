// The passes of the optimize phase, and the phase as one pipeline.
#ifndef HEADRACE_PASSES_OPTIMIZE_PASSES_H
#define HEADRACE_PASSES_OPTIMIZE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace headrace::optimize {

#define GEN_PASS_DECL
#include "passes/optimize/Passes.h.inc"

/// Adds the whole phase to a pass manager on modules. Post-conditions: those of its passes; filters
/// are conjunctions; the right side of every join is the one to build on.
void buildOptimizePipeline(mlir::OpPassManager &manager);

/// Registers the passes and the pipeline `optimize-pipeline` for tools.
void registerOptimizePasses();

} // namespace headrace::optimize

#endif // HEADRACE_PASSES_OPTIMIZE_PASSES_H
