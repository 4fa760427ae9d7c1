// Supersteps, the stride loop, and the entries around the supersteps.
#include "passes/lower/gpu/device_kernel.h"

#include <cstddef>

using namespace mlir;

namespace headrace::lower {

namespace {
/// Of a multiprocessor at once, in whole blocks: a thread has 128 registers at most in blocks of
/// 256 threads, 96 in those of 128.
constexpr uint32_t kThreadsPerMultiprocessor = 640;

std::string superstepName(StringRef kernel, unsigned number) {
  return (kernel + ".superstep" + Twine(number)).str();
}

} // namespace

LLVM::LLVMFuncOp makeSuperstep(ModuleOp target, StringRef kernel, unsigned number,
                               Location location) {
  OpBuilder builder = OpBuilder::atBlockEnd(target.getBody());
  Type pointer = LLVM::LLVMPointerType::get(target.getContext()), i32 = builder.getI32Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(target.getContext()),
                                          {pointer, pointer, pointer, i32, i32, i32, i32});
  auto function = LLVM::LLVMFuncOp::create(builder, location, superstepName(kernel, number), type,
                                           LLVM::Linkage::Internal);
  function.setAlwaysInline(true);
  function.addEntryBlock(builder);
  return function;
}

void strideLoop(CodeBuilder &b, Value count, llvm::function_ref<void(Value, Block *)> body) {
  Type i64 = b.getI64Type();
  auto argument = [&](SuperstepArgument which) {
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

DeviceKernel emitDecodePages(ModuleOp target) {
  DeviceKernel kernel;
  kernel.kernel.symbol = HR_DECODE_PAGES;
  kernel.supersteps = 1;
  kernel.takesMorsels = false;
  Location location = UnknownLoc::get(target.getContext());
  CodeBuilder b(makeSuperstep(target, kernel.kernel.symbol, 0, location), location);
  auto argument = [&](SuperstepArgument which) { return b.function().getArgument(which); };
  b.callNamed("hr_device_decode_pages", Type(),
              {argument(kArgs), argument(kThread), argument(kThreads), argument(kBlock),
               argument(kBlocks)});
  LLVM::ReturnOp::create(b, b.loc(), ValueRange());
  return kernel;
}

namespace {

LLVM::LLVMFuncOp superstepOf(ModuleOp target, const DeviceKernel &kernel, unsigned number) {
  return target.lookupSymbol<LLVM::LLVMFuncOp>(superstepName(kernel.kernel.symbol, number));
}

LLVM::LLVMFuncOp makeEntry(ModuleOp target, const DeviceKernel &kernel, ArrayRef<Type> parameters) {
  OpBuilder outer = OpBuilder::atBlockEnd(target.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(target.getContext()), parameters);
  auto function = LLVM::LLVMFuncOp::create(outer, UnknownLoc::get(target.getContext()),
                                           kernel.kernel.symbol, type);
  function.addEntryBlock(outer);
  return function;
}

/// What a block of a launch works on.
struct MorselPart {
  Value args, block, blocks;
};

/// Blocks are dealt out to the launch's morsels; those that are left over return here.
MorselPart partOfBlock(CodeBuilder &b, const DeviceKernel &kernel, MorselPart all, Value device) {
  if (!kernel.takesMorsels) {
    return all;
  }
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Value one = b.i32(1);
  Value morsels = arith::MaxUIOp::create(
      b, b.loc(), b.loadField(i32, device, offsetof(HrDevice, morsels)), one);
  Value blocks = arith::DivUIOp::create(b, b.loc(), all.blocks, morsels);
  Value morsel = arith::DivUIOp::create(b, b.loc(), all.block,
                                        arith::MaxUIOp::create(b, b.loc(), blocks, one));
  Block *idle = b.newBlock(), *busy = b.newBlock();
  b.branch(b.compare(arith::CmpIPredicate::ult, morsel, morsels), busy, idle);
  b.enter(idle);
  LLVM::ReturnOp::create(b, b.loc(), ValueRange());
  b.enter(busy);
  Value bytes = b.zeroExtend(b.loadField(i32, device, offsetof(HrDevice, argsBytes)), i64);
  Value offset = arith::MulIOp::create(b, b.loc(), b.zeroExtend(morsel, i64), bytes);
  Value before = arith::MulIOp::create(b, b.loc(), morsel, blocks);
  return {b.element(all.args, offset, 1),
          Value(arith::SubIOp::create(b, b.loc(), all.block, before)), blocks};
}

/// HrEmulatedSuperstep of runtime/abi/device_kernel.h, and its HrEmulatedShape.
void emitEmulatedEntry(ModuleOp target, const DeviceKernel &kernel) {
  Builder types(target.getContext());
  Type pointer = LLVM::LLVMPointerType::get(target.getContext()), i32 = types.getI32Type(),
       i64 = types.getI64Type();
  LLVM::LLVMFuncOp function =
      makeEntry(target, kernel, {pointer, pointer, pointer, i32, i32, i32, i32, i32, i32});
  CodeBuilder b(function, function.getLoc());
  Value args = function.getArgument(0), device = function.getArgument(1),
        shared = function.getArgument(2), superstep = function.getArgument(3),
        block = function.getArgument(4), blocks = function.getArgument(5),
        threads = function.getArgument(8);
  Value first = b.zeroExtend(function.getArgument(6), i64),
        last = b.zeroExtend(function.getArgument(7), i64);
  MorselPart part = partOfBlock(b, kernel, {args, block, blocks}, device);
  for (unsigned number = 0; number < kernel.supersteps; ++number) {
    b.ifThen(b.compare(arith::CmpIPredicate::eq, superstep, b.i32(number)), [&] {
      b.forLoop(first, last, 1, [&](Value thread) {
        LLVM::CallOp::create(b, b.loc(), superstepOf(target, kernel, number),
                             ValueRange{part.args, device, shared, b.truncate(thread, i32), threads,
                                        part.block, part.blocks});
      });
    });
  }
  LLVM::ReturnOp::create(b, b.loc(), ValueRange());

  OpBuilder outer = OpBuilder::atBlockEnd(target.getBody());
  LLVM::GlobalOp::create(outer, b.loc(), LLVM::LLVMArrayType::get(i32, 3), /*isConstant=*/true,
                         LLVM::Linkage::External, kernel.kernel.symbol + ".shape",
                         outer.getI32TensorAttr({static_cast<int32_t>(kernel.supersteps),
                                                 static_cast<int32_t>(kernel.sharedBytes),
                                                 static_cast<int32_t>(kernel.threads)}));
}

void emitPtxEntry(ModuleOp target, const DeviceKernel &kernel) {
  MLIRContext *context = target.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  LLVM::LLVMFuncOp function = makeEntry(target, kernel, {pointer, pointer});
  CodeBuilder b(function, function.getLoc());
  function.setCConv(LLVM::cconv::CConv::PTX_Kernel);
  auto launchBound = [&](StringRef name, uint32_t value) {
    return ArrayAttr::get(context, {b.getStringAttr(name), b.getStringAttr(std::to_string(value))});
  };
  // Without the second bound ptxas aims at more threads and spills.
  function.setPassthroughAttr(ArrayAttr::get(
      context, {launchBound("nvvm.maxntid", kernel.threads),
                launchBound("nvvm.minctasm", kThreadsPerMultiprocessor / kernel.threads)}));

  constexpr unsigned kSharedSpace = 3;
  OpBuilder outer = OpBuilder::atBlockEnd(target.getBody());
  auto bytes =
      LLVM::LLVMArrayType::get(outer.getI8Type(), std::max<int64_t>(16, kernel.sharedBytes));
  auto memory = LLVM::GlobalOp::create(outer, b.loc(), bytes, /*isConstant=*/false,
                                       LLVM::Linkage::Internal, kernel.kernel.symbol + ".shared",
                                       Attribute(), /*alignment=*/16, kSharedSpace);
  outer.setInsertionPointToEnd(outer.createBlock(&memory.getInitializerRegion()));
  LLVM::ReturnOp::create(outer, b.loc(), LLVM::UndefOp::create(outer, b.loc(), bytes).getResult());

  Value shared = LLVM::AddressOfOp::create(b, b.loc(), memory);
  shared = LLVM::AddrSpaceCastOp::create(b, b.loc(), pointer, shared);
  auto special = [&](const char *name) {
    auto intrinsic = b.getStringAttr(StringRef("llvm.nvvm.read.ptx.sreg.").str() + name);
    return LLVM::CallIntrinsicOp::create(b, b.loc(), b.getI32Type(), intrinsic, ValueRange())
        .getResult(0);
  };
  Value thread = special("tid.x"), threads = special("ntid.x"), block = special("ctaid.x"),
        blocks = special("nctaid.x");
  MorselPart part =
      partOfBlock(b, kernel, {function.getArgument(0), block, blocks}, function.getArgument(1));
  for (unsigned number = 0; number < kernel.supersteps; ++number) {
    if (number) {
      LLVM::CallIntrinsicOp::create(b, b.loc(),
                                    b.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.all"),
                                    ValueRange{b.i32(0)});
    }
    LLVM::CallOp::create(b, b.loc(), superstepOf(target, kernel, number),
                         ValueRange{part.args, function.getArgument(1), shared, thread, threads,
                                    part.block, part.blocks});
  }
  LLVM::ReturnOp::create(b, b.loc(), ValueRange());
}

} // namespace

void emitEntry(ModuleOp target, const DeviceKernel &kernel, DeviceTarget device) {
  switch (device) {
  case DeviceTarget::kPtx:
    return emitPtxEntry(target, kernel);
  case DeviceTarget::kEmulation:
    return emitEmulatedEntry(target, kernel);
  }
}

} // namespace headrace::lower
