// Poison: every rank learns of a failure, and all agree on the smallest.
#include "runtime/communication/poison.h"

#include <gtest/gtest.h>

#include "test/unit/communication/board_program.h"

using namespace headrace;
using namespace headrace::test;

namespace {

/// Every rank fails in some task; task 2 fails on all ranks but 0.
class AllFail : public BoardProgram {
public:
  using BoardProgram::BoardProgram;
  PollState work() override {
    int rank = transport.rank();
    board->raise(makeError(ErrorKind::kIo, "late trouble"), TaskId(7), 1);
    if (rank > 0) {
      board->raise(Status(ErrorKind::kData, "overflow", "query.sql:" + std::to_string(rank)),
                   TaskId(2), 10 + rank);
    }
    board->raise(makeError(ErrorKind::kIo, "later trouble"), TaskId(9), 1);
    return PollState::kFailed;
  }
  void check(PollState outcome) override {
    require(outcome == PollState::kFailed, "the run failed");
    std::optional<Poison> poison = board->poison();
    int expectedRank = transport.size() == 1 ? 0 : 1;
    require(poison && poison->rank == expectedRank, "smallest rank of the smallest task");
    if (transport.size() == 1) {
      return;
    }
    require(poison->task == TaskId(2) && poison->row == 11, "task and row");
    Status status = board->status();
    require(status.kind() == ErrorKind::kData && status.place() == "query.sql:1",
            "kind and place: ", status.toString());
    require(status.message() ==
                (transport.rank() == 1 ? "overflow" : "stopped because rank 1 failed: overflow"),
            status.message());
  }
};

/// The last rank fails while the others wait for news.
class OneFails : public BoardProgram {
public:
  using BoardProgram::BoardProgram;
  PollState work() override {
    if (transport.rank() == transport.size() - 1) {
      board->raise(makeError(ErrorKind::kMemory, std::string(5000, 'm')), TaskId(3));
    }
    return board->poisoned() ? PollState::kFailed : PollState::kPending;
  }
  void check(PollState) override {
    require(board->status().kind() == ErrorKind::kMemory, "kind");
    require(board->status().message().find("mmmm") != std::string::npos, "text, though cut");
    // Repeating what the board says is no new failure.
    board->raise(board->status(), TaskId(0));
    require(board->poison()->task == TaskId(3), "still task 3");
  }
};

class Cancelled : public BoardProgram {
public:
  using BoardProgram::BoardProgram;
  PollState work() override {
    if (transport.rank() == 0) {
      board->cancel("interrupted by the user");
    }
    return board->poisoned() ? PollState::kFailed : PollState::kPending;
  }
  void check(PollState) override {
    require(board->status().kind() == ErrorKind::kCancelled, "kind");
    require(board->status().message() == "interrupted by the user", board->status().message());
  }
};

class NothingFails : public BoardProgram {
public:
  using BoardProgram::BoardProgram;
  PollState work() override { return PollState::kDone; }
};

template <typename Program> ProgramFactory make() {
  return [](RankContext context) { return std::make_unique<Program>(context); };
}

} // namespace

class PoisonTest : public testing::TestWithParam<Cluster> {};

TEST_P(PoisonTest, TheSmallestOfManyIsAgreedOn) {
  Status status = runCluster(GetParam(), make<AllFail>());
  EXPECT_TRUE(status.ok()) << status.toString();
}
TEST_P(PoisonTest, OneFailureReachesAll) {
  Status status = runCluster(GetParam(), make<OneFails>());
  EXPECT_TRUE(status.ok()) << status.toString();
}
TEST_P(PoisonTest, CancellingStopsAll) {
  Status status = runCluster(GetParam(), make<Cancelled>());
  EXPECT_TRUE(status.ok()) << status.toString();
}
TEST_P(PoisonTest, NoFailureIsAgreedOnToo) {
  Status status = runCluster(GetParam(), make<NothingFails>());
  EXPECT_TRUE(status.ok()) << status.toString();
}

INSTANTIATE_TEST_SUITE_P(Backends, PoisonTest, testing::ValuesIn(allClusters()),
                         [](const auto &info) { return clusterName(info.param); });

TEST(PoisonSeeds, TheSmallestOfManyUnderManyDelays) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Status status = runCluster({Backend::kSim, 4, seed}, make<AllFail>());
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.toString();
  }
}
