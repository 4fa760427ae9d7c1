// A statistics document of the storage layer (JSON) as the attribute of `frame.scan`.
#ifndef HEADRACE_PASSES_IMPORT_STATISTICS_H
#define HEADRACE_PASSES_IMPORT_STATISTICS_H

#include "dialects/frame/FrameTypes.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace headrace::import {

/// The part of `document` about `fileColumns` (whose types are those of `table`, in order). Null if
/// the document is no JSON object or says nothing.
mlir::DictionaryAttr importStatistics(mlir::MLIRContext *context, llvm::StringRef document,
                                      llvm::ArrayRef<mlir::Attribute> fileColumns,
                                      frame::TableType table);

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_STATISTICS_H
