// How many rows every table of a program has, and how its columns are distributed: estimates from
// the statistics at the scans, carried through filters, joins and aggregates.
#ifndef HEADRACE_PASSES_ANALYSIS_CARDINALITY_H
#define HEADRACE_PASSES_ANALYSIS_CARDINALITY_H

#include "dialects/frame/FrameOps.h"
#include "llvm/ADT/DenseMap.h"

#include <limits>
#include <optional>

namespace headrace::analysis {

/// A number of rows. `min` and `max` hold if the data is as the statistics say; `p95` is what one
/// estimate in twenty exceeds.
struct Cardinality {
  double min = 0;
  double expected = 0;
  double p95 = 0;
  double max = std::numeric_limits<double>::infinity();
};

/// What is known of one column. Values are real numbers: a decimal's is not scaled, a date's is
/// days.
struct ColumnEstimate {
  /// Different values in this table, NULL left out; at least 1 unless the table is empty.
  double distinct = 1;
  /// Different values where the column comes from, before filters on other columns: the domain that
  /// a join key is drawn from.
  double domain = 1;
  /// Where the column comes from (null: computed), and how many rows there are there.
  mlir::Operation *source = nullptr;
  double sourceRows = std::numeric_limits<double>::infinity();
  /// The same by its name, `table.column`, for scans of one table (null: computed).
  mlir::StringAttr origin;
  /// A semi join left only values that occur in another column: its origin, and which share of the
  /// values there it had then. Null: none did.
  mlir::StringAttr among;
  double amongShare = 1;
  /// Share of NULL, 0 to 1.
  double nullFraction = 0;
  std::optional<double> low;
  std::optional<double> high;
  /// Mean bytes of a value in a chunk; of a string those of its text.
  double bytes = 8;
  /// Rows come in the order of its values, by and large, unless an exchange mixed them.
  bool ordered = false;

  /// The values are no longer those of a column of a table.
  void setComputed() {
    source = nullptr;
    origin = among = mlir::StringAttr();
  }
};

struct TableEstimate {
  Cardinality rows;
  /// In the order of the table type.
  llvm::SmallVector<ColumnEstimate> columns;
  /// Sets of columns whose values differ from row to row, known for certain.
  llvm::SmallVector<llvm::SmallVector<mlir::StringAttr, 2>, 1> uniqueKeys;
};

/// The statistics of a join that do not depend on which two tables are joined.
struct JoinDescription {
  frame::JoinKind kind = frame::JoinKind::Inner;
  llvm::SmallVector<mlir::StringAttr> leftKeys;
  llvm::SmallVector<mlir::StringAttr> rightKeys;
};

/// Estimates of every `!frame.table` value, computed on demand and kept. Invalid once the IR below
/// a value that it was asked about has changed; make a new one per pass. Not thread-safe.
class CardinalityAnalysis {
public:
  CardinalityAnalysis() = default;
  /// For the pass manager: an analysis of anything below `op`.
  explicit CardinalityAnalysis(mlir::Operation *op) {}

  /// The estimate of a table value of any origin. The reference stays until the analysis dies.
  const TableEstimate &of(mlir::Value table);
  Cardinality rowsOf(mlir::Value table) { return of(table).rows; }
  const ColumnEstimate &columnOf(mlir::Value table, llvm::StringRef column);
  /// Mean bytes of a row in chunk encoding (validity included).
  double bytesPerRow(mlir::Value table);

private:
  struct Visitor;
  TableEstimate compute(mlir::Operation *op);
  // Boxed: references stay valid while the map grows.
  llvm::DenseMap<mlir::Value, std::unique_ptr<TableEstimate>> estimates_;
};

/// The columns that the arguments of an expression region stand for.
using ColumnLookup = llvm::function_ref<const ColumnEstimate *(mlir::BlockArgument)>;

/// The share of rows, 0 to 1, for which `predicate` (a boolean inside an expression region) is
/// true.
double selectivityOf(mlir::Value predicate, ColumnLookup columns);
/// The distribution of a scalar inside an expression region.
ColumnEstimate estimateExpression(mlir::Value scalar, ColumnLookup columns);

/// Narrows bounds and distinct values of the columns that `predicate` compares with known numbers.
void narrowColumns(mlir::Value predicate, ColumnLookup columns,
                   llvm::function_ref<ColumnEstimate *(mlir::BlockArgument)> narrowed);

/// The estimate of a join of two tables of the given types. `residualSelectivity`: of the predicate
/// beside the keys. The columns are those of JoinOp::inferResultType.
TableEstimate estimateJoin(const JoinDescription &join, const TableEstimate &left,
                           frame::TableType leftType, const TableEstimate &right,
                           frame::TableType rightType, double residualSelectivity);

/// The rows of `input` that a predicate of the given selectivity leaves.
TableEstimate estimateFilter(const TableEstimate &input, double selectivity);

} // namespace headrace::analysis

#endif // HEADRACE_PASSES_ANALYSIS_CARDINALITY_H
