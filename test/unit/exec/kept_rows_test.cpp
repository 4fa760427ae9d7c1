// Rows that several readers read, in memory and on disk.
// Sources: runtime/exec/state/kept_rows.cpp, runtime/exec/rows/row_run.cpp
#include "runtime/exec/state/kept_rows.h"

#include "runtime/exec/source/morsel_queue.h"
#include "test/unit/exec/finished_state.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>

namespace headrace::exec {
namespace {

// A row: a number, and a text that may be NULL.
constexpr uint32_t kRowBytes = 32;
constexpr uint32_t kTextAt = 8;
constexpr uint32_t kTextValidAt = 24;
constexpr int64_t kMiB = 1 << 20;

class FullDisk final : public SpillDisk {
public:
  ssize_t write(int, std::span<const uint8_t>, uint64_t) override {
    errno = ENOSPC;
    return -1;
  }
};

/// Fills a state from two workers, and reads it.
class Keeping : public testing::Test {
protected:
  Keeping() {
    plan_.states.resize(1);
    plan::State &state = plan_.states[0];
    state.kind = plan::StateKind::kRowBuffer;
    state.name = "kept";
    state.rowBytes = kRowBytes;
    state.fields.resize(2);
    state.fields[0].type = HR_I64;
    state.fields[1].type = HR_STRING;
    state.fields[1].offset = kTextAt;
    state.fields[1].nullable = true;
    state.fields[1].validOffset = kTextValidAt;
  }
  ~Keeping() override {
    state_.reset();
    EXPECT_EQ(memory_->budget.reservedBytes(), 0);
  }

  void limitMemory(int64_t bytes, SpillOptions disk = {}) {
    memory_ = std::make_shared<RankMemory>(
        std::make_shared<BlockPool>(BlockPool::Options{1 << 30, 1 << 30, "--memory"}),
        Budget::Options{Tier::kHost, bytes, "--memory"}, std::move(disk));
  }

  /// Every fifth is NULL.
  static std::optional<std::string> textOf(uint64_t number, size_t bytes) {
    return number % 5 == 0 ? std::nullopt
                           : std::optional(std::string(number % (bytes + 1),
                                                       static_cast<char>('a' + number % 26)));
  }

  static Status append(StateCopy &copy, uint64_t number, const std::optional<std::string> &text) {
    auto *buffer = static_cast<HrRowBuffer *>(copy.abi());
    if (buffer->next >= buffer->end) {
      HR_RETURN_IF_ERROR(growRows(buffer));
    }
    std::memcpy(buffer->next, &number, 8);
    buffer->next[kTextValidAt] = text.has_value();
    if (text) {
      HrString kept{
          static_cast<uint32_t>(text->size()), {}, reinterpret_cast<const uint8_t *>(text->data())};
      HR_RETURN_IF_ERROR(copy.keep(&kept));
      std::memcpy(buffer->next + kTextAt, &kept, sizeof kept);
    }
    buffer->next += kRowBytes;
    ++buffer->rows;
    return {};
  }

  Status fill(uint64_t rows, size_t textBytes) {
    textBytes_ = textBytes;
    HR_ASSIGN_OR_RETURN(state_, RankState::create(plan_, 0, memory_));
    RankState::CopySlots slots = state_->addCopies(3);
    for (uint64_t number = 0; number < rows; ++number) {
      HR_ASSIGN_OR_RETURN(StateCopy * copy, state_->copy(slots[number % 5 < 3 ? 0 : 1]));
      HR_RETURN_IF_ERROR(append(*copy, number, textOf(number, textBytes)));
    }
    HR_RETURN_IF_ERROR(finishWith(2, *state_));
    EXPECT_EQ(state_->rowCount(), rows);
    return {};
  }

  std::unique_ptr<MorselQueue> reader() { return makeStateQueue(state_, plan_.states[0], 2); }

  /// Whether the rows of a morsel are as they were.
  void look(const TakenMorsel &taken, std::vector<uint8_t> &seen) {
    for (uint32_t i = 0; i < taken.morsel.rows; ++i) {
      const uint8_t *at = taken.morsel.stateRows[i];
      uint64_t number;
      std::memcpy(&number, at, 8);
      ASSERT_LT(number, seen.size());
      ++seen[number];
      const std::optional<std::string> wanted = textOf(number, textBytes_);
      ASSERT_EQ(at[kTextValidAt] != 0, wanted.has_value());
      if (wanted) {
        HrString text;
        std::memcpy(&text, at + kTextAt, sizeof text);
        ASSERT_EQ(std::string(reinterpret_cast<const char *>(text.data), text.length), *wanted);
      }
    }
  }

  /// A whole pass; each row comes once.
  void readAll() {
    std::vector<uint8_t> seen(state_->rowCount(), 0);
    auto queue = reader();
    while (!queue->ended()) {
      auto taken = queue->take();
      ASSERT_TRUE(taken.ok()) << taken.status().message();
      look(**taken, seen);
    }
    EXPECT_EQ(seen, std::vector<uint8_t>(seen.size(), 1));
  }

  plan::Plan plan_;
  std::shared_ptr<RankMemory> memory_;
  std::shared_ptr<RankState> state_;
  size_t textBytes_ = 0;
};

TEST_F(Keeping, StayInMemoryWhereThereIsRoom) {
  limitMemory(256 * kMiB);
  ASSERT_TRUE(fill(300'000, 60).ok());
  readAll();
  readAll();
  EXPECT_EQ(memory_->spill->writtenBytes(), 0);
}

TEST_F(Keeping, AFewRowsAreSharedByLanes) {
  limitMemory(16 * kMiB);
  ASSERT_TRUE(fill(5'000, 10).ok());
  EXPECT_EQ(reader()->available(), 5u); // of 1,024 rows
  readAll();
}

TEST_F(Keeping, None) {
  limitMemory(kMiB);
  ASSERT_TRUE(fill(0, 0).ok());
  EXPECT_TRUE(reader()->ended());
  EXPECT_FALSE((*reader()->take()).has_value());
}

TEST_F(Keeping, WaitOnDiskWhereThereIsNone) {
  limitMemory(8 * kMiB);
  Status filled = fill(600'000, 60);
  ASSERT_TRUE(filled.ok()) << filled.message();
  EXPECT_GT(memory_->spill->writtenBytes(), 16 * kMiB);
  EXPECT_LE(memory_->budget.peakReservedBytes(), 8 * kMiB);
  // The first are in memory, for whoever reads.
  EXPECT_GT(memory_->spillableBytes(), 3 * kMiB);
  const int64_t written = memory_->spill->writtenBytes();
  readAll();
  readAll();
  EXPECT_LE(memory_->budget.peakReservedBytes(), 8 * kMiB);
  EXPECT_LE(memory_->spill->writtenBytes(), written + 2 * kMiB); // for what readers take
}

TEST_F(Keeping, OneReaderEndsEarlyAndAnotherBeginsLate) {
  limitMemory(8 * kMiB);
  ASSERT_TRUE(fill(400'000, 60).ok());
  auto first = reader(), second = reader();
  std::vector<uint8_t> seen(state_->rowCount(), 0);
  for (int i = 0; !first->ended(); ++i) {
    auto taken = first->take();
    ASSERT_TRUE(taken.ok()) << taken.status().message();
    look(**taken, seen);
    if (i < 3) {
      ASSERT_TRUE((*second->take()).has_value());
    } else {
      second.reset(); // as of a LIMIT
    }
  }
  EXPECT_EQ(seen, std::vector<uint8_t>(seen.size(), 1));
  readAll();
}

TEST_F(Keeping, RowsGoWhenTheLastReaderIsThrough) {
  plan::Task task;
  task.work = plan::RunTask{.sourceState = 0};
  plan_.tasks = {task, task, task};
  for (int64_t memory : {256 * kMiB, 8 * kMiB}) {
    limitMemory(memory);
    Status filled = fill(400'000, 60);
    ASSERT_TRUE(filled.ok()) << filled.message();
    const int64_t held = memory_->budget.reservedBytes();
    readAll();
    auto gone = reader();
    ASSERT_TRUE((*gone->take()).has_value());
    EXPECT_GE(memory_->budget.reservedBytes(), held - 2 * kMiB);
    gone.reset(); // does not want the others
    auto last = reader();
    std::vector<uint8_t> seen(state_->rowCount(), 0);
    for (int i = 0; !last->ended(); ++i) {
      auto taken = last->take();
      ASSERT_TRUE(taken.ok()) << taken.status().message();
      look(**taken, seen);
      if (i == 20) {
        EXPECT_LT(memory_->budget.reservedBytes(), held - kMiB);
      }
    }
    EXPECT_EQ(seen, std::vector<uint8_t>(seen.size(), 1));
    EXPECT_LE(memory_->budget.reservedBytes(), 2 * kMiB); // what writing takes
    EXPECT_EQ(memory_->spillableBytes(), 0);
    state_.reset();
  }
}

TEST_F(Keeping, WhatIsReadStaysUntilItIsLetGo) {
  limitMemory(24 * kMiB);
  ASSERT_TRUE(fill(200'000, 60).ok());
  EXPECT_EQ(memory_->spill->writtenBytes(), 0);
  auto queue = reader();
  auto taken = queue->take();
  ASSERT_TRUE(taken.ok());
  // All but what is being read leaves.
  const int64_t resident = memory_->spillableBytes();
  auto given = memory_->makeRoom(resident);
  ASSERT_TRUE(given.ok());
  EXPECT_GT(*given, resident - 2 * kMiB);
  EXPECT_LT(*given, resident);
  EXPECT_EQ(*memory_->makeRoom(1), 0);
  std::vector<uint8_t> seen(state_->rowCount(), 0);
  look(**taken, seen);
  taken = std::optional<TakenMorsel>();
  EXPECT_GT(*memory_->makeRoom(1), 0);
  // The piece has gone to disk in the middle of it.
  while (!queue->ended()) {
    auto next = queue->take();
    ASSERT_TRUE(next.ok()) << next.status().message();
    look(**next, seen);
  }
  EXPECT_EQ(seen, std::vector<uint8_t>(seen.size(), 1));
}

TEST_F(Keeping, LanesReadWhileOthersNeedRoom) {
  limitMemory(24 * kMiB);
  ASSERT_TRUE(fill(300'000, 60).ok());
  std::vector<std::thread> lanes;
  std::atomic<uint64_t> rows{0};
  std::atomic<int> ended{0};
  for (int reader = 0; reader < 2; ++reader) {
    std::shared_ptr<MorselQueue> queue = this->reader();
    for (int lane = 0; lane < 2; ++lane) {
      lanes.emplace_back([queue, &rows, &ended] {
        while (!queue->ended()) {
          auto taken = queue->take();
          EXPECT_TRUE(taken.ok()) << taken.status().message();
          rows += taken.ok() && *taken ? (*taken)->morsel.rows : 0;
        }
        ++ended;
      });
    }
  }
  while (ended < 4) {
    EXPECT_TRUE(memory_->makeRoom(kMiB).ok());
    std::this_thread::yield();
  }
  for (std::thread &lane : lanes) {
    lane.join();
  }
  EXPECT_EQ(rows, 600'000u);
  readAll();
}

TEST_F(Keeping, ARowThatIsTooLargeToWriteStays) {
  limitMemory(32 * kMiB);
  textBytes_ = 3 << 20;
  auto state = RankState::create(plan_, 0, memory_);
  ASSERT_TRUE(state.ok());
  state_ = *std::move(state);
  StateCopy *copy = *state_->copy(state_->addCopies(1).front());
  const std::vector<std::string> texts = {"a", std::string(3 << 20, 'b'), "c",
                                          std::string(700 << 10, 'd')};
  for (size_t i = 0; i < texts.size(); ++i) {
    ASSERT_TRUE(append(*copy, i, texts[i]).ok());
  }
  ASSERT_TRUE(finishWith(1, *state_).ok());
  EXPECT_GT(*memory_->makeRoom(32 * kMiB), 0); // the last two rows
  EXPECT_EQ(*memory_->makeRoom(32 * kMiB), 0);
  EXPECT_EQ(memory_->spillableBytes(), 0);
  auto queue = reader();
  size_t found = 0;
  while (!queue->ended()) {
    auto taken = queue->take();
    ASSERT_TRUE(taken.ok()) << taken.status().message();
    for (uint32_t i = 0; i < (*taken)->morsel.rows; ++i, ++found) {
      HrString text;
      std::memcpy(&text, (*taken)->morsel.stateRows[i] + kTextAt, sizeof text);
      EXPECT_EQ(std::string(reinterpret_cast<const char *>(text.data), text.length), texts[found]);
    }
  }
  EXPECT_EQ(found, texts.size());
}

TEST_F(Keeping, AFullDiskIsSaid) {
  limitMemory(8 * kMiB, {"", 0, std::make_shared<FullDisk>()});
  const Status filled = fill(600'000, 60);
  EXPECT_EQ(filled.kind(), ErrorKind::kIo);
  EXPECT_NE(filled.message().find("No space left"), std::string::npos) << filled.message();
}

} // namespace
} // namespace headrace::exec
