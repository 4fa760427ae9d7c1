// The phase `lower` for threads: pipelines and tensor kernels to PTX, or to code that emulates a
// GPU's blocks.
#pragma once

#include "passes/lower/code/describe_kernels.h"
#include "passes/lower/gpu/device_kernel.h"

#include <string>
#include <vector>

namespace headrace::lower {

struct DeviceKernels {
  mlir::OwningOpRef<mlir::ModuleOp> code; ///< supersteps and entries, LLVM dialect and arith
  std::vector<DeviceKernel> kernels;
};

/// All pipelines, links of join states, and tensor kernels of a program after `form`. Diagnostics
/// on what has no shape for threads yet.
mlir::FailureOr<DeviceKernels> emitDeviceKernels(mlir::ModuleOp program, DeviceTarget target);

/// What goes beside a program's kernels for the CPU.
struct DeviceImage {
  std::string bytes; ///< PTX, or a shared object of the emulation; empty: there are no such kernels
  std::vector<KernelDescription> kernels;
};
/// Of the pipelines that tasks of a GPU can run and that have a shape for threads, and the links of
/// the join states that these fill. Nothing is said of the others: the CPU runs them.
mlir::FailureOr<DeviceImage> lowerForDevice(mlir::ModuleOp program, DeviceTarget target);

mlir::FailureOr<std::string> lowerToPtx(mlir::ModuleOp program);
/// A shared object with one HrEmulatedSuperstep per kernel.
mlir::FailureOr<std::vector<char>> lowerToEmulation(mlir::ModuleOp program);
/// What a launcher needs beside the code, as JSON: kernels (block size, literals, whose rows they
/// take and where those go, columns and their HrType) and states (rows).
mlir::FailureOr<std::string> deviceManifest(mlir::ModuleOp program);

} // namespace headrace::lower
