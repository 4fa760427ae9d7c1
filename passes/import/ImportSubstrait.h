// The entry of the import phase for SQL: a Substrait plan in JSON becomes a module of `frame`.
#ifndef HEADRACE_PASSES_IMPORT_IMPORTSUBSTRAIT_H
#define HEADRACE_PASSES_IMPORT_IMPORTSUBSTRAIT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/import/ImportContext.h"
#include "passes/import/ImportOptions.h"

namespace headrace::import {

/// Makes `func.func @main() -> !frame.table<…>` with `frame.result_names` from a Substrait plan
/// with bare function names, and with `"nullAware": true` on anti joins that stand for NOT IN,
/// which Substrait has no word for.
///
/// Column names are unique in the module. Locations are the rendered expression (or the relation),
/// then the path in the document. Null on malformed or unsupported input: `error` then says what
/// and at which path. Never aborts, whatever the text. Loads the dialects frame and func.
mlir::OwningOpRef<mlir::ModuleOp> importSubstrait(mlir::MLIRContext *context, llvm::StringRef json,
                                                  const ImportOptions &options, ImportError &error);

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_IMPORTSUBSTRAIT_H
