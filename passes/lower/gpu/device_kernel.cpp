// Phases, the stride loop, and the entries around the phases.
#include "passes/lower/gpu/device_kernel.h"

using namespace mlir;

namespace headrace::lower {

namespace {
constexpr uint32_t kBlocksPerMultiprocessor = 2;

std::string phaseName(StringRef kernel, unsigned number) {
  return (kernel + ".phase" + Twine(number)).str();
}

void callPhases(CodeBuilder &b, ModuleOp target, const DeviceKernel &kernel,
                llvm::function_ref<void(LLVM::LLVMFuncOp)> call,
                llvm::function_ref<void()> barrier) {
  for (unsigned phase = 0; phase < kernel.phases; ++phase) {
    if (phase) {
      barrier();
    }
    call(target.lookupSymbol<LLVM::LLVMFuncOp>(phaseName(kernel.kernel.symbol, phase)));
  }
  LLVM::ReturnOp::create(b, b.loc(), ValueRange());
}
} // namespace

LLVM::LLVMFuncOp makePhase(ModuleOp target, StringRef kernel, unsigned number, Location location) {
  OpBuilder builder = OpBuilder::atBlockEnd(target.getBody());
  Type pointer = LLVM::LLVMPointerType::get(target.getContext()), i32 = builder.getI32Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(target.getContext()),
                                          {pointer, pointer, pointer, i32, i32, i32, i32});
  auto function = LLVM::LLVMFuncOp::create(builder, location, phaseName(kernel, number), type,
                                           LLVM::Linkage::Internal);
  function.setAlwaysInline(true);
  function.addEntryBlock(builder);
  return function;
}

void strideLoop(CodeBuilder &b, Value count, llvm::function_ref<void(Value, Block *)> body) {
  Type i64 = b.getI64Type();
  auto argument = [&](PhaseArgument which) {
    return b.zeroExtend(b.function().getArgument(which), i64);
  };
  Value threads = argument(kThreads);
  Value first =
      b.add(arith::MulIOp::create(b, b.loc(), argument(kBlock), threads), argument(kThread));
  Value stride = arith::MulIOp::create(b, b.loc(), argument(kBlocks), threads);
  Value counter = b.slot(i64);
  b.store(first, counter);
  Block *header = b.newBlock(), *inside = b.newBlock(), *next = b.newBlock(), *done = b.newBlock();
  b.jump(header);
  b.enter(header);
  Value index = b.load(i64, counter);
  b.branch(b.compare(arith::CmpIPredicate::slt, index, count), inside, done);
  b.enter(inside);
  body(index, next);
  b.enter(next);
  b.store(b.add(index, stride), counter);
  b.jump(header);
  b.enter(done);
}

void emitEntry(ModuleOp target, const DeviceKernel &kernel, DeviceTarget device) {
  MLIRContext *context = target.getContext();
  OpBuilder outer = OpBuilder::atBlockEnd(target.getBody());
  Location location = UnknownLoc::get(context);
  Type i32 = outer.getI32Type(), pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> parameters{pointer, pointer};
  if (device == DeviceTarget::kEmulation) {
    parameters.append(3, i32);
  }
  auto function = LLVM::LLVMFuncOp::create(
      outer, location, kernel.kernel.symbol,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), parameters));
  function.addEntryBlock(outer);
  CodeBuilder b(function, location);
  Value args = function.getArgument(0), worker = function.getArgument(1);
  int64_t sharedBytes = std::max<int64_t>(16, kernel.sharedBytes);
  if (device == DeviceTarget::kEmulation) {
    Value shared = b.slot(b.getI8Type(), sharedBytes);
    Value block = function.getArgument(2), blocks = function.getArgument(3),
          threads = function.getArgument(4);
    callPhases(
        b, target, kernel,
        [&](LLVM::LLVMFuncOp phase) {
          b.forLoop(b.i64(0), b.zeroExtend(threads, b.getI64Type()), 1, [&](Value thread) {
            LLVM::CallOp::create(
                b, location, phase,
                ValueRange{args, worker, shared, b.truncate(thread, i32), threads, block, blocks});
          });
        },
        [] {});
    return;
  }
  function.setCConv(LLVM::cconv::CConv::PTX_Kernel);
  auto launchBound = [&](StringRef name, uint32_t value) {
    return ArrayAttr::get(context,
                          {outer.getStringAttr(name), outer.getStringAttr(std::to_string(value))});
  };
  // Without the second bound ptxas aims at five blocks and spills.
  function.setPassthroughAttr(
      ArrayAttr::get(context, {launchBound("nvvm.maxntid", kernel.threads),
                               launchBound("nvvm.minctasm", kBlocksPerMultiprocessor)}));
  constexpr unsigned kSharedSpace = 3;
  auto memory = LLVM::GlobalOp::create(
      outer, location, LLVM::LLVMArrayType::get(outer.getI8Type(), sharedBytes),
      /*isConstant=*/false, LLVM::Linkage::Internal, kernel.kernel.symbol + ".shared", Attribute(),
      /*alignment=*/16, kSharedSpace);
  {
    OpBuilder::InsertionGuard guard(outer);
    Block *initializer = outer.createBlock(&memory.getInitializerRegion());
    outer.setInsertionPointToEnd(initializer);
    LLVM::ReturnOp::create(outer, location,
                           LLVM::UndefOp::create(outer, location, memory.getType()).getResult());
  }
  Value shared = LLVM::AddressOfOp::create(b, location, memory);
  shared = LLVM::AddrSpaceCastOp::create(b, location, pointer, shared);
  auto special = [&](StringRef name) {
    return LLVM::CallIntrinsicOp::create(b, location, i32,
                                         b.getStringAttr("llvm.nvvm.read.ptx.sreg." + name.str()),
                                         ValueRange())
        .getResult(0);
  };
  Value thread = special("tid.x"), threads = special("ntid.x"), block = special("ctaid.x"),
        blocks = special("nctaid.x");
  callPhases(
      b, target, kernel,
      [&](LLVM::LLVMFuncOp phase) {
        LLVM::CallOp::create(b, location, phase,
                             ValueRange{args, worker, shared, thread, threads, block, blocks});
      },
      [&] {
        LLVM::CallIntrinsicOp::create(b, location,
                                      b.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.all"),
                                      ValueRange{b.i32(0)});
      });
}

} // namespace headrace::lower
