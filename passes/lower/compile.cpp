// The short way from MLIR to an object: few passes, chosen by measurement
// (docs/reference/compile-latency.md).
#include "passes/lower/compile.h"

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

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <cstdlib>
#include <mutex>

using namespace mlir;

namespace headrace::lower {

namespace {

// S2 of the measurements: inlining, scalar replacement, light clean-up, loop-invariant motion.
constexpr const char *kPasses =
    "always-inline,function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,"
    "instcombine<no-verify-fixpoint>,loop-mssa(loop-rotate,licm),simplifycfg)";

void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const CompileOptions &options) {
  initializeTargets();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    return nullptr;
  }
  bool quick = options.effort == Effort::kQuick;
  // On v4 the 512-bit registers are meant to be used, not saved for their clock rate.
  const char *features = options.isa == TargetIsa::kX86_64_v4 ? "-prefer-256-bit" : "";
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, isaName(options.isa), features, llvm::TargetOptions(), llvm::Reloc::PIC_,
      llvm::CodeModel::Small, quick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Less));
  machine->setFastISel(quick);
  return machine;
}

/// What the code generator has to say, as text: without it LLVM ends the process at the first
/// error.
class ErrorText : public llvm::DiagnosticHandler {
public:
  explicit ErrorText(std::string &errors) : errors_(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream stream(errors_);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
      stream << "; ";
    }
    return true;
  }

private:
  std::string &errors_;
};

/// 1024-row arrays on the stack never happen; still, a vector of 64 i64 spills to more than a page.
void setAttributes(llvm::Module &module, TargetIsa isa) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    function.addFnAttr("target-cpu", isaName(isa));
    function.addFnAttr("no-builtins");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (isa == TargetIsa::kX86_64_v4) {
      function.addFnAttr("prefer-vector-width", "512");
      function.addFnAttr("min-legal-vector-width", "512");
    }
  }
}

/// Addresses at constant offsets are computed again where they are used, which the processor does
/// for nothing: kept from the beginning of a kernel, those of a wide table's buffers would all be
/// live at once, and the register allocator takes more than linear time for that.
void sinkAddresses(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(function.getEntryBlock())) {
      auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
      if (!address || !address->hasAllConstantIndices()) {
        continue;
      }
      for (llvm::Use &use : llvm::make_early_inc_range(address->uses())) {
        auto *user = llvm::cast<llvm::Instruction>(use.getUser());
        if (user->getParent() != address->getParent() && !llvm::isa<llvm::PHINode>(user)) {
          llvm::Instruction *copy = address->clone();
          copy->insertBefore(user->getIterator());
          use.set(copy);
        }
      }
      if (address->use_empty()) {
        address->eraseFromParent();
      }
    }
  }
}

} // namespace

void optimize(llvm::Module &module, llvm::TargetMachine &machine, llvm::StringRef passes) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager pipeline;
  llvm::cantFail(builder.parsePassPipeline(pipeline, passes));
  pipeline.run(module, modules);
}

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

FailureOr<std::vector<char>> compileObject(ModuleOp module, const CompileOptions &options) {
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(options);
  if (!machine) {
    // no test: every LLVM that this builds with has it
    return module.emitError("no code generator for x86-64 in this build of LLVM");
  }
  if (failed(lowerToLLVMDialect(module))) {
    return failure();
  }
  llvm::LLVMContext context;
  context.setDiscardValueNames(true);
  std::string codeErrors;
  context.setDiagnosticHandler(std::make_unique<ErrorText>(codeErrors));
#ifdef NDEBUG
  constexpr bool kSkipVerification = true;
#else
  constexpr bool kSkipVerification = false;
#endif
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(module, context, "kernels", kSkipVerification);
  if (!code) {
    // no test: what is lowered to its dialect is translated
    return module.emitError("translation to LLVM IR failed");
  }
  code->setTargetTriple(machine->getTargetTriple());
  code->setDataLayout(machine->createDataLayout());
  setAttributes(*code, options.isa);
  optimize(*code, *machine, kPasses);
  sinkAddresses(*code);
  if (std::getenv("HEADRACE_DUMP_LLVM")) {
    code->print(llvm::errs(), nullptr);
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager emitter;
  if (machine->addPassesToEmitFile(emitter, stream, nullptr, llvm::CodeGenFileType::ObjectFile,
                                   kSkipVerification)) {
    // no test: x86-64 can
    return module.emitError("this target cannot emit objects");
  }
  emitter.run(*code);
  if (!codeErrors.empty()) {
    // no test: what LLVM's code generator says, if it ever does
    return module.emitError("no machine code for a kernel: ") << codeErrors;
  }
  return std::vector<char>(bytes.begin(), bytes.end());
}

} // namespace headrace::lower
