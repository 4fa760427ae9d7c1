// Classifies the operands of a linalg.generic.
#include "passes/analysis/tensor_kernel.h"

#include "dialects/interfaces/DiagnosticKind.h"
#include "mlir/IR/Matchers.h"

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

std::optional<unsigned> chooseRowLoop(linalg::GenericOp op, const TensorKernelShape &shape) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (AffineExpr result : shape.outputs.front().map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim || iterators[dim.getPosition()] != utils::IteratorType::parallel) {
      continue;
    }
    bool everywhere = llvm::all_of(shape.outputs, [&](const TensorKernelBuffer &out) {
      return out.map.isFunctionOfDim(dim.getPosition());
    });
    if (everywhere) {
      return dim.getPosition();
    }
  }
  return std::nullopt;
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
  shape.rowLoop = chooseRowLoop(op, shape);
  return shape;
}

} // namespace headrace
