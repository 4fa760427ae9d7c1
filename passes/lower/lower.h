// The phase `lower`: pipelines to kernels, kernels to a shared object.
#pragma once

#include "passes/lower/machine/kernel_objects.h"

#include "dialects/pipe/PipeDialect.h"

namespace headrace::lower {

struct LoweredKernels {
  std::vector<char> sharedObject; ///< empty with Effort::kNone
  int compiled = 0, cached = 0;
};

/// Emits, compiles (one module a kernel) and links the pipelines and tensor kernels of a module
/// whose uses of states are verified (passes/form/verify_states.h), and what orders the rows of its
/// sort states. Describes them all in a `sched.kernels` of the module. Diagnostics on failure.
mlir::FailureOr<LoweredKernels> lowerPipelines(mlir::ModuleOp module, const CompileOptions &options,
                                               const Backend &backend);

/// Emits the kernels as LLVM dialect into a new module, for looking at and for tests.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> emitKernels(mlir::ModuleOp module);

} // namespace headrace::lower
