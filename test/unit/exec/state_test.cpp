// State copies and finished states, without a run around them.
// Sources: runtime/exec/rows/state_copy.cpp
#include "runtime/exec/group/group_copy.h"
#include "runtime/exec/state/make_state_copy.h"
#include "runtime/exec/state/rank_state.h"
#include "test/unit/exec/finished_state.h"
#include "test/unit/exec/test_kernels.h"

#include <cstring>
#include <gtest/gtest.h>

namespace headrace::exec {
namespace {

TEST(StateCopy, GroupDirectoryGrowsAndKeepsRows) {
  plan::State state;
  state.kind = plan::StateKind::kGroupTable;
  state.rowBytes = 16;
  state.identity.assign(16, 0);
  state.identity[8] = 7;
  auto copy = makeStateCopy(state, makeAccount());
  ASSERT_TRUE(copy.ok());
  auto *table = static_cast<HrGroupTable *>((*copy)->abi());
  std::vector<uint8_t *> rows;
  for (uint64_t i = 0; i < 50000; ++i) {
    Status why;
    uint8_t *row = insertGroup(table, testHash(i), why);
    ASSERT_NE(row, nullptr) << why.message();
    EXPECT_EQ(row[8], 7);
    rows.push_back(row);
  }
  EXPECT_EQ((*copy)->rowCount(), 50000u);
  EXPECT_GE(table->mask + 1, 100000u);
  for (uint64_t i = 0; i < 50000; ++i) {
    uint64_t hash = testHash(i);
    uint64_t slot = hash & table->mask;
    uint64_t wanted = reinterpret_cast<uint64_t>(rows[i]) | hash >> 48 << 48;
    while (table->directory[slot] != wanted) {
      ASSERT_NE(table->directory[slot], 0u);
      slot = (slot + 1) & table->mask;
    }
  }
}

TEST(StateCopy, StringsAreCopied) {
  plan::State state;
  state.kind = plan::StateKind::kScalar;
  state.rowBytes = 16;
  auto copy = makeStateCopy(state, makeAccount());
  ASSERT_TRUE(copy.ok());
  std::string text = "a string that goes away";
  HrString string{static_cast<uint32_t>(text.size()),
                  {'a', ' ', 's', 't'},
                  reinterpret_cast<const uint8_t *>(text.data())};
  ASSERT_TRUE((*copy)->keep(&string).ok());
  std::string saved = text;
  text.assign(text.size(), 'x');
  EXPECT_EQ(std::memcmp(string.data, saved.data(), saved.size()), 0);
}

TEST(StateCopy, MemoryRunsOutWithTheTypedError) {
  plan::State state;
  state.kind = plan::StateKind::kGroupTable;
  state.rowBytes = 16;
  auto copy = makeStateCopy(state, makeAccount(4 << 20));
  ASSERT_TRUE(copy.ok());
  auto *table = static_cast<HrGroupTable *>((*copy)->abi());
  Status status;
  for (uint64_t i = 0; status.ok() && i < 10000000; ++i) {
    insertGroup(table, testHash(i), status);
  }
  EXPECT_EQ(status.kind(), ErrorKind::kMemory);
  EXPECT_NE(status.message().find("test"), std::string::npos);
}

TEST(RankState, SlotsStayWhereTheyAreWhenMoreAreAdded) {
  // A task fills its copies while the next one starts.
  plan::Plan plan;
  plan.states.resize(1);
  plan.states[0].kind = plan::StateKind::kGroupTable;
  plan.states[0].rowBytes = 16;
  auto state = RankState::create(plan, 0, makeMemory(64 << 20));
  ASSERT_TRUE(state.ok());
  std::vector<RankState::CopySlots> slots;
  std::vector<StateCopy *> copies;
  for (size_t task = 0; task < 20; ++task) {
    slots.push_back((*state)->addCopies(3));
    auto copy = (*state)->copy(slots.back()[1]);
    ASSERT_TRUE(copy.ok());
    copies.push_back(*copy);
  }
  for (size_t task = 0; task < 20; ++task) {
    EXPECT_EQ(slots[task][1].get(), copies[task]);
    EXPECT_EQ(*(*state)->copy(slots[task][1]), copies[task]);
    EXPECT_EQ(slots[task][0], nullptr);
  }
}

TEST(RankState, CopiesThatNothingMerges) {
  for (plan::StateKind kind : {plan::StateKind::kGroupTable, plan::StateKind::kScalar}) {
    plan::Plan plan;
    plan.states.resize(1);
    plan.states[0].name = "sums";
    plan.states[0].kind = kind;
    plan.states[0].rowBytes = 16;
    plan.states[0].identity.assign(16, 0);
    auto state = RankState::create(plan, 0, makeMemory(64 << 20));
    ASSERT_TRUE(state.ok());
    for (std::unique_ptr<StateCopy> &slot : (*state)->addCopies(2)) {
      auto copy = (*state)->copy(slot);
      ASSERT_TRUE(copy.ok());
      if (kind == plan::StateKind::kGroupTable) {
        Status why;
        ASSERT_NE(insertGroup(static_cast<HrGroupTable *>((*copy)->abi()), 7, why), nullptr);
      }
    }
    EXPECT_EQ(finishWith(1, **state).message(),
              "state has several copies and no merge kernel: sums");
  }
}

TEST(RankState, RowsCrossSpans) {
  plan::Plan plan;
  plan.states.resize(1);
  plan.states[0].kind = plan::StateKind::kGroupTable;
  plan.states[0].rowBytes = 16;
  auto state = RankState::create(plan, 0, makeMemory(64 << 20));
  ASSERT_TRUE(state.ok());
  auto copy = (*state)->copy((*state)->addCopies(1).front());
  ASSERT_TRUE(copy.ok());
  for (uint64_t i = 0; i < 20000; ++i) {
    Status why;
    ASSERT_NE(insertGroup(static_cast<HrGroupTable *>((*copy)->abi()), i, why), nullptr);
  }
  EXPECT_TRUE(finishWith(1, **state).ok());
  ASSERT_TRUE((*state)->finished());
  ASSERT_EQ((*state)->rowCount(), 20000u);
  std::vector<const uint8_t *> rows;
  for (uint64_t first : {0, 1, 4090, 10000, 19990}) {
    (*state)->rows(first, 10, rows);
    ASSERT_EQ(rows.size(), 10u);
    for (uint64_t i = 0; i < 10; ++i) {
      uint64_t hash;
      std::memcpy(&hash, rows[i], sizeof hash);
      EXPECT_EQ(hash, first + i);
    }
  }
}

} // namespace
} // namespace headrace::exec
