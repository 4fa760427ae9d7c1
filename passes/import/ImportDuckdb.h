// The entry of the import phase for SQL: a plan of DuckDB's binder in JSON becomes a module of
// `frame`.
#ifndef HEADRACE_PASSES_IMPORT_IMPORTDUCKDB_H
#define HEADRACE_PASSES_IMPORT_IMPORTDUCKDB_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/import/ImportContext.h"
#include "passes/import/ImportOptions.h"

namespace headrace::import {

/// Makes `func.func @main() -> !frame.table<…>` with `frame.result_names` from what DuckDB's
/// `json_serialize_plan(text, optimize := false)` gives for one query.
///
/// Column names are unique in the module. Locations are the rendered expression, then its line and
/// column in the query. Null on malformed or unsupported input: `error` then says what and where;
/// what is not known is refused, never passed over. Never aborts, whatever the text. Loads the
/// dialects frame and func.
mlir::OwningOpRef<mlir::ModuleOp> importDuckdb(mlir::MLIRContext *context, llvm::StringRef json,
                                               const ImportOptions &options, ImportError &error);

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_IMPORTDUCKDB_H
