// Repeats: states in rounds over parts that wait in memory or on disk, whatever the limit.
// Sources: runtime/exec/rank.cpp, runtime/exec/source/parted_stream.cpp,
//   runtime/exec/memory/spill_file.cpp, runtime/exec/source/rounds.cpp,
//   runtime/exec/memory/memory_account.cpp
#include "runtime/exec/source/rounds.h"
#include "test/unit/exec/test_plans.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <set>

namespace headrace::exec {
namespace {

using plan::StateKind;
using plan::StateUse;

constexpr int64_t kMiB = 1 << 20;

TestTable distinctPairs(size_t rows) {
  TestTable table(2);
  for (size_t i = 0; i < rows; ++i) {
    table[0].push_back(static_cast<int64_t>(testHash(i)));
    table[1].push_back(static_cast<int64_t>(i));
  }
  return table;
}

/// The sum of the keys, and their number.
Rows expectedSum(const TestTable &table) {
  const std::set<int64_t> keys(table[0].begin(), table[0].end());
  uint64_t sum = 0;
  for (int64_t key : keys) {
    sum += static_cast<uint64_t>(key);
  }
  return {{static_cast<int64_t>(sum), static_cast<int64_t>(keys.size())}};
}

/// Of the run's only repeat.
int64_t roundsIn(const Profile &profile) {
  for (const TaskProfile &task : profile.tasks) {
    if (task.kind == "repeat") {
      return task.morsels;
    }
  }
  return -1;
}

/// A third of what any query is promised to run in.
int64_t little(int threads) { return (24 + 4 * std::max(threads, 1)) * kMiB; }

TEST(Repeat, RoundsFollowTheMemoryThatThereIs) {
  TestTable table = distinctPairs(500'000); // states of 56 MB while they are merged
  for (int threads : {0, 3}) {
    for (int64_t memory : {int64_t{1} << 30, little(threads)}) {
      auto run = runPlan(groupsInRounds(), {{{"t", table}}, 50'000},
                         {.threads = threads, .memoryBytes = memory});
      ASSERT_TRUE(run.ok()) << run.status().toString();
      EXPECT_EQ(rowsOf(*run->table), expectedSum(table));
      EXPECT_EQ(roundsIn(run->profile) == 1, memory > little(threads)) << threads;
      EXPECT_LE(run->profile.peakBytes.front(), memory);
    }
  }
}

TEST(Repeat, OfNothing) {
  EXPECT_EQ(runRows(groupsInRounds(), {{{"t", distinctPairs(0)}}}), (Rows{{0, 0}}));
}

TEST(Repeat, StatesOfOthersAreCompleteAfterTheLastRound) {
  PlanBuilder b;
  const int32_t kept = b.parted(8);
  const int32_t written = b.run("partition", b.load("t"), {}, kept);
  const int32_t sum = b.state(StateKind::kScalar, 16, "merge_sum");
  const int32_t filled = b.run("sum", kept, {{sum, StateUse::kPerWorker}});
  const int32_t rounds = b.repeat({filled}, {written});
  const int32_t out = b.stream();
  b.runState("emit_sum", sum, out, {filled, rounds});
  b.result(out);
  TestTable table = distinctPairs(50'000);
  EXPECT_EQ(runRows(b, {{{"t", table}}}, {.memoryBytes = 24 * kMiB}), expectedSum(table));
}

TEST(Repeat, AFullOrMissingDiskIsAnErrorThatSaysWhatToDo) {
  TestTable table = distinctPairs(1'000'000); // 16 MB: they are not kept in 10
  auto expectError = [&](SpillOptions spill, const std::string &words) {
    const std::string message = runPlan(groupsInRounds(), {{{"t", table}}, 5000},
                                        {.memoryBytes = 10 * kMiB, .spill = std::move(spill)})
                                    .status()
                                    .message();
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  expectError({"/no/such/folder", 0}, "set spillDirectory to a directory on a disk");
  expectError({"", 64 << 10}, "rows that memory has no room for exceed spillLimit, 64");
}

TEST(Repeat, PlansThatReadPartsInAnotherWayAreRefused) {
  auto refused = [](const std::function<void(plan::Plan &, size_t repeat)> &change) {
    PlanBuilder b = groupsInRounds();
    size_t repeat = 0;
    while (!b.plan.tasks[repeat].as<plan::RepeatTask>()) {
      ++repeat;
    }
    change(b.plan, repeat);
    return Program::load(b.plan, testKernels()).status().message();
  };
  EXPECT_NE(refused([](plan::Plan &plan, size_t repeat) {
              plan.tasks[repeat].after.clear();
            }).find("reads parts that no run has written when it begins: stream 0"),
            std::string::npos);
  EXPECT_NE(refused([](plan::Plan &plan, size_t repeat) {
              plan.tasks[repeat].as<plan::RepeatTask>()->tasks.erase(
                  plan.tasks[repeat].as<plan::RepeatTask>()->tasks.begin());
            }).find("is in no repeat, but reads parts of stream 0"),
            std::string::npos);
  EXPECT_NE(refused([](plan::Plan &plan, size_t) {
              const auto last = static_cast<int32_t>(plan.tasks.size()) - 2; // before the result
              plan.tasks.emplace_back().work = plan::RepeatTask{{last}};
            }).find("needs streams of one number of parts, got numbers: 0"),
            std::string::npos);
}

// ---- the file ----

std::vector<uint8_t> bytesOf(size_t count, uint8_t first) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<uint8_t>(first + i * 7);
  }
  return bytes;
}

TEST(SpillFile, GivesBackWhatWasWritten) {
  SpillFile file({});
  std::vector<SpillFile::Extent> extents;
  for (size_t i = 0; i < 50; ++i) {
    auto extent = file.write(bytesOf(1 + i * 1777, static_cast<uint8_t>(i)));
    ASSERT_TRUE(extent.ok()) << extent.status().toString();
    extents.push_back(*extent);
    if (i % 3 == 2) { // its place is taken by others
      file.release(extents[i - 1]);
      extents[i - 1].bytes = 0;
    }
  }
  for (size_t i = 0; i < extents.size(); ++i) {
    std::vector<uint8_t> back(extents[i].bytes);
    if (!back.empty()) {
      ASSERT_TRUE(file.read(extents[i], back.data()).ok());
      EXPECT_EQ(back, bytesOf(back.size(), static_cast<uint8_t>(i)));
    }
  }
}

TEST(SpillFile, PlacesAreUsedAgain) {
  SpillFile file({"", 256 << 10});
  for (int i = 0; i < 100; ++i) {
    auto extent = file.write(bytesOf(100'000, 1));
    ASSERT_TRUE(extent.ok()) << extent.status().toString();
    file.release(*extent);
  }
  EXPECT_EQ(file.writtenBytes(), 10'000'000);
}

TEST(SpillFile, OtherBytesAreNoticedAndNothingIsLeftBehind) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("spill-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  {
    SpillFile file({folder.string(), 0});
    auto extent = file.write(bytesOf(1000, 3));
    ASSERT_TRUE(extent.ok());
    for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const std::string target = std::filesystem::read_symlink(entry, gone).string();
      if (target.rfind(folder.string(), 0) == 0) {
        const int descriptor = std::stoi(entry.path().filename().string());
        ASSERT_EQ(::pwrite(descriptor, "x", 1, static_cast<off_t>(extent->offset) + 500), 1);
      }
    }
    std::vector<uint8_t> back(1000);
    const Status status = file.read(*extent, back.data());
    EXPECT_EQ(status.kind(), ErrorKind::kCorrupt);
    EXPECT_NE(status.message().find("the disk gave back other bytes than were written"),
              std::string::npos);
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
  EXPECT_TRUE(std::filesystem::remove(folder));
}

// ---- faults of the disk ----

/// One of its writes or reads goes wrong, by a seed.
class FaultyDisk final : public SpillDisk {
public:
  explicit FaultyDisk(uint64_t seed)
      : fault_(static_cast<Fault>(seed % kFaults)), at_(testHash(seed) % 32),
        bytes_(testHash(seed + 1)) {}

  ssize_t write(int descriptor, std::span<const uint8_t> bytes, uint64_t offset) override {
    const bool now = isHit(writes_);
    if (now && (fault_ == kNoSpace || fault_ == kWriteError)) {
      errno = fault_ == kNoSpace ? ENOSPC : EIO;
      return -1;
    }
    if (now && fault_ == kChangedByte) {
      std::vector<uint8_t> changed(bytes.begin(), bytes.end());
      changed[bytes_ % changed.size()] ^= 0x10;
      return SpillDisk::write(descriptor, changed, offset);
    }
    if (fault_ == kShortWrites) {
      bytes = bytes.first(1 + (bytes_ + offset) % bytes.size());
    }
    return SpillDisk::write(descriptor, bytes, offset);
  }

  ssize_t read(int descriptor, std::span<uint8_t> bytes, uint64_t offset) override {
    const bool now = isHit(reads_);
    if (now && fault_ == kReadError) {
      errno = EIO;
      return -1;
    }
    if (now && fault_ == kCutShort) {
      return 0;
    }
    if (fault_ == kShortReads) {
      bytes = bytes.first(1 + (bytes_ + offset) % bytes.size());
    }
    return SpillDisk::read(descriptor, bytes, offset);
  }

  /// What the run must end with, if it wrote and read often enough to meet the fault.
  ErrorKind kind() const { return fault_ == kChangedByte ? ErrorKind::kCorrupt : ErrorKind::kIo; }
  bool isHarmless() const { return fault_ == kShortWrites || fault_ == kShortReads; }

private:
  enum Fault : uint8_t {
    kShortWrites,
    kNoSpace,
    kWriteError,
    kChangedByte,
    kShortReads,
    kReadError,
    kCutShort,
    kFaults
  };
  bool isHit(std::atomic<uint64_t> &count) const { return count.fetch_add(1) == at_; }

  const Fault fault_;
  const uint64_t at_, bytes_;
  std::atomic<uint64_t> writes_{0}, reads_{0};
};

/// HEADRACE_SPILL_FAULTS says how many, HEADRACE_SEED from which on.
TEST(SpillFaults, EndInTheAnswerOrAnErrorOfTheDisk) {
  const char *wanted = std::getenv("HEADRACE_SPILL_FAULTS");
  const char *first = std::getenv("HEADRACE_SEED");
  const uint64_t begin = first ? std::stoull(first) : 1;
  const uint64_t count = wanted ? std::stoull(wanted) : 42;
  TestTable table = distinctPairs(800'000);
  const Rows expected = expectedSum(table);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("faults-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  uint64_t failed = 0;
  for (uint64_t seed = begin; seed < begin + count; ++seed) {
    auto disk = std::make_shared<FaultyDisk>(seed);
    const auto threads = static_cast<int>(seed / 7 % 3);
    auto run = runPlan(groupsInRounds(), {{{"t", table}}, 20'000},
                       {.threads = threads,
                        .memoryBytes = (14 + 4 * threads) * kMiB,
                        .spill = {folder.string(), 0, disk}});
    if (run.ok()) {
      EXPECT_EQ(rowsOf(*run->table), expected) << "HEADRACE_SEED=" << seed;
    } else {
      ++failed;
      EXPECT_EQ(run.status().kind(), disk->kind())
          << "HEADRACE_SEED=" << seed << ": " << run.status().toString();
      EXPECT_FALSE(disk->isHarmless()) << "HEADRACE_SEED=" << seed;
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
  EXPECT_GE(failed, count / 7); // of five sevenths
  EXPECT_TRUE(std::filesystem::remove(folder));
}

// ---- rounds ----

TEST(Rounds, AreAsLargeAsFits) {
  auto text = [](std::vector<uint64_t> bytes, uint64_t room) {
    std::string out;
    for (const PartRange &round : roundsOf(bytes, room)) {
      out += std::to_string(round.first) + "-" + std::to_string(round.last) + " ";
    }
    return out;
  };
  EXPECT_EQ(text({1, 2, 3, 4}, 100), "0-4 ");
  EXPECT_EQ(text({1, 2, 3, 4}, 3), "0-2 2-3 3-4 ");
  EXPECT_EQ(text({1, 2, 3, 4}, 0), "0-1 1-2 2-3 3-4 ");
  EXPECT_EQ(text({0, 0, 9, 0}, 3), "0-2 2-3 3-4 ");
}

} // namespace
} // namespace headrace::exec
