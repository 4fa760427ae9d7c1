// Classifies the operands of a linalg.generic.
#include "passes/analysis/tensor_kernel.h"

#include "dialects/interfaces/DiagnosticKind.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;

namespace headrace {

namespace {

bool isElement(Type type) { return type.isF32() || type.isF64() || type.isInteger(64); }

TypedAttr constantOf(Value value) {
  Attribute attribute;
  return matchPattern(value, m_Constant(&attribute)) ? dyn_cast<TypedAttr>(attribute) : TypedAttr();
}

LogicalResult checkMap(linalg::GenericOp op, AffineMap map) {
  llvm::SmallDenseSet<unsigned> seen;
  for (AffineExpr result : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(result)) {
      if (!seen.insert(dim.getPosition()).second) {
        return unsupported(op.emitError("reads a diagonal, which no kernel does; indexing map: "))
               << AffineMapAttr::get(map);
      }
    } else if (!isa<AffineConstantExpr>(result)) {
      return unsupported(op.emitError(
                 "indexes by more than one loop, which no kernel does; indexing map: "))
             << AffineMapAttr::get(map);
    }
  }
  return success();
}

// Of a loop with so many steps all workers get some, and of outputs of at most so many elements one
// for each morsel costs little.
constexpr int64_t kSteps = 32;
constexpr int64_t kOwnOutput = 1 << 16;

/// Steps of a loop; what only the run knows is many.
int64_t stepsOf(const TensorKernelShape &shape, unsigned loop) {
  const TensorKernelExtent &from = shape.extents[loop];
  auto type = cast<RankedTensorType>(shape.buffer(from.buffer).tensor.getType());
  return type.isDynamicDim(from.dimension) ? std::numeric_limits<int64_t>::max()
                                           : type.getDimSize(from.dimension);
}

/// Whether every output has an element for each step of the loop.
bool isOfOutputs(const TensorKernelShape &shape, unsigned loop) {
  return llvm::all_of(shape.outputs,
                      [&](const TensorKernelBuffer &out) { return out.map.isFunctionOfDim(loop); });
}

/// The reduction by which outputs of parts of it can be combined: each starts from its neutral
/// element, and there are few elements. kNone if it cannot be divided.
ReductionKind dividedReduction(linalg::GenericOp op, const TensorKernelShape &shape) {
  std::optional<ShardingRule> rule = tensorShardingRule(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t elements = 1;
  for (int64_t extent : type.getShape()) {
    elements *= ShapedType::isDynamic(extent) ? 1 : extent;
  }
  bool keepsNaN = op.getBody()->getOps<arith::MaxNumFOp>().empty() &&
                  op.getBody()->getOps<arith::MinNumFOp>().empty();
  auto fill = op.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  if (shape.outputs.size() != 1 || elements > kOwnOutput || !keepsNaN || !fill || !rule ||
      rule->reduction == ReductionKind::kProduct) {
    return ReductionKind::kNone;
  }
  std::optional<ShardingRule> start = tensorShardingRule(fill);
  bool neutral = start && llvm::is_contained(start->neutralFor, rule->reduction);
  return neutral ? rule->reduction : ReductionKind::kNone;
}

/// The outermost loop over an input, or over the output of an op without reductions, that has many
/// steps: a morsel then reads and writes what lies together. Else of those of the outputs the one
/// with the most.
void chooseRowLoop(linalg::GenericOp op, TensorKernelShape &shape) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  bool reduces = llvm::is_contained(iterators, utils::IteratorType::reduction);
  ReductionKind reduction = reduces ? dividedReduction(op, shape) : ReductionKind::kNone;
  const TensorKernelBuffer *along = &shape.outputs.front();
  for (const TensorKernelBuffer &input : shape.inputs) {
    if (reduces && input.map.getNumResults() > along->map.getNumResults()) {
      along = &input;
    }
  }
  for (AffineExpr result : along->map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim) {
      continue;
    }
    unsigned loop = dim.getPosition();
    bool parallel = isOfOutputs(shape, loop);
    if (!parallel &&
        (reduction == ReductionKind::kNone || iterators[loop] != utils::IteratorType::reduction)) {
      continue;
    }
    if (stepsOf(shape, loop) >= kSteps) {
      shape.rowLoop = loop;
      shape.combines = parallel ? ReductionKind::kNone : reduction;
      return;
    }
    if (parallel && (!shape.rowLoop || stepsOf(shape, loop) > stepsOf(shape, *shape.rowLoop))) {
      shape.rowLoop = loop;
    }
  }
}

} // namespace

StringRef tensorKernelSymbol(linalg::GenericOp op) {
  return op.getLibraryCall().value_or(StringRef());
}

void setTensorKernelSymbol(linalg::GenericOp op, StringRef symbol) { op.setLibraryCall(symbol); }

TypedAttr filledConstant(Value tensor) {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  return fill ? constantOf(fill.getInputs().front()) : TypedAttr();
}

FailureOr<TensorKernelShape> tensorKernelShape(linalg::GenericOp op) {
  TensorKernelShape shape;
  if (!op.hasPureTensorSemantics()) {
    return unsupported(op.emitError("works on memory, kernels are made of ops on tensors"));
  }
  if (!op.getBody()->getOps<linalg::IndexOp>().empty()) {
    return unsupported(op.emitError("uses linalg.index, which no kernel has yet"));
  }
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned argument = operand.getOperandNumber();
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (failed(checkMap(op, map))) {
      return failure();
    }
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!isElement(getElementTypeOrSelf(operand.get().getType()))) {
      return unsupported(op.emitError("kernels take elements of f32, f64 and i64, got: "))
             << operand.get().getType();
    }
    if (op.isDpsInput(&operand)) {
      if (type) {
        shape.inputs.push_back({operand.get(), map, argument});
        continue;
      }
      TypedAttr value = constantOf(operand.get());
      if (!value) {
        return unsupported(op.emitError("a scalar operand of a kernel must be a constant"));
      }
      shape.constants.push_back({argument, value});
    } else if (op.payloadUsesValueFromOperand(&operand)) {
      if (TypedAttr value = filledConstant(operand.get())) {
        shape.constants.push_back({argument, value});
      } else {
        shape.inputs.push_back({operand.get(), map, argument});
      }
    }
  }
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    OpOperand *init = op.getDpsInitOperand(index);
    shape.outputs.push_back({result, op.getMatchingIndexingMap(init), init->getOperandNumber()});
  }
  shape.extents.resize(op.getNumLoops()); // linalg's verifier finds a tensor for each of them
  SmallVector<bool> known(op.getNumLoops(), false);
  unsigned buffers = shape.inputs.size() + shape.outputs.size();
  for (unsigned buffer = 0; buffer < buffers; ++buffer) {
    for (auto [dimension, result] : llvm::enumerate(shape.buffer(buffer).map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(result);
      if (dim && !known[dim.getPosition()]) {
        known[dim.getPosition()] = true;
        shape.extents[dim.getPosition()] = {buffer, static_cast<unsigned>(dimension)};
      }
    }
  }
  chooseRowLoop(op, shape);
  return shape;
}

} // namespace headrace
