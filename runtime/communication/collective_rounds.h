// The rounds of collective algorithms: who sends which elements to whom. Pure functions of rank,
// size and counts, so that all ranks agree without talking.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headrace {

enum class Combine : uint8_t { kCopy, kReduce };

/// One round of one rank: at most one send and one receive, at the same time. Offsets and counts
/// are in elements of the send and of the receive buffer. A round ends when both are done; what it
/// received may be sent in the next.
struct CollectiveRound {
  int sendPeer = -1;
  int64_t sendOffset = 0;
  int64_t sendCount = 0;
  int receivePeer = -1;
  int64_t receiveOffset = 0;
  int64_t receiveCount = 0;
  Combine combine = Combine::kCopy;
};
using CollectiveRounds = std::vector<CollectiveRound>;

/// size + 1 offsets that split `count` as evenly as can be.
std::vector<int64_t> evenOffsets(int64_t count, int size);
/// size + 1 offsets from counts.
std::vector<int64_t> offsetsOf(std::span<const int64_t> counts);

/// After size - 1 rounds, part `rank` of the buffer is reduced over all ranks.
CollectiveRounds ringReduceScatter(int rank, std::span<const int64_t> offsets);
/// After size - 1 rounds, all parts have come to all; part `rank` is there at the start.
CollectiveRounds ringAllGather(int rank, std::span<const int64_t> offsets);
/// Both, one after the other.
CollectiveRounds ringAllReduce(int rank, int size, int64_t count);
/// The whole buffer, log2(size) times; two more rounds if size is no power of two.
CollectiveRounds doublingAllReduce(int rank, int size, int64_t count);
/// In round r to rank + r and from rank - r.
CollectiveRounds pairwiseAllToAll(int rank, std::span<const int64_t> sendOffsets,
                                  std::span<const int64_t> receiveOffsets);
/// A binomial tree from the root.
CollectiveRounds treeBroadcast(int rank, int size, int64_t count, int root);
/// Dissemination: one element to rank + 2^k in round k.
CollectiveRounds disseminationBarrier(int rank, int size);

} // namespace headrace
