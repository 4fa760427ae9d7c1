// All kernels of a program in one module; its manifest.
#include "passes/lower/gpu/lower_gpu.h"

#include "model/plan/names.h"
#include "passes/analysis/physical.h"
#include "passes/lower/gpu/device_code.h"
#include "passes/lower/gpu/thread_kernel.h"
#include "passes/lower/gpu/thread_tensor.h"
#include "passes/lower/machine/link.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace headrace::lower {

FailureOr<DeviceKernels> emitDeviceKernels(ModuleOp program, DeviceTarget target) {
  MLIRContext *context = program.getContext();
  DeviceKernels out;
  out.code = ModuleOp::create(UnknownLoc::get(context));
  SymbolTable symbols(program);
  auto add = [&](FailureOr<DeviceKernel> kernel) -> LogicalResult {
    if (failed(kernel)) {
      return failure();
    }
    emitEntry(*out.code, *kernel, target);
    out.kernels.push_back(std::move(*kernel));
    return success();
  };
  for (auto pipeline : program.getOps<pipe::PipelineOp>()) {
    if (failed(add(ThreadKernelEmitter(pipeline, symbols, *out.code).emit()))) {
      return failure();
    }
  }
  for (auto state : program.getOps<pipe::StateOp>()) {
    if (state.getKind() == pipe::StateKind::Join && failed(add(emitJoinLink(state, *out.code)))) {
      return failure();
    }
  }
  SmallVector<linalg::GenericOp> tensors;
  program.walk([&](linalg::GenericOp op) {
    if (!tensorKernelSymbol(op).empty()) {
      tensors.push_back(op);
    }
  });
  for (linalg::GenericOp op : tensors) {
    if (failed(add(ThreadTensorEmitter(op, *out.code).emit()))) {
      return failure();
    }
  }
  return out;
}

namespace {
/// Outside a pass manager, which loads what passes depend on.
void loadDialects(ModuleOp program) {
  program.getContext()
      ->loadDialect<LLVM::LLVMDialect, arith::ArithDialect, math::MathDialect,
                    vector::VectorDialect>();
}

/// A shared object of supersteps and entries.
FailureOr<std::string> linkedEmulation(ModuleOp code, ModuleOp program) {
  FailureOr<std::vector<char>> object = compileEmulation(code);
  if (failed(object)) {
    return failure();
  }
  Expected<std::vector<char>> linked = linkSharedObject({*object});
  if (!linked.ok()) {
    return program.emitError(linked.status().message());
  }
  return std::string(linked->begin(), linked->end());
}
} // namespace

namespace {

/// Whether a task of a GPU could: it takes rows of a table or a state to a state, or marks those
/// that they match, and merges no copies of states, since there are none.
bool mayRunOnGpu(pipe::PipelineOp pipeline) {
  Block &body = pipeline.getBody().front();
  return !pipeline.getMerges() && !pipeline.getRepeat() &&
         isa<pipe::ScanOp, pipe::ReadOp>(body.front()) &&
         isa<pipe::CombineOp, pipe::InsertOp, pipe::LookupOp>(body.back());
}

/// Whether it has a shape for threads: emitted into a module that nobody sees.
bool hasShapeForThreads(pipe::PipelineOp pipeline, SymbolTable &symbols) {
  ScopedDiagnosticHandler silent(pipeline.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(UnknownLoc::get(pipeline.getContext()));
  return succeeded(ThreadKernelEmitter(pipeline, symbols, *scratch).emit());
}

} // namespace

FailureOr<DeviceImage> lowerForDevice(ModuleOp program, DeviceTarget target) {
  loadDialects(program);
  SymbolTable symbols(program);
  OwningOpRef<ModuleOp> code = ModuleOp::create(UnknownLoc::get(program.getContext()));
  DeviceImage out;
  auto add = [&](FailureOr<DeviceKernel> kernel, StringRef links) -> LogicalResult {
    if (failed(kernel)) {
      return failure();
    }
    emitEntry(*code, *kernel, target);
    kernel->kernel.threads = kernel->threads;
    out.kernels.push_back({kernel->kernel, kernel->places, links.str()});
    return success();
  };
  for (auto pipeline : program.getOps<pipe::PipelineOp>()) {
    if (!mayRunOnGpu(pipeline) || !hasShapeForThreads(pipeline, symbols)) {
      continue;
    }
    if (failed(add(ThreadKernelEmitter(pipeline, symbols, *code).emit(), ""))) {
      return failure();
    }
    auto insert = dyn_cast<pipe::InsertOp>(pipeline.getBody().front().back());
    auto state = insert ? symbols.lookup<pipe::StateOp>(insert.getState()) : pipe::StateOp();
    bool linked = state && llvm::any_of(out.kernels, [&](const KernelDescription &known) {
                    return known.links == state.getSymName();
                  });
    if (state && state.getKind() == pipe::StateKind::Join && !linked &&
        failed(add(emitJoinLink(state, *code), state.getSymName()))) {
      return failure();
    }
  }
  if (out.kernels.empty()) {
    return out;
  }
  emitEntry(*code, emitDecodePages(*code), target);
  if (target == DeviceTarget::kPtx) {
    FailureOr<std::string> ptx = compilePtx(*code);
    if (failed(ptx)) {
      return failure();
    }
    out.bytes = std::move(*ptx);
    return out;
  }
  FailureOr<std::string> object = linkedEmulation(*code, program);
  if (failed(object)) {
    return failure();
  }
  out.bytes = std::move(*object);
  return out;
}

FailureOr<std::string> lowerToPtx(ModuleOp program) {
  loadDialects(program);
  FailureOr<DeviceKernels> kernels = emitDeviceKernels(program, DeviceTarget::kPtx);
  if (failed(kernels)) {
    return failure();
  }
  return compilePtx(*kernels->code);
}

FailureOr<std::vector<char>> lowerToEmulation(ModuleOp program) {
  loadDialects(program);
  FailureOr<DeviceKernels> kernels = emitDeviceKernels(program, DeviceTarget::kEmulation);
  if (failed(kernels)) {
    return failure();
  }
  FailureOr<std::string> object = linkedEmulation(*kernels->code, program);
  if (failed(object)) {
    return failure();
  }
  return std::vector<char>(object->begin(), object->end());
}

namespace {

llvm::json::Array names(const std::vector<std::string> &list) { return llvm::json::Array(list); }

llvm::json::Array describe(const std::vector<DeviceColumn> &columns) {
  llvm::json::Array out;
  for (const DeviceColumn &column : columns) {
    llvm::json::Object entry{{"name", column.name}, {"type", static_cast<int>(column.type)}};
    if (!column.file.empty()) {
      entry["file"] = column.file;
    }
    if (column.nullable) {
      entry["nullable"] = true;
    }
    out.push_back(std::move(entry));
  }
  return out;
}

llvm::json::Object describe(const DeviceKernel &kernel) {
  llvm::json::Array literals;
  for (const plan::Literal &literal : kernel.kernel.literals) {
    literals.push_back(llvm::json::Object{{"offset", literal.offset}, {"text", literal.text}});
  }
  llvm::json::Object out{{"symbol", kernel.kernel.symbol},
                         {"threads", kernel.threads},
                         {"supersteps", kernel.supersteps},
                         {"shared_bytes", kernel.sharedBytes},
                         {"literal_bytes", kernel.kernel.literalBytes},
                         {"literals", std::move(literals)},
                         {"states", names(kernel.states)},
                         {"columns", describe(kernel.columns)},
                         {"outputs", describe(kernel.outputs)}};
  for (auto [key, text] : {std::pair("table", &kernel.table), std::pair("reads", &kernel.reads),
                           std::pair("fills", &kernel.fills)}) {
    if (!text->empty()) {
      out[key] = *text;
    }
  }
  if (kernel.sharesRows) {
    out["shares_rows"] = true;
  }
  return out;
}

llvm::json::Object describe(const plan::State &state) {
  llvm::json::Array fields;
  for (const plan::StateField &field : state.fields) {
    llvm::json::Object entry{{"name", field.name},
                             {"type", static_cast<int>(field.type)},
                             {"offset", field.offset},
                             {"combine", plan::nameOf(field.combine)}};
    if (field.nullable) {
      entry["valid_offset"] = field.validOffset;
    }
    fields.push_back(std::move(entry));
  }
  llvm::json::Object out{{"name", state.name},
                         {"kind", plan::nameOf(state.kind)},
                         {"row_bytes", state.rowBytes},
                         {"fields", std::move(fields)},
                         {"identity", llvm::toHex(state.identity, /*LowerCase=*/true)}};
  if (state.directory == plan::Directory::kArray) {
    out["direct"] = llvm::json::Object{{"base", state.base}, {"extent", state.extent}};
  }
  return out;
}

} // namespace

FailureOr<std::string> deviceManifest(ModuleOp program) {
  loadDialects(program);
  FailureOr<DeviceKernels> kernels = emitDeviceKernels(program, DeviceTarget::kEmulation);
  if (failed(kernels)) {
    return failure();
  }
  llvm::json::Array kernelList, stateList;
  for (const DeviceKernel &kernel : kernels->kernels) {
    kernelList.push_back(describe(kernel));
  }
  for (auto state : program.getOps<pipe::StateOp>()) {
    stateList.push_back(describe(layoutState(state)));
  }
  llvm::json::Value manifest =
      llvm::json::Object{{"kernels", std::move(kernelList)}, {"states", std::move(stateList)}};
  return llvm::formatv("{0:2}\n", manifest).str();
}

} // namespace headrace::lower
