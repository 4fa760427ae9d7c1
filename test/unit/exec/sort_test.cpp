// States that are sorted, in memory and on disk.
// Sources: runtime/exec/sort/run_merge.cpp, runtime/exec/sort/sort_copy.cpp,
//   runtime/exec/state/sorted_rows.cpp, runtime/exec/rows/row_run.cpp
#include "runtime/exec/state/rank_state.h"

#include "runtime/exec/source/morsel_queue.h"
#include "test/unit/exec/finished_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <tuple>

namespace headrace::exec {
namespace {

// A row: a key, where it came from, and a text that may be NULL.
constexpr uint32_t kRowBytes = 40;
constexpr uint32_t kNumberAt = 8;
constexpr uint32_t kTextAt = 16;
constexpr uint32_t kTextValidAt = 32;

struct Row {
  int64_t key = 0;
  int64_t number = 0;
  std::optional<std::string> text;
  bool operator==(const Row &) const = default;
};

plan::StateField field(HrType type, uint32_t offset) {
  plan::StateField field;
  field.type = type;
  field.offset = offset;
  return field;
}

/// Counts what is read.
class CountingDisk final : public SpillDisk {
public:
  ssize_t read(int descriptor, std::span<uint8_t> bytes, uint64_t offset) override {
    readBytes += static_cast<int64_t>(bytes.size());
    return SpillDisk::read(descriptor, bytes, offset);
  }
  std::atomic<int64_t> readBytes{0};
};

/// Fills a state from two workers, finishes it, and reads it.
class Sorting : public testing::Test {
protected:
  Sorting() {
    plan_.states.resize(1);
    plan::State &state = plan_.states[0];
    state.kind = plan::StateKind::kSortBuffer;
    state.name = "sort";
    state.rowBytes = kRowBytes;
    state.fields = {field(HR_I64, 0), field(HR_I64, kNumberAt), field(HR_STRING, kTextAt)};
    state.fields[2].nullable = true;
    state.fields[2].validOffset = kTextValidAt;
    state.order = {{0, false, false}, {1, false, false}};
  }

  void limitMemory(int64_t bytes) {
    memory_ = std::make_shared<RankMemory>(
        std::make_shared<BlockPool>(BlockPool::Options{1 << 30, 1 << 30, "--memory"}),
        Budget::Options{Tier::kHost, bytes, "--memory"}, SpillOptions{.disk = disk_});
  }

  Row rowOf(uint64_t number, size_t textBytes) {
    Row row;
    row.key = static_cast<int64_t>(random_() % 5000);
    row.number = static_cast<int64_t>(number);
    if (random_() % 8 != 0) {
      row.text = std::string(random_() % textBytes, static_cast<char>('a' + number % 26));
    }
    return row;
  }

  Status append(StateCopy &copy, const Row &row) {
    auto *buffer = static_cast<HrRowBuffer *>(copy.abi());
    if (buffer->next == buffer->end) {
      HR_RETURN_IF_ERROR(growRows(buffer));
    }
    std::memset(buffer->next, 0xee, kRowBytes);
    std::memcpy(buffer->next, &row.key, 8);
    std::memcpy(buffer->next + kNumberAt, &row.number, 8);
    buffer->next[kTextValidAt] = row.text.has_value();
    if (row.text) {
      HrString text{static_cast<uint32_t>(row.text->size()),
                    {},
                    reinterpret_cast<const uint8_t *>(row.text->data())};
      HR_RETURN_IF_ERROR(copy.keep(&text));
      std::memcpy(buffer->next + kTextAt, &text, sizeof text);
    }
    buffer->next += kRowBytes;
    ++buffer->rows;
    return {};
  }

  /// Whether the copy knows that the row is not among the first, as kernels ask it.
  bool isBeyondBound(StateCopy &copy, const Row &row) {
    const auto *buffer = static_cast<const HrRowBuffer *>(copy.abi());
    if (buffer->isBounded == 0) { // kernels may compare with an empty text
      EXPECT_TRUE(buffer->bound[0] == 0 && buffer->bound[1] == 0);
      return false;
    }
    const plan::OrderKey &first = plan_.states[0].order.front();
    if (byText_) {
      HrString text;
      std::memcpy(&text, buffer->bound, sizeof text);
      const std::string bound(reinterpret_cast<const char *>(text.data), text.length);
      return row.text ? (first.descending ? *row.text < bound : bound < *row.text)
                      : !first.nullsFirst;
    }
    int64_t bound = 0;
    std::memcpy(&bound, buffer->bound, sizeof bound);
    return first.descending ? row.key < bound : bound < row.key;
  }

  /// What the state gives of so many rows.
  Expected<std::vector<Row>> sorted(uint64_t rows, size_t textBytes) {
    HR_ASSIGN_OR_RETURN(state_, RankState::create(plan_, 0, memory_));
    RankState::CopySlots slots = state_->addCopies(3);
    for (uint64_t number = 0; number < rows; ++number) {
      HR_ASSIGN_OR_RETURN(StateCopy * copy, state_->copy(slots[number % 5 < 3 ? 0 : 1]));
      all_.push_back(rowOf(number, textBytes));
      if (asksForBound_ && isBeyondBound(*copy, all_.back())) {
        continue;
      }
      ++appended_;
      HR_RETURN_IF_ERROR(append(*copy, all_.back()));
    }
    HR_RETURN_IF_ERROR(finish());
    return read();
  }

  /// One of four orders: by key or first by text, ascending or descending. Whether it descends.
  bool orderBy(int order) {
    const bool descending = order % 2 != 0;
    byText_ = order >= 2;
    std::vector<plan::OrderKey> &keys = plan_.states[0].order;
    keys = {{0, descending, false}, {1, descending, false}};
    if (byText_) {
      keys.insert(keys.begin(), {2, descending, !descending});
    }
    return descending;
  }

  Status finish() { return finishWith(2, *state_); }

  Expected<std::vector<Row>> read() {
    std::vector<Row> rows;
    auto queue = makeStateQueue(state_, plan_.states[0], 2);
    EXPECT_TRUE(queue->ordered());
    while (!queue->ended()) {
      HR_ASSIGN_OR_RETURN(std::optional<TakenMorsel> taken, queue->take());
      EXPECT_EQ(taken->morsel.firstRow, rows.size());
      for (uint32_t i = 0; i < taken->morsel.rows; ++i) {
        const uint8_t *at = taken->morsel.stateRows[i];
        Row row;
        std::memcpy(&row.key, at, 8);
        std::memcpy(&row.number, at + kNumberAt, 8);
        if (at[kTextValidAt] != 0) {
          HrString text;
          std::memcpy(&text, at + kTextAt, sizeof text);
          row.text = std::string(reinterpret_cast<const char *>(text.data), text.length);
        }
        rows.push_back(std::move(row));
      }
    }
    EXPECT_EQ(rows.size(), state_->rowCount());
    return rows;
  }

  std::vector<Row> expected() {
    std::vector<Row> rows = all_;
    const plan::State &state = plan_.states[0];
    const bool descending = state.order.front().descending; // all keys are, or none
    std::sort(rows.begin(), rows.end(), [&](const Row &one, const Row &other) {
      const auto &[a, b] = descending ? std::tie(other, one) : std::tie(one, other);
      if (byText_ && a.text != b.text) {
        return a.text < b.text; // NULL is the least
      }
      return a.key != b.key ? a.key < b.key : a.number < b.number;
    });
    if (state.limit != 0) {
      rows.resize(std::min<uint64_t>(rows.size(), state.limit));
    }
    rows.erase(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(
                                                std::min<uint64_t>(rows.size(), state.offset)));
    return rows;
  }

  plan::Plan plan_;
  std::shared_ptr<CountingDisk> disk_ = std::make_shared<CountingDisk>();
  std::shared_ptr<RankMemory> memory_;
  std::shared_ptr<RankState> state_;
  std::vector<Row> all_;
  bool byText_ = false; ///< first
  bool asksForBound_ = false;
  uint64_t appended_ = 0;
  std::mt19937_64 random_{7};
};

TEST_F(Sorting, StaysInMemoryWhereThereIsRoom) {
  limitMemory(256 << 20);
  auto rows = sorted(60000, 60);
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  EXPECT_EQ(*rows, expected());
  EXPECT_EQ(memory_->spill->writtenBytes(), 0);
}

TEST_F(Sorting, WaitsOnDiskWhereThereIsNone) {
  limitMemory(4 << 20);
  auto rows = sorted(200000, 60);
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  EXPECT_EQ(*rows, expected());
  EXPECT_GT(memory_->spill->writtenBytes(), 8 << 20);
  EXPECT_LE(state_->peakBytes(), 4 << 20);
  // It can be read again.
  auto again = read();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *rows);
  state_.reset();
  EXPECT_EQ(memory_->budget.reservedBytes(), 0);
}

TEST_F(Sorting, ManyRunsAreMergedToFewerFirst) {
  limitMemory(1500 << 10);
  auto rows = sorted(300000, 80);
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  EXPECT_EQ(*rows, expected());
}

TEST_F(Sorting, TiesAreBrokenHoweverLittleRoomThereIs) {
  // Texts of one letter: most have their first words in common, and many are equal.
  byText_ = true;
  plan_.states[0].order = {{2, false, true}, {0, false, false}, {1, false, false}};
  std::map<bool, int> times; // by whether they stayed in memory
  for (int64_t kibibytes = 6 << 10; kibibytes <= 20 << 10; kibibytes += 700) {
    all_.clear();
    limitMemory(kibibytes << 10);
    auto rows = sorted(60000, 90);
    ASSERT_TRUE(rows.ok()) << rows.status().message();
    EXPECT_EQ(*rows, expected()) << kibibytes;
    ++times[memory_->spill->writtenBytes() == 0];
  }
  EXPECT_GT(times[false], 2);
  EXPECT_GT(times[true], 2);
}

TEST_F(Sorting, TextsThatFillMemoryEndTheirBlock) {
  limitMemory(16 << 20);
  auto rows = sorted(6000, 20000);
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  EXPECT_EQ(*rows, expected());
  EXPECT_GT(memory_->spill->writtenBytes(), 8 << 20);
}

TEST_F(Sorting, ARowThatIsLargerThanABlockOfTheFileHasNoPlaceThere) {
  limitMemory(16 << 20);
  auto rows = sorted(20, 2 << 20);
  ASSERT_FALSE(rows.ok());
  EXPECT_NE(rows.status().message().find("bytes is too large to wait on disk"), std::string::npos)
      << rows.status().message();
}

TEST_F(Sorting, FirstRowsAreAllThatIsKept) {
  plan_.states[0].limit = 50;
  plan_.states[0].offset = 7;
  limitMemory(6 << 20);
  auto rows = sorted(200000, 60);
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  EXPECT_EQ(*rows, expected());
  EXPECT_EQ(memory_->spill->writtenBytes(), 0);
}

TEST_F(Sorting, RowsBeyondTheBoundNeedNotBeAppended) {
  constexpr uint64_t kRows = 200'000;
  asksForBound_ = true;
  plan::State &state = plan_.states[0];
  state.limit = 50;
  for (int order = 0; order < 4; ++order) {
    const bool descending = orderBy(order);
    all_.clear();
    appended_ = 0;
    limitMemory(6 << 20);
    auto rows = sorted(kRows, 60);
    ASSERT_TRUE(rows.ok()) << rows.status().message();
    EXPECT_EQ(*rows, expected()) << order;
    // Two copies of what precedes the first bound, and few later. NULLs, which are among the first
    // texts, make no bound.
    EXPECT_EQ(appended_ < kRows / 5, !byText_ || descending) << order << " " << appended_;
  }
}

TEST_F(Sorting, WithoutAnOrderAnyRowsAreTheFirst) {
  plan_.states[0].order.clear();
  plan_.states[0].limit = 20;
  limitMemory(6 << 20);
  auto rows = sorted(100'000, 60);
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  EXPECT_EQ(rows->size(), 20u);
}

TEST_F(Sorting, NoBoundIsLeftOfRowsThatWaitOnDisk) {
  asksForBound_ = true;
  plan_.states[0].limit = 10'000;
  limitMemory(2 << 20);
  auto rows = sorted(200'000, 60);
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  EXPECT_EQ(*rows, expected());
}

TEST_F(Sorting, ManyFirstRowsWaitOnDisk) {
  plan_.states[0].limit = 100000;
  plan_.states[0].offset = 20000;
  limitMemory(4 << 20);
  auto rows = sorted(200000, 60);
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  EXPECT_EQ(*rows, expected());
  EXPECT_GT(memory_->spill->writtenBytes(), 0);
}

TEST_F(Sorting, WhatIsBeforeTheOffsetIsHardlyRead) {
  constexpr uint64_t kRows = 100'000;
  plan::State &state = plan_.states[0];
  int64_t allBytes = 0;
  for (int order = 0; order < 4; ++order) {
    orderBy(order);
    for (uint64_t offset : {uint64_t(0), kRows / 3, kRows * 9 / 10, kRows - 1, 2 * kRows}) {
      state.offset = offset;
      all_.clear();
      limitMemory(6 << 20);
      disk_->readBytes = 0;
      auto rows = sorted(kRows, 60);
      ASSERT_TRUE(rows.ok()) << rows.status().message();
      EXPECT_EQ(*rows, expected()) << order << " " << offset;
      allBytes = offset == 0 ? disk_->readBytes.load() : allBytes;
      if (offset == kRows * 9 / 10 && !byText_) {
        EXPECT_LT(disk_->readBytes, allBytes / 2);
      }
    }
  }
}

TEST_F(Sorting, AnyLimitIsALimit) {
  plan_.states[0].limit = UINT64_MAX / 2;
  limitMemory(64 << 20);
  auto rows = sorted(50000, 20);
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  EXPECT_EQ(*rows, expected());
}

TEST_F(Sorting, RowsTooLargeForDiskAreTheTypedError) {
  limitMemory(2 << 20);
  auto rows = sorted(100, 1 << 20);
  EXPECT_EQ(rows.status().kind(), ErrorKind::kMemory) << rows.status().message();
}

TEST_F(Sorting, NoRowsAreNoRows) {
  limitMemory(4 << 20);
  auto rows = sorted(0, 1);
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  EXPECT_TRUE(rows->empty());
}

} // namespace
} // namespace headrace::exec
