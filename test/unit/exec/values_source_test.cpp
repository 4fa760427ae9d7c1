// The literal rows of a slot: on one rank of a share, every value in its type.
#include "runtime/exec/source/values_source.h"

#include <cstring>
#include <gtest/gtest.h>

#include "runtime/memory/budget.h"

namespace headrace::exec {
namespace {

/// Rows 1, NULL, -3 of a column of integers, and texts beside them.
plan::Slot literals() {
  plan::Slot slot;
  slot.kind = plan::SlotKind::kValues;
  slot.columns = {{"n", {LogicalKind::kI32}, HR_I32, true},
                  {"t", {LogicalKind::kString}, HR_STRING, false}};
  slot.cells = {{.integer = 1}, {.text = "one"}, {.null = true},
                {.text = ""},   {.integer = -3}, {.text = "three"}};
  return slot;
}

TEST(ValuesSource, FirstRankHasAllRows) {
  const plan::Slot slot = literals();
  Budget budget({.limitBytes = 1 << 20});
  Reservation memory = *budget.reserve({.operatorName = "test"});
  for (uint32_t rank : {0u, 1u}) {
    auto source = openValues(slot, {rank, 2});
    ASSERT_TRUE(source.ok()) << source.status().toString();
    ASSERT_EQ((*source)->morselCount(), rank == 0 ? 1u : 0u);
    if (rank != 0) {
      continue;
    }
    auto loaded = (*source)->load(0, memory);
    ASSERT_TRUE(loaded.ok());
    EXPECT_EQ((*loaded)->morsel.rows, 3u);
    const HrSegment &numbers = (*loaded)->columns[0].segments[0];
    EXPECT_EQ(static_cast<const int32_t *>(numbers.data)[0], 1);
    EXPECT_EQ(static_cast<const int32_t *>(numbers.data)[2], -3);
    EXPECT_EQ(numbers.validity[0] & 7, 0b101);
    const auto *texts = static_cast<const HrString *>((*loaded)->columns[1].segments[0].data);
    EXPECT_EQ(texts[2].length, 5u);
    EXPECT_EQ(std::memcmp(texts[2].data, "three", 5), 0);
  }
}

TEST(ValuesSource, NullWhereThereIsNone) {
  plan::Slot slot = literals();
  slot.columns[0].nullable = false;
  Status status = openValues(slot, {}).status();
  EXPECT_EQ(status.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(status.message(), "a NULL in a column that has none: n");
}

} // namespace
} // namespace headrace::exec
