// arith and math on single elements, and regions of them (the bodies of linalg ops).
#pragma once

#include "mlir/IR/Block.h"
#include "passes/interpreter/value.h"

namespace headrace::interpreter {

/// The value of an op of arith or math on elements. Integers wrap around at the width of their
/// type; floats are rounded to their type after every op. Division of integers by zero is a data
/// error.
llvm::Expected<Element> evaluateElementOp(mlir::Operation *op, llvm::ArrayRef<Element> operands);

/// A block of such ops, to be run for many positions.
class ElementBody {
public:
  /// `outer` gives the values of what is defined outside of the block.
  static llvm::Expected<ElementBody>
  prepare(mlir::Block &block, llvm::function_ref<llvm::Expected<Element>(mlir::Value)> outer);

  /// The operands of the terminator for the block's arguments; `position` is what linalg.index
  /// gives.
  llvm::Expected<std::vector<Element>> run(llvm::ArrayRef<Element> arguments,
                                           llvm::ArrayRef<int64_t> position);

private:
  struct Step {
    mlir::Operation *op;
    llvm::SmallVector<unsigned, 3> operands; ///< slots
    unsigned result;                         ///< slot
  };
  std::vector<Element> slots_; ///< arguments first
  std::vector<Step> steps_;
  llvm::SmallVector<unsigned, 2> yielded_;
};

} // namespace headrace::interpreter
