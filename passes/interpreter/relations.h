// The relational ops of `frame` on whole tables held in memory: what they mean, row by row.
#pragma once

#include "dialects/frame/FrameOps.h"
#include "passes/interpreter/row_expressions.h"

#include <functional>

namespace headrace::interpreter {

/// The result of a relation on its table operands, in order. Not for scan and the ops between
/// tables and tensors. Sorts keep ties in the order of all columns, so that equal inputs have equal
/// results whatever the order of their rows.
llvm::Expected<Table> evaluateRelation(frame::RelationalOpInterface op,
                                       llvm::ArrayRef<const Table *> inputs, OuterScalars outer);

llvm::Expected<Table> evaluateJoin(frame::JoinOp op, const Table &left, const Table &right,
                                   OuterScalars outer);

/// Groups rows and computes measures. `stage` final: the inputs are partial results, a count adds
/// them up.
llvm::Expected<Table> aggregateRows(frame::TableType result, const Table &input,
                                    mlir::ArrayAttr keys,
                                    llvm::ArrayRef<frame::MeasureAttr> measures,
                                    frame::AggregateStage stage);

/// Compares rows of a table by an order: below, equal, above 0.
std::function<int(const Row &, const Row &)> rowOrder(frame::TableType type, mlir::ArrayAttr keys);
/// Sorts by keys, ties by all columns.
void sortRows(Table &table, mlir::ArrayAttr keys);
/// Adds the columns of a window, which ties of its order see in the order of all columns.
llvm::Expected<Table> windowRows(frame::WindowOp op, const Table &input);

/// The positions of columns in a table; they exist (the verifier says so).
llvm::SmallVector<unsigned> columnPositions(frame::TableType type, mlir::ArrayAttr names);

} // namespace headrace::interpreter
