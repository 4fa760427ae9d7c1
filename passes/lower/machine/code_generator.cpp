// The short way from LLVM IR to an object: few passes, chosen by measurement
// (docs/decisions/2026-11-21-kernels.md).
#include "passes/lower/machine/code_generator.h"

#include "runtime/base/check.h"

#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/Utils/Local.h"

#include <cstdlib>
#include <mutex>
#include <vector>

namespace headrace::lower {

namespace {

// Scalar replacement, light clean-up, loop-invariant motion.
constexpr const char *kPasses = "function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,"
                                "instcombine<no-verify-fixpoint>,loop-mssa(loop-rotate,licm),"
                                "simplifycfg)";
constexpr const char *kQuickPasses = "function(sroa<modify-cfg>,early-cse,simplifycfg)";

/// LLVM has no other way to set these; they hold for the whole process.
void setOption(llvm::StringRef name, llvm::StringRef value) {
  llvm::cl::Option *option = llvm::cl::getRegisteredOptions().lookup(name);
  HR_CHECK(option && !option->addOccurrence(0, name, value));
}

void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    // A third of the code generator's time for nothing that shows in TPC-H: loops are short of
    // neither registers nor addressing modes, and the processor reorders by itself.
    setOption("disable-lsr", "true");
    setOption("enable-misched", "false");
  });
}

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const CompileOptions &options) {
  initializeTargets();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  HR_CHECK(target); // every LLVM that this builds with has it
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

void sinkAddresses(llvm::BasicBlock &block) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(block)) {
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

/// Kernels of hundreds of columns: a usual one has some hundreds of instructions.
bool isLarge(const llvm::Function &function) {
  constexpr unsigned kManyInstructions = 8192;
  return function.getInstructionCount() > kManyInstructions;
}

/// Addresses at constant offsets are computed again where they are used, which the processor does
/// for nothing: kept from the beginning of a kernel, those of a wide table's buffers would all be
/// live at once, and the register allocator takes more than linear time for that. In large kernels
/// those that were moved out of loops are as many.
void sinkAddresses(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    sinkAddresses(function.getEntryBlock());
    if (isLarge(function)) {
      for (llvm::BasicBlock &block : function) {
        sinkAddresses(block);
      }
    }
  }
}

/// Values that come from hundreds of places, such as the status with which each call may leave a
/// large kernel, go through memory. As registers they would be live from each of those places on,
/// and whatever the allocator asks of such a register takes time in proportion to their number.
void demoteWidePhis(llvm::Module &module) {
  constexpr unsigned kManyIncoming = 64;
  for (llvm::Function &function : module) {
    if (function.isDeclaration() || !isLarge(function)) {
      continue;
    }
    std::vector<llvm::PHINode *> wide;
    for (llvm::BasicBlock &block : function) {
      for (llvm::PHINode &phi : block.phis()) {
        if (phi.getNumIncomingValues() > kManyIncoming) {
          wide.push_back(&phi);
        }
      }
    }
    for (llvm::PHINode *phi : wide) {
      llvm::DemotePHIToStack(phi);
    }
  }
}

#ifdef NDEBUG
constexpr bool kSkipVerification = true;
#else
constexpr bool kSkipVerification = false;
#endif

/// What addPassesToEmitFile makes, but for the pass that moves out of loops what they leave alone,
/// and with it the addresses that were sunk into them.
void addLargeEmitter(llvm::TargetMachine &machine, llvm::raw_svector_ostream &stream,
                     llvm::legacy::PassManager &emitter) {
  llvm::TargetPassConfig *passes = machine.createPassConfig(emitter);
  passes->setDisableVerify(kSkipVerification);
  passes->disablePass(&llvm::EarlyMachineLICMID);
  emitter.add(passes);
  auto *functions = new llvm::MachineModuleInfoWrapperPass(&machine);
  emitter.add(functions);
  bool cannot = passes->addISelPasses();
  passes->addMachinePasses();
  passes->setInitialized();
  cannot |= machine.addAsmPrinter(emitter, stream, nullptr, llvm::CodeGenFileType::ObjectFile,
                                  functions->getMMI().getContext());
  HR_CHECK(!cannot); // x86-64 can
  emitter.add(llvm::createFreeMachineFunctionPass());
}

} // namespace

CodeGenerator::CodeGenerator(const CompileOptions &options)
    : options_(options), machine_(makeTargetMachine(options)),
      passes_(*machine_, options.effort == Effort::kQuick ? kQuickPasses : kPasses) {
  bool cannot = machine_->addPassesToEmitFile(emitter_, stream_, nullptr,
                                              llvm::CodeGenFileType::ObjectFile, kSkipVerification);
  HR_CHECK(!cannot); // x86-64 can
}

std::vector<char> CodeGenerator::compile(KernelCode kernel, std::string &error) {
  llvm::Module &code = *kernel.module;
  kernel.context->setDiagnosticHandler(std::make_unique<ErrorText>(error));
  code.setTargetTriple(machine_->getTargetTriple());
  code.setDataLayout(machine_->createDataLayout());
  setAttributes(code, options_.isa);
  passes_.run(code);
  sinkAddresses(code);
  demoteWidePhis(code);
  if (std::getenv("HEADRACE_DUMP_LLVM")) {
    code.print(llvm::errs(), nullptr);
  }
  object_.clear();
  if (options_.effort != Effort::kQuick && llvm::any_of(code, isLarge)) {
    if (!largeEmitter_) {
      largeEmitter_ = std::make_unique<llvm::legacy::PassManager>();
      addLargeEmitter(*machine_, stream_, *largeEmitter_);
    }
    largeEmitter_->run(code);
  } else {
    emitter_.run(code);
  }
  return std::vector<char>(object_.begin(), object_.end());
}

} // namespace headrace::lower
