// From a module of kernels in the LLVM dialect to LLVM IR, and what it is compiled for.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <optional>

namespace headrace::lower {

/// The instruction sets kernels are compiled for; a plan names one.
enum class TargetIsa { kX86_64, kX86_64_v3, kX86_64_v4 };

/// "x86-64", "x86-64-v3", "x86-64-v4".
llvm::StringRef isaName(TargetIsa isa);
/// The best one this machine has, or the one named by HEADRACE_ISA.
TargetIsa hostIsa();

/// How much work the code generator takes on (docs: compile time is part of the cost).
enum class Effort {
  kNone,   ///< no code: for plans that are looked at, not run
  kQuick,  ///< FastISel: for kernels with few rows
  kNormal, ///< SelectionDAG at Less
};

/// How the supersteps of a kernel for GPUs become something to launch.
enum class DeviceTarget {
  kPtx,       ///< a PTX entry with barriers between the supersteps, blocks and threads from special
              ///< registers
  kEmulation, ///< a C function that runs threads of a block up to the next barrier on the host
};

struct CompileOptions {
  TargetIsa isa = TargetIsa::kX86_64;
  Effort effort = Effort::kNormal;
  std::optional<DeviceTarget> gpu =
      {}; ///< for which pipelines are compiled too; none: the CPU alone
};

/// A module of LLVM IR in a context of its own: nothing in it is shared with another thread.
struct KernelCode {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// From the LLVM dialect with arith, math and vector ops (consumed).
mlir::FailureOr<KernelCode> translateKernel(mlir::ModuleOp module);

/// arith, math, vector and the rest to the LLVM dialect.
mlir::LogicalResult lowerToLLVMDialect(mlir::ModuleOp module);

/// Registers what translateKernel needs in a context's registry.
void registerCompileDialects(mlir::DialectRegistry &registry);

} // namespace headrace::lower
