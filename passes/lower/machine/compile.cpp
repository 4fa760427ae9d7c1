// From MLIR to LLVM IR, and the names of the instruction sets.
#include "passes/lower/machine/compile.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Host.h"

#include <cstdlib>

using namespace mlir;

namespace headrace::lower {

LogicalResult lowerToLLVMDialect(ModuleOp module) {
  PassManager passes(module.getContext());
#ifdef NDEBUG
  passes.enableVerifier(false);
#endif
  ConvertToLLVMPassOptions options;
  options.allowPatternRollback = false;
  passes.addPass(createConvertToLLVMPass(options));
  passes.addPass(createReconcileUnrealizedCastsPass());
  return passes.run(module);
}

StringRef isaName(TargetIsa isa) {
  switch (isa) {
  case TargetIsa::kX86_64:
    return "x86-64";
  case TargetIsa::kX86_64_v3:
    return "x86-64-v3";
  case TargetIsa::kX86_64_v4:
    return "x86-64-v4";
  }
  return "x86-64";
}

TargetIsa hostIsa() {
  TargetIsa best = TargetIsa::kX86_64;
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  auto has = [&](std::initializer_list<const char *> names) {
    return llvm::all_of(names, [&](const char *name) { return features.lookup(name); });
  };
  if (has({"avx2", "bmi", "bmi2", "fma", "lzcnt", "movbe"})) {
    best = TargetIsa::kX86_64_v3;
    if (has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) {
      best = TargetIsa::kX86_64_v4;
    }
  }
  if (const char *wanted = std::getenv("HEADRACE_ISA")) {
    for (TargetIsa isa : {TargetIsa::kX86_64, TargetIsa::kX86_64_v3, TargetIsa::kX86_64_v4}) {
      if (isaName(isa) == wanted && isa <= best) {
        return isa;
      }
    }
  }
  return best;
}

void registerCompileDialects(DialectRegistry &registry) {
  registry
      .insert<arith::ArithDialect, math::MathDialect, vector::VectorDialect, LLVM::LLVMDialect>();
  arith::registerConvertArithToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

FailureOr<KernelCode> translateKernel(ModuleOp module) {
  if (failed(lowerToLLVMDialect(module))) {
    return failure();
  }
#ifdef NDEBUG
  constexpr bool kSkipVerification = true;
#else
  constexpr bool kSkipVerification = false;
#endif
  KernelCode code;
  code.context = std::make_unique<llvm::LLVMContext>();
  code.context->setDiscardValueNames(true);
  code.module = translateModuleToLLVMIR(module, *code.context, "kernels", kSkipVerification);
  if (!code.module) {
    // no test: what is lowered to its dialect is translated
    return module.emitError("translation to LLVM IR failed");
  }
  return code;
}

} // namespace headrace::lower
