// Builds the relational ops of `frame`, whatever the front end: relations count their columns,
// names are made up here and are unique.
#ifndef HEADRACE_PASSES_IMPORT_RELATIONBUILDER_H
#define HEADRACE_PASSES_IMPORT_RELATIONBUILDER_H

#include "passes/import/ExpressionBuilder.h"
#include "passes/import/ImportOptions.h"
#include "passes/import/Statistics.h"
#include "runtime/base/quantile.h"

#include <utility>

namespace headrace::import {

/// A relation as front ends see it: fields by position, one column perhaps in several of them.
struct Relation {
  mlir::Value table;
  /// The column of `table` behind each field.
  llvm::SmallVector<mlir::StringAttr> fields;
  /// The columns (sort keys of `frame`) that say where a row stands, if rows have an order.
  llvm::SmallVector<mlir::Attribute> order = {};
  /// Whether they come in this order; and whether they are to, in a result.
  bool sorted = false, shown = false;
  /// The columns, of integers, that tell a row from all others, where that is asked for; none of
  /// one row.
  llvm::SmallVector<mlir::StringAttr> identity = {};

  frame::TableType type() const { return mlir::cast<frame::TableType>(table.getType()); }
  mlir::Type typeOf(mlir::StringAttr name) const { return type().getColumnType(name); }
  /// The fields with their types.
  llvm::SmallVector<frame::Column> columns() const;
  llvm::SmallVector<frame::Column> identityColumns() const;
  void forgetOrder() {
    order.clear();
    sorted = shown = false;
  }
};

using MaybeRelation = mlir::FailureOr<Relation>;

/// A relation whose fields are these columns.
Relation withFieldsOf(mlir::Value table, llvm::ArrayRef<frame::Column> columns);

/// Builds an expression in the region of an op that is being made.
using BuildExpression = std::function<MaybeExpression(ExpressionBuilder &)>;

class Deviations;
class Real;

/// An expression over the fields of an input.
struct Computed {
  /// Of a plain reference; then nothing is computed.
  std::optional<int64_t> field;
  /// A word for its column.
  std::string name;
  BuildExpression build;

  static Computed ofField(int64_t field, mlir::Location at) {
    return {field, {}, [=](ExpressionBuilder &b) { return b.field(field, at); }};
  }
  /// What a method of ExpressionBuilder makes of it.
  using Made = MaybeExpression (ExpressionBuilder::*)(const Expression &, mlir::Location);
  Computed with(Made made, mlir::Location at) const {
    return {std::nullopt, name, [made, at, build = build](ExpressionBuilder &b) {
              MaybeExpression value = build(b);
              return failed(value) ? value : (b.*made)(*value, at);
            }};
  }
  /// The column that it is, of these; null if it is computed.
  const frame::Column *columnIn(llvm::ArrayRef<frame::Column> fields) const {
    bool isOne = field && *field >= 0 && *field < static_cast<int64_t>(fields.size());
    return isOne ? &fields[static_cast<size_t>(*field)] : nullptr;
  }
};

/// References to all fields of a relation.
llvm::SmallVector<Computed> allFields(const Relation &relation, mlir::Location at);

/// A condition of a join: a comparison of the two sides (of `left` with `right`), or, without a
/// kind, any expression (`left`). Fields count the left side's, then the right side's.
struct JoinCondition {
  enum class Kind { kEqual, kNullSafe, kAny };
  Kind kind;
  Computed left, right;
  mlir::Location at;
};

struct JoinRequest {
  frame::JoinKind kind = frame::JoinKind::Inner;
  /// What kNullSafe compares are keys for which NULL equals NULL. With `nullAware` the last key and
  /// what is no key are the comparison of IN; keys in front of it, if any, are null-safe.
  llvm::SmallVector<JoinCondition> conditions;
  bool nullAware = false;
};

/// A join of each left row with the one right row for which the conditions hold whose value comes
/// nearest to its own, of those with `left value comparison right value`.
struct NearestRequest {
  frame::JoinKind kind = frame::JoinKind::Inner;          ///< any but mark and single
  llvm::SmallVector<JoinCondition> conditions;            ///< but for the inequality
  JoinCondition value;                                    ///< what it compares
  frame::CompareKind comparison = frame::CompareKind::Ge; ///< an inequality
};

struct SortKey {
  Computed expression;
  frame::SortDirection direction;
  frame::NullsOrder nulls;
};

/// To the key of the opposite order.
inline void turn(SortKey &key) {
  using Direction = frame::SortDirection;
  using Nulls = frame::NullsOrder;
  key.direction = key.direction == Direction::Asc ? Direction::Desc : Direction::Asc;
  key.nulls = key.nulls == Nulls::First ? Nulls::Last : Nulls::First;
}

/// A measure that is computed of exact sums, such as a variance.
struct DeviationFormula {
  int64_t rowsMin; ///< of fewer it is NULL
  Real (*value)(const Deviations &);
  bool powers = false; ///< of third and fourth powers, too
};

/// A value of an order that a share of the values lies in front of.
struct Quantile {
  QuantileShare share;
  bool descending;
  QuantileKind kind;

  /// Whether it may be between two values.
  bool isBetween() const {
    return kind == QuantileKind::kBetween || kind == QuantileKind::kRounded;
  }
};

/// Which rows of a group a measure is of.
enum class MeasureRows {
  kAll,
  kEarliest,  ///< the first in the order of the input's rows; without one, all
  kLatest,    ///< likewise the last
  kQuantile,  ///< the one at the quantile, of those without a NULL argument
  kFirst,     ///< the first in the measure's order
  kDifferent, ///< one of those with the same arguments
  kLeast,     ///< those whose last argument is the least, of rows without a NULL argument
  kGreatest,  ///< likewise
  kMost,      ///< those with the argument that most rows have, of rows where it is not NULL
  /// All, as a list in the measure's order, or in that of the input's rows, or of the values.
  kCollected,
};

/// What is made of a list, and of another argument if rows differ in it.
using FromList = std::function<MaybeExpression(ExpressionBuilder &, const Expression &list,
                                               const Expression *more)>;

/// A measure of an aggregate.
struct MeasureRequest {
  frame::AggregateFunction function = frame::AggregateFunction::CountStar;
  std::optional<DeviationFormula> formula = {}; ///< then the function does not count
  llvm::SmallVector<Computed, 0> arguments = {};
  MeasureRows rows = MeasureRows::kAll;
  llvm::SmallVector<SortKey, 0> order =
      {}; ///< of kFirst and kCollected; of several rows the first, of kLeast to kMost
  /// Of kCollected: what is made of the list of the values that are not NULL; empty: the list of
  /// all values is the measure.
  FromList fromList = {};
  /// Of kCollected: the other argument, if rows differ in it: that of the first value counts.
  std::optional<Computed> more = {};
  bool sorted = false;               ///< of kCollected: the order of the values makes no difference
  std::optional<double> ofNone = {}; ///< of kCollected: the measure where nothing counts; else NULL
  bool different = false;   ///< of kCollected and kQuantile: each value, of all arguments, once
  uint32_t elementsMax = 0; ///< of kCollected: more of the first are not looked at; 0: all are
  bool ofNull = false;      ///< of kLeast, kGreatest: rows count whose first argument is NULL
  bool inOrder =
      false; ///< of Min and Max of what is nested, and intervals, whose bytes are in no order
  bool meanOfIntervals = false; ///< then neither the function nor the rows count
  bool meanOfMoments = false;   ///< Avg or AvgDistinct of times or timestamps
  /// Of kQuantile one; several are kCollected, as a list.
  llvm::SmallVector<Quantile, 1> quantiles = {};
  BuildExpression condition = {}; ///< FILTER (WHERE …); may be empty
  mlir::Type type = {};           ///< of the result, but for nullability; null: as `frame` has it
  mlir::Location at;
};

/// A measure, or what stands for it where nothing counts.
MaybeExpression orValue(ExpressionBuilder &b, const Expression &measure,
                        std::optional<double> ofNone, mlir::Location at);

/// Which keys rows are grouped by, once for each set; and what `grouping(…)` is asked for. Keys by
/// their numbers.
struct GroupingSets {
  llvm::SmallVector<llvm::SmallVector<int64_t>> sets;
  llvm::SmallVector<llvm::SmallVector<int64_t>> functions;
  /// The number of its set (from 0, an i32) stands behind each row.
  bool numbered = false;
};

/// An argument or distance of a window function: a number of rows, or a column.
struct WindowOperand {
  std::optional<int64_t> number;
  Computed column;
};

/// A window function: a kind with arguments, or a measure of the frame.
struct WindowFunctionRequest {
  /// The rows that it sees, if it has a frame.
  struct Frame {
    frame::FrameUnit unit = frame::FrameUnit::Range;
    frame::FrameBoundKind start = frame::FrameBoundKind::UnboundedPreceding;
    std::optional<WindowOperand> startDistance;
    frame::FrameBoundKind end = frame::FrameBoundKind::CurrentRow;
    std::optional<WindowOperand> endDistance;
    frame::FrameExclusion exclude = frame::FrameExclusion::None;
  };
  frame::WindowFunctionKind kind = frame::WindowFunctionKind::Aggregate;
  std::optional<MeasureRequest> measure = {};      ///< of aggregates
  llvm::SmallVector<WindowOperand> arguments = {}; ///< of the others
  std::optional<Frame> frame = {};
  llvm::SmallVector<SortKey, 0> order = {}; ///< of the rows of the frame; empty: the window's
  bool ignoreNulls = false;
  mlir::Location at;
};

class MeasureParts;

/// Builds one query into the body of a function. Use once.
class RelationBuilder {
public:
  /// Ops go to `builder`'s insertion point.
  RelationBuilder(ImportContext &context, mlir::OpBuilder &builder, const ImportOptions &options);

  /// While this lives, relations are made with the order that their rows have: for an input of an
  /// op that asks for it (or, `wanted` being false, does not).
  class RowsInOrder {
  public:
    explicit RowsInOrder(RelationBuilder &relations, bool wanted = true)
        : relations_(relations), before_(std::exchange(relations.rowsInOrder, wanted)) {}
    ~RowsInOrder() { relations_.rowsInOrder = before_; }
    RowsInOrder(const RowsInOrder &) = delete;
    RowsInOrder &operator=(const RowsInOrder &) = delete;

  private:
    RelationBuilder &relations_;
    const bool before_;
  };

  /// While this lives, relations are made with their identity if `wanted`, or if they were before.
  class RowsIdentified {
  public:
    RowsIdentified(RelationBuilder &relations, bool wanted)
        : relations_(relations),
          before_(std::exchange(relations.rowsIdentified, relations.rowsIdentified || wanted)) {}
    ~RowsIdentified() { relations_.rowsIdentified = before_; }
    RowsIdentified(const RowsIdentified &) = delete;
    RowsIdentified &operator=(const RowsIdentified &) = delete;

  private:
    RelationBuilder &relations_;
    const bool before_;
  };

  /// A column of a stored table. `type` without NULL: it never is. `ordinal`: it is in no file, but
  /// grows from row to row.
  struct ScanColumn {
    std::string name;
    mlir::Type type;
    bool ordinal = false;
  };
  /// `type` with the nullability that a column of `table` has by its document; fails if the column
  /// cannot be read.
  mlir::FailureOr<mlir::Type> columnType(llvm::StringRef table, llvm::StringRef column,
                                         mlir::Type type, mlir::Location at);
  Relation scan(llvm::StringRef table, llvm::ArrayRef<ScanColumn> columns, mlir::Location at);
  /// Rows of constants as `frame.constant` keeps them. Without columns there is one that nobody
  /// sees, as a table has one at least.
  MaybeRelation values(llvm::ArrayRef<ScanColumn> columns,
                       llvm::ArrayRef<llvm::SmallVector<mlir::Attribute>> rows, mlir::Location at);

  /// `length` numbers (i64) from `start` on, each `step` from the one before.
  MaybeRelation series(llvm::StringRef name, int64_t start, int64_t step, int64_t length,
                       mlir::Location at);

  /// A row for each element of the longest of some lists. The fields are the input's, then the
  /// elements, NULL where a list is shorter, and the number of the row among them, from 1.
  MaybeRelation unnest(const Relation &input, llvm::ArrayRef<Computed> lists, mlir::Location at);

  MaybeRelation filter(Relation input, const BuildExpression &predicate, mlir::Location at);
  /// The `expressions` over the input's fields, in their order.
  MaybeRelation project(const Relation &input, llvm::ArrayRef<Computed> expressions,
                        mlir::Location at);
  /// Fields of the input in another choice and order; columns that no field names go.
  Relation select(Relation input, llvm::ArrayRef<int64_t> fields, mlir::Location at);

  /// A condition as one expression over both sides' fields.
  static BuildExpression comparison(const JoinCondition &condition);
  MaybeRelation join(Relation left, Relation right, const JoinRequest &request, mlir::Location at);
  /// The fields are those of a join. Of right rows with one value any is taken. A right or full one
  /// has no conditions but on equal keys.
  MaybeRelation joinNearest(const Relation &left, const Relation &right,
                            const NearestRequest &request, mlir::Location at);
  /// The fields are the keys, then the measures.
  MaybeRelation aggregate(const Relation &input, llvm::ArrayRef<Computed> keys,
                          llvm::ArrayRef<MeasureRequest> measures, mlir::Location at);
  /// The rows of all sets: the keys, NULL where they are not in the set, the measures, then the
  /// values of `grouping(…)` as i64, then the set's number if that is asked for.
  MaybeRelation aggregate(const Relation &input, llvm::ArrayRef<Computed> keys,
                          llvm::ArrayRef<MeasureRequest> measures, const GroupingSets &grouping,
                          mlir::Location at);
  MaybeRelation distinct(Relation input, mlir::Location at);

  using SortKey = import::SortKey;
  MaybeRelation sort(const Relation &input, llvm::ArrayRef<SortKey> keys, mlir::Location at);
  /// Window functions over one partition and order. The fields are the input's, then the functions.
  MaybeRelation window(const Relation &input, llvm::ArrayRef<Computed> partition,
                       llvm::ArrayRef<SortKey> order,
                       llvm::ArrayRef<WindowFunctionRequest> functions, mlir::Location at);
  /// Window functions of each row over all rows, in the order of the rows if the functions see it
  /// and rows have one.
  MaybeRelation windowOfAll(const Relation &input, llvm::ArrayRef<WindowFunctionRequest> functions,
                            mlir::Location at);
  /// The first rows in the order of the input, if it has one.
  Relation limit(Relation input, int64_t offset, std::optional<int64_t> count, mlir::Location at);
  /// The order of the input's rows as keys, for which fields are added behind the input's.
  static llvm::SmallVector<SortKey> showOrder(Relation &input, mlir::Location at);
  /// The rows so that they come in their order, if they have one.
  Relation putInOrder(Relation input, mlir::Location at);
  /// UNION ALL of at least one, whose rows stand in the order of the inputs.
  MaybeRelation unite(llvm::ArrayRef<Relation> inputs, mlir::Location at);
  /// The same table once more under new names.
  Relation rename(const Relation &input, mlir::Location at);
  /// The value of the only column of at most one row.
  mlir::FailureOr<mlir::Value> scalar(const Relation &input, mlir::Location at);

  /// The same fields, each a column of its own, in their order, and no other columns.
  MaybeRelation withExactColumns(Relation relation, mlir::Location at);

private:
  /// The equal columns of a join, pair by pair.
  struct JoinKeys {
    llvm::SmallVector<mlir::Attribute> left;
    llvm::SmallVector<mlir::Attribute> right;
    llvm::SmallVector<bool> nullSafe;
  };
  MaybeRelation uniteColumns(llvm::ArrayRef<Relation> inputs, mlir::Location at);
  /// One aggregate op, and a projection where measures are made of several: `inputs` are the
  /// columns of `source` behind the inputs of the measures.
  MaybeRelation aggregateBy(const Relation &source, llvm::ArrayRef<mlir::StringAttr> keys,
                            const MeasureParts &measures, llvm::ArrayRef<mlir::StringAttr> inputs,
                            mlir::Location at);

  MaybeRelation aggregateSets(const Relation &input, llvm::ArrayRef<Computed> keys,
                              llvm::ArrayRef<MeasureRequest> measures, const GroupingSets &grouping,
                              mlir::Location at);
  /// The same, of which each row has an identity: its set, and the least number of its rows.
  MaybeRelation aggregateIdentified(const Relation &input, llvm::ArrayRef<Computed> keys,
                                    llvm::ArrayRef<MeasureRequest> measures,
                                    const GroupingSets &grouping, mlir::Location at);
  /// UNION ALL of parts whose rows get numbers that tell them apart.
  MaybeRelation uniteIdentified(llvm::ArrayRef<Relation> inputs, mlir::Location at);

  /// Makes measures of some rows of their groups measures of all, under a condition over columns
  /// that are added behind the input's fields.
  MaybeRelation chooseRows(const Relation &input, llvm::ArrayRef<Computed> keys,
                           llvm::MutableArrayRef<MeasureRequest> measures, mlir::Location at);
  static void chooseByPlace(Relation &input, llvm::MutableArrayRef<MeasureRequest> measures,
                            mlir::Location at);
  MaybeRelation numberRows(const Relation &input, llvm::ArrayRef<Computed> keys,
                           MeasureRequest &measure, mlir::Location at);
  MaybeRelation oneOfEach(const Relation &input, llvm::ArrayRef<Computed> keys,
                          MeasureRequest &measure, mlir::Location at);
  MaybeRelation collect(const Relation &input, llvm::ArrayRef<Computed> keys,
                        MeasureRequest &measure, mlir::Location at);
  MaybeRelation countEqual(const Relation &input, llvm::ArrayRef<Computed> keys,
                           MeasureRequest &measure, mlir::Location at);
  MaybeRelation addQuantile(const Relation &input, llvm::ArrayRef<Computed> keys,
                            MeasureRequest &measure, mlir::Location at);
  MaybeRelation addExtremes(const Relation &input, llvm::ArrayRef<Computed> keys,
                            llvm::MutableArrayRef<MeasureRequest> measures, mlir::Location at);

  /// Adds computed columns to `input` for those of `expressions` that are no plain fields. `fields`
  /// is what their field indices mean. `names` gets the column of each expression.
  MaybeRelation addColumns(Relation input, llvm::ArrayRef<frame::Column> fields,
                           llvm::ArrayRef<Computed> expressions,
                           llvm::SmallVectorImpl<mlir::StringAttr> &names, mlir::Location at);
  MaybeRelation joinNearestKeys(const Relation &left, const Relation &right,
                                const NearestRequest &request, mlir::Location at);
  MaybeRelation joinNearestPairs(const Relation &left, const Relation &right,
                                 const NearestRequest &request, mlir::Location at);

  /// Makes key columns of the comparisons of which that is possible; the rest goes to `residual`.
  mlir::LogicalResult makeKeys(Relation &left, Relation &right, const JoinRequest &request,
                               JoinKeys &keys, llvm::SmallVectorImpl<BuildExpression> &residual,
                               mlir::Location at);
  /// What values of the expression are equal by, over these fields; itself if that is they.
  static Computed equalBy(const Computed &expression, llvm::ArrayRef<frame::Column> fields,
                          mlir::Location at);
  /// The same of what they are ordered by.
  static SortKey orderBy(const SortKey &key, llvm::ArrayRef<frame::Column> fields,
                         mlir::Location at);
  /// Rows by keys some of which have another value to be equal by: of equal ones one is shown.
  MaybeRelation aggregateEqual(const Relation &input, llvm::ArrayRef<Computed> keys,
                               llvm::ArrayRef<MeasureRequest> measures, mlir::Location at);
  /// Sort keys as attributes; a column counts where it stands first.
  llvm::SmallVector<mlir::Attribute> sortKeys(llvm::ArrayRef<SortKey> keys,
                                              llvm::ArrayRef<mlir::StringAttr> names);
  /// Drops columns that no field names.
  Relation prune(Relation relation, mlir::Location at);
  mlir::Value keepColumns(mlir::Value table, llvm::ArrayRef<frame::Column> columns,
                          mlir::Location at);

  mlir::StringAttr uniqueName(llvm::StringRef wanted);
  mlir::Location locate(llvm::StringRef text, mlir::Location at) const {
    return context.named(text, at);
  }

  ImportContext &context;
  mlir::OpBuilder &builder;
  llvm::StringMap<TableDocument> documents;
  llvm::StringSet<> usedNames;
  llvm::StringMap<unsigned> suffixes; ///< per name the last one that was given
  bool rowsInOrder = false, rowsIdentified = false;
};

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_RELATIONBUILDER_H
