// LLVM's passes of a textual pipeline with their analyses, made once and run on many modules.
#pragma once

#include "llvm/Passes/PassBuilder.h"

namespace headrace::lower {

class PassPipeline {
public:
  /// `passes`: such as "default<O2>". The machine must outlive it.
  PassPipeline(llvm::TargetMachine &machine, llvm::StringRef passes);
  void run(llvm::Module &module);

private:
  // In this order: the managers refer to each other.
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager components_;
  llvm::ModuleAnalysisManager modules_;
  llvm::PassBuilder builder_;
  llvm::ModulePassManager passes_;
};

} // namespace headrace::lower
