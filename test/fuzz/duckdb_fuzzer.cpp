// libFuzzer: any document through the import of DuckDB's plans, which must refuse it with a reason
// or give a module that verifies.
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "passes/import/ImportDuckdb.h"
#include "test/fuzz/json_mutation.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  headrace::import::ImportOptions options;
  options.nowMicroseconds = 1'700'000'000'000'000;
  headrace::import::ImportError error;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      headrace::import::importDuckdb(&context, text, options, error);
  bool says = !error.text().empty();
  if (static_cast<bool>(module) == says || (module && failed(mlir::verify(*module)))) {
    abort(); // refused without a reason, or accepted with one, or not valid
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t sizeMax,
                                          unsigned seed) {
  return headrace::fuzz::mutateDocument(data, size, sizeMax, seed);
}
