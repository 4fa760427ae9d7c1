// The module that an import makes: one function @main, verified at the end.
#ifndef HEADRACE_PASSES_IMPORT_IMPORTEDPROGRAM_H
#define HEADRACE_PASSES_IMPORT_IMPORTEDPROGRAM_H

#include "mlir/IR/OwningOpRef.h"
#include "passes/import/Json.h"
#include "passes/import/RelationBuilder.h"

namespace headrace::import {

/// A result: the relation, and a name per field.
struct NamedRelation {
  Relation relation;
  llvm::SmallVector<std::string> names;
};

/// Imports a plan, given its document, into the body of @main.
using ImportPlan =
    llvm::function_ref<mlir::FailureOr<NamedRelation>(Node, ImportContext &, RelationBuilder &)>;

/// The module of what `importPlan` makes of the document `json`. Null (and `error` set) if it is no
/// JSON, if that fails, or if the module does not verify.
mlir::OwningOpRef<mlir::ModuleOp> importDocument(mlir::MLIRContext *context, llvm::StringRef json,
                                                 const ImportOptions &options,
                                                 ImportPlan importPlan, ImportError &error);

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_IMPORTEDPROGRAM_H
