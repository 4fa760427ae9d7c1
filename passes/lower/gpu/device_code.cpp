// LLVM IR of kernels, linked with the device primitives, optimised as a whole, and emitted.
#include "passes/lower/gpu/device_code.h"

#include "passes/lower/gpu/primitives_bitcode.h"
#include "passes/lower/machine/compile.h"
#include "passes/lower/machine/pass_pipeline.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <mutex>

using namespace mlir;

namespace headrace::lower {

namespace {

struct Target {
  const char *triple;
  const char *cpu;
  const char *features;
  llvm::StringRef primitives;           ///< bitcode
  const char *deviceScope, *blockScope; ///< which threads atomics are for
};

// What the driver compiles for sm_80 and all later devices; PTX 8.0 is that of CUDA 12.0.
Target ptxTarget() {
  return {"nvptx64-nvidia-cuda", "sm_80", "+ptx80", nvptxPrimitives(), "device", "block"};
}
Target hostTarget() {
  return {"x86_64-unknown-linux-gnu", "x86-64-v2", "", hostPrimitives(), "", ""};
}

void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

/// clang makes all atomics of nvptx system-wide, which is slower and more than is needed: a launch
/// is one device's, and what primitives do to shared memory a block's.
void setAtomicScopes(llvm::Module &module, llvm::SyncScope::ID ofDevice,
                     llvm::SyncScope::ID ofBlock) {
  for (llvm::Function &function : module) {
    llvm::SyncScope::ID scope = function.getName().starts_with("hr_block_") ? ofBlock : ofDevice;
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      if (instruction.isAtomic()) {
        llvm::setAtomicSyncScopeID(&instruction, scope);
      }
    }
  }
}

FailureOr<std::string> compile(ModuleOp module, const Target &target, llvm::CodeGenFileType kind) {
  initializeTargets();
  llvm::Triple triple(target.triple);
  std::string error;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found) {
    // no test: the build requires both code generators
    return module.emitError("this build of LLVM has no code generator for: ") << target.triple;
  }
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      triple, target.cpu, target.features, llvm::TargetOptions(), llvm::Reloc::PIC_));
  if (failed(lowerToLLVMDialect(module))) {
    return failure();
  }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "kernels");
  if (!code) {
    // no test: what is lowered to its dialect is translated
    return module.emitError("translation to LLVM IR failed");
  }
  code->setTargetTriple(triple);
  code->setDataLayout(machine->createDataLayout());
  llvm::StringSet<> entries; // and their shapes
  for (llvm::GlobalObject &value : code->global_objects()) {
    if (!value.isDeclaration() && !value.hasLocalLinkage()) {
      entries.insert(value.getName());
    }
  }
  llvm::Expected<std::unique_ptr<llvm::Module>> primitives =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(target.primitives, "primitives"), context);
  if (!primitives) {
    // no test: it is made by the build
    return module.emitError("bitcode of the primitives does not load: ")
           << llvm::toString(primitives.takeError());
  }
  (*primitives)->setDataLayout(code->getDataLayout());
  (*primitives)->setTargetTriple(triple);
  if (llvm::Linker::linkModules(*code, std::move(*primitives), llvm::Linker::LinkOnlyNeeded)) {
    // no test: their names are apart
    return module.emitError("kernels and primitives do not link");
  }
  llvm::internalizeModule(
      *code, [&](const llvm::GlobalValue &value) { return entries.contains(value.getName()); });
  for (llvm::Function &function : *code) {
    if (!function.isDeclaration()) {
      function.addFnAttr(llvm::Attribute::NoUnwind);
      function.addFnAttr("target-cpu", target.cpu);
      function.addFnAttr("target-features", target.features);
      function.addFnAttr("no-builtins"); // there is no libc to call
    }
  }
  setAtomicScopes(*code, context.getOrInsertSyncScopeID(target.deviceScope),
                  context.getOrInsertSyncScopeID(target.blockScope));
  PassPipeline(*machine, "default<O2>").run(*code);
  std::string reason;
  llvm::raw_string_ostream reasons(reason);
  if (llvm::verifyModule(*code, &reasons)) {
    // no test: a check of what the phase makes
    return module.emitError("the kernels' LLVM IR is invalid: ") << reason;
  }
  for (llvm::Function &function : *code) {
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty()) {
      // no test: a check of what the phase makes
      return module.emitError("device code has no: ") << function.getName();
    }
  }
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager emitter;
  if (machine->addPassesToEmitFile(emitter, stream, nullptr, kind)) {
    // no test: both targets can
    return module.emitError("cannot emit code for: ") << target.triple;
  }
  emitter.run(*code);
  return std::string(text.str());
}

} // namespace

FailureOr<std::string> compilePtx(ModuleOp module) {
  return compile(module, ptxTarget(), llvm::CodeGenFileType::AssemblyFile);
}

FailureOr<std::vector<char>> compileEmulation(ModuleOp module) {
  FailureOr<std::string> object = compile(module, hostTarget(), llvm::CodeGenFileType::ObjectFile);
  if (failed(object)) {
    return failure();
  }
  return std::vector<char>(object->begin(), object->end());
}

} // namespace headrace::lower
