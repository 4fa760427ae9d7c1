// The table of functions that kernels call has one for each import, and that of the primitives it
// was given.
#include "runtime/exec/kernel/imports.h"

#include "runtime/primitives/fill.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>

namespace headrace::exec {
namespace {

void *entryOf(const HrImports &table, const abi::Import &import) {
  void *function;
  std::memcpy(&function, reinterpret_cast<const char *>(&table) + import.slot * sizeof(void *),
              sizeof function);
  return function;
}

TEST(Imports, EveryEntryIsFilled) {
  Expected<const HrImports *> imports = kernelImports();
  ASSERT_TRUE(imports.ok()) << imports.status().message();
  HrImports primitives{};
  primitives::fillPrimitiveImports(&primitives, *primitives::chooseIsa());
  std::map<void *, const char *> names;
  for (const abi::Import &import : abi::kImports) {
    void *function = entryOf(**imports, import);
    EXPECT_NE(function, nullptr) << import.name;
    if (void *primitive = entryOf(primitives, import)) {
      EXPECT_EQ(function, primitive) << import.name;
    } else { // exec's own, of which no two are the same
      EXPECT_TRUE(names.emplace(function, import.name).second)
          << import.name << " is " << names[function];
    }
  }
  EXPECT_EQ(*imports, *kernelImports()); // made once
}

} // namespace
} // namespace headrace::exec
