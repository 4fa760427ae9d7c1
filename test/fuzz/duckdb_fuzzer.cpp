// libFuzzer: any document through the import of DuckDB's plans, which must refuse it with a reason
// or give a module that verifies.
#include "passes/import/ImportDuckdb.h"
#include "test/fuzz/import_fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  headrace::import::ImportOptions options;
  options.nowMicroseconds = 1'700'000'000'000'000;
  return headrace::fuzz::importAny(data, size, [&](auto *context, auto text, auto &error) {
    return headrace::import::importDuckdb(context, text, options, error);
  });
}
