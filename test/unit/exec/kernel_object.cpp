// A kernel object as the compiler makes them; the test loads it from a file and from memory.
#include "runtime/abi/imports.h"

extern "C" {
__attribute__((visibility("default"))) extern const uint32_t hr_abi_version = HR_ABI_VERSION;
__attribute__((visibility("default"))) extern const uint64_t hr_imports_hash =
    headrace::abi::importsHash();
static const HrImports *imports = nullptr;
__attribute__((visibility("default"))) void hr_set_imports(const HrImports *table) {
  imports = table;
}
/// Proves that the table arrived: it makes a double of 1971.
__attribute__((visibility("default"))) int32_t kernel(const HrArgs *, HrWorker *) {
  const __int128 number = 1971;
  return imports ? static_cast<int32_t>(imports->hr_i128_to_f64_(&number)) : 0;
}
}
