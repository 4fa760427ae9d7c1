// Keys by whose order tables are stored: rows can be divided by stretches of such a key, so that
// each rank reads its own and none of them moves.
#ifndef HEADRACE_PASSES_SHARD_KEY_CYCLES_H
#define HEADRACE_PASSES_SHARD_KEY_CYCLES_H

#include "passes/shard/row_estimates.h"

#include "llvm/ADT/EquivalenceClasses.h"

namespace headrace::shard {

/// The columns of scans in whose order rows are stored, and which of them are compared with each
/// other as keys: those have one cycle, so that rows of equal keys meet.
class KeyCycles {
public:
  /// Follows the columns through the tables of a block, the first one's ops before the others.
  void add(mlir::Block &block, RowEstimates &rows);

  struct Cycle {
    mlir::StringAttr column; ///< of the scan's table
    int64_t keys = 0;        ///< in one cycle over so many ranks
  };
  /// Those by which joins, groups or windows of the program bring rows of the scan together.
  llvm::SmallVector<Cycle, 2> of(frame::ScanOp scan, double ranks) const;

private:
  /// A column of a scan, by its number.
  struct Origin {
    frame::ScanOp scan;
    mlir::StringAttr column;
    double min = 0;
    double max = 0; ///< of what conditions on it leave
    double rowGroups = 1;
    bool isKey = false;
  };
  using Columns = llvm::SmallVector<std::pair<mlir::StringAttr, unsigned>, 2>;

  void addScan(frame::ScanOp scan);
  void addKeys(frame::RelationalOpInterface op);
  void pass(frame::RelationalOpInterface op);
  void narrow(frame::FilterOp filter, RowEstimates &rows);
  const unsigned *originOf(mlir::Value table, mlir::StringAttr column) const;

  llvm::SmallVector<Origin, 0> origins_;
  llvm::EquivalenceClasses<unsigned> compared_;
  llvm::DenseMap<mlir::Value, Columns> columns_;
};

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_KEY_CYCLES_H
