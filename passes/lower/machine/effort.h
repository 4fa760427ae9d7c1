// How much work a kernel's code is worth.
#pragma once

#include "passes/lower/machine/compile.h"

#include "dialects/pipe/PipeDialect.h"

#include "mlir/IR/SymbolTable.h"

namespace headrace::lower {

/// For the kernel of a pipeline, by the rows that it is thought to see on a rank.
Effort effortFor(pipe::PipelineOp pipeline, mlir::SymbolTable &symbols);

} // namespace headrace::lower
