// What it costs to divide a state: the rows that wait for its rounds.
#pragma once

#include "dialects/pipe/PipeDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace headrace::form {

/// The bytes of the rows of a rank that would wait if the state were divided: those that fill it
/// and those that look into it, as many as the program expects. What it does not say counts as
/// none.
double waitingBytes(mlir::ModuleOp program, mlir::SymbolTable &symbols, pipe::StateOp state);

} // namespace headrace::form
