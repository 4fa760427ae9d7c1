// By how much of their keys rows are put in order.
#pragma once

#include "passes/analysis/cardinality.h"

namespace headrace::analysis {

/// In how many words of its keys a row is told from the others of `rows` rows, on average: 1 where
/// the first one differs from row to row. `keys` are #frame.sort_key, `bitsOf` says what a kernel
/// holds a number in, its flag of NULL with it. See plan::State::orderWords.
double orderWords(CardinalityAnalysis &cardinality, mlir::Value table, mlir::ArrayAttr keys,
                  double rows, llvm::function_ref<double(mlir::StringAttr)> bitsOf);

} // namespace headrace::analysis
