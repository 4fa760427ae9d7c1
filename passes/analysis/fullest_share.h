// How evenly rows can be spread over ranks by the values of columns.
#ifndef HEADRACE_PASSES_ANALYSIS_FULLEST_SHARE_H
#define HEADRACE_PASSES_ANALYSIS_FULLEST_SHARE_H

#include "passes/analysis/cardinality.h"

namespace headrace::analysis {

/// The share of the rows that the fullest of `parts` ranks gets by hash of these columns: few
/// values cannot be spread. At least 1 / parts.
double fullestShare(CardinalityAnalysis &analysis, mlir::Value table,
                    llvm::ArrayRef<mlir::StringAttr> keys, double parts);

} // namespace headrace::analysis

#endif // HEADRACE_PASSES_ANALYSIS_FULLEST_SHARE_H
