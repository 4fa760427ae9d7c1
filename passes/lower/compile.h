// From a module of kernels in the LLVM dialect to machine code.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

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

struct CompileOptions {
  TargetIsa isa = TargetIsa::kX86_64;
  Effort effort = Effort::kNormal;
};

/// Lowers `module` (LLVM dialect with arith, math and vector ops; consumed) and returns an ELF
/// object. The object refers to no symbol that it does not define.
mlir::FailureOr<std::vector<char>> compileObject(mlir::ModuleOp module,
                                                 const CompileOptions &options);

/// arith, math, vector and the rest to the LLVM dialect.
mlir::LogicalResult lowerToLLVMDialect(mlir::ModuleOp module);

/// Runs LLVM's passes of a textual pipeline, such as "default<O2>".
void optimize(llvm::Module &module, llvm::TargetMachine &machine, llvm::StringRef passes);

/// Registers what compileObject needs in a context's registry.
void registerCompileDialects(mlir::DialectRegistry &registry);

} // namespace headrace::lower
