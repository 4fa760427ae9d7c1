// One module and one cached object per kernel; the key is the kernel's code and the target.
#include "passes/lower/lower.h"

#include "passes/lower/code/describe_kernels.h"
#include "passes/lower/code/tensor_kernel.h"
#include "passes/lower/cpu/kernel_emitter.h"
#include "passes/lower/gpu/lower_gpu.h"
#include "passes/lower/machine/effort.h"
#include "passes/lower/machine/link.h"

#include "runtime/abi/imports.h"
#include "runtime/base/stop.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;

namespace headrace::lower {

namespace {

OwningOpRef<ModuleOp> emptyModule(ModuleOp like) {
  return ModuleOp::create(UnknownLoc::get(like.getContext()));
}

/// What the loader asks a shared object before it trusts it: versions, and where to leave the
/// imports (kernels find them in their HrWorker; the entry is there for code without one).
OwningOpRef<ModuleOp> emitHead(ModuleOp like) {
  OwningOpRef<ModuleOp> module = emptyModule(like);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  Location location = UnknownLoc::get(like.getContext());
  auto constant = [&](StringRef name, Type type, uint64_t value) {
    LLVM::GlobalOp::create(builder, location, type, /*isConstant=*/true, LLVM::Linkage::External,
                           name, builder.getIntegerAttr(type, static_cast<int64_t>(value)));
  };
  constant("hr_abi_version", builder.getI32Type(), HR_ABI_VERSION);
  constant("hr_imports_hash", builder.getI64Type(), abi::importsHash());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(like.getContext()),
                                          {LLVM::LLVMPointerType::get(like.getContext())});
  auto function = LLVM::LLVMFuncOp::create(builder, location, "hr_set_imports", type);
  builder.setInsertionPointToEnd(function.addEntryBlock(builder));
  LLVM::ReturnOp::create(builder, location, ValueRange());
  return module;
}

/// The kernels for GPUs as data of the shared object: its size and bytes.
OwningOpRef<ModuleOp> emitImage(ModuleOp like, const std::string &image) {
  OwningOpRef<ModuleOp> module = emptyModule(like);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  Location location = UnknownLoc::get(like.getContext());
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), image.size());
  LLVM::GlobalOp::create(builder, location, bytes, /*isConstant=*/true, LLVM::Linkage::External,
                         "hr_device_image", builder.getStringAttr(image));
  LLVM::GlobalOp::create(builder, location, builder.getI64Type(), /*isConstant=*/true,
                         LLVM::Linkage::External, "hr_device_image_bytes",
                         builder.getI64IntegerAttr(static_cast<int64_t>(image.size())));
  return module;
}

/// The ops that `form` gave a kernel's symbol.
SmallVector<linalg::GenericOp> tensorKernels(ModuleOp module) {
  SmallVector<linalg::GenericOp> ops;
  module.walk([&](linalg::GenericOp op) {
    if (!tensorKernelSymbol(op).empty()) {
      ops.push_back(op);
    }
  });
  return ops;
}

/// Of the code as LLVM IR, which has neither places nor names of values: equal code has an equal
/// key.
std::string contentKey(const llvm::Module &code, const CompileOptions &options) {
  llvm::SmallVector<char, 0> bitcode;
  llvm::BitcodeWriter writer(bitcode);
  writer.writeModule(code);
  writer.writeStrtab();
  llvm::SHA256 hash;
  hash.update(llvm::StringRef(bitcode.data(), bitcode.size()));
  hash.update(isaName(options.isa));
  hash.update(options.effort == Effort::kQuick ? "quick" : "normal");
  hash.update(std::to_string(abi::importsHash()));
  hash.update(LLVM_VERSION_STRING);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

/// The text of code of one function, whatever its name.
std::string namelessText(ModuleOp code) {
  auto function = *code.getOps<LLVM::LLVMFuncOp>().begin();
  std::string name = function.getSymName().str();
  function.setSymName("kernel");
  std::string text;
  llvm::raw_string_ostream stream(text);
  code.print(stream);
  function.setSymName(name);
  return text;
}

} // namespace

FailureOr<LoweredKernels> lowerPipelines(ModuleOp module, const CompileOptions &options,
                                         const Backend &backend) {
  LoweredKernels out;
  SymbolTable symbols(module);
  KernelObjects objects(backend);
  std::vector<KernelDescription> described;
  auto compile = [&](OwningOpRef<ModuleOp> module, Effort effort,
                     KernelDescription made) -> LogicalResult {
    if (options.effort != Effort::kNone) {
      FailureOr<KernelCode> code = translateKernel(*module);
      if (failed(code)) {
        return failure();
      }
      CompileOptions own = {options.isa, effort};
      made.kernel.contentHash = contentKey(*code->module, own);
      objects.add(std::move(*code), made.kernel.contentHash, own);
    }
    if (!made.kernel.symbol.empty()) { // the head is no kernel
      described.push_back(std::move(made));
    }
    return success();
  };
  if (failed(compile(emitHead(module), Effort::kQuick, {}))) {
    return failure();
  }
  for (auto pipeline : module.getOps<pipe::PipelineOp>()) {
    if (stopRequested()) {
      return failure();
    }
    OwningOpRef<ModuleOp> code = emptyModule(module);
    PipelineWithEntryMaps emitted = takeOutEntryMaps(pipeline, symbols);
    KernelEmitter emitter(emitted, symbols, *code);
    FailureOr<plan::Kernel> kernel = emitter.emit();
    if (failed(kernel)) {
      return failure();
    }
    if (failed(compile(std::move(code), effortFor(pipeline, symbols),
                       {std::move(*kernel), emitter.places()}))) {
      return failure();
    }
  }
  llvm::StringMap<std::string> tensorCode; // its text under a name that all share -> its symbol
  for (linalg::GenericOp op : tensorKernels(module)) {
    if (stopRequested()) {
      return failure();
    }
    OwningOpRef<ModuleOp> code = emptyModule(module);
    FailureOr<plan::Kernel> kernel = TensorKernelEmitter(op, *code).emit();
    if (failed(kernel)) {
      return failure();
    }
    auto [known, isNew] = tensorCode.try_emplace(namelessText(*code), kernel->symbol);
    if (!isNew) {
      setTensorKernelSymbol(op, known->second); // a layer like one before
    } else if (failed(compile(std::move(code), Effort::kNormal, {std::move(*kernel), {}}))) {
      return failure();
    }
  }
  describeKernels(module, isaName(options.isa), described);
  if (options.gpu) {
    FailureOr<DeviceImage> image = lowerForDevice(module, *options.gpu);
    if (failed(image)) {
      return failure();
    }
    if (!image->kernels.empty()) {
      describeDeviceKernels(module, "sm_80", image->kernels);
      if (failed(compile(emitImage(module, image->bytes), Effort::kQuick, {}))) {
        return failure();
      }
    }
  }
  out.compiled = objects.compiled();
  out.cached = objects.cached();
  FailureOr<std::vector<std::vector<char>>> compiled = objects.finish(module);
  if (failed(compiled)) {
    return failure();
  }
  if (!compiled->empty()) {
    Expected<std::vector<char>> linked = linkSharedObject(*compiled);
    if (!linked.ok()) {
      return module.emitError(linked.status().message());
    }
    out.sharedObject = std::move(*linked);
  }
  return out;
}

FailureOr<OwningOpRef<ModuleOp>> emitKernels(ModuleOp module) {
  SymbolTable symbols(module);
  OwningOpRef<ModuleOp> code = emptyModule(module);
  for (auto pipeline : module.getOps<pipe::PipelineOp>()) {
    PipelineWithEntryMaps emitted = takeOutEntryMaps(pipeline, symbols);
    if (failed(verify(emitted.pipeline)) || failed(KernelEmitter(emitted, symbols, *code).emit())) {
      return failure();
    }
  }
  for (linalg::GenericOp op : tensorKernels(module)) {
    if (failed(TensorKernelEmitter(op, *code).emit())) {
      return failure();
    }
  }
  return code;
}

} // namespace headrace::lower
