// What a linalg.generic is as a kernel: its buffers, where its loops get their extents, and which
// loop the runtime cuts into morsels. Shared by `schedule`, which writes the task, and `lower`,
// which emits the code.
#pragma once

#include "dialects/interfaces/ShardingRule.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace headrace {

/// A tensor that a kernel reads or writes through a buffer.
struct TensorKernelBuffer {
  mlir::Value tensor; ///< inputs: the operand; outputs: the result
  mlir::AffineMap map;
  unsigned argument; ///< of the body's block
};

/// A block argument with the same value everywhere: a scalar operand, or an output filled before.
struct TensorKernelConstant {
  unsigned argument;
  mlir::TypedAttr value;
};

/// `extents[l]` is dimension `dimension` of buffer `buffer` (inputs, then outputs) for loop l.
struct TensorKernelExtent {
  unsigned buffer = 0;
  unsigned dimension = 0;
};

struct TensorKernelShape {
  llvm::SmallVector<TensorKernelBuffer> inputs;
  llvm::SmallVector<TensorKernelBuffer> outputs;
  llvm::SmallVector<TensorKernelConstant> constants;
  llvm::SmallVector<TensorKernelExtent> extents;
  /// The loop over HrMorsel.firstRow … + rows; none: the kernel is called once.
  std::optional<unsigned> rowLoop;
  /// How what morsels give is combined, where the loop is one of a reduction: each morsel then has
  /// an output of its own.
  ReductionKind combines = ReductionKind::kNone;

  const TensorKernelBuffer &buffer(unsigned index) const {
    return index < inputs.size() ? inputs[index] : outputs[index - inputs.size()];
  }
};

/// The symbol of the op's kernel, or empty if it is not to become one. `form` sets it.
llvm::StringRef tensorKernelSymbol(mlir::linalg::GenericOp op);
void setTensorKernelSymbol(mlir::linalg::GenericOp op, llvm::StringRef symbol);

/// Fails with a diagnostic on ops that no kernel is made of: element types other than f32, f64,
/// i64, maps that are not projected permutations (with constants), scalar operands that are not
/// constants.
mlir::FailureOr<TensorKernelShape> tensorKernelShape(mlir::linalg::GenericOp op);

/// The constant a tensor was filled with (linalg.fill), or null.
mlir::TypedAttr filledConstant(mlir::Value tensor);

} // namespace headrace
