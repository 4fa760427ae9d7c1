// LLVM's target machine, passes and emitter, made once and used for many kernels: made anew for
// each, they take as long as a small kernel.
#pragma once

#include "passes/lower/machine/compile.h"
#include "passes/lower/machine/pass_pipeline.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>
#include <vector>

namespace headrace::lower {

/// For one thread at a time. What it returns depends on the kernel alone, not on those before it.
class CodeGenerator {
public:
  explicit CodeGenerator(const CompileOptions &options);

  /// Machine code as an ELF object, which refers to no symbol that it does not define; or why there
  /// is none, in `error`.
  std::vector<char> compile(KernelCode kernel, std::string &error);

private:
  CompileOptions options_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  PassPipeline passes_;
  llvm::SmallVector<char, 0> object_;
  llvm::raw_svector_ostream stream_{object_};
  llvm::legacy::PassManager emitter_;
  std::unique_ptr<llvm::legacy::PassManager> largeEmitter_; ///< for the first large kernel
};

} // namespace headrace::lower
