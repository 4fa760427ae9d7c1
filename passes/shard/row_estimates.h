// Rows, widths and states of tables, as the solver's costs ask for them.
#ifndef HEADRACE_PASSES_SHARD_ROW_ESTIMATES_H
#define HEADRACE_PASSES_SHARD_ROW_ESTIMATES_H

#include "model/cost/row_work.h"
#include "passes/analysis/fullest_share.h"
#include "passes/analysis/join_sides.h"
#include "passes/analysis/ranges.h"
#include "passes/analysis/scan_statistics.h"

#include <algorithm>

namespace headrace::shard {

/// Expected sizes of table values; at least one row, so that no cost is zero by accident.
class RowEstimates {
public:
  double rowsOf(mlir::Value table) { return std::max(1.0, cardinalityOf(table).expected); }
  /// More rows than this the table cannot have.
  double rowsMaxOf(mlir::Value table) { return cardinalityOf(table).max; }
  analysis::Cardinality cardinalityOf(mlir::Value table) {
    return ranges_.cardinality().rowsOf(table);
  }

  const analysis::ColumnEstimate &columnOf(mlir::Value table, llvm::StringRef column) {
    return ranges_.cardinality().columnOf(table, column);
  }

  std::optional<analysis::Range> rangeOf(mlir::Value table, llvm::StringRef column) {
    return ranges_.rangeOf(table, column);
  }

  /// As analysis::fullestShare.
  double fullestShare(mlir::Value table, llvm::ArrayRef<mlir::StringAttr> keys, double parts) {
    return analysis::fullestShare(ranges_.cardinality(), table, keys, parts);
  }

  /// The columns as kernels hold them: integers as wide as their ranges.
  cost::RowShape shapeOf(mlir::Value table);
  /// Of some columns only.
  cost::RowShape shapeOf(mlir::Value table, llvm::function_ref<bool(mlir::StringAttr)> counts);

  /// How a scan finds a column of texts.
  static analysis::ColumnPages pagesOf(frame::ScanOp scan, mlir::StringAttr column);

  /// The table that a join builds of `rows` rows on one rank, for `probes` rows.
  cost::StateShape joinTable(const analysis::JoinSides &sides, double rows, double probes);
  /// Groups of an aggregate or a distinct: rows of its result.
  cost::StateShape groupTable(mlir::Value result, double groups);
  /// How the rows of a table come to a state that is looked up by these columns.
  cost::Arrival arrival(mlir::Value table, llvm::ArrayRef<mlir::StringAttr> keys);
  /// Bytes that the state of rows of `table` takes, with the strings.
  double heldBytes(const cost::StateShape &state, mlir::Value table);
  /// Rows that are put in order by #frame.sort_key, of which `limit` stay (0: all); `order` may be
  /// null.
  cost::StateShape sortBuffer(mlir::Value input, double rows, double limit, mlir::ArrayAttr order);

private:
  /// How a scan keeps a column of so many bytes in a kernel.
  static void addPages(cost::RowShape &shape, frame::ScanOp scan, const frame::Column &column,
                       double bytes);

  analysis::RangeAnalysis ranges_;
  llvm::DenseMap<mlir::Value, cost::RowShape> shapes_;
};

/// How many of the columns are floating-point numbers.
double realsAmong(frame::TableType type);
/// How many of the columns are strings.
double stringsAmong(frame::TableType type, llvm::ArrayRef<mlir::StringAttr> columns);

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_ROW_ESTIMATES_H
