// The loop nest: prologue, choice of the widened loop, elementwise bodies and reductions.
#include "passes/lower/code/tensor_kernel.h"

#include "dialects/interfaces/DiagnosticKind.h"
#include "passes/lower/code/tensor_combiner.h"
#include "passes/lower/code/work_log.h"

#include "runtime/abi/kernel.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cstddef>

using namespace mlir;

namespace headrace::lower {

namespace {

LLVM::LLVMFuncOp makeKernelFunction(ModuleOp target, StringRef name, Location location) {
  OpBuilder builder = OpBuilder::atBlockEnd(target.getBody());
  Type pointer = LLVM::LLVMPointerType::get(target.getContext());
  auto type = LLVM::LLVMFunctionType::get(builder.getI32Type(), {pointer, pointer});
  auto function = LLVM::LLVMFuncOp::create(builder, location, name, type);
  function.addEntryBlock(builder);
  return function;
}

int64_t elementBytes(Type type) { return getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8; }

} // namespace

TensorKernelEmitter::TensorKernelEmitter(linalg::GenericOp op, ModuleOp target)
    : op_(op), b_(makeKernelFunction(target, tensorKernelSymbol(op), op.getLoc()), op.getLoc()) {}

TensorKernelEmitter::TensorKernelEmitter(linalg::GenericOp op, LLVM::LLVMFuncOp function)
    : op_(op), b_(function, op.getLoc()) {}

/// Everything before the loops.
LogicalResult TensorKernelEmitter::prepare(bool inMorsels) {
  FailureOr<TensorKernelShape> shape = tensorKernelShape(op_);
  if (failed(shape)) {
    return failure();
  }
  shape_ = *shape;
  if (!inMorsels) {
    shape_.rowLoop.reset();
  }
  if (failed(check())) {
    return failure();
  }
  kernel_.symbol = tensorKernelSymbol(op_).str();
  emitPrologue();
  flatten();
  return success();
}

FailureOr<plan::Kernel> TensorKernelEmitter::emit() {
  if (failed(prepare(/*inMorsels=*/true))) {
    return failure();
  }
  chooseVectorLoop();
  for (unsigned loop = 0; loop < reduction_.size(); ++loop) {
    if (loop != vectorLoop_) {
      (isReduction(loop) ? reductions_ : outer_).push_back(loop);
    }
  }
  emitLoops(outer_, [&] { emitRow(); });
  LLVM::ReturnOp::create(b_, b_.loc(), b_.i32(HR_DONE));
  WorkLog work;
  work.add(plan::WorkKind::kElement, 0, 1);
  // Reduced outputs side by side: every step goes to another row of the input.
  bool across = llvm::is_contained(reduction_, true) && !(vectorLoop_ && isReduction(*vectorLoop_));
  work.add(plan::WorkKind::kElementAcross, 0, across ? 1 : 0);
  for (Operation &op : op_.getBody()->without_terminator()) {
    if (!op.hasTrait<OpTrait::ConstantLike>()) {
      work.add(isa<math::MathDialect>(op.getDialect()) ? plan::WorkKind::kElementMath
                                                       : plan::WorkKind::kElementOp,
               0, 1);
    }
  }
  kernel_.work = work.take();
  return kernel_;
}

/// Ops that widen one to one and that the code generator has instructions for.
LogicalResult TensorKernelEmitter::check() {
  for (Operation &op : op_.getBody()->without_terminator()) {
    bool constant = op.hasTrait<OpTrait::ConstantLike>();
    bool widens =
        isa<arith::ArithDialect>(op.getDialect()) && OpTrait::hasElementwiseMappableTraits(&op);
    bool known =
        isa<math::ExpOp, math::TanhOp, math::SqrtOp, math::AbsFOp, math::AbsIOp, math::CopySignOp>(
            op);
    bool traps = isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::RemFOp,
                     arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
    if (!constant && (!(widens || known) || traps)) {
      return unsupported(op.emitError("kernels have no code for: ")) << op.getName();
    }
    for (Value operand : op.getOperands()) {
      Operation *source = operand.getDefiningOp();
      bool inside = operand.getParentBlock() == op_.getBody();
      if (!inside && !(source && source->hasTrait<OpTrait::ConstantLike>())) {
        return unsupported(
            op.emitError("a kernel's body uses a value from outside that is not a constant"));
      }
    }
  }
  return success();
}

/// Pointers and extents; strides of the row-major buffers.
void TensorKernelEmitter::emitPrologue() {
  Value args = b_.function().getArgument(0);
  Type pointer = b_.ptrType(), i64 = b_.getI64Type();
  Value morsel = b_.loadField(pointer, args, offsetof(HrArgs, morsel));
  Value literals = b_.loadField(pointer, args, offsetof(HrArgs, literals));
  Value columns = b_.loadField(pointer, morsel, offsetof(HrMorsel, columns));
  firstRow_ = b_.loadField(i64, morsel, offsetof(HrMorsel, firstRow));
  rows_ = b_.zeroExtend(b_.loadField(b_.getI32Type(), morsel, offsetof(HrMorsel, rows)), i64);
  SmallVector<SmallVector<Value>> bufferExtents;
  int64_t offset = 0;
  for (unsigned buffer = 0; buffer < shape_.inputs.size() + shape_.outputs.size(); ++buffer) {
    Value segments =
        b_.loadField(pointer, columns, buffer * sizeof(HrColumn) + offsetof(HrColumn, segments));
    pointers_.push_back(b_.loadField(pointer, segments, offsetof(HrSegment, data)));
    unsigned rank = shape_.buffer(buffer).map.getNumResults();
    auto &extents = bufferExtents.emplace_back();
    for (unsigned dimension = 0; dimension < rank; ++dimension, offset += 8) {
      extents.push_back(b_.loadField(i64, literals, offset));
    }
    auto &strides = strides_.emplace_back(rank);
    Value stride = b_.i64(1);
    for (unsigned dimension = rank; dimension-- > 0;) {
      strides[dimension] = stride;
      stride = arith::MulIOp::create(b_, b_.loc(), stride, extents[dimension]);
    }
  }
  for (auto [loop, kind] : llvm::enumerate(op_.getIteratorTypesArray())) {
    const TensorKernelExtent &from = shape_.extents[loop];
    extents_.push_back(bufferExtents[from.buffer][from.dimension]);
    reduction_.push_back(kind == utils::IteratorType::reduction);
  }
  indices_.resize(extents_.size());
}

/// Elementwise on equal shapes: one loop from that over the rows on, however short the last
/// dimension is.
void TensorKernelEmitter::flatten() {
  unsigned buffers = shape_.inputs.size() + shape_.outputs.size();
  bool same = extents_.size() > 1 && !llvm::is_contained(reduction_, true);
  for (unsigned buffer = 0; buffer < buffers; ++buffer) {
    same &= shape_.buffer(buffer).map.isIdentity();
  }
  if (!same) {
    return;
  }
  flat_ = true;
  unsigned line = shape_.rowLoop.value_or(0), loops = line + 1;
  Value rowElements = strides_.front()[line];
  for (Value *count : {&firstRow_, &rows_, &extents_[line]}) {
    *count = arith::MulIOp::create(b_, b_.loc(), *count, rowElements);
  }
  AffineMap map = AffineMap::getMultiDimIdentityMap(loops, op_.getContext());
  for (auto *list : {&shape_.inputs, &shape_.outputs}) {
    for (TensorKernelBuffer &buffer : *list) {
      buffer.map = map;
    }
  }
  for (SmallVector<Value> &strides : strides_) {
    strides.truncate(loops);
    strides.back() = b_.i64(1);
  }
  extents_.truncate(loops);
  reduction_.truncate(loops);
  indices_.resize(loops);
}

TensorKernelEmitter::Access TensorKernelEmitter::access(unsigned buffer) {
  AffineMap map = shape_.buffer(buffer).map;
  if (!vectorLoop_ || !map.isFunctionOfDim(*vectorLoop_)) {
    return Access::kUniform;
  }
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  return last && last.getPosition() == *vectorLoop_ ? Access::kContiguous : Access::kStrided;
}

/// The loop with the fewest strided accesses (stores count twice), then the most contiguous ones,
/// then the inner.
void TensorKernelEmitter::chooseVectorLoop() {
  bool combines = llvm::all_of(llvm::enumerate(shape_.outputs), [&](auto output) {
    return findCombiner(op_, output.index()).has_value();
  });
  std::optional<unsigned> best;
  std::pair<int, int> bestScore;
  for (unsigned loop = 0; loop < extents_.size(); ++loop) {
    if (isReduction(loop) && !combines) {
      continue;
    }
    vectorLoop_ = loop;
    std::pair<int, int> score{0, 0};
    for (unsigned buffer = 0; buffer < shape_.inputs.size() + shape_.outputs.size(); ++buffer) {
      int weight = buffer < shape_.inputs.size() ? 1 : 2;
      Access how = access(buffer);
      score.first += how == Access::kStrided ? weight : 0;
      score.second -= how == Access::kContiguous ? weight : 0;
    }
    if (!best || score <= bestScore) {
      best = loop;
      bestScore = score;
    }
  }
  vectorLoop_ = best;
}

/// Two to four registers in flight hide latencies; long bodies need the registers themselves.
unsigned TensorKernelEmitter::chooseWidth() {
  int64_t bytes = 8;
  for (unsigned buffer = 0; buffer < shape_.inputs.size() + shape_.outputs.size(); ++buffer) {
    bytes = std::max(buffer == 0 ? 0 : bytes, elementBytes(shape_.buffer(buffer).tensor.getType()));
  }
  bool heavy = llvm::any_of(op_.getBody()->without_terminator(), [](Operation &op) {
    return isa<math::ExpOp, math::TanhOp, math::SqrtOp, arith::DivFOp>(op);
  });
  unsigned width = (heavy ? 64 : 128) / bytes;
  const TensorKernelExtent &from = shape_.extents[*vectorLoop_];
  auto type = cast<RankedTensorType>(shape_.buffer(from.buffer).tensor.getType());
  int64_t extent = type.getDimSize(from.dimension);
  for (int64_t inner : type.getShape().drop_front(from.dimension + 1)) {
    bool unknown = ShapedType::isDynamic(extent) || ShapedType::isDynamic(inner);
    extent = !flat_ ? extent : unknown ? ShapedType::kDynamic : extent * inner;
  }
  while (!ShapedType::isDynamic(extent) && width > 1 && width > extent) {
    width /= 2;
  }
  return width;
}

std::pair<Value, Value> TensorKernelEmitter::range(unsigned loop) {
  if (loop == shape_.rowLoop) {
    return {firstRow_, b_.add(firstRow_, rows_)};
  }
  return {b_.i64(0), extents_[loop]};
}

void TensorKernelEmitter::emitLoops(ArrayRef<unsigned> loops, llvm::function_ref<void()> body) {
  if (loops.empty()) {
    body();
    return;
  }
  auto [begin, end] = range(loops.front());
  b_.forLoop(begin, end, 1, [&](Value index) {
    indices_[loops.front()] = index;
    emitLoops(loops.drop_front(), body);
  });
}

void TensorKernelEmitter::emitVectorLoop(llvm::function_ref<void(unsigned)> body) {
  unsigned width = chooseWidth();
  auto [begin, end] = range(*vectorLoop_);
  if (width > 1) {
    Value count = arith::SubIOp::create(b_, b_.loc(), end, begin);
    Value whole = arith::AndIOp::create(b_, b_.loc(), count, b_.i64(-static_cast<int64_t>(width)));
    Value middle = b_.add(begin, whole);
    b_.forLoop(begin, middle, width, [&](Value index) {
      indices_[*vectorLoop_] = index;
      body(width);
    });
    begin = middle;
  }
  b_.forLoop(begin, end, 1, [&](Value index) {
    indices_[*vectorLoop_] = index;
    body(1);
  });
}

void TensorKernelEmitter::emitRow() {
  fixed_.clear();
  for (unsigned buffer = 0; buffer < shape_.inputs.size(); ++buffer) {
    bool moves = llvm::any_of(reductions_, [&](unsigned loop) {
      return shape_.inputs[buffer].map.isFunctionOfDim(loop);
    });
    if (!moves && access(buffer) == Access::kUniform) {
      fixed_[buffer] = loadElements(buffer, 1);
    }
  }
  auto emitOutputs = [&](unsigned width) {
    if (llvm::is_contained(reduction_, true)) {
      emitReducedElements(width);
    } else {
      emitElements(width);
    }
  };
  if (!vectorLoop_) {
    emitOutputs(1);
  } else if (isReduction(*vectorLoop_)) {
    emitHorizontalReduction();
  } else {
    emitVectorLoop(emitOutputs);
  }
}

void TensorKernelEmitter::emitElements(unsigned width) {
  SmallVector<Value> initials;
  for (unsigned output = 0; output < shape_.outputs.size(); ++output) {
    initials.push_back(initial(output, width));
  }
  for (auto [output, value] : llvm::enumerate(evaluate(width, initials))) {
    storeElements(output, value, width);
  }
}

void TensorKernelEmitter::emitReducedElements(unsigned width) {
  SmallVector<Value> slots;
  SmallVector<Type> types;
  for (unsigned output = 0; output < shape_.outputs.size(); ++output) {
    Value first = widen(initial(output, width), width);
    types.push_back(first.getType());
    slots.push_back(b_.slot(first.getType()));
    b_.store(first, slots.back());
  }
  emitLoops(reductions_, [&] {
    SmallVector<Value> accumulators;
    for (auto [type, slot] : llvm::zip(types, slots)) {
      accumulators.push_back(b_.load(type, slot));
    }
    for (auto [slot, value] : llvm::zip(slots, evaluate(width, accumulators))) {
      b_.store(widen(value, width), slot);
    }
  });
  for (unsigned output = 0; output < slots.size(); ++output) {
    storeElements(output, b_.load(types[output], slots[output]), width);
  }
}

void TensorKernelEmitter::emitHorizontalReduction() {
  unsigned width = chooseWidth();
  SmallVector<Combiner> combiners;
  SmallVector<Value> wide, narrow;
  SmallVector<Type> elements;
  for (unsigned output = 0; output < shape_.outputs.size(); ++output) {
    combiners.push_back(*findCombiner(op_, output));
    elements.push_back(getElementTypeOrSelf(shape_.outputs[output].tensor.getType()));
    narrow.push_back(b_.slot(elements.back()));
    b_.store(initial(output, 1), narrow.back());
    if (width > 1) {
      Value identity = arith::ConstantOp::create(b_, b_.loc(), combiners.back().identity);
      wide.push_back(b_.slot(VectorType::get({width}, elements.back())));
      b_.store(widen(identity, width), wide.back());
    }
  }
  emitLoops(reductions_, [&] {
    emitVectorLoop([&](unsigned lanes) {
      ArrayRef<Value> slots = lanes > 1 ? wide : narrow;
      SmallVector<Value> accumulators;
      for (auto [element, slot] : llvm::zip(elements, slots)) {
        Type type = lanes > 1 ? Type(VectorType::get({lanes}, element)) : element;
        accumulators.push_back(b_.load(type, slot));
      }
      for (auto [slot, value] : llvm::zip(slots, evaluate(lanes, accumulators))) {
        b_.store(widen(value, lanes), slot);
      }
    });
  });
  for (unsigned output = 0; output < narrow.size(); ++output) {
    Value result = b_.load(elements[output], narrow[output]);
    if (width > 1) {
      Value lanes = b_.load(VectorType::get({width}, elements[output]), wide[output]);
      result = combiners[output].reduceLanes(b_, lanes, result);
    }
    storeElements(output, result, 1);
  }
}

Value TensorKernelEmitter::address(unsigned buffer) {
  const TensorKernelBuffer &of = shape_.buffer(buffer);
  Value position = b_.i64(0);
  for (auto [dimension, result] : llvm::enumerate(of.map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    Value index =
        dim ? indices_[dim.getPosition()] : b_.i64(cast<AffineConstantExpr>(result).getValue());
    Value offset = arith::MulIOp::create(b_, b_.loc(), index, stride(buffer, dimension));
    position = b_.add(position, offset);
  }
  return b_.element(pointers_[buffer], position, elementBytes(of.tensor.getType()));
}

Value TensorKernelEmitter::loadElements(unsigned buffer, unsigned width) {
  Type element = getElementTypeOrSelf(shape_.buffer(buffer).tensor.getType());
  Value first = address(buffer);
  Access how = access(buffer);
  if (width == 1 || how == Access::kUniform) {
    return b_.load(element, first);
  }
  auto type = VectorType::get({width}, element);
  if (how == Access::kContiguous) {
    return LLVM::LoadOp::create(b_, b_.loc(), type, first, elementBytes(element));
  }
  Value result = arith::ConstantOp::create(b_, b_.loc(), b_.getZeroAttr(type));
  auto map = shape_.buffer(buffer).map;
  unsigned dimension = *map.getResultPosition(b_.getAffineDimExpr(*vectorLoop_));
  for (unsigned lane = 0; lane < width; ++lane) {
    Value offset = arith::MulIOp::create(b_, b_.loc(), b_.i64(lane), stride(buffer, dimension));
    Value value = b_.load(element, b_.element(first, offset, elementBytes(element)));
    result = vector::InsertOp::create(b_, b_.loc(), value, result, static_cast<int64_t>(lane));
  }
  return result;
}

void TensorKernelEmitter::storeElements(unsigned output, Value value, unsigned width) {
  unsigned buffer = shape_.inputs.size() + output;
  Type element = getElementTypeOrSelf(shape_.outputs[output].tensor.getType());
  Value first = address(buffer);
  if (width == 1) {
    b_.store(value, first);
    return;
  }
  value = widen(value, width);
  if (access(buffer) == Access::kContiguous) {
    LLVM::StoreOp::create(b_, b_.loc(), value, first, elementBytes(element));
    return;
  }
  unsigned dimension =
      *shape_.outputs[output].map.getResultPosition(b_.getAffineDimExpr(*vectorLoop_));
  for (unsigned lane = 0; lane < width; ++lane) {
    Value offset = arith::MulIOp::create(b_, b_.loc(), b_.i64(lane), stride(buffer, dimension));
    Value scalar = vector::ExtractOp::create(b_, b_.loc(), value, static_cast<int64_t>(lane));
    b_.store(scalar, b_.element(first, offset, elementBytes(element)));
  }
}

Value TensorKernelEmitter::widen(Value value, unsigned width) {
  if (width == 1 || isa<VectorType>(value.getType())) {
    return value;
  }
  return vector::BroadcastOp::create(b_, b_.loc(), VectorType::get({width}, value.getType()),
                                     value);
}

/// What an output's block argument stands for before the first iteration.
Value TensorKernelEmitter::initial(unsigned output, unsigned width) {
  unsigned argument = shape_.outputs[output].argument;
  for (const TensorKernelConstant &constant : shape_.constants) {
    if (constant.argument == argument) {
      return arith::ConstantOp::create(b_, b_.loc(), constant.value);
    }
  }
  for (unsigned buffer = 0; buffer < shape_.inputs.size(); ++buffer) {
    if (shape_.inputs[buffer].argument == argument) {
      return loadElements(buffer, width);
    }
  }
  Type element = getElementTypeOrSelf(shape_.outputs[output].tensor.getType()); // not read
  return arith::ConstantOp::create(b_, b_.loc(), cast<TypedAttr>(b_.getZeroAttr(element)));
}

} // namespace headrace::lower
