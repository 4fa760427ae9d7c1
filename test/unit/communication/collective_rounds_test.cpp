// The rounds of all algorithms, executed on vectors of integers for 1 to 9 ranks: sends and
// receives match, nothing waits for ever, and the result is right.
#include "runtime/communication/collective_rounds.h"

#include <deque>
#include <functional>
#include <map>

#include <gtest/gtest.h>

using namespace headrace;

namespace {

using Buffers = std::vector<std::vector<int64_t>>; // one a rank

/// Runs all ranks' rounds, each round's send before its receive. False if they get stuck or if
/// messages are left over.
bool execute(const std::vector<CollectiveRounds> &rounds, const Buffers &send, Buffers &receive,
             bool inPlace) {
  std::map<std::pair<int, int>, std::deque<std::vector<int64_t>>> wires;
  std::vector<size_t> at(rounds.size(), 0);
  std::vector<bool> hasSent(rounds.size(), false);
  bool progressed = true;
  while (progressed) {
    progressed = false;
    for (size_t rank = 0; rank < rounds.size(); ++rank) {
      if (at[rank] == rounds[rank].size()) {
        continue;
      }
      const CollectiveRound &round = rounds[rank][at[rank]];
      if (!hasSent[rank]) {
        hasSent[rank] = true;
        progressed = true;
        if (round.sendCount > 0) {
          const std::vector<int64_t> &from = inPlace ? receive[rank] : send[rank];
          wires[{static_cast<int>(rank), round.sendPeer}].emplace_back(
              from.begin() + round.sendOffset, from.begin() + round.sendOffset + round.sendCount);
        }
      }
      if (round.receiveCount > 0) {
        auto &wire = wires[{round.receivePeer, static_cast<int>(rank)}];
        if (wire.empty()) {
          continue;
        }
        EXPECT_EQ(static_cast<int64_t>(wire.front().size()), round.receiveCount);
        for (size_t index = 0; index < wire.front().size(); ++index) {
          int64_t &target = receive[rank][static_cast<size_t>(round.receiveOffset) + index];
          target = wire.front()[index] + (round.combine == Combine::kReduce ? target : 0);
        }
        wire.pop_front();
      }
      ++at[rank];
      hasSent[rank] = false;
      progressed = true;
    }
  }
  for (size_t rank = 0; rank < rounds.size(); ++rank) {
    if (at[rank] != rounds[rank].size()) {
      return false;
    }
  }
  for (const auto &[link, wire] : wires) {
    if (!wire.empty()) {
      return false;
    }
  }
  return true;
}

std::vector<CollectiveRounds> forAll(int size, const std::function<CollectiveRounds(int)> &make) {
  std::vector<CollectiveRounds> rounds;
  for (int rank = 0; rank < size; ++rank) {
    rounds.push_back(make(rank));
  }
  return rounds;
}

Buffers numbered(int size, int64_t count) {
  Buffers buffers(static_cast<size_t>(size));
  for (size_t rank = 0; rank < buffers.size(); ++rank) {
    for (int64_t index = 0; index < count; ++index) {
      buffers[rank].push_back(static_cast<int64_t>(rank + 1) * 1000 + index);
    }
  }
  return buffers;
}

int64_t sumAt(int size, int64_t index) {
  return static_cast<int64_t>(size) * (size + 1) / 2 * 1000 + size * index;
}

} // namespace

TEST(CollectiveRounds, EvenOffsetsCoverAll) {
  EXPECT_EQ(evenOffsets(7, 3), (std::vector<int64_t>{0, 3, 5, 7}));
  EXPECT_EQ(evenOffsets(1, 3), (std::vector<int64_t>{0, 1, 1, 1}));
}

TEST(CollectiveRounds, AllReduceByRingAndDoubling) {
  for (int size = 1; size <= 9; ++size) {
    for (int64_t count : {0, 1, 2, 5, 8, 30}) {
      for (bool ring : {true, false}) {
        Buffers data = numbered(size, count);
        auto rounds = forAll(size, [&](int rank) {
          return ring ? ringAllReduce(rank, size, count) : doublingAllReduce(rank, size, count);
        });
        ASSERT_TRUE(execute(rounds, data, data, true)) << size << " " << count << " " << ring;
        for (const auto &buffer : data) {
          for (int64_t index = 0; index < count; ++index) {
            ASSERT_EQ(buffer[static_cast<size_t>(index)], sumAt(size, index)) << size;
          }
        }
      }
    }
  }
}

TEST(CollectiveRounds, ReduceScatterAndAllGatherWithUnevenCounts) {
  for (int size = 1; size <= 9; ++size) {
    std::vector<int64_t> counts;
    for (int rank = 0; rank < size; ++rank) {
      counts.push_back((rank * 5) % 4); // some are 0
    }
    std::vector<int64_t> offsets = offsetsOf(counts);
    Buffers data = numbered(size, offsets.back());
    ASSERT_TRUE(execute(forAll(size, [&](int rank) { return ringReduceScatter(rank, offsets); }),
                        data, data, true));
    for (size_t rank = 0; rank < data.size(); ++rank) {
      for (int64_t index = offsets[rank]; index < offsets[rank + 1]; ++index) {
        ASSERT_EQ(data[rank][static_cast<size_t>(index)], sumAt(size, index)) << size;
      }
    }
    ASSERT_TRUE(execute(forAll(size, [&](int rank) { return ringAllGather(rank, offsets); }), data,
                        data, true));
    for (const auto &buffer : data) {
      for (int64_t index = 0; index < offsets.back(); ++index) {
        ASSERT_EQ(buffer[static_cast<size_t>(index)], sumAt(size, index)) << size;
      }
    }
  }
}

TEST(CollectiveRounds, AllToAllWithUnevenCounts) {
  for (int size = 1; size <= 9; ++size) {
    auto count = [](int from, int to) { return static_cast<int64_t>((from * 3 + to * 5) % 4); };
    Buffers send(static_cast<size_t>(size)), receive(static_cast<size_t>(size));
    std::vector<CollectiveRounds> rounds;
    for (int rank = 0; rank < size; ++rank) {
      std::vector<int64_t> to, from;
      for (int peer = 0; peer < size; ++peer) {
        to.push_back(count(rank, peer));
        from.push_back(count(peer, rank));
        for (int64_t index = 0; index < to.back(); ++index) {
          send[static_cast<size_t>(rank)].push_back(rank * 100 + peer * 10 + index);
        }
      }
      receive[static_cast<size_t>(rank)].resize(static_cast<size_t>(offsetsOf(from).back()));
      rounds.push_back(pairwiseAllToAll(rank, offsetsOf(to), offsetsOf(from)));
    }
    ASSERT_TRUE(execute(rounds, send, receive, false));
    for (int rank = 0; rank < size; ++rank) {
      size_t at = 0;
      for (int peer = 0; peer < size; ++peer) {
        for (int64_t index = 0; index < count(peer, rank); ++index, ++at) {
          if (peer != rank) {
            ASSERT_EQ(receive[static_cast<size_t>(rank)][at], peer * 100 + rank * 10 + index);
          }
        }
      }
    }
  }
}

TEST(CollectiveRounds, BroadcastFromEveryRoot) {
  for (int size = 1; size <= 9; ++size) {
    for (int root = 0; root < size; ++root) {
      Buffers data = numbered(size, 3);
      std::vector<int64_t> expected = data[static_cast<size_t>(root)];
      auto rounds = forAll(size, [&](int rank) { return treeBroadcast(rank, size, 3, root); });
      ASSERT_TRUE(execute(rounds, data, data, true));
      for (const auto &buffer : data) {
        ASSERT_EQ(buffer, expected) << size << " from " << root;
      }
    }
  }
}

TEST(CollectiveRounds, BarrierHearsOfEveryRank) {
  // Each rank's buffer is a bit set of whom it has heard of; sums of fresh bits stand for "or".
  for (int size = 1; size <= 9; ++size) {
    std::vector<CollectiveRounds> rounds =
        forAll(size, [&](int rank) { return disseminationBarrier(rank, size); });
    std::vector<uint32_t> heard;
    for (int rank = 0; rank < size; ++rank) {
      heard.push_back(1u << rank);
    }
    for (size_t step = 0; step < rounds[0].size(); ++step) {
      std::vector<uint32_t> next = heard;
      for (size_t rank = 0; rank < rounds.size(); ++rank) {
        const CollectiveRound &round = rounds[rank][step];
        EXPECT_EQ(rounds[static_cast<size_t>(round.receivePeer)][step].sendPeer,
                  static_cast<int>(rank));
        next[rank] |= heard[static_cast<size_t>(round.receivePeer)];
      }
      heard = next;
    }
    for (uint32_t bits : heard) {
      EXPECT_EQ(bits, (1u << size) - 1);
    }
  }
}
