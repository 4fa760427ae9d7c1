// Expressions for histograms over bins that a call gives.
#ifndef HEADRACE_PASSES_IMPORT_HISTOGRAMS_H
#define HEADRACE_PASSES_IMPORT_HISTOGRAMS_H

#include "passes/import/ExpressionBuilder.h"

namespace headrace::import {

/// What an element of a list is in.
enum class Binning {
  kUpTo,  ///< the first bin, by its upper end, that it is not above
  kExact, ///< the bin that it equals
};

/// The map, of this type, of bins to how many elements of a list are in each; NULL without
/// elements.
MaybeExpression binnedCounts(ExpressionBuilder &b, const Expression &list, const Expression &bins,
                             Binning binning, mlir::Type map, mlir::Location at);
/// Whether a key of such a map is the one of all elements that are in no bin.
MaybeExpression isOtherBin(ExpressionBuilder &b, const Expression &key, mlir::Location at);
/// So many bins between two values, as a list of their upper ends; an error of the rows, which are
/// of this type, where the values are no numbers or timestamps.
MaybeExpression equalBins(ExpressionBuilder &b, llvm::ArrayRef<Expression> arguments,
                          mlir::Type bins, mlir::Location at);

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_HISTOGRAMS_H
