// Physical types and the row layout of states: shared by `schedule`, which writes them into the
// plan, and `lower`, which generates code against them.
#pragma once

#include "dialects/pipe/PipeDialect.h"
#include "model/plan/plan.h"

namespace headrace {

/// The ABI type of a body-level type (i1, i8 … i128, f32, f64, !pipe.string).
HrType physicalType(mlir::Type type);
/// Offsets, row size and identity row of a state; name, kind, fields and limit as in the op.
/// Rows of group tables start with the hash (8 bytes), of join tables with next and hash (16
/// bytes).
plan::State layoutState(pipe::StateOp state);

/// As plans say how many rows there will be; all zero, without a bound, where the program does not.
plan::Cardinality cardinalityOf(pipe::CardinalityAttr rows);

/// The schema of a stream or table with these physical columns; `logical` (may be empty) names the
/// user's types.
plan::Schema schemaOf(pipe::RowsType rows, mlir::ArrayAttr logical);

/// States a pipeline uses, in the order of HrArgs.states.
llvm::SmallVector<llvm::StringRef> statesOf(pipe::PipelineOp pipeline);

} // namespace headrace
