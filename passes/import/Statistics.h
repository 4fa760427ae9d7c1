// A statistics document of the storage layer (JSON) as the attribute of `frame.scan`.
#ifndef HEADRACE_PASSES_IMPORT_STATISTICS_H
#define HEADRACE_PASSES_IMPORT_STATISTICS_H

#include "dialects/frame/FrameTypes.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <nlohmann/json.hpp>

namespace headrace::import {

/// What the storage layer knows of one table.
class TableDocument {
public:
  /// Text that is no JSON object says nothing.
  explicit TableDocument(llvm::StringRef text);

  /// The part about `fileColumns`, which have these types. Null if there is nothing.
  mlir::DictionaryAttr statistics(mlir::MLIRContext *context,
                                  llvm::ArrayRef<mlir::Attribute> fileColumns,
                                  llvm::ArrayRef<mlir::Type> types) const;
  /// Whether a column is known to have no NULL.
  bool isNeverNull(llvm::StringRef column) const;
  /// Of a table of which each rank has rows of its own: the columns by whose hash they are divided.
  std::optional<std::vector<std::string>> residentKeys() const;
  /// Why a column cannot be read; empty if it can.
  llvm::StringRef refusal(llvm::StringRef column) const;

private:
  const nlohmann::json *column(llvm::StringRef name) const;

  nlohmann::json document;
};

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_STATISTICS_H
