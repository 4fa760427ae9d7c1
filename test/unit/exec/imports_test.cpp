// The table of functions that kernels call has one for each import, and that of the primitives it
// was given; maps of dictionaries.
#include "runtime/exec/imports.h"

#include "runtime/exec/worker_context.h"
#include "runtime/primitives/fill.h"
#include "test/unit/exec/finished_state.h"

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

TEST(Imports, MapsOfDictionariesStayForTheSameOne) {
  const HrImports *imports = *kernelImports();
  WorkerContext context(makeAccount());
  HrWorker worker{};
  worker.arena = &context;
  auto ask = [&](uint32_t number, uint32_t id, uint32_t entries) {
    HrColumn column{};
    column.dictionaryId = id;
    column.dictionaryCount = entries;
    int32_t made = -1;
    uint8_t *map = imports->hr_dictionary_map_(&worker, number, &column, &made);
    return std::pair(map, made);
  };
  auto [first, made] = ask(1, 7, 3);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(made, 0);
  first[2] = 42;
  EXPECT_EQ(ask(0, 7, 3).second, 0); // of another condition
  EXPECT_EQ(ask(1, 7, 3), std::pair(first, 1));
  EXPECT_EQ(first[2], 42);
  EXPECT_EQ(ask(1, 8, 2).second, 0); // another dictionary
  EXPECT_EQ(ask(1, 7, 3).second, 0); // is kept no longer
  EXPECT_EQ(ask(1, 0, 3).second, 0); // of which nobody knows whether it is another
  EXPECT_EQ(ask(1, 0, 3).second, 0);
  auto [larger, again] = ask(1, 9, 1 << 20);
  ASSERT_NE(larger, nullptr);
  EXPECT_EQ(again, 0);
  larger[(1 << 20) - 1] = 1;
  EXPECT_EQ(ask(1, 9, 1 << 20), std::pair(larger, 1));
}

TEST(Imports, MapsOfDictionariesAreCharged) {
  constexpr int64_t kBytes = 1 << 20;
  WorkerContext context(makeAccount(kBytes));
  HrWorker worker{};
  worker.arena = &context;
  HrColumn column{};
  column.dictionaryId = 1;
  column.dictionaryCount = 2 * kBytes;
  int32_t made = 0;
  EXPECT_EQ((*kernelImports())->hr_dictionary_map_(&worker, 0, &column, &made), nullptr);
  EXPECT_EQ(worker.error.code, HR_ERROR_MEMORY);
  EXPECT_EQ(context.status.kind(), ErrorKind::kMemory);
  column.dictionaryCount = 8; // nothing was kept for it
  EXPECT_NE((*kernelImports())->hr_dictionary_map_(&worker, 0, &column, &made), nullptr);
  EXPECT_EQ(made, 0);
}

} // namespace
} // namespace headrace::exec
