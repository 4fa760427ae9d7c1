// TensorKernelEmitter: one fused linalg.generic to one function of the kernel ABI, as a loop nest
// on raw pointers.
#pragma once

#include "passes/analysis/tensor_kernel.h"
#include "passes/lower/code/code_builder.h"

#include "model/plan/plan.h"

namespace headrace::lower {

/// Emits the function; how a task calls it stands beside TaskKind::kCompute in plan.h.
///
/// Loops: the parallel ones in order, then the reductions. The innermost loop is widened: W
/// elements at once, then one by one. Which loop that is follows from the strides
/// (chooseVectorLoop):
///
///   - elementwise, or a reduction along rows' outer dimensions: W outputs side by side,
///     accumulators in registers
///   - a reduction along contiguous elements: W partial accumulators, combined at the end
class TensorKernelEmitter {
public:
  TensorKernelEmitter(mlir::linalg::GenericOp op, mlir::ModuleOp target);

  /// Diagnostics on ops that kernels do not know.
  mlir::FailureOr<plan::Kernel> emit();

protected:
  /// For another skeleton around the same bodies: emits into a function whose first argument is the
  /// HrArgs.
  TensorKernelEmitter(mlir::linalg::GenericOp op, mlir::LLVM::LLVMFuncOp function);
  /// `inMorsels`: the loop over rows has those of the morsel, not all.
  mlir::LogicalResult prepare(bool inMorsels);

  /// Values of the loops so far; null inside a loop that is not open.
  using Indices = llvm::SmallVector<mlir::Value>;

  mlir::LogicalResult check();
  void emitPrologue();
  void flatten();
  void chooseVectorLoop();
  unsigned chooseWidth();
  bool isReduction(unsigned loop) const { return reduction_[loop]; }

  std::pair<mlir::Value, mlir::Value> range(unsigned loop);
  void emitLoops(llvm::ArrayRef<unsigned> loops, llvm::function_ref<void()> body);
  void emitVectorLoop(llvm::function_ref<void(unsigned)> body);
  void emitRow();
  void emitElements(unsigned width);
  void emitReducedElements(unsigned width);
  void emitHorizontalReduction();

  mlir::Value address(unsigned buffer);
  mlir::Value stride(unsigned buffer, unsigned dimension) { return strides_[buffer][dimension]; }
  /// How a buffer moves when the vector loop advances.
  enum class Access { kUniform, kContiguous, kStrided };
  Access access(unsigned buffer);
  mlir::Value loadElements(unsigned buffer, unsigned width);
  void storeElements(unsigned output, mlir::Value value, unsigned width);
  mlir::Value widen(mlir::Value value, unsigned width);
  mlir::Value initial(unsigned output, unsigned width);
  /// The yielded values; `accumulators` stand for the outputs' block arguments (null: not read).
  llvm::SmallVector<mlir::Value> evaluate(unsigned width, llvm::ArrayRef<mlir::Value> accumulators);

  mlir::linalg::GenericOp op_;
  TensorKernelShape shape_;
  CodeBuilder b_;
  plan::Kernel kernel_;
  mlir::Value firstRow_, rows_;
  llvm::SmallVector<mlir::Value> pointers_; ///< per buffer
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
      strides_;                            ///< per buffer and dimension, in elements
  llvm::SmallVector<mlir::Value> extents_; ///< per loop
  llvm::SmallVector<bool> reduction_;      ///< per loop
  llvm::SmallVector<unsigned> outer_;      ///< parallel loops around the vector loop
  llvm::SmallVector<unsigned> reductions_; ///< reduction loops other than the vector loop
  std::optional<unsigned> vectorLoop_;
  bool flat_ = false; ///< the last loop is over all dimensions from its own on
  Indices indices_;
  llvm::DenseMap<unsigned, mlir::Value>
      fixed_; ///< input buffers whose element is the same all along the row
};

} // namespace headrace::lower
