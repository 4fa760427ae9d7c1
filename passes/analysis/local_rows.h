// How many rows a table has on one rank, in the local program: what states are sized by.
#pragma once

#include "dialects/pipe/PipeDialect.h"
#include "passes/analysis/order_words.h"

#include <algorithm>

namespace headrace::analysis {

/// Estimates of the rows of tables on one rank. Invalid once the program below has changed. Not
/// thread-safe.
class LocalRows {
public:
  explicit LocalRows(int64_t ranks) : ranks_(static_cast<double>(ranks)) {}

  /// The largest rank's rows, taken to be an even share. `min` and `max` of a share are not
  /// promises.
  Cardinality of(mlir::Value table);
  /// The same as states and streams say it.
  pipe::CardinalityAttr attributeOf(mlir::Value table);
  /// How many rows `to` has on a rank for each that `from` has.
  double ratio(mlir::Value to, mlir::Value from) {
    return of(to).expected / std::max(of(from).expected, 1.0);
  }
  /// Mean bytes of a row.
  double bytesPerRow(mlir::Value table) { return analysis_.bytesPerRow(table); }
  /// The rows of the fullest rank by hash of these columns over these axes, against an even share.
  double fullest(mlir::Value table, mlir::ArrayAttr keys, mlir::ArrayAttr axes);
  /// As analysis::orderWords, of the rows of one rank.
  double orderWords(mlir::Value table, mlir::ArrayAttr keys,
                    llvm::function_ref<double(mlir::StringAttr)> bitsOf) {
    return analysis::orderWords(analysis_, table, keys, of(table).expected, bitsOf);
  }
  /// On all ranks together.
  Cardinality everywhere(mlir::Value table) { return analysis_.rowsOf(table); }

private:
  /// The part of the rows of a table that one rank holds, 1 / ranks to 1.
  double shareOf(mlir::Value table);

  double ranks_;
  CardinalityAnalysis analysis_;
  llvm::DenseMap<mlir::Value, double> shares_;
};

} // namespace headrace::analysis
