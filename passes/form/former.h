// The class that forms pipelines, for the files that it is written in: scans.cpp, pipelines.cpp
// (row by row, the whole), joins.cpp, aggregates.cpp (and orders), windows.cpp, choices.cpp,
// shared.cpp.
#pragma once

#include "passes/form/open_pipeline.h"

#include "dialects/dist/DistDialect.h"
#include "dialects/topo/TopoDialect.h"
#include "passes/analysis/local_rows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

#include <array>

namespace headrace::form {

using namespace mlir;

using Names = llvm::StringSet<>;

/// Joins spread values; an estimate may be larger, but a 64-bit sum needs a proof.
std::optional<uint64_t> product(std::optional<uint64_t> a, std::optional<uint64_t> b);
/// Conjuncts `column op constant` of a filter, as bounds by which storage leaves out row groups.
void addBounds(frame::FilterOp filter, pipe::ScanOp scan, OpBuilder &builder);
/// Whether several ops of the program read `table`, which is more than rows of a file or literals
/// that are filtered and computed with.
bool isShared(Value table);
/// The strings of an array of column names.
std::vector<std::string> listOf(ArrayAttr columns);
std::vector<std::string> namesOf(ArrayRef<ColumnInfo> columns);

/// Works from the result back to the scans. A table that several ops read is computed once.
class Former {
public:
  Former(func::FuncOp main, TableSink sink)
      : main_(main), sink_(sink), module_(main->getParentOfType<ModuleOp>()), b_(main.getContext()),
        localRows_(ranksOf(module_)) {
    for (Operation &op : *module_.getBody()) {
      if (auto name = SymbolTable::getSymbolName(&op)) {
        names_.insert(name.getValue());
      }
    }
  }

  LogicalResult run();

private:
  struct Visitor;
  FailureOr<OpenPipeline> open(Value value, const Names &needed);
  /// The same for a value that is formed for one consumer only.
  FailureOr<OpenPipeline> openOnce(Value value, const Names &needed);
  /// Ends `open` in a state that holds the rows of `value`; its name.
  std::string keepRows(OpenPipeline &open, Value value);
  /// The same pipeline once more, made by `where`.
  OpenPipeline copyOf(const OpenPipeline &open, OpBuilder &where, StringRef stem);
  /// Opens a table that has several consumers (isShared): it is formed for the first of them.
  FailureOr<OpenPipeline> openShared(Value value, const Names &needed);
  FailureOr<OpenPipeline> openScan(frame::ScanOp scan, const Names &needed);
  FailureOr<OpenPipeline> openFilter(frame::FilterOp filter, const Names &needed);
  FailureOr<OpenPipeline> openProject(frame::ProjectOp project, const Names &needed);
  FailureOr<OpenPipeline> openExpand(frame::ExpandOp expand, const Names &needed);
  FailureOr<OpenPipeline> openRename(frame::RenameOp rename, const Names &needed);
  FailureOr<OpenPipeline> openJoin(frame::JoinOp join, const Names &needed);
  struct OpenJoin;
  /// Both sides as pipelines, with what the join reads of them.
  LogicalResult openSides(OpenJoin &join, const Names &needed);
  /// Gives the keys of both sides the same body types.
  LogicalResult conformSides(OpenJoin &join);
  /// A column of the build side that says which rows found a match.
  LogicalResult addMatched(OpenJoin &join);
  /// Ends the build side in the join's state.
  void addBuildState(OpenJoin &join);
  /// Null if its keys are hashed.
  pipe::DirectAttr directAttr(const OpenJoin &join);
  /// What comes out of the lookup.
  std::vector<ColumnInfo> columnsBehind(const OpenJoin &join, const Names &needed);
  LogicalResult addLookup(OpenJoin &join, const Names &needed);
  /// A pipeline with the rows of a join's state that come out by whether they were matched, once
  /// all lookups are done.
  OpenPipeline openMarked(OpenJoin &join);
  /// NULL for those of `columns` that `open` does not have.
  void addNulls(OpenPipeline &open, ArrayRef<ColumnInfo> columns, Location location);
  FailureOr<OpenPipeline> openAggregate(frame::AggregateOp aggregate, const Names &needed);
  /// The field that folds a measure of a column's values into `resultType`. Fails for what is no
  /// fold.
  struct Fold {
    ColumnInfo column;
    pipe::Combine combine;
  };
  struct FoldedRows {
    std::optional<uint64_t> rowsMax;
    bool mayBeNone = false;        ///< then the measure is NULL
    bool combinesPartials = false; ///< sums whose range already holds for all ranks together
  };
  FailureOr<Fold> foldOf(frame::AggregateFunction function, ColumnInfo input, Type resultType,
                         const FoldedRows &folded);
  /// Brings sums that may have left their SQL type back to it, with a check; what partial sums of
  /// decimals leave, others may bring back. `others`: columns that are no sums.
  LogicalResult narrowSums(OpenPipeline &open, const Names &others, bool arePartial,
                           Location location);
  void keepWithinBound(OpenPipeline &open, pipe::StateOp state, double rows);
  FailureOr<OpenPipeline> openWindow(frame::WindowOp window, const Names &needed);
  /// Gives values of a window function and their default one body: under new names where needed.
  LogicalResult conformDefaults(OpenPipeline &open,
                                SmallVectorImpl<frame::WindowFunctionAttr> &functions,
                                Location location);
  /// The field of a function's result.
  FailureOr<Fold> windowField(const OpenPipeline &input, frame::WindowFunctionAttr function,
                              Type resultType);
  /// Rows in an order, or the first of them, as the op's state says.
  FailureOr<OpenPipeline> openOrder(frame::RelationalOpInterface op, Value input,
                                    const Names &needed);
  FailureOr<OpenPipeline> openExchange(dist::ExchangeOp exchange, const Names &needed);
  FailureOr<OpenPipeline> openValues(frame::ValuesOp values, const Names &needed);
  FailureOr<OpenPipeline> openUnion(frame::UnionOp unite, const Names &needed);
  /// Lets all of `parts` write one stream and begins a pipeline with their rows: the columns
  /// `names`, in that order, which every part has with the same logical type.
  FailureOr<OpenPipeline> unite(MutableArrayRef<OpenPipeline> parts, ArrayRef<std::string> names,
                                Location location);
  FailureOr<OpenPipeline> openKeep(dist::KeepOp keep, const Names &needed);
  FailureOr<OpenPipeline> openPlace(dist::PlaceOp place, const Names &needed);
  FailureOr<OpenPipeline> openChoose(dist::ChooseOp choose, const Names &needed);
  /// Forms a region of a choose up to its stream; `left` and `counted` are its tables.
  LogicalResult formBranch(Region &region, const Names &needed, StringRef stream, OpenPipeline left,
                           OpenPipeline counted, std::vector<ColumnInfo> &columns);
  /// Whether pipelines that are started belong to a branch of a choice.
  struct Branch {
    std::string choice;
    pipe::Branch way;
  };
  void putIntoBranch(pipe::PipelineOp pipeline);
  /// A new pipeline over the rows of a finished state.
  OpenPipeline openState(Location location, StringRef state, ArrayRef<ColumnInfo> columns,
                         StringRef stem);

  OpenPipeline startPipeline(Location location, StringRef stem);
  /// Continues `open` with rows of these columns.
  pipe::RowsType rowsType(ArrayRef<ColumnInfo> columns);
  /// Appends a map that computes `computed` from `columns`; the body is made by `fill`, which
  /// returns the values.
  FailureOr<std::vector<ColumnInfo>> appendMap(
      OpenPipeline &open, ArrayRef<std::string> columns, const Names &keep,
      ArrayRef<std::string> computed, Location location,
      llvm::function_ref<FailureOr<SmallVector<Scalar>>(ExpressionTranslator &, ArrayRef<Scalar>)>
          fill);
  /// Gives `names` of `open` these body types, under new names where they have another.
  LogicalResult conformKeys(OpenPipeline &open, std::vector<std::string> &names,
                            ArrayRef<std::optional<Range>> ranges, const Names &keep,
                            Location location);
  std::vector<Scalar> bindArguments(OpenPipeline &open, ArrayRef<std::string> columns, Block &body,
                                    ExpressionTranslator *translator, ValueRange frameArguments);
  ArrayAttr strings(ArrayRef<std::string> names);
  pipe::FieldAttr field(const ColumnInfo &column, pipe::Combine combine);
  std::string fresh(StringRef stem);
  OpBuilder atEnd(OpenPipeline &open) {
    return OpBuilder::atBlockEnd(&open.pipeline.getBody().front());
  }
  /// For the cost model: how many rows come out for each that goes in; how long the strings of a
  /// row are together, null without any.
  FloatAttr selectivity(Value to, Value from) {
    return b_.getF64FloatAttr(localRows_.ratio(to, from));
  }
  /// An order of `frame` as `pipe` has it.
  SmallVector<Attribute> sortKeys(ArrayAttr keys);
  FloatAttr textBytes(ArrayRef<ColumnInfo> columns);
  FloatAttr textBytes(const OpenPipeline &open, ArrayRef<std::string> columns);
  void emitMerge(pipe::StateOp state, ArrayRef<ColumnInfo> fields, ArrayAttr keys);

  static int64_t ranksOf(ModuleOp module) {
    topo::MeshAttr mesh = topo::meshOf(module);
    return mesh ? mesh.getRankCount() : 1;
  }
  func::FuncOp main_;
  TableSink sink_;
  ModuleOp module_;
  OpBuilder b_;
  analysis::LocalRows localRows_;
  llvm::StringMap<int> counters_;
  llvm::StringSet<> names_; ///< of symbols
  std::optional<Branch> branch_;
  /// Tables that have been formed already; taken by the first who opens them.
  llvm::MapVector<Value, OpenPipeline> formed_;
  /// Tables with several consumers: pipelines over a finished state, of which each gets a copy.
  llvm::MapVector<Value, OpenPipeline> shared_;
};

} // namespace headrace::form
