// Where the values of a pipeline's columns are, and how code for one row (or W rows) gets at them.
#pragma once

#include "passes/lower/code/code_builder.h"
#include "passes/lower/code/work_log.h"

#include "dialects/pipe/PipeDialect.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <map>
#include <memory>
#include <vector>

namespace headrace::lower {

/// A set of rows of the current tile. Level 0 is the tile; each selecting stage (filter, lookup)
/// makes the next level, whose `parents` array (u16) gives for each of its rows the row of the
/// level below.
struct Level {
  mlir::Value parents; ///< pointer to uint16_t[]; null for level 0
  mlir::Value count;   ///< pointer to an i64: rows of this level
};

struct Expression;

/// A column and the place it is read from.
struct ColumnValue {
  enum class Kind {
    kBuffer,     ///< array of values, indexed by the row of `level`
    kField,      ///< array of row pointers, indexed by the row of `level`, + offset
    kExpression, ///< computed from other columns, whenever somebody reads it
    kRepeated,   ///< the same, but kept while the row of `level` stays the same
    kEntry,      ///< array of texts made once per dictionary entry, or computed in tiles without
  };
  Kind kind = Kind::kBuffer;
  unsigned level = 0;
  mlir::Type type; ///< body type: i1, iN, fN, !pipe.string
  bool nullable = false;
  mlir::Value base;        ///< kBuffer, kField: pointer to the array; kRepeated: to an i64, the
                           ///< number of the level's first row among all so far, which is not 0;
                           ///< kEntry: to the array
  mlir::Value validity;    ///< kBuffer: pointer to bytes; null: all valid
  int64_t offset = 0;      ///< kField
  int64_t validOffset = 0; ///< kField, if the field itself is nullable
  bool fieldNullable = false;
  bool mayMiss = false; ///< kField: the row pointer is null where a left lookup found nothing
  std::shared_ptr<Expression> expression; ///< kExpression, kEntry
  unsigned result = 0;                    ///< of it: operand of the body's yield
  mlir::Value isLookedUp;                 ///< kEntry: pointer to an i64, not 0 if the array is it
  std::shared_ptr<ColumnValue> repeated;  ///< kRepeated: what is computed
  int64_t source = -1; ///< column of the pipeline's source not decoded yet, or -1
};

/// The body of a map (or filter) over columns of the same row.
struct Expression {
  explicit Expression(mlir::Block &block);
  /// The next argument of the body is this column's value, and the one behind it the validity of a
  /// column that may be NULL.
  void addInput(const std::shared_ptr<ColumnValue> &column);

  mlir::Block *body;
  std::vector<std::string> inputs; ///< names, for finding source columns
  std::vector<std::shared_ptr<ColumnValue>> columns;
  /// By number of the body's argument: the column, and whether it is its validity.
  std::vector<std::pair<std::shared_ptr<ColumnValue>, bool>> arguments;
  /// The ops that can fail the run, which belong to every row whatever is read of it.
  std::vector<mlir::Operation *> raising;
  /// A kRepeated column of what the body yields, if there is one: to read it is to raise.
  std::weak_ptr<ColumnValue> repeated;
  double textBytes = 0; ///< estimate: of the strings that it reads, together
};

struct RowValue {
  mlir::Value value;
  mlir::Value valid; ///< i1, or null: always valid
};

/// Reads columns for one row of one level. Values are remembered, so use one reader per
/// straight-line stretch of code (a loop body before it branches).
class RowReader {
public:
  /// `width` 0: scalar; else W consecutive rows of level 0 starting at `row`, as vectors.
  RowReader(CodeBuilder &builder, llvm::ArrayRef<Level> levels, unsigned level, mlir::Value row,
            unsigned width = 0);

  mlir::FailureOr<RowValue> read(const std::shared_ptr<ColumnValue> &column);
  /// Clones what `wanted`, values of a body, are made of, and what can fail.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> evaluate(const Expression &expression,
                                                           mlir::ValueRange wanted);
  /// All that a body yields.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> evaluate(const Expression &expression) {
    return evaluate(expression, expression.body->getTerminator()->getOperands());
  }
  /// Gives a column a value for this row (residual conditions over a candidate match).
  void bind(const std::shared_ptr<ColumnValue> &column, RowValue value) {
    known_[column.get()] = value;
  }

  /// Called for pipe ops of bodies: literals, strings, checked arithmetic. Set by the emitter.
  using ScalarOpLowering = std::function<mlir::LogicalResult(mlir::Operation *, mlir::IRMapping &)>;
  void setScalarOps(const ScalarOpLowering *lowering) { scalarOps_ = lowering; }
  /// Reads columns that are not expressions in place of the arrays of levels (skeletons without
  /// tiles).
  using ColumnLoad = std::function<RowValue(const ColumnValue &)>;
  void setColumnLoad(const ColumnLoad *load) { columnLoad_ = load; }

  /// Gives so many bytes, zero when a morsel begins, for what is kept from row to row.
  using Memory = std::function<mlir::Value(int64_t bytes)>;
  void setMemory(const Memory *memory) { memory_ = memory; }

  /// Expressions that have failed already where they can, in code for the same rows that runs
  /// before.
  using Raised = std::shared_ptr<llvm::DenseSet<const Expression *>>;
  void setRaised(Raised raised) { raised_ = std::move(raised); }

  /// Where values read and ops cloned are counted.
  void setWork(WorkLog *work) { work_ = work; }

private:
  mlir::Value indexAt(unsigned level);
  /// The ops of a body that `wanted` needs and that are not cloned yet, in their order.
  llvm::SmallVector<mlir::Operation *>
  missingOps(const Expression &expression, mlir::ValueRange wanted, const mlir::IRMapping &known);
  mlir::LogicalResult bindArgument(const Expression &expression, mlir::BlockArgument argument,
                                   mlir::IRMapping &mapping);
  RowValue readBuffer(const ColumnValue &column);
  RowValue readField(const ColumnValue &column);
  mlir::FailureOr<RowValue> readRepeated(const ColumnValue &column);
  mlir::FailureOr<RowValue> readEntry(const ColumnValue &column);
  /// One for code that runs for some rows only.
  RowReader inner(unsigned level, mlir::Value row) const;

  CodeBuilder &builder_;
  llvm::ArrayRef<Level> levels_;
  unsigned level_;
  mlir::Value row_;
  unsigned width_;
  const ScalarOpLowering *scalarOps_ = nullptr;
  const ColumnLoad *columnLoad_ = nullptr;
  const Memory *memory_ = nullptr;
  WorkLog *work_ = nullptr;
  llvm::DenseMap<unsigned, mlir::Value> indices_;
  llvm::DenseMap<const ColumnValue *, RowValue> known_;
  std::map<const Expression *, mlir::IRMapping> evaluated_; // stable while it grows
  Raised raised_ = std::make_shared<llvm::DenseSet<const Expression *>>();
};

/// The value of a kField column in the state row at `row`, which may be null where the column may
/// miss.
RowValue loadField(CodeBuilder &builder, const ColumnValue &column, mlir::Value row);

/// True if the body consists of ops that widen one to one (arith, math), or whose lowering knows
/// vectors, and so can run on these.
bool isWidenable(mlir::Block &body);

/// Loads a value of a body type from memory; a string's value is the pointer itself.
mlir::Value loadValue(CodeBuilder &builder, mlir::Type type, mlir::Value pointer);
/// Stores a value of a body type (strings: copies the 16-byte view).
void storeValue(CodeBuilder &builder, mlir::Type type, mlir::Value value, mlir::Value pointer);

} // namespace headrace::lower
