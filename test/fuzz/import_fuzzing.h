// What the fuzzers of imports share: what any document must come to, and how documents are changed.
#pragma once

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "passes/import/ImportContext.h"
#include "test/fuzz/json_mutation.h"

#include <cstdlib>

namespace headrace::fuzz {

/// `import(context, text, error)` gives a module that verifies, or refuses with a reason.
template <typename Import> int importAny(const uint8_t *data, size_t size, Import import) {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  headrace::import::ImportError error;
  mlir::OwningOpRef<mlir::ModuleOp> module = import(&context, text, error);
  bool says = !error.text().empty();
  if (static_cast<bool>(module) == says || (module && failed(mlir::verify(*module)))) {
    abort(); // refused without a reason, or accepted with one, or not valid
  }
  return 0;
}

} // namespace headrace::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t sizeMax,
                                          unsigned seed) {
  return headrace::fuzz::mutateDocument(data, size, sizeMax, seed);
}
