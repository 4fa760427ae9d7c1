// One stride loop over all outputs in place of the nest of parallel loops.
#include "passes/lower/gpu/thread_tensor.h"

#include "passes/analysis/physical.h"

using namespace mlir;

namespace headrace::lower {

ThreadTensorEmitter::ThreadTensorEmitter(linalg::GenericOp op, ModuleOp target)
    : TensorKernelEmitter(op, makeSuperstep(target, tensorKernelSymbol(op), 0, op.getLoc())) {}

FailureOr<DeviceKernel> ThreadTensorEmitter::emit() {
  if (failed(prepare(/*inMorsels=*/false))) {
    return failure();
  }
  SmallVector<unsigned> parallel;
  for (unsigned loop = 0; loop < reduction_.size(); ++loop) {
    (isReduction(loop) ? reductions_ : parallel).push_back(loop);
  }
  Value count = b_.i64(1);
  SmallVector<std::pair<Value, Value>> ranges; // begin, extent
  for (unsigned loop : parallel) {
    auto [begin, end] = range(loop);
    Value extent = arith::SubIOp::create(b_, b_.loc(), end, begin);
    ranges.push_back({begin, extent});
    count = arith::MulIOp::create(b_, b_.loc(), count, extent);
  }
  strideLoop(b_, count, [&](Value index, Block *next) {
    for (unsigned position = parallel.size(); position-- > 0;) {
      auto [begin, extent] = ranges[position];
      Value offset = index;
      if (position > 0) {
        offset = arith::RemUIOp::create(b_, b_.loc(), index, extent);
        index = arith::DivUIOp::create(b_, b_.loc(), index, extent);
      }
      indices_[parallel[position]] = b_.add(begin, offset);
    }
    emitRow();
    b_.jump(next);
  });
  LLVM::ReturnOp::create(b_, b_.loc(), ValueRange());
  DeviceKernel kernel;
  kernel.kernel = kernel_;
  kernel.supersteps = 1;
  for (unsigned buffer = 0; buffer < shape_.inputs.size() + shape_.outputs.size(); ++buffer) {
    kernel.columns.push_back({buffer < shape_.inputs.size() ? "input" : "output", "",
                              physicalType(getElementTypeOrSelf(shape_.buffer(buffer).tensor)),
                              false});
  }
  return kernel;
}

} // namespace headrace::lower
