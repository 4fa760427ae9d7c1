// Collectives: right on every backend for many sizes, several at once, and unequal calls are told.
// Sources: runtime/communication/{collective_run,members}.cpp
#include "runtime/communication/communicator.h"

#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "runtime/base/random.h"
#include "runtime/transport/sim.h"
#include "test/unit/communication/board_program.h"
#include "test/unit/communication/damaging_transport.h"

using namespace headrace;
using namespace headrace::test;

namespace {

/// Elements whose exact value is known: small integers in every type.
template <typename T> T valueOf(int rank, int64_t index) {
  return static_cast<T>((rank + 1) * 3 + index % 7);
}

class CommunicatorProgram : public BoardProgram {
public:
  explicit CommunicatorProgram(RankContext context, CommunicatorOptions options = {})
      : BoardProgram(context) {
    if (options.bufferBytes == CommunicatorOptions().bufferBytes) {
      options.bufferBytes = 256; // many pieces from small tensors
      options.window = 2;
      options.concurrentMax = 2;
    }
    options.task = TaskId(6);
    auto opened = Communicator::open(transport, *board, blocks, &doorbell, options);
    require(opened.ok(), opened.status().message());
    communicator = std::move(*opened);
  }

protected:
  std::unique_ptr<Communicator> communicator;
};

/// Starts all of a list of collectives at once and checks their results.
class ManyCollectives : public CommunicatorProgram {
public:
  ManyCollectives(RankContext context, int64_t count, ReduceAlgorithm algorithm)
      : CommunicatorProgram(context) {
    int size = transport.size();
    int rank = transport.rank();
    sums = filled<double>(count);
    started.push_back(communicator->allReduce(sums.data(), count, ElementType::kFloat64,
                                              ReduceOp::kSum, algorithm));
    most = filled<float>(count);
    started.push_back(communicator->allReduce(most.data(), count, ElementType::kFloat32,
                                              ReduceOp::kMax, algorithm));
    least = filled<int64_t>(count);
    started.push_back(communicator->allReduce(least.data(), count, ElementType::kInt64,
                                              ReduceOp::kMin, algorithm));
    for (int peer = 0; peer < size; ++peer) {
      counts.push_back(count == 0 ? 0 : (count * (peer + 1)) % (count + 1)); // uneven, some 0
    }
    int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    std::vector<int32_t> own = filled<int32_t>(counts[static_cast<size_t>(rank)]);
    gathered.resize(static_cast<size_t>(total));
    started.push_back(
        communicator->allGather(own.data(), gathered.data(), counts, ElementType::kInt32));
    scatterWork = filled<float>(total);
    scattered.resize(static_cast<size_t>(counts[static_cast<size_t>(rank)]));
    started.push_back(communicator->reduceScatter(scatterWork.data(), scattered.data(), counts,
                                                  ElementType::kFloat32, ReduceOp::kSum));
    for (int peer = 0; peer < size; ++peer) {
      sendCounts.push_back(pairCount(rank, peer, count));
      receiveCounts.push_back(pairCount(peer, rank, count));
      for (int64_t index = 0; index < sendCounts.back(); ++index) {
        outgoing.push_back(rank * 1'000'000 + peer * 1000 + index);
      }
    }
    incoming.resize(static_cast<size_t>(
        std::accumulate(receiveCounts.begin(), receiveCounts.end(), int64_t{0})));
    started.push_back(communicator->allToAll(outgoing.data(), incoming.data(), sendCounts,
                                             receiveCounts, ElementType::kInt64));
    for (int root = 0; root < size; ++root) {
      broadcasts.push_back(filled<double>(count));
      started.push_back(
          communicator->broadcast(broadcasts.back().data(), count, ElementType::kFloat64, root));
    }
    started.push_back(communicator->barrier());
  }

  PollState work() override {
    for (Collective &collective : started) {
      PollState state = collective.poll();
      if (state != PollState::kDone) {
        return state;
      }
    }
    return PollState::kDone;
  }

  void check(PollState outcome) override {
    CommunicatorProgram::check(outcome);
    if (!failure.ok()) {
      return;
    }
    int size = transport.size();
    int rank = transport.rank();
    for (size_t at = 0; at < sums.size(); ++at) {
      auto index = static_cast<int64_t>(at);
      double sum = 0;
      for (int peer = 0; peer < size; ++peer) {
        sum += valueOf<double>(peer, index);
      }
      require(sums[at] == sum, "all_reduce sum at ", at, ": ", sums[at]);
      require(most[at] == valueOf<float>(size - 1, index), "all_reduce max at ", at);
      require(least[at] == valueOf<int64_t>(0, index), "all_reduce min at ", at);
      for (int root = 0; root < size; ++root) {
        require(broadcasts[static_cast<size_t>(root)][at] == valueOf<double>(root, index),
                "broadcast from ", root, " at ", at);
      }
    }
    size_t at = 0;
    int64_t offset = 0;
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) {
        for (size_t own = 0; own < scattered.size(); ++own) {
          float sum = 0;
          for (int other = 0; other < size; ++other) {
            sum += valueOf<float>(other, offset + static_cast<int64_t>(own));
          }
          require(scattered[own] == sum, "reduce_scatter at ", own, ": ", scattered[own]);
        }
      }
      for (int64_t index = 0; index < counts[static_cast<size_t>(peer)]; ++index, ++at) {
        require(gathered[at] == valueOf<int32_t>(peer, index), "all_gather at ", at);
      }
      offset += counts[static_cast<size_t>(peer)];
    }
    at = 0;
    for (int peer = 0; peer < size; ++peer) {
      for (int64_t index = 0; index < receiveCounts[static_cast<size_t>(peer)]; ++index, ++at) {
        require(incoming[at] == peer * 1'000'000 + rank * 1000 + index, "all_to_all at ", at);
      }
    }
  }

private:
  template <typename T> std::vector<T> filled(int64_t count) {
    std::vector<T> values;
    for (int64_t index = 0; index < count; ++index) {
      values.push_back(valueOf<T>(transport.rank(), index));
    }
    return values;
  }
  static int64_t pairCount(int from, int to, int64_t count) {
    return count == 0 ? 0 : (from * 7 + to * 3 + count) % (count + 1);
  }

  std::vector<Collective> started;
  std::vector<double> sums;
  std::vector<float> most, scatterWork, scattered;
  std::vector<int64_t> least, counts, sendCounts, receiveCounts, outgoing, incoming;
  std::vector<int32_t> gathered;
  std::vector<std::vector<double>> broadcasts;
};

ProgramFactory many(int64_t count, ReduceAlgorithm algorithm = ReduceAlgorithm::kAuto) {
  return [=](RankContext context) {
    return std::make_unique<ManyCollectives>(context, count, algorithm);
  };
}

enum class Unequal : uint8_t { kKind, kCount, kOrder, kRoot, kGatherCounts, kPairCounts };

/// Rank 0 calls something else than the others; all must fail with kMismatch.
class UnequalCalls : public CommunicatorProgram {
public:
  UnequalCalls(RankContext context, Unequal how) : CommunicatorProgram(context), how_(how) {
    bool odd = transport.rank() == 0;
    auto size = static_cast<size_t>(transport.size());
    data_.assign(100, 1);
    other_.assign(4000, 1);
    std::vector<int64_t> counts(size, odd ? 5 : 6);
    auto reduce = [&](int64_t count) {
      return communicator->allReduce(data_.data(), count, ElementType::kFloat64, ReduceOp::kSum);
    };
    auto cast = [&](int root) {
      return communicator->broadcast(other_.data(), 50, ElementType::kFloat64, root);
    };
    switch (how) {
    case Unequal::kKind:
      started_.push_back(odd ? reduce(50) : cast(0));
      break;
    case Unequal::kCount:
      started_.push_back(reduce(odd ? 60 : 61));
      break;
    case Unequal::kOrder:
      started_.push_back(odd ? reduce(50) : communicator->barrier());
      started_.push_back(odd ? communicator->barrier() : reduce(50));
      break;
    case Unequal::kRoot:
      started_.push_back(cast(odd ? 0 : 1));
      break;
    case Unequal::kGatherCounts:
      // The sum is the same, its parts are not.
      counts[0] = odd ? 4 : 5;
      counts[1] = odd ? 6 : 5;
      for (size_t rank = 2; rank < size; ++rank) {
        counts[rank] = 1;
      }
      started_.push_back(
          communicator->allGather(data_.data(), other_.data(), counts, ElementType::kFloat64));
      break;
    case Unequal::kPairCounts: {
      std::vector<int64_t> send(size, 3), receive(size, 3);
      if (odd) {
        send[1] = 4;
      }
      started_.push_back(communicator->allToAll(data_.data(), other_.data(), send, receive,
                                                ElementType::kFloat64));
      break;
    }
    }
  }
  PollState work() override {
    for (Collective &collective : started_) {
      PollState state = collective.poll();
      if (state != PollState::kDone) {
        return state;
      }
    }
    // All collectives may be done on a rank that met no unequal one; the others tell.
    return board->poisoned() ? PollState::kFailed : PollState::kPending;
  }
  void check(PollState outcome) override {
    require(outcome == PollState::kFailed, "all fail");
    require(board->status().kind() == ErrorKind::kMismatch, board->status().toString());
    require(board->poison()->task == TaskId(6), "the task is named");
    if (how_ == Unequal::kKind) {
      std::string text = board->status().message();
      require(text.find("started all_reduce sum of 50 float64") != std::string::npos &&
                  text.find("started broadcast of 50 float64 from rank 0") != std::string::npos &&
                  text.find(" differs: rank ") != std::string::npos,
              "both calls are named: ", text);
    } else if (how_ == Unequal::kGatherCounts) {
      std::string text = board->status().message();
      require(text.find(" has other counts, or follows other collectives, on rank ") !=
                  std::string::npos,
              text);
    } else if (how_ == Unequal::kPairCounts) {
      std::string text = board->status().message();
      require(text.find(" sends another count than rank ") != std::string::npos, text);
    }
  }

private:
  Unequal how_;
  std::vector<double> data_, other_;
  std::vector<Collective> started_;
};

struct Damage {
  DamagingTransport transport;
};

/// All collectives, on a rank that gets one message that is changed.
class DamagedCollectives final : private Damage, public ManyCollectives {
public:
  DamagedCollectives(RankContext context, ChangeMessage change)
      : Damage{DamagingTransport(context.transport, std::move(change))},
        ManyCollectives({Damage::transport, context.blocks, context.doorbell}, 100,
                        ReduceAlgorithm::kRing) {}
};

/// Two groups, even and odd ranks, on one channel, besides one of all.
class Groups : public CommunicatorProgram {
public:
  explicit Groups(RankContext context) : CommunicatorProgram(context) {
    CommunicatorOptions options;
    options.channel = ChannelId(kFirstCommunicatorChannel + 1);
    for (int rank = transport.rank() % 2; rank < transport.size(); rank += 2) {
      options.members.push_back(rank);
      expected_ += rank;
    }
    auto opened = Communicator::open(transport, *board, blocks, &doorbell, options);
    require(opened.ok(), opened.status().message());
    group_ = std::move(*opened);
    require(group_->rank() == transport.rank() / 2, "position in the group");
    value_ = transport.rank();
    all_ = transport.rank();
    started_.push_back(group_->allReduce(&value_, 1, ElementType::kInt64, ReduceOp::kSum));
    started_.push_back(communicator->allReduce(&all_, 1, ElementType::kInt64, ReduceOp::kSum));
  }
  PollState work() override {
    for (Collective &collective : started_) {
      PollState state = collective.poll();
      if (state != PollState::kDone) {
        return state;
      }
    }
    return PollState::kDone;
  }
  void check(PollState outcome) override {
    CommunicatorProgram::check(outcome);
    require(value_ == expected_, "sum of the group: ", value_);
    require(all_ == transport.size() * (transport.size() - 1) / 2, "sum of all: ", all_);
  }

private:
  std::unique_ptr<Communicator> group_;
  std::vector<Collective> started_;
  int64_t value_ = 0, all_ = 0, expected_ = 0;
};

} // namespace

class CommunicatorTest : public testing::TestWithParam<Cluster> {};

TEST_P(CommunicatorTest, AllCollectivesOfManySizes) {
  for (int64_t count : {0, 1, 2, 3, 7, 64, 333, 1000}) {
    for (ReduceAlgorithm algorithm : {ReduceAlgorithm::kRing, ReduceAlgorithm::kDoubling}) {
      Status status = runCluster(GetParam(), many(count, algorithm));
      ASSERT_TRUE(status.ok()) << count << " elements: " << status.toString();
    }
  }
}

TEST_P(CommunicatorTest, UnequalCallsFailOnAllRanks) {
  if (GetParam().size == 1) {
    return; // nobody to differ from
  }
  for (Unequal how : {Unequal::kKind, Unequal::kCount, Unequal::kOrder, Unequal::kRoot,
                      Unequal::kGatherCounts, Unequal::kPairCounts}) {
    Status status = runCluster(GetParam(), [&](RankContext context) {
      return std::make_unique<UnequalCalls>(context, how);
    });
    EXPECT_TRUE(status.ok()) << static_cast<int>(how) << ": " << status.toString();
  }
}

TEST_P(CommunicatorTest, GroupsOfRanks) {
  Status status =
      runCluster(GetParam(), [](RankContext context) { return std::make_unique<Groups>(context); });
  EXPECT_TRUE(status.ok()) << status.toString();
}

TEST(Communicator, MessagesThatBreakTheProtocolStopAllRanks) {
  BlockPool blocks({.capacityBytes = 1 << 20});
  auto pool = std::move(*BufferPool::create(blocks, {.bufferBytes = 256, .buffersMax = 1}));
  auto messageOf = [](const std::function<void(MessageHeader &, BufferRef &)> &change) {
    Status status = runCluster(
        {Backend::kLoopback, 2}, [&](RankContext context) -> std::unique_ptr<RankProgram> {
          if (context.transport.rank() == 1) {
            return std::make_unique<ManyCollectives>(context, 100, ReduceAlgorithm::kRing);
          }
          return std::make_unique<DamagedCollectives>(
              context, [&](MessageHeader &header, BufferRef &body) {
                bool isIt = header.channel == kFirstCommunicatorChannel && body;
                if (isIt) {
                  change(header, body);
                }
                return isIt;
              });
        });
    return status.message();
  };
  auto expect = [](const std::string &message, const char *part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(messageOf([](MessageHeader &header, BufferRef &) { header.tag ^= 1; }),
         "a message of another collective came for 0");
  expect(messageOf([](MessageHeader &header, BufferRef &) { header.rows += 1; }),
         "pieces were lost of collective 0 from rank 1, expected 0, got: 1");
  expect(messageOf([](MessageHeader &header, BufferRef &) { header.sequence += 100; }),
         "messages for collectives not yet started on channel ");
  expect(messageOf([&](MessageHeader &header, BufferRef &body) {
           body = pool->tryTake();
           body.resize(16);
           body.seal();
           header.bytes = 16;
           header.checksum = bodyChecksum(body, Checksums::kOn);
         }),
         "a piece of collective 0 has 16 bytes, expected ");
}

INSTANTIATE_TEST_SUITE_P(Backends, CommunicatorTest, testing::ValuesIn(allClusters()),
                         [](const auto &info) { return clusterName(info.param); });

TEST(CommunicatorSeeds, RightUnderManyDelays) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    int64_t count = static_cast<int64_t>(seed * 13 % 300);
    Status status = runCluster({Backend::kSim, 1 + static_cast<int>(seed % 4), seed},
                               many(count, seed % 3 == 0   ? ReduceAlgorithm::kRing
                                           : seed % 3 == 1 ? ReduceAlgorithm::kDoubling
                                                           : ReduceAlgorithm::kAuto));
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.toString();
  }
}

TEST(CommunicatorSeeds, UnequalCallsUnderManyDelays) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    auto how = static_cast<Unequal>(seed % 6);
    Status status = runCluster(
        {Backend::kSim, 2 + static_cast<int>(seed / 6 % 3), seed},
        [&](RankContext context) { return std::make_unique<UnequalCalls>(context, how); });
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.toString();
  }
}
