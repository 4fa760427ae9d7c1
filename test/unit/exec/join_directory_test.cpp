// Directories of join tables: every row is in the chain of its key, whatever the directory, the
// order in which keys come, and how often.
#include "runtime/exec/join/join_directory.h"

#include "runtime/exec/state/rank_state.h"
#include "test/unit/exec/finished_state.h"
#include "test/unit/exec/test_kernels.h"

#include <bit>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace headrace::exec {
namespace {

using plan::Directory;

// A row: where the chain goes on, its hash, a key that may be NULL, and a number.
constexpr uint32_t kRowBytes = 40, kKeyAt = 16, kValidAt = 24, kNumberAt = 32;

struct Build {
  std::vector<int64_t> keys;
  std::set<size_t> nulls = {}; ///< rows whose key is NULL
};

int64_t field(const uint8_t *row, uint32_t offset) {
  int64_t value;
  std::memcpy(&value, row + offset, sizeof value);
  return value;
}

class Directories : public testing::TestWithParam<Directory> {
protected:
  /// A finished table of these rows, from three workers; null and `status` on an error.
  const HrJoinTable *finish(const Build &build, HrType type, int64_t base, uint64_t extent) {
    plan_.states.assign(1, {});
    plan::State &state = plan_.states[0];
    state.name = "orders";
    state.kind = plan::StateKind::kJoinTable;
    state.rowBytes = kRowBytes;
    plan::StateField key;
    key.type = type;
    key.offset = kKeyAt;
    key.combine = plan::Combine::kKey;
    key.nullable = !build.nulls.empty();
    key.validOffset = kValidAt;
    state.fields = {key};
    state.directory = GetParam();
    if (state.direct()) {
      state.directKeyOffset = kKeyAt;
      state.directKeyType = type;
      state.base = base;
      state.extent = extent;
    }
    state_ = *RankState::create(plan_, 0, memory_);
    RankState::CopySlots slots = state_->addCopies(3);
    for (size_t row = 0; row < build.keys.size(); ++row) {
      StateCopy *copy = *state_->copy(slots[row * 3 / build.keys.size()]);
      auto *buffer = static_cast<HrRowBuffer *>(copy->abi());
      if (buffer->next == buffer->end) {
        EXPECT_TRUE(growRows(buffer).ok());
      }
      const int64_t key = build.keys[row];
      const uint64_t hash = testHash(static_cast<uint64_t>(key));
      const auto number = static_cast<int64_t>(row);
      std::memset(buffer->next, 0xee, kRowBytes);
      std::memcpy(buffer->next + 8, &hash, 8);
      std::memcpy(buffer->next + kKeyAt, &key, 8); // little-endian: of any width
      buffer->next[kValidAt] = !build.nulls.contains(row);
      std::memcpy(buffer->next + kNumberAt, &number, 8);
      buffer->next += kRowBytes;
      ++buffer->rows;
    }
    status_ = finishWith(3, *state_);
    return status_.ok() ? static_cast<const HrJoinTable *>(state_->shared()) : nullptr;
  }

  /// As kernels do.
  static const uint8_t *chainOf(const HrJoinTable &table, int64_t key) {
    constexpr uint64_t kPointer = (uint64_t(1) << 48) - 1;
    const uint64_t slot = static_cast<uint64_t>(key) - static_cast<uint64_t>(table.base);
    if (GetParam() == Directory::kHash) {
      const uint64_t hash = testHash(static_cast<uint64_t>(key));
      const uint64_t entry = table.directory[hash >> table.shift];
      const bool tagged = entry >> (48 + (hash >> 12 & 15)) & 1;
      return tagged ? reinterpret_cast<const uint8_t *>(entry & kPointer) : nullptr;
    }
    if (slot >= table.extent) {
      return nullptr;
    }
    if (GetParam() == Directory::kArray) {
      return reinterpret_cast<const uint8_t *>(table.directory[slot]);
    }
    const uint64_t word = table.ranks[slot / 32];
    const uint64_t before = word & ((uint64_t(1) << slot % 32) - 1);
    return word >> slot % 32 & 1 ? reinterpret_cast<const uint8_t *>(
                                       table.directory[(word >> 32) + std::popcount(before)])
                                 : nullptr;
  }

  void expectAllFound(const Build &build, HrType type, int64_t base, uint64_t extent) {
    const HrJoinTable *table = finish(build, type, base, extent);
    ASSERT_TRUE(table) << status_.toString();
    EXPECT_EQ(table->rows, build.keys.size());
    std::map<int64_t, std::set<int64_t>> expected;
    for (size_t row = 0; row < build.keys.size(); ++row) {
      if (!build.nulls.contains(row)) {
        expected[build.keys[row]].insert(static_cast<int64_t>(row));
      }
    }
    for (int64_t key = base - 3; key < base + static_cast<int64_t>(extent) + 3; ++key) {
      std::set<int64_t> found;
      for (const uint8_t *row = chainOf(*table, key); row;
           row = reinterpret_cast<const uint8_t *>(field(row, 0))) {
        if (field(row, kKeyAt) == key && row[kValidAt] != 0) {
          ASSERT_TRUE(found.insert(field(row, kNumberAt)).second)
              << "twice in the chain of " << key;
        }
      }
      ASSERT_EQ(found, expected[key]) << "key " << key;
    }
  }

  plan::Plan plan_;
  std::shared_ptr<RankMemory> memory_ = std::make_shared<RankMemory>(
      std::make_shared<BlockPool>(BlockPool::Options{1 << 28, 1 << 28, "--memory"}),
      Budget::Options{Tier::kHost, 1 << 28, "--memory"});
  std::unique_ptr<RankState> state_;
  Status status_;
};

TEST_P(Directories, KeysInAnyOrderOnceOrOften) {
  std::mt19937_64 random(3);
  for (int64_t times : {1, 3}) {
    for (bool shuffled : {false, true}) {
      Build build;
      for (int64_t key = -500; key < 1500; key += 2) {
        build.keys.insert(build.keys.end(), static_cast<size_t>(times), key);
      }
      if (shuffled) {
        std::shuffle(build.keys.begin(), build.keys.end(), random);
      }
      for (HrType type : {HR_I16, HR_I32, HR_I64}) {
        if (type == HR_I64 || GetParam() != Directory::kHash) {
          SCOPED_TRACE(testing::Message() << times << " times, type " << type);
          expectAllFound({build.keys}, type, -500, 2000);
        }
      }
    }
  }
}

TEST_P(Directories, NoRows) { expectAllFound({}, HR_I64, 10, 50); }

TEST_P(Directories, KeysAtTheEndsOfTheirRange) {
  expectAllFound({{100, 163, 100, 132, 131}}, HR_I64, 100, 64);
}

TEST_P(Directories, KeysOutsideTheRangeOfThePlan) {
  for (int64_t key : std::initializer_list<int64_t>{9, 60, -1'000'000'000'000}) {
    const HrJoinTable *table = finish({{10, 59, key}}, HR_I64, 10, 50);
    EXPECT_EQ(table != nullptr, GetParam() == Directory::kHash);
    if (!table) {
      EXPECT_EQ(status_.kind(), ErrorKind::kMismatch);
      EXPECT_EQ(status_.message(), "join key outside the range that the statistics promised; "
                                   "recompile with fresh statistics, got " +
                                       std::to_string(key));
    }
  }
}

TEST_P(Directories, NullMatchesNothing) {
  if (GetParam() != Directory::kHash) {
    return; // the plan has such directories for keys without NULL only
  }
  expectAllFound({{1, 2, 2, 3, 3, 3}, {1, 3, 5}}, HR_I64, 0, 5);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Directories,
                         testing::Values(Directory::kHash, Directory::kArray, Directory::kRanks),
                         [](const auto &info) {
                           return info.param == Directory::kHash    ? "Hash"
                                  : info.param == Directory::kArray ? "Array"
                                                                    : "Ranks";
                         });

} // namespace
} // namespace headrace::exec
