// What plans and cost model must know of compiled kernels, as ops of the module.
#pragma once

#include "model/plan/plan.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace headrace::lower {

struct KernelDescription {
  plan::Kernel kernel;
  std::vector<std::string> places; ///< where rows can fail; Kernel.places is not set
  std::string links;               ///< the join state whose rows it links, or empty
};

/// Puts a `sched.kernels` with these into the module, in the place of all that it has.
void describeKernels(mlir::ModuleOp module, llvm::StringRef isa,
                     const std::vector<KernelDescription> &kernels);
/// The same of kernels for GPUs, beside those for the CPU.
void describeDeviceKernels(mlir::ModuleOp module, llvm::StringRef isa,
                           const std::vector<KernelDescription> &kernels);

} // namespace headrace::lower
