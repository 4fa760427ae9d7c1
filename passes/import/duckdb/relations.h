// Operators of DuckDB's plans.
#ifndef HEADRACE_PASSES_IMPORT_DUCKDB_RELATIONS_H
#define HEADRACE_PASSES_IMPORT_DUCKDB_RELATIONS_H

#include "passes/import/Aggregates.h"
#include "passes/import/duckdb/expressions.h"

#include <map>

namespace headrace::import::duckdb {

/// Both that a condition, which may be empty, is true, and that a value is not NULL.
BuildExpression whereKnown(const BuildExpression &condition, const Computed &value,
                           mlir::Location at);
/// Whether an expression is made of constants alone.
bool isOfConstants(Node expression);
/// Whether an aggregate takes bins in which rows may differ: those of the first row count.
bool takesBinsOfRows(Node call);
/// Whether two lists of expressions over one input are the same, wherever they stand in the query.
bool areAlike(llvm::ArrayRef<Node> a, llvm::ArrayRef<Node> b);

/// Imports one plan through a RelationBuilder. Use once.
class RelationImporter {
public:
  /// `mayDraw`: whether the plan may call random().
  RelationImporter(ImportContext &context, RelationBuilder &builder, const ImportOptions &options,
                   bool mayDraw);

  MaybeRelation import(Node op);
  /// The expressions behind the result's columns of a plan.
  static llvm::SmallVector<Node> results(Node op);

private:
  /// A relation that several places read.
  struct SharedRelation {
    Relation relation;
    Node drawnAnew; ///< what it is made of, if each place that reads it draws other numbers
    bool used = false;
  };

  MaybeRelation importGet(Node op);
  MaybeRelation importFilter(Node op);
  MaybeRelation importProjection(Node op);
  MaybeRelation importOrder(Node op);
  MaybeRelation importLimit(Node op);
  // samples.cpp
  /// The rows that a limit of numbers that are no constants, or of a share of all rows, keeps.
  MaybeRelation limitByNumbers(Node op, const Relation &input, mlir::Location at);
  MaybeExpression importLimitValue(ExpressionBuilder &b, Node node, int64_t count,
                                   mlir::Location at);
  MaybeRelation importSample(Node op);
  MaybeRelation importPositionalJoin(Node op);
  /// The input with the number of each row, from 1, in the order of the rows, and how many there
  /// are.
  MaybeRelation numberAll(const Relation &input, bool counts, mlir::Location at);
  // relations.cpp
  MaybeRelation importRows(Node op);
  MaybeRelation importRowsOf(Node op, mlir::Location at);
  MaybeRelation importValues(Node op, mlir::Location at);
  MaybeRelation importEmpty(Node op);
  MaybeRelation importChunk(Node op);
  mlir::LogicalResult expectGet(Node op, Field::Use parameters, llvm::StringRef what,
                                mlir::Location at);
  MaybeRelation importDummy(Node op);
  MaybeRelation importMaterializedCte(Node op);
  MaybeRelation importCteRef(Node op);
  // joins.cpp
  MaybeRelation importComparisonJoin(Node op);
  MaybeRelation importAnyJoin(Node op);
  MaybeRelation importNearestJoin(Node op);
  MaybeRelation importCrossProduct(Node op);
  mlir::FailureOr<JoinRequest> joinKind(Node op);
  // table_functions.cpp
  MaybeRelation importTableFunction(Node op);
  MaybeRelation importSeries(Node op, bool withStop, mlir::Location at);
  // unnest.cpp
  MaybeRelation importUnnest(Node op);
  /// unnest, range or generate_series over columns of another table (LATERAL), or of constants.
  MaybeRelation importUnnestFunction(Node op, llvm::StringRef name, mlir::Location at);
  MaybeRelation importJsonRows(Node op, llvm::StringRef name, mlir::Location at);
  MaybeRelation inputOfFunction(Node op, llvm::StringRef name, mlir::Location at);
  MaybeRelation selectOfFunction(Node op, llvm::StringRef name, Relation rows, int64_t inputFields,
                                 mlir::Location at);
  // aggregates.cpp
  MaybeRelation importAggregate(Node op);
  /// The input with the keys that have intervals as columns behind its own, which those keys
  /// become.
  MaybeRelation withKeys(const Relation &input, llvm::ArrayRef<Node> groups,
                         llvm::MutableArrayRef<Computed> keys, mlir::Location at);
  mlir::FailureOr<MeasureRequest> importMeasure(Node measure, mlir::Location at);
  /// A call of an aggregate function, whatever it is part of.
  struct MeasureCall {
    Node node;
    llvm::StringRef name;
    bool distinct;
    Node filter;
    llvm::SmallVector<Node> order;
  };
  /// What an aggregate function is called: of values each of which is there once, any is the most
  /// frequent.
  static llvm::StringRef aggregateName(Node call, bool distinct);
  mlir::FailureOr<MeasureRequest> makeMeasure(const MeasureCall &call, mlir::Location at);
  /// x + c of integers, of which DuckDB makes sum(x) + c · count(x): in a type that holds every
  /// one. Nothing: it is something else.
  std::optional<Computed> plusConstant(Node argument, mlir::Type sum, mlir::Location at);
  /// What a quantile's call says of it; of several if the result is a list.
  mlir::FailureOr<llvm::SmallVector<Quantile>>
  quantilesOf(const MeasureCall &call, QuantileKind kind, mlir::Type result, mlir::Location at);
  /// The measure of the first row of an order, or the last.
  mlir::FailureOr<MeasureRequest> firstOf(MeasureRequest request, llvm::StringRef name,
                                          llvm::ArrayRef<Node> order, mlir::Location at);
  // collected.cpp
  /// Whether an argument may stand behind those that others have: bins, or how many values.
  static bool takesMore(const Aggregate &aggregate, llvm::StringRef name);
  /// What an aggregate makes of the list of its values; empty: that list.
  static FromList collectedBy(llvm::StringRef name, Node separator,
                              const std::optional<Computed> &more, mlir::Type type,
                              mlir::Location at);
  /// So many of the least or greatest, as a list; without a number the first of them.
  mlir::FailureOr<MeasureRequest> firstFew(const MeasureCall &call, llvm::ArrayRef<Node> arguments,
                                           const std::optional<Computed> &count,
                                           std::optional<int64_t> countMax, mlir::Type type,
                                           mlir::Location at);
  // sets.cpp
  MaybeRelation importDistinct(Node op);
  /// The first row, by `orders`, of those with the same `targets`.
  MaybeRelation importDistinctOn(const Relation &input, llvm::ArrayRef<Node> targets,
                                 llvm::ArrayRef<Node> orders, mlir::Location at);
  MaybeRelation importSetOperation(Node op);
  /// Rows of the left side that are in the right, or (Anti) are not; NULL equals NULL. With `all`
  /// equal rows are told apart by their numbers, else one stands for all of them. collations: of
  /// the first columns.
  MaybeRelation joinSets(const Relation &left, const Relation &right, frame::JoinKind kind,
                         bool all, llvm::ArrayRef<llvm::StringRef> collations, mlir::Location at);
  /// The input with the number of each row, from 1, among those of its partition.
  MaybeRelation numberRows(const Relation &input, llvm::ArrayRef<Computed> partition,
                           llvm::ArrayRef<RelationBuilder::SortKey> order, mlir::Location at);
  // windows.cpp
  MaybeRelation importWindow(Node op);
  /// The number of rows that an expression without columns says.
  static std::optional<int64_t> constantCount(Node expression);
  /// What a function is of the values that its window gives; empty: the only one.
  using FinishWindow =
      std::function<MaybeExpression(ExpressionBuilder &, llvm::ArrayRef<Expression>)>;
  using WindowRequests = llvm::SmallVector<WindowFunctionRequest, 0>;
  mlir::FailureOr<WindowRequests> importWindowFunction(Node function, FinishWindow &finish,
                                                       mlir::Location at);
  /// Joins measures of whole partitions of `input` to its rows in `result`, behind their fields:
  /// the keys, then the measures.
  MaybeRelation joinWhole(const Relation &result, const Relation &input,
                          llvm::ArrayRef<Node> partition, llvm::ArrayRef<MeasureRequest> measures,
                          mlir::Location at);
  /// The points beside each row; a frame does not count.
  mlir::FailureOr<WindowRequests> importFill(Node function, FinishWindow &finish,
                                             mlir::Location at);
  mlir::FailureOr<WindowFunctionRequest::Frame> importFrame(Node function, mlir::Location at);
  /// Whether the rows of a frame are in the order of a function's arguments as they come. Of the
  /// window's order more keys divide its peers, which ranks are of.
  static bool isInOrder(Node function, frame::WindowFunctionKind kind);
  /// A number of rows: a constant, or an expression for each row.
  WindowOperand importCount(Node expression, mlir::Location at);
  // window_aggregates.cpp
  /// Makes a function that lists the quantiles of frames, and says what is made of the list.
  static void addQuantiles(WindowFunctionRequest &request, const MeasureRequest &measure,
                           FinishWindow &finish);
  mlir::FailureOr<WindowRequests> importWindowAggregate(Node function, FinishWindow &finish,
                                                        mlir::Location at);
  /// Of a frame the list of a measure's values, which are in an order.
  mlir::FailureOr<WindowRequests> collect(Node function, const MeasureRequest &measure,
                                          WindowFunctionRequest request, FinishWindow &finish);

  Computed orderKey(Node expression, mlir::Location at);
  mlir::FailureOr<llvm::SmallVector<RelationBuilder::SortKey>>
  importSortKeys(llvm::ArrayRef<Node> orders, mlir::Location at);
  /// The inputs of an operator; fails if they are not `count`.
  mlir::FailureOr<llvm::SmallVector<Relation>> importChildren(Node op, size_t count);
  mlir::FailureOr<llvm::SmallVector<Relation>> importUnordered(Node op);
  /// Fields that a projection map of an operator names; all if it names none.
  MaybeRelation applyMap(Relation relation, Node map, mlir::Location at);
  /// The place of the first expression below `op` that has one.
  mlir::Location locate(Node op) const;
  mlir::LogicalResult expectOnly(Node op, llvm::ArrayRef<Field> fields);

  ImportContext &context;
  RelationBuilder &builder;
  const ImportOptions &options;
  ExpressionImporter expressions;
  bool isOfOneRow =
      false; ///< of an aggregate that is imported next: there are no rows to choose from
  const bool mayDraw;
  std::map<int64_t, SharedRelation> ctes;
  unsigned depth = 0;
};

} // namespace headrace::import::duckdb

#endif // HEADRACE_PASSES_IMPORT_DUCKDB_RELATIONS_H
