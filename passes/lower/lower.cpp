// One module and one cached object per kernel; the key is the kernel's code and the target.
#include "passes/lower/lower.h"

#include "passes/lower/kernel_emitter.h"
#include "passes/lower/link.h"
#include "passes/lower/tensor_kernel.h"

#include "runtime/abi/imports.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

#include <chrono>

using namespace mlir;

namespace headrace::lower {

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

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

/// Text of the code without locations and names: equal code has an equal key.
std::string contentKey(ModuleOp module, const CompileOptions &options) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  llvm::SHA256 hash;
  hash.update(text);
  hash.update(isaName(options.isa));
  hash.update(options.effort == Effort::kQuick ? "quick" : "normal");
  hash.update(std::to_string(abi::importsHash()));
  hash.update(LLVM_VERSION_STRING);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

/// The key of code of one function, whatever its name.
std::string namelessKey(ModuleOp code, const CompileOptions &options) {
  auto function = *code.getOps<LLVM::LLVMFuncOp>().begin();
  std::string name = function.getSymName().str();
  function.setSymName("kernel");
  std::string key = contentKey(code, options);
  function.setSymName(name);
  return key;
}

} // namespace

FailureOr<LoweredKernels> lowerPipelines(ModuleOp module, const CompileOptions &options,
                                         const ObjectCache &cache) {
  LoweredKernels out;
  SymbolTable symbols(module);
  std::vector<std::vector<char>> objects;
  auto compile = [&](OwningOpRef<ModuleOp> code, plan::Kernel kernel) -> LogicalResult {
    if (options.effort == Effort::kNone) {
      if (!kernel.symbol.empty()) {
        out.kernels.push_back(std::move(kernel));
      }
      return success();
    }
    kernel.contentHash = contentKey(*code, options);
    bool isHead = kernel.symbol.empty();
    std::vector<char> object;
    if (cache.find && cache.find(kernel.contentHash, &object)) {
      ++out.cached;
    } else {
      auto start = std::chrono::steady_clock::now();
      FailureOr<std::vector<char>> compiled = compileObject(*code, options);
      out.compileSeconds += secondsSince(start);
      if (failed(compiled)) {
        return failure();
      }
      object = std::move(*compiled);
      ++out.compiled;
      if (cache.put) {
        cache.put(kernel.contentHash, object);
      }
    }
    objects.push_back(std::move(object));
    if (!isHead) {
      out.kernels.push_back(std::move(kernel));
    }
    return success();
  };
  if (failed(compile(emitHead(module), plan::Kernel()))) {
    return failure();
  }
  for (auto pipeline : module.getOps<pipe::PipelineOp>()) {
    auto start = std::chrono::steady_clock::now();
    OwningOpRef<ModuleOp> code = emptyModule(module);
    KernelEmitter emitter(pipeline, symbols, *code);
    FailureOr<plan::Kernel> kernel = emitter.emit();
    out.emitSeconds += secondsSince(start);
    if (failed(kernel)) {
      return failure();
    }
    for (const std::string &place : emitter.places()) {
      kernel->places.push_back(static_cast<int32_t>(out.places.size()));
      out.places.push_back(place);
    }
    if (failed(compile(std::move(code), std::move(*kernel)))) {
      return failure();
    }
  }
  llvm::StringMap<std::string> tensorCode; // its key under a name that all share -> its symbol
  for (linalg::GenericOp op : tensorKernels(module)) {
    auto start = std::chrono::steady_clock::now();
    OwningOpRef<ModuleOp> code = emptyModule(module);
    FailureOr<plan::Kernel> kernel = TensorKernelEmitter(op, *code).emit();
    out.emitSeconds += secondsSince(start);
    if (failed(kernel)) {
      return failure();
    }
    auto [known, isNew] = tensorCode.try_emplace(namelessKey(*code, options), kernel->symbol);
    if (!isNew) {
      setTensorKernelSymbol(op, known->second); // a layer like one before
    } else if (failed(compile(std::move(code), std::move(*kernel)))) {
      return failure();
    }
  }
  for (auto state : module.getOps<pipe::StateOp>()) {
    if (state.getKind() != pipe::StateKind::Sort) {
      continue;
    }
    OwningOpRef<ModuleOp> code = emptyModule(module);
    plan::Kernel kernel;
    kernel.symbol = ("compare_" + state.getSymName()).str();
    emitSortCompare(state, kernel.symbol, *code);
    if (failed(compile(std::move(code), std::move(kernel)))) {
      return failure();
    }
  }
  auto start = std::chrono::steady_clock::now();
  if (!objects.empty()) {
    Expected<std::vector<char>> linked = linkSharedObject(objects);
    if (!linked.ok()) {
      return module.emitError(linked.status().message());
    }
    out.sharedObject = std::move(*linked);
  }
  out.linkSeconds = secondsSince(start);
  return out;
}

FailureOr<OwningOpRef<ModuleOp>> emitKernels(ModuleOp module) {
  SymbolTable symbols(module);
  OwningOpRef<ModuleOp> code = emptyModule(module);
  for (auto pipeline : module.getOps<pipe::PipelineOp>()) {
    if (failed(KernelEmitter(pipeline, symbols, *code).emit())) {
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
