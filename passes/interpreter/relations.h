// The relational ops of `frame` on whole tables held in memory: what they mean, row by row.
#pragma once

#include "dialects/frame/FrameOps.h"
#include "passes/interpreter/row_expressions.h"

namespace headrace::interpreter {

/// The result of a relation on its table operands, in order. Not for scan and the ops between
/// tables and tensors. Sorts keep ties in the order of all columns, so that equal inputs have equal
/// results whatever the order of their rows.
llvm::Expected<Table> evaluateRelation(mlir::Operation *op, llvm::ArrayRef<const Table *> inputs,
                                       OuterScalars outer);

llvm::Expected<Table> evaluateJoin(frame::JoinOp op, const Table &left, const Table &right,
                                   OuterScalars outer);

/// Groups rows and computes measures. `stage` final: the inputs are partial results, a count adds
/// them up.
llvm::Expected<Table> aggregateRows(frame::TableType result, const Table &input,
                                    mlir::ArrayAttr keys,
                                    llvm::ArrayRef<frame::MeasureAttr> measures,
                                    frame::AggregateStage stage);

/// The positions of columns in a table; they exist (the verifier says so).
llvm::SmallVector<unsigned> columnPositions(frame::TableType type, mlir::ArrayAttr names);

/// Sorts by keys, ties by all columns.
void sortRows(Table &table, mlir::ArrayAttr keys);
/// Drops `offset` rows, then all behind `count` more.
void limitRows(Table &table, int64_t offset, std::optional<int64_t> count);
/// Drops all but the first of equal rows.
void distinctRows(Table &table);

} // namespace headrace::interpreter
