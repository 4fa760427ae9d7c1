// The aggregate functions of front ends: what each name means (aggregates.def).
#ifndef HEADRACE_PASSES_IMPORT_AGGREGATES_H
#define HEADRACE_PASSES_IMPORT_AGGREGATES_H

#include "passes/import/RelationBuilder.h"

namespace headrace::import {

struct Aggregate {
  llvm::StringRef duckdbNames, substraitNames; ///< with spaces between them
  size_t arguments;
  frame::AggregateFunction function;                  ///< unless it has a formula
  std::optional<frame::AggregateFunction> ofDistinct; ///< likewise
  MeasureRows rows;                                   ///< kFirst only if the call gives an order
  std::optional<DeviationFormula> formula;
  QuantileKind quantile = {}; ///< of kQuantile
  bool ofNull = false;        ///< of kLeast, kGreatest: also rows whose first argument is NULL
  bool ordered = false;       ///< of kCollected: the order of the values makes a difference
  bool nullsLast = false;     ///< of kLeast, kGreatest: rows whose last argument is NULL are last

  /// The measure that a call of it is, without an order.
  MeasureRequest request(llvm::SmallVector<Computed> arguments, bool distinct, mlir::Type type,
                         mlir::Location at) const;
};

/// The function of this name; null if there is none.
const Aggregate *aggregateOfDuckdb(llvm::StringRef name);
const Aggregate *aggregateOfSubstrait(llvm::StringRef name);

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_AGGREGATES_H
