// Expression regions on known values: by demand, and for each element of a list.
#ifndef HEADRACE_PASSES_ANALYSIS_REGIONEVALUATION_H
#define HEADRACE_PASSES_ANALYSIS_REGIONEVALUATION_H

#include "passes/analysis/scalar_evaluation.h"

namespace headrace::analysis {

/// Purpose: the scalars of an expression region for some arguments, by demand: what only an untaken
/// branch of a `case` needs is not computed, so it cannot fail. Borrows all that it is given.
class RegionValues {
public:
  /// `outer` has scalars that are defined outside of the region; null: there are none.
  RegionValues(mlir::Region &region, llvm::ArrayRef<Scalar> arguments,
               llvm::function_ref<Evaluated(mlir::Value)> outer = nullptr)
      : region_(region), arguments_(arguments), outer_(outer) {}

  Evaluated of(mlir::Value value);

private:
  Evaluated compute(mlir::Operation *op);

  mlir::Region &region_;
  llvm::ArrayRef<Scalar> arguments_;
  llvm::function_ref<Evaluated(mlir::Value)> outer_;
  llvm::DenseMap<mlir::Value, Evaluated> known_;
};

/// The value of a scalar op of `frame` on its operands' values, of one with a region too; not of
/// `case`: see evaluateCase.
Evaluated evaluateAny(mlir::Operation *op, llvm::ArrayRef<Scalar> operands);

} // namespace headrace::analysis

#endif // HEADRACE_PASSES_ANALYSIS_REGIONEVALUATION_H
