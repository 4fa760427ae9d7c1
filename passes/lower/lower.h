// The phase `lower`: pipelines to kernels, kernels to a shared object.
#pragma once

#include "passes/lower/compile.h"

#include "dialects/pipe/PipeDialect.h"
#include "runtime/model/plan/plan.h"

#include <functional>

namespace headrace::lower {

struct LoweredKernels {
  /// By symbol: one per pipe.pipeline and per tensor kernel, and one compare kernel per sort state
  /// (symbol: "compare_" + state).
  std::vector<plan::Kernel> kernels;
  /// Where rows can fail, in the user's words; Kernel.places are indices into it.
  std::vector<std::string> places;
  std::vector<char> sharedObject; ///< empty with Effort::kNone
  /// For the user: what each kernel took.
  double emitSeconds = 0, compileSeconds = 0, linkSeconds = 0;
  int compiled = 0, cached = 0;
};

/// Where compiled objects are kept, keyed by content. Either function may be empty.
struct ObjectCache {
  std::function<bool(const std::string &key, std::vector<char> *object)> find;
  std::function<void(const std::string &key, const std::vector<char> &object)> put;
};

/// Emits, compiles (one module a kernel) and links the pipelines and tensor kernels of a module
/// whose uses of states are verified (passes/form/verify_states.h). Diagnostics on failure.
mlir::FailureOr<LoweredKernels> lowerPipelines(mlir::ModuleOp module, const CompileOptions &options,
                                               const ObjectCache &cache);

/// Emits the kernels as LLVM dialect into a new module, for looking at and for tests.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> emitKernels(mlir::ModuleOp module);

} // namespace headrace::lower
