// How many rows come into a pipeline, as the program says.
#pragma once

#include "dialects/pipe/PipeDialect.h"
#include "model/plan/plan.h"

#include "mlir/IR/SymbolTable.h"

#include <optional>

namespace headrace::analysis {

/// Of the first op of a pipeline: the rows of a state or stream on a rank, those of a table on all
/// ranks. Nothing where the program does not say.
std::optional<plan::Cardinality> rowsOfSource(mlir::Operation &source, mlir::SymbolTable &symbols);

} // namespace headrace::analysis
