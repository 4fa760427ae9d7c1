// libFuzzer: any document through the Substrait import, which must refuse it with a reason or give
// a module that verifies.
#include "passes/import/ImportSubstrait.h"
#include "test/fuzz/import_fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return headrace::fuzz::importAny(data, size, [](auto *context, auto text, auto &error) {
    return headrace::import::importSubstrait(context, text, {}, error);
  });
}
