// The body of a linalg.generic on one element or on W of them: cloned op by op, widened where an
// operand is.
#include "passes/lower/code/tensor_kernel.h"

#include "passes/lower/code/saturate.h"
#include "passes/lower/code/vector_math.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace headrace::lower {

SmallVector<Value> TensorKernelEmitter::evaluate(unsigned width, ArrayRef<Value> accumulators) {
  IRMapping mapping;
  Block *body = op_.getBody();
  for (const TensorKernelConstant &constant : shape_.constants) {
    mapping.map(body->getArgument(constant.argument),
                arith::ConstantOp::create(b_, b_.loc(), constant.value).getResult());
  }
  for (unsigned buffer = 0; buffer < shape_.inputs.size(); ++buffer) {
    auto fixed = fixed_.find(buffer);
    bool read = !body->getArgument(shape_.inputs[buffer].argument).use_empty();
    if (read && shape_.inputs[buffer].argument < op_.getNumDpsInputs()) {
      mapping.map(body->getArgument(shape_.inputs[buffer].argument),
                  fixed != fixed_.end() ? fixed->second : loadElements(buffer, width));
    }
  }
  for (auto [output, accumulator] : llvm::zip(shape_.outputs, accumulators)) {
    mapping.map(body->getArgument(output.argument), accumulator);
  }
  // Values from outside the body are constants (check()).
  auto valueOf = [&](Value original) -> Value {
    if (!mapping.contains(original)) {
      Operation *constant = b_.clone(*original.getDefiningOp());
      mapping.map(original, constant->getResult(0));
    }
    return mapping.lookup(original);
  };
  Location outer = b_.loc();
  for (Operation &op : body->without_terminator()) {
    b_.setLoc(op.getLoc());
    SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), valueOf);
    bool wide =
        llvm::any_of(operands, [](Value value) { return isa<VectorType>(value.getType()); });
    if (wide) {
      for (Value &value : operands) {
        value = widen(value, width);
      }
    }
    if (isa<math::ExpOp, math::TanhOp>(op)) {
      bool isExp = isa<math::ExpOp>(op);
      mapping.map(op.getResult(0), isExp ? emitExp(b_, operands[0]) : emitTanh(b_, operands[0]));
      continue;
    }
    if (auto convert = dyn_cast<arith::FPToSIOp>(op)) {
      Type type = convert.getType();
      mapping.map(convert, emitSaturated(b_, operands[0],
                                         wide ? Type(VectorType::get({width}, type)) : type));
      continue;
    }
    IRMapping local;
    for (auto [original, value] : llvm::zip(op.getOperands(), operands)) {
      local.map(original, value);
    }
    Operation *clone = b_.clone(op, local);
    for (auto [original, result] : llvm::zip(op.getResults(), clone->getResults())) {
      if (wide) {
        result.setType(VectorType::get({width}, original.getType()));
      }
      mapping.map(original, result);
    }
  }
  b_.setLoc(outer);
  return llvm::map_to_vector(body->getTerminator()->getOperands(), valueOf);
}

} // namespace headrace::lower
