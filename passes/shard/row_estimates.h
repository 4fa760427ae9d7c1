// Rows, widths and distinct counts of tables, as the solver's costs ask for them.
#ifndef HEADRACE_PASSES_SHARD_ROW_ESTIMATES_H
#define HEADRACE_PASSES_SHARD_ROW_ESTIMATES_H

#include "passes/analysis/cardinality.h"

#include <algorithm>

namespace headrace::shard {

/// Expected sizes of table values; at least one row, so that no cost is zero by accident.
class RowEstimates {
public:
  double rowsOf(mlir::Value table) { return std::max(1.0, analysis_.rowsOf(table).expected); }
  /// More rows than this the table cannot have.
  double rowsMaxOf(mlir::Value table) { return analysis_.rowsOf(table).max; }
  analysis::Cardinality cardinalityOf(mlir::Value table) { return analysis_.rowsOf(table); }
  double bytesPerRow(mlir::Value table) { return analysis_.bytesPerRow(table); }

private:
  analysis::CardinalityAnalysis analysis_;
};

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_ROW_ESTIMATES_H
