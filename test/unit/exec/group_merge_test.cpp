// Groups of several workers, from the rows that they are put into to one table.
// Sources: runtime/exec/group/group_copy.cpp
#include "runtime/exec/group/group_merge.h"

#include "runtime/device/cpu/worker_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

namespace headrace::exec {
namespace {

// A row: its hash, a key and a sum.
constexpr uint32_t kRowBytes = 24;
constexpr uint32_t kKeyAt = 8;
constexpr uint32_t kSumAt = 16;
constexpr uint64_t kMorselRows = 65536;

int64_t at(const uint8_t *row, uint32_t offset) {
  int64_t value;
  std::memcpy(&value, row + offset, sizeof value);
  return value;
}

uint64_t hashOf(int64_t key) {
  uint64_t hash = static_cast<uint64_t>(key) * 0x9e3779b97f4a7c15ull;
  hash ^= hash >> 32;
  return hash * 0xd6e8feb86659fd93ull;
}

/// What kernels do with a row of a group.
Status put(StateCopy &copy, int64_t key, int64_t value) {
  auto *table = static_cast<HrGroupTable *>(copy.abi());
  const uint64_t hash = hashOf(key);
  uint8_t *row = nullptr;
  for (uint64_t slot = hash & table->mask; table->directory[slot] != 0;
       slot = (slot + 1) & table->mask) {
    auto *found = reinterpret_cast<uint8_t *>(table->directory[slot] & ((uint64_t{1} << 48) - 1));
    if (table->directory[slot] >> 48 == hash >> 48 && at(found, kKeyAt) == key) {
      row = found;
      break;
    }
  }
  if (!row) {
    Status why;
    row = insertGroup(table, hash, why);
    HR_RETURN_IF_ERROR(why);
    std::memcpy(row + kKeyAt, &key, sizeof key);
  }
  const int64_t sum = at(row, kSumAt) + value;
  std::memcpy(row + kSumAt, &sum, sizeof sum);
  return {};
}

class Groups : public testing::Test {
protected:
  Groups() {
    state_.kind = plan::StateKind::kGroupTable;
    state_.name = "groups";
    state_.rowBytes = kRowBytes;
    state_.mergeKernel = 0;
    limitMemory(int64_t{1} << 30);
  }

  void limitMemory(int64_t bytes) {
    memory_ = std::make_shared<RankMemory>(
        std::make_shared<BlockPool>(BlockPool::Options{int64_t{2} << 30, 1 << 30, "--memory"}),
        Budget::Options{Tier::kHost, bytes, "--memory"});
    auto account = MemoryAccount::open(memory_, {});
    ASSERT_TRUE(account.ok());
    account_ = *account;
  }

  GroupCopy &addCopy(Copies copies = Copies::kOne) {
    auto copy = GroupCopy::create(state_, account_, state_.rows.expected, copies);
    EXPECT_TRUE(copy.ok()) << copy.status().message();
    copies_.push_back(std::move(*copy));
    return *copies_.back();
  }

  /// Value 1 for the key of each of so many rows.
  template <typename Key> void fill(GroupCopy &copy, uint64_t rows, const Key &keyOf) {
    for (uint64_t row = 0; row < rows; ++row) {
      const int64_t key = keyOf(row);
      ASSERT_TRUE(put(copy, key, 1).ok());
      ++expected_[key];
      if ((row + 1) % kMorselRows == 0 || row + 1 == rows) {
        copy.offered(row % kMorselRows + 1);
      }
    }
  }

  Status merge() {
    merge_ = std::make_unique<GroupMerge>(
        state_, account_, [](StateCopy &table, std::span<const RowAddresses> rows) -> Status {
          for (const RowAddresses &run : rows) {
            for (const uint8_t *row : run) {
              HR_RETURN_IF_ERROR(put(table, at(row, kKeyAt), at(row, kSumAt)));
            }
          }
          return {};
        });
    WorkerPool pool({.threads = 2});
    Doorbell doorbell;
    JobOptions options;
    options.doorbell = &doorbell;
    PhasedJob job(pool, options);
    merge_->addPhases(job, [this] {
      std::vector<StateCopy *> all;
      for (const auto &copy : copies_) {
        all.push_back(copy.get());
      }
      return all;
    });
    while (job.poll() == PollState::kPending) {
      doorbell.wait();
    }
    return job.status();
  }

  /// Each group once, with its sum.
  void expectMerged() {
    Status merged = merge();
    ASSERT_TRUE(merged.ok()) << merged.message();
    std::map<int64_t, int64_t> found;
    for (const StateCopy *table : merge_->tables()) {
      for (const RowSpan &span : table->spans()) {
        for (uint64_t row = 0; row < span.count; ++row) {
          const uint8_t *begin = span.rows + row * kRowBytes;
          EXPECT_TRUE(found.emplace(at(begin, kKeyAt), at(begin, kSumAt)).second);
        }
      }
    }
    EXPECT_EQ(found, expected_);
  }

  plan::State state_;
  std::shared_ptr<RankMemory> memory_;
  std::shared_ptr<MemoryAccount> account_;
  std::vector<std::unique_ptr<GroupCopy>> copies_;
  std::unique_ptr<GroupMerge> merge_;
  std::map<int64_t, int64_t> expected_;
  std::mt19937_64 random_{11};
};

uint64_t entriesOf(GroupCopy &copy) { return static_cast<HrGroupTable *>(copy.abi())->mask + 1; }

TEST_F(Groups, DirectoryStaysSmallWhereGroupsComeInRuns) {
  state_.rows.expected = 1000000;
  GroupCopy &copy = addCopy();
  const uint64_t before = entriesOf(copy);
  fill(copy, 3000000, [](uint64_t row) { return static_cast<int64_t>(row / 4); });
  EXPECT_EQ(entriesOf(copy), before);
  EXPECT_FALSE(copy.isUnique());
  EXPECT_LE(copy.rowCount(), 750100u);
  expectMerged();
}

TEST_F(Groups, DirectoryGrowsWhereTheyComeInNoOrder) {
  state_.rows.expected = 1000000;
  GroupCopy &copy = addCopy();
  fill(copy, 1000000, [this](uint64_t) { return static_cast<int64_t>(random_() % 300000); });
  EXPECT_TRUE(copy.isUnique());
  EXPECT_GE(entriesOf(copy), 2 * copy.rowCount());
  expectMerged();
  EXPECT_EQ(merge_->tables(), std::vector<StateCopy *>{&copy}); // nothing to do
}

TEST_F(Groups, DirectoryStaysSmallWhereNearlyEachRowIsOfAnotherGroup) {
  state_.rows.expected = 2000000;
  constexpr uint64_t kCached = 1 << 17, kMorsels = 16;
  GroupCopy &copy = addCopy(Copies::kSeveral);
  fill(copy, kMorselRows, [](uint64_t row) { return static_cast<int64_t>(row); }); // not yet known
  fill(copy, kMorsels * kMorselRows, [](uint64_t row) { return static_cast<int64_t>(3 * row); });
  EXPECT_EQ(entriesOf(copy), kCached);
  EXPECT_FALSE(copy.isUnique());
  // From here on each of few groups has many rows: they are looked up, and found.
  const uint64_t before = copy.rowCount();
  fill(copy, kMorsels * kMorselRows, [](uint64_t row) { return static_cast<int64_t>(row % 1000); });
  EXPECT_LE(copy.rowCount(), before + 3 * kMorselRows);
  expectMerged();
}

TEST_F(Groups, NewGroupsAreForgottenUpToThoseThatAreExpected) {
  state_.rows.expected = 300000;
  GroupCopy &copy = addCopy(Copies::kSeveral);
  fill(copy, 4000000, [this](uint64_t) { return static_cast<int64_t>(random_() % 1000000); });
  EXPECT_FALSE(copy.isUnique());
  EXPECT_LE(copy.rowCount(), state_.rows.expected + 1000000);
  expectMerged();
}

TEST_F(Groups, ACopyByItselfForgetsNoNewGroups) {
  state_.rows.expected = 2000000;
  GroupCopy &copy = addCopy();
  fill(copy, 1000000, [](uint64_t row) { return static_cast<int64_t>(row); });
  EXPECT_TRUE(copy.isUnique());
  expectMerged();
}

TEST_F(Groups, RowsOfOneGroupAreNoMoreThanGroupsThatAreExpected) {
  state_.rows.expected = 200000;
  GroupCopy &copy = addCopy();
  // Runs of four, but the same runs again and again.
  fill(copy, 8000000, [](uint64_t row) { return static_cast<int64_t>(row / 4 % 150000); });
  EXPECT_LE(copy.rowCount(), 2 * state_.rows.expected);
  expectMerged();
}

TEST_F(Groups, WithoutAKernelThatMergesNothingIsForgotten) {
  state_.rows.expected = 1000000;
  state_.mergeKernel = plan::kNone;
  GroupCopy &copy = addCopy();
  fill(copy, 3000000, [](uint64_t row) { return static_cast<int64_t>(row / 4); });
  EXPECT_TRUE(copy.isUnique());
  expectMerged();
}

TEST_F(Groups, CopiesOfWorkersBecomeOne) {
  for (uint64_t groups : {1, 7, 5000, 400000}) {
    copies_.clear();
    expected_.clear();
    for (int worker = 0; worker < 3; ++worker) {
      fill(addCopy(), 500000, [&](uint64_t) { return static_cast<int64_t>(random_() % groups); });
    }
    addCopy(); // which has seen no row
    expectMerged();
  }
}

TEST_F(Groups, NoRowsAreNoTables) {
  addCopy();
  addCopy();
  expectMerged();
  EXPECT_TRUE(merge_->tables().empty());
}

TEST_F(Groups, WithoutRoomForBothTheTypedError) {
  limitMemory(24 << 20);
  for (int worker = 0; worker < 2; ++worker) {
    fill(addCopy(), 200000, [&](uint64_t row) { return static_cast<int64_t>(2 * row + worker); });
  }
  EXPECT_EQ(merge().kind(), ErrorKind::kMemory);
  merge_.reset();
  copies_.clear();
  account_.reset();
  EXPECT_EQ(memory_->budget.reservedBytes(), 0);
}

} // namespace
} // namespace headrace::exec
