// The setting that chooses an instruction set, and the completeness of the table.
// Sources: runtime/primitives/isa/{baseline,v3,v4}.cpp
#include "test/unit/primitives/testing.h"

#include <gtest/gtest.h>

namespace headrace::primitives::testing {
namespace {

TEST(Isa, SettingIsChecked) {
  setenv("HEADRACE_ISA", "x86-64", 1);
  auto isa = chooseIsa();
  ASSERT_TRUE(isa.ok());
  EXPECT_EQ(*isa, Isa::kBaseline);
  setenv("HEADRACE_ISA", "sse9", 1);
  isa = chooseIsa();
  ASSERT_FALSE(isa.ok());
  EXPECT_EQ(isa.status().kind(), ErrorKind::kUser);
  EXPECT_NE(isa.status().message().find("sse9"), std::string::npos);
  unsetenv("HEADRACE_ISA");
  isa = chooseIsa();
  ASSERT_TRUE(isa.ok());
  EXPECT_EQ(*isa, detectIsa());
}

TEST(Isa, EveryEntryButThoseOfExecIsFilled) {
  const std::string_view execs[] = {
      "hr_group_insert",    "hr_rows_grow",         "hr_string_keep",
      "hr_arena_allocate",  "hr_output_grow",       "hr_text",
      "hr_list_append",     "hr_list_join",         "hr_list_begin",
      "hr_list_end",        "hr_text_keep",         "hr_dictionary_map",
      "hr_dictionary_keep", "hr_dictionary_give_up"};
  for (Isa isa : supportedIsas()) {
    HrImports table = primitivesOf(isa);
    for (const abi::Import &entry : abi::kImports) {
      void *function;
      std::memcpy(&function, reinterpret_cast<const char *>(&table) + entry.slot * sizeof(void *),
                  sizeof function);
      bool ofExec = std::find(std::begin(execs), std::end(execs), entry.name) != std::end(execs);
      EXPECT_EQ(function == nullptr, ofExec) << entry.name;
    }
  }
}

} // namespace
} // namespace headrace::primitives::testing
