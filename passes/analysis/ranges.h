// Value ranges: a closed interval for every integer, decimal, date and boolean column and
// expression, from the statistics at the scans. Ranges are certain, never estimates: data outside
// them is refused by storage.
#ifndef HEADRACE_PASSES_ANALYSIS_RANGES_H
#define HEADRACE_PASSES_ANALYSIS_RANGES_H

#include "passes/analysis/cardinality.h"
#include "passes/analysis/value_range.h"

namespace headrace::analysis {

/// Ranges of table columns and of scalars inside expression regions, computed on demand and kept.
/// Invalid once the IR below a value that it was asked about has changed. Not thread-safe.
class RangeAnalysis {
public:
  RangeAnalysis() = default;
  explicit RangeAnalysis(mlir::Operation *op) {}

  /// The range of a column of a table value; nothing for floats and strings.
  std::optional<Range> rangeOf(mlir::Value table, llvm::StringRef column);
  /// The range of a scalar inside an expression region (a block argument or an op's result), or of
  /// a scalar subquery's result.
  std::optional<Range> rangeOf(mlir::Value scalar);
  /// More rows than this the table cannot have; +inf if not known.
  double rowsMax(mlir::Value table) { return cardinality_.rowsOf(table).max; }
  /// The rows' estimates that the ranges of sums rest on.
  CardinalityAnalysis &cardinality() { return cardinality_; }

private:
  using Ranges = llvm::SmallVector<std::optional<Range>>;
  const Ranges &columnsOf(mlir::Value table);
  Ranges compute(mlir::Operation *op);
  Ranges compute(frame::RelationalOpInterface op);
  Ranges passedRanges(frame::RelationalOpInterface op);
  Ranges argumentRanges(mlir::Operation *op, mlir::Region *region);

  CardinalityAnalysis cardinality_;
  llvm::DenseMap<mlir::Value, std::unique_ptr<Ranges>> columns_;
  llvm::DenseMap<mlir::Region *, std::unique_ptr<Ranges>> arguments_;
};

} // namespace headrace::analysis

#endif // HEADRACE_PASSES_ANALYSIS_RANGES_H
