// Tensor ops on whole tensors held in memory: linalg point by point, elementwise ops, shapes.
#pragma once

#include "dialects/frame/FrameOps.h"
#include "passes/interpreter/value.h"

namespace headrace::interpreter {

/// What an op sees: a value per operand, and those of captured values.
using ValueLookup = llvm::function_ref<const Value &(mlir::Value)>;

/// The results of an op on tensors, elements and indexes. Extents are those of the operands'
/// values, not of the types, so that it may run on parts of tensors too; operands that disagree on
/// an extent are an error.
llvm::Expected<llvm::SmallVector<Value>> evaluateTensorOp(mlir::Operation *op, ValueLookup lookup);

/// One tensor per group of columns, the rows in the table's order. A number that does not fit is an
/// error.
llvm::Expected<llvm::SmallVector<Value>> tensorsOfTable(frame::ToTensorOp op, const Table &table);
llvm::Expected<Table> tableOfTensor(frame::FromTensorOp op, const Tensor &tensor);

} // namespace headrace::interpreter
