// Shared scans: every morsel is read once, by whoever is ahead; faults end in an error, no rank
// waits for ever.
// Sources: runtime/exec/share/morsel_rights.cpp, runtime/exec/rank_sharing.cpp
#include "model/plan/shared_loads.h"
#include "runtime/base/random.h"
#include "runtime/exec/share/morsel_sharing.h"
#include "runtime/transport/sim.h"
#include "test/unit/exec/test_plans.h"

#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>

namespace headrace::exec {
namespace {

TEST(MorselRights, TakesFromTheFrontAndGivesFromTheEnd) {
  MorselRights rights({10, 20});
  EXPECT_EQ(rights.take(), 10);
  EXPECT_EQ(rights.take(), 11);
  rights.settle();
  EXPECT_EQ(rights.give(3), (storage::MorselRange{17, 20}));
  EXPECT_EQ(rights.left(), 5);
  rights.putBack(10);
  EXPECT_EQ(rights.left(), 6);
  EXPECT_EQ(rights.take(), 10);
  rights.add({30, 32});
  EXPECT_EQ(rights.give(8), (storage::MorselRange{30, 32})) << "of one range";
  EXPECT_EQ(rights.give(8), (storage::MorselRange{12, 17}));
  EXPECT_EQ(rights.give(8).count(), 0);
  EXPECT_EQ(rights.taken(), 2);
  EXPECT_FALSE(rights.ended()) << "one is being loaded, and may come back";
  rights.settle();
  EXPECT_TRUE(rights.ended());
}

TEST(MorselRights, WhatWasTakenCanBeReturned) {
  MorselRights rights({10, 13});
  for (size_t morsel = 10; morsel < 13; ++morsel) {
    EXPECT_EQ(rights.take(), morsel);
    rights.settle();
  }
  EXPECT_TRUE(rights.ended());
  rights.returnTaken({10, 12});
  EXPECT_FALSE(rights.ended());
  EXPECT_EQ(rights.taken(), 1);
  EXPECT_EQ(rights.take(), 10);
  EXPECT_EQ(rights.left(), 1);
}

TEST(MorselRights, NeighboursBecomeOneRange) {
  MorselRights rights({4, 5});
  rights.add({6, 7});
  rights.add({5, 6});
  EXPECT_EQ(rights.give(9), (storage::MorselRange{4, 7}));
}

TEST(MorselRights, RingsWhenLittleIsLeft) {
  Doorbell doorbell;
  MorselRights rights({0, 4});
  rights.expectMore(1, &doorbell);
  for (int taken = 0; taken < 4; ++taken) {
    rights.take();
    rights.settle();
    EXPECT_EQ(doorbell.consume(), taken >= 2) << taken;
  }
  EXPECT_FALSE(rights.ended()) << "more may come";
  rights.endMore();
  EXPECT_TRUE(rights.ended());
}

TEST(MorselRights, WhoHasEnoughWantsNoMore) {
  Doorbell doorbell;
  MorselRights rights({0, 4});
  rights.expectMore(1, &doorbell);
  rights.stop();
  rights.add({7, 9});
  EXPECT_EQ(rights.take(), std::nullopt);
  EXPECT_FALSE(rights.wantsMore());
  EXPECT_TRUE(rights.ended());
}

TEST(MorselSharing, PartnersAreAllOrFewAndSymmetric) {
  EXPECT_EQ(MorselSharing::partnersOf(1, 4), (std::vector<size_t>{0, 2, 3}));
  EXPECT_EQ(MorselSharing::partnersOf(0, 1), std::vector<size_t>{});
  for (size_t size : {2, 8, 9, 16, 1000}) {
    for (size_t place = 0; place < size; ++place) {
      const std::vector<size_t> partners = MorselSharing::partnersOf(place, size);
      EXPECT_LE(partners.size(), 20);
      for (size_t other : partners) {
        EXPECT_NE(other, place);
        const std::vector<size_t> theirs = MorselSharing::partnersOf(other, size);
        EXPECT_TRUE(std::ranges::binary_search(theirs, place)) << place << " of " << size;
      }
    }
  }
}

/// Numbers of morsels alone.
class Numbers final : public storage::MorselSource {
public:
  Numbers(size_t count, storage::MorselRange own, storage::Reach reach)
      : count_(count), own_(own), reach_(reach) {}
  size_t morselCount() const override { return count_; }
  uint64_t rows(size_t) const override { return 1; }
  uint64_t rows() const override { return count_; }
  storage::Reach reach() const override { return reach_; }
  storage::MorselRange share() const override { return own_; }
  void expect(storage::MorselRange more) override { change(more, 1); }
  void leave(storage::MorselRange left) override { change(left, -1); }
  Expected<storage::MorselHandle> load(size_t, Reservation &) const override {
    return storage::MorselHandle();
  }
  bool expects(size_t morsel) const {
    auto changed = changed_.find(morsel);
    return (own_.first <= morsel && morsel < own_.end) +
               (changed == changed_.end() ? 0 : changed->second) ==
           1;
  }

private:
  void change(storage::MorselRange range, int by) {
    for (size_t morsel = range.first; morsel < range.end; ++morsel) {
      changed_[morsel] += by;
    }
  }
  const size_t count_;
  const storage::MorselRange own_;
  const storage::Reach reach_;
  std::map<size_t, int> changed_;
};

constexpr TaskId kScan{3};
/// A rank at work sends itself one message after the other, so that time goes on.
constexpr ChannelId kTicks{7};

struct Speeds {
  int64_t morselNanoseconds = 1'000'000; ///< of a rank that is not slow
  int slowRank = -1;
  int64_t slowness = 1;
  storage::Reach reach = storage::Reach::kAll;
};

/// A rank that reads a morsel after the other, each of which takes it a time.
class Reader {
public:
  Reader(std::unique_ptr<Transport> given, BlockPool &blocks, const VirtualClock &clock,
         size_t morsels, Sharing sharing, storage::Reach reach, int64_t morselNanoseconds,
         uint64_t seed)
      : transport_(std::move(given)), clock_(clock), morselNanoseconds_(morselNanoseconds),
        random_(seed) {
    transport_->setDoorbell(&doorbell);
    EXPECT_TRUE(transport_->open(kTicks, nullptr).ok());
    board = std::move(*PoisonBoard::open(*transport_, blocks, &doorbell));
    sharing_ = std::move(*MorselSharing::open(*transport_, *board, &doorbell, clock, sharing));
    const auto rank = static_cast<size_t>(transport_->rank());
    const auto size = static_cast<size_t>(transport_->size());
    std::vector<int> members(size);
    std::iota(members.begin(), members.end(), 0);
    sharing_->add(kScan, members, [=] {
      return std::unique_ptr<storage::MorselSource>(std::make_unique<Numbers>(
          morsels, storage::MorselRange{morsels * rank / size, morsels * (rank + 1) / size},
          reach));
    });
    startNanoseconds_ = random_.between(0, 3'000'000);
  }
  ~Reader() {
    sharing_.reset();
    board.reset();
  }

  PollState poll() {
    while (transport_->receive(kTicks)) {
      ticks_ = false;
    }
    if (!ticks_ && !settling_ && endedNanoseconds < 0) {
      ticks_ = transport_->send(transport_->rank(), kTicks, {}, {}).ok();
    }
    board->poll();
    if (!settling_ && !board->poisoned()) {
      if (Status status = work(); !status.ok()) {
        board->raise(status);
      }
    }
    if (!settling_ && !board->poisoned()) {
      return PollState::kPending;
    }
    settling_ = true;
    return board->settle();
  }

  Doorbell doorbell;
  std::unique_ptr<PoisonBoard> board;
  std::vector<size_t> read;
  int64_t endedNanoseconds = -1;
  MorselSharing::Numbers numbers() const { return sharing_->numbers(kScan); }

private:
  Status work() {
    HR_RETURN_IF_ERROR(sharing_->poll());
    const int64_t now = clock_.nowNanoseconds();
    if (now < startNanoseconds_ || now < busyUntil_) {
      return {};
    }
    if (!shared_.rights) {
      HR_ASSIGN_OR_RETURN(shared_, sharing_->take(kScan));
    }
    if (std::optional<size_t> morsel = shared_.rights->take()) {
      EXPECT_TRUE(static_cast<const Numbers &>(*shared_.source).expects(*morsel)) << *morsel;
      if (random_.chance(0.05)) {
        shared_.rights->putBack(*morsel); // memory was short
      } else {
        shared_.rights->settle();
        read.push_back(*morsel);
        busyUntil_ = now + morselNanoseconds_;
      }
    }
    HR_RETURN_IF_ERROR(sharing_->poll());
    if (shared_.rights->ended() && clock_.nowNanoseconds() >= busyUntil_) {
      endedNanoseconds = endedNanoseconds < 0 ? now : endedNanoseconds;
      HR_ASSIGN_OR_RETURN(settling_, sharing_->finish());
    }
    return {};
  }

  std::unique_ptr<Transport> transport_;
  const VirtualClock &clock_;
  const int64_t morselNanoseconds_;
  Random random_;
  std::unique_ptr<MorselSharing> sharing_;
  MorselSharing::Shared shared_;
  int64_t startNanoseconds_ = 0;
  int64_t busyUntil_ = 0;
  bool settling_ = false;
  bool ticks_ = false; ///< one is under way
};

struct Outcome {
  Status simulation;
  std::vector<Status> ranks;
  std::vector<std::vector<size_t>> read; ///< by rank
  std::vector<int64_t> messages, taken;
  int64_t endNanoseconds = 0; ///< of the last scan
};

Outcome readTogether(SimOptions options, size_t morsels, const Speeds &speeds,
                     Sharing sharing = Sharing::kOn) {
  VirtualClock clock;
  BlockPool blocks({.capacityBytes = 64 << 20});
  SimNetwork network(options, clock);
  std::vector<std::unique_ptr<Reader>> readers;
  for (int rank = 0; rank < options.size; ++rank) {
    readers.push_back(std::make_unique<Reader>(
        network.transport(rank), blocks, clock, morsels, sharing, speeds.reach,
        speeds.morselNanoseconds * (rank == speeds.slowRank ? speeds.slowness : 1),
        options.seed * 100 + static_cast<uint64_t>(rank)));
  }
  Outcome outcome;
  for (bool pending = true; pending && outcome.simulation.ok();) {
    pending = false;
    for (int rank = 0; rank < options.size; ++rank) {
      if (network.alive(rank)) {
        pending |= network.isPaused(rank) ||
                   readers[static_cast<size_t>(rank)]->poll() == PollState::kPending;
      }
    }
    if (pending && !network.advance()) {
      outcome.simulation = makeError(ErrorKind::kInternal, "hang");
    }
  }
  for (int rank = 0; rank < options.size; ++rank) {
    const Reader &reader = *readers[static_cast<size_t>(rank)];
    if (network.alive(rank)) {
      outcome.ranks.push_back(reader.board->status());
    }
    outcome.read.push_back(reader.read);
    outcome.messages.push_back(reader.numbers().messages);
    outcome.taken.push_back(reader.numbers().taken);
    outcome.endNanoseconds = std::max(outcome.endNanoseconds, reader.endedNanoseconds);
  }
  return outcome;
}

/// Each of `morsels` exactly once.
void expectAllOnce(const Outcome &outcome, size_t morsels, uint64_t seed) {
  std::vector<size_t> all;
  for (const std::vector<size_t> &read : outcome.read) {
    all.insert(all.end(), read.begin(), read.end());
  }
  std::sort(all.begin(), all.end());
  std::vector<size_t> expected(morsels);
  std::iota(expected.begin(), expected.end(), size_t{0});
  EXPECT_EQ(all, expected) << "seed " << seed;
}

TEST(MorselSharing, EachMorselIsReadOnceWhoeverIsSlow) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const int size = static_cast<int>(random.between(1, 12));
    const auto morsels = static_cast<size_t>(random.between(0, 200));
    const Speeds speeds{.slowRank = static_cast<int>(random.below(static_cast<uint64_t>(size))),
                        .slowness = random.between(1, 10)};
    const Outcome outcome = readTogether({.size = size, .seed = seed}, morsels, speeds);
    ASSERT_TRUE(outcome.simulation.ok()) << "seed " << seed;
    for (const Status &status : outcome.ranks) {
      ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.toString();
    }
    expectAllOnce(outcome, morsels, seed);
  }
}

TEST(MorselSharing, ASlowRankCostsWhatItsLostSpeedExplains) {
  const Speeds slow{.slowRank = 1, .slowness = 3};
  constexpr size_t kMorsels = 400;
  const Outcome apart = readTogether({.size = 4}, kMorsels, slow, Sharing::kOff);
  const Outcome shared = readTogether({.size = 4}, kMorsels, slow);
  // Three ranks and a third do in 120 ms what four do in 100; on its own the slow one takes 300.
  EXPECT_GT(apart.endNanoseconds, 300'000'000);
  EXPECT_LT(shared.endNanoseconds, 1.2 * 120'000'000);
  expectAllOnce(shared, kMorsels, 0);
  expectAllOnce(apart, kMorsels, 0);
  EXPECT_EQ(std::accumulate(apart.messages.begin(), apart.messages.end(), int64_t{0}), 0);
}

TEST(MorselSharing, ARankThatStandsStillInTurnsHoldsUpTheOthersLittle) {
  constexpr size_t kMorsels = 4000;
  SimOptions options{.size = 4};
  for (int64_t turn = 0; turn < 100; ++turn) { // 0.1 s of work, 0.2 s of nothing
    options.pauses.push_back({2, turn * 300'000'000 + 100'000'000, (turn + 1) * 300'000'000});
  }
  const Outcome outcome = readTogether(options, kMorsels, {});
  ASSERT_TRUE(outcome.simulation.ok());
  EXPECT_LT(outcome.endNanoseconds, 1.15 * 1'200'000'000) << "lost speed explains 1.2 s";
  expectAllOnce(outcome, kMorsels, 0);
}

TEST(MorselSharing, EqualRanksAskLittleAndTakeLittle) {
  const Outcome outcome = readTogether({.size = 4}, 400, {});
  for (size_t rank = 0; rank < 4; ++rank) {
    EXPECT_LE(outcome.messages[rank], 16);
    EXPECT_LE(outcome.taken[rank], 6);
  }
  const Outcome few = readTogether({.size = 4}, 15, {.slowRank = 1, .slowness = 3});
  EXPECT_EQ(std::accumulate(few.messages.begin(), few.messages.end(), int64_t{0}), 0)
      << "of few morsels nothing is shared";
  expectAllOnce(few, 15, 0);
}

TEST(MorselSharing, RanksThatHaveOtherRowsByTheSameNumbersShareNone) {
  const Outcome outcome = readTogether(
      {.size = 4}, 400, {.slowRank = 1, .slowness = 3, .reach = storage::Reach::kShare});
  EXPECT_EQ(std::accumulate(outcome.messages.begin(), outcome.messages.end(), int64_t{0}), 0);
  for (const std::vector<size_t> &read : outcome.read) {
    EXPECT_EQ(read.size(), 100);
  }
  expectAllOnce(outcome, 400, 0);
}

TEST(MorselSharing, FaultsEndInErrorsThatSayWhat) {
  std::map<ErrorKind, int> kinds;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    SimOptions options{.size = static_cast<int>(random.between(2, 5)), .seed = seed};
    switch (seed % 5) {
    case 0:
      options.loseProbability = 0.05;
      break;
    case 1:
      options.corruptProbability = 0.05;
      break;
    case 2:
      options.duplicateProbability = 0.05;
      break;
    case 3:
      options.reorderProbability = 0.2;
      break;
    case 4:
      options.deaths = {{1, random.between(1'000, 100'000'000)}};
      break;
    }
    const Outcome outcome =
        readTogether(options, 200, {.slowRank = 0, .slowness = random.between(1, 5)});
    ASSERT_TRUE(outcome.simulation.ok()) << "seed " << seed;
    bool failed = false;
    for (const Status &status : outcome.ranks) {
      failed |= !status.ok();
      if (!status.ok()) {
        ++kinds[status.kind()];
        EXPECT_TRUE(status.kind() == ErrorKind::kIo || status.kind() == ErrorKind::kCorrupt)
            << "seed " << seed << ": " << status.toString();
      }
    }
    if (!failed) {
      expectAllOnce(outcome, 200, seed);
    }
  }
  EXPECT_GT(kinds[ErrorKind::kIo], 20);
  EXPECT_GT(kinds[ErrorKind::kCorrupt], 20);
}

/// Two ranks, of which one is the test's own.
class Stranger : public testing::Test {
protected:
  Stranger() {
    other_->setDoorbell(&doorbell_);
    (void)other_->open(kSharingChannel, nullptr);
    sharing_ =
        std::move(*MorselSharing::open(*transport_, *board_, &doorbell_, clock_, Sharing::kOn));
    sharing_->add(kScan, {0, 1}, [] {
      return std::unique_ptr<storage::MorselSource>(
          std::make_unique<Numbers>(100, storage::MorselRange{0, 50}, storage::Reach::kAll));
    });
  }
  Status tell(MessageKind kind, uint64_t tag, uint64_t rows, uint64_t checksum = 0,
              uint64_t sequence = 0) {
    MessageHeader header;
    header.kind = kind;
    header.channel = kSharingChannel.value;
    header.source = 1;
    header.sequence = sequence;
    header.tag = tag;
    header.rows = rows;
    header.checksum = checksum;
    (void)other_->send(0, kSharingChannel, encodeHeader(header), BufferRef());
    while (network_.advance()) {
    }
    return sharing_->poll();
  }

  VirtualClock clock_;
  BlockPool blocks_{BlockPool::Options{.capacityBytes = 64 << 20}};
  SimNetwork network_{{.size = 2}, clock_};
  Doorbell doorbell_;
  std::unique_ptr<Transport> transport_ = network_.transport(0), other_ = network_.transport(1);
  std::unique_ptr<PoisonBoard> board_ =
      std::move(*PoisonBoard::open(*transport_, blocks_, &doorbell_));
  std::unique_ptr<MorselSharing> sharing_;
  const uint64_t scan_ = uint64_t{kScan.value} << 32;
};

TEST_F(Stranger, WhatWasNotBegunIsGivenToo) {
  EXPECT_TRUE(tell(MessageKind::kAsk, scan_, 100).ok());
  while (network_.advance()) {
  }
  auto answer = decodeHeader(*other_->receive(kSharingChannel), kSharingChannel);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->kind, MessageKind::kGive);
  EXPECT_EQ(answer->rows, 25);
  EXPECT_EQ(answer->checksum, 25) << "from the end";
}

TEST_F(Stranger, IsToldWhatItDoesWrong) {
  EXPECT_EQ(tell(MessageKind::kAsk, scan_, 99).message(),
            "ranks see other morsels of a table: rank 1 has 99, rank 0 has: 100");
}

TEST_F(Stranger, MayNotGiveUnasked) {
  EXPECT_EQ(tell(MessageKind::kGive, scan_, 4, 60).message(),
            "rank 1 gives morsels that nobody asked for or that are not there, from 60 on: 4");
}

TEST_F(Stranger, SharesOnlyWhatIsShared) {
  EXPECT_EQ(tell(MessageKind::kAsk, uint64_t{9} << 32, 100).message(),
            "rank 1 shares no morsels with this rank in task: 9");
}

TEST_F(Stranger, LosesNoMessage) {
  EXPECT_EQ(tell(MessageKind::kAsk, scan_, 100, 0, 1).message(),
            "messages about shared morsels were lost from rank 1: expected 0, got: 1");
}

// ---- in a run ----

TestTable numbered(int64_t rows) {
  TestTable table(2);
  for (int64_t row = 0; row < rows; ++row) {
    table[0].push_back(row % 97);
    table[1].push_back(row);
  }
  return table;
}

PlanBuilder shuffled() {
  PlanBuilder b;
  const int32_t parts = b.stream();
  b.run("partition", b.load("t"), {}, parts);
  b.result(b.exchange(plan::ExchangeKind::kGather, b.exchange(plan::ExchangeKind::kHash, parts)));
  plan::shareLoads(b.plan);
  return b;
}

PlanBuilder gathered() {
  PlanBuilder b;
  const int32_t copied = b.stream();
  b.run("copy", b.load("t"), {}, copied);
  b.result(b.exchange(plan::ExchangeKind::kGather, copied));
  plan::shareLoads(b.plan);
  return b;
}

int64_t morselsTaken(const RunResult &result) {
  int64_t taken = 0;
  for (const TaskProfile &task : result.profile.tasks) {
    taken += task.morselsTaken;
  }
  return taken;
}

TEST(SharedScans, GiveTheSameRowsUnderFaults) {
  const Tables tables{{{"t", numbered(60'000)}}};
  const Rows expected = sorted(runRows(shuffled(), tables));
  int64_t taken = 0;
  int answers = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SimOptions simulation{.seed = seed,
                          .loseProbability = seed % 3 == 1 ? 0.002 : 0,
                          .duplicateProbability = seed % 3 == 2 ? 0.002 : 0,
                          .slowRank = static_cast<int>(seed % 4),
                          .idleProbability = 0.95};
    Expected<RunResult> result =
        runPlan(shuffled(), tables, {.threads = 0, .ranks = 4, .simulation = simulation});
    if (!result.ok()) {
      EXPECT_NE(seed % 3, 0) << result.status().toString();
      EXPECT_TRUE(result.status().kind() == ErrorKind::kIo ||
                  result.status().kind() == ErrorKind::kCorrupt)
          << result.status().toString();
      continue;
    }
    ++answers;
    taken += morselsTaken(*result);
    EXPECT_EQ(sorted(rowsOf(*result->table)), expected) << "seed " << seed;
  }
  EXPECT_GE(answers, 20);
  EXPECT_GT(taken, 0);
}

TEST(SharedScans, KeepTheOrderOfTheTable) {
  const Tables tables{{{"t", numbered(60'000)}}};
  const Rows expected = runRows(gathered(), tables);
  int64_t taken = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const SimOptions simulation{
        .seed = seed, .slowRank = static_cast<int>(seed % 3), .idleProbability = 0.9};
    Expected<RunResult> result =
        runPlan(gathered(), tables, {.threads = 0, .ranks = 3, .simulation = simulation});
    ASSERT_TRUE(result.ok()) << result.status().toString();
    taken += morselsTaken(*result);
    EXPECT_EQ(rowsOf(*result->table), expected) << "seed " << seed;
  }
  EXPECT_GT(taken, 0);
}

} // namespace
} // namespace headrace::exec
