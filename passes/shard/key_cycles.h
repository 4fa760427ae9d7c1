// Keys by whose order tables are stored: rows can be divided by stretches of such a key, so that
// each rank reads its own and none of them moves.
#ifndef HEADRACE_PASSES_SHARD_KEY_CYCLES_H
#define HEADRACE_PASSES_SHARD_KEY_CYCLES_H

#include "passes/shard/row_estimates.h"

#include "llvm/ADT/EquivalenceClasses.h"

namespace headrace::shard {

/// The columns of scans in whose order rows are stored and by which joins, groups or windows bring
/// rows together, and which of them are compared with each other: those have one cycle, so that
/// rows of equal keys meet.
class KeyCycles {
public:
  /// Looks for keys in the ops of a block.
  void add(mlir::Block &block, RowEstimates &rows);

  struct Cycle {
    mlir::StringAttr column; ///< of the scan's table
    int64_t keys = 0;        ///< in one cycle over so many ranks
  };
  llvm::SmallVector<Cycle, 2> of(frame::ScanOp scan, double ranks) const;

private:
  struct Key {
    frame::ScanOp scan;
    mlir::StringAttr column;
    double min = 0;
    double max = 0;        ///< of what conditions on it leave
    double groupsAKey = 0; ///< row groups for each value of its range

    double width() const { return max - min + 1; }
  };

  /// The number of the key that a column of a table is; nothing if it is none.
  std::optional<unsigned> keyOf(mlir::Value table, mlir::StringAttr column, RowEstimates &rows);
  std::optional<unsigned> keyOf(frame::ScanOp scan, mlir::StringAttr origin, RowEstimates &rows);

  llvm::SmallVector<Key, 0> keys_;
  llvm::EquivalenceClasses<unsigned> compared_;
};

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_KEY_CYCLES_H
