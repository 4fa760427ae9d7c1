// The module that an import makes: one function @main, verified at the end.
#ifndef HEADRACE_PASSES_IMPORT_IMPORTEDPROGRAM_H
#define HEADRACE_PASSES_IMPORT_IMPORTEDPROGRAM_H

#include "mlir/IR/OwningOpRef.h"
#include "passes/import/RelationBuilder.h"

namespace headrace::import {

/// A result: the relation, and a name per field.
struct NamedRelation {
  Relation relation;
  llvm::SmallVector<std::string> names;
};

/// Calls `build` for the body of @main and returns its result. Null (and an error in `context`) if
/// that fails, or does not verify.
mlir::OwningOpRef<mlir::ModuleOp>
buildProgram(ImportContext &context, const ImportOptions &options,
             llvm::function_ref<mlir::FailureOr<NamedRelation>(RelationBuilder &)> build);

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_IMPORTEDPROGRAM_H
