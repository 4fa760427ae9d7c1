// The algorithms, written down as rounds.
#include "runtime/communication/collective_rounds.h"

#include <algorithm>
#include <bit>

#include "runtime/base/check.h"

namespace headrace {

namespace {

int wrap(int rank, int size) { return ((rank % size) + size) % size; }

CollectiveRound ringRound(int rank, std::span<const int64_t> offsets, int sendPart, int receivePart,
                          Combine combine) {
  int size = static_cast<int>(offsets.size()) - 1;
  auto from = static_cast<size_t>(wrap(sendPart, size));
  auto to = static_cast<size_t>(wrap(receivePart, size));
  CollectiveRound round;
  round.sendPeer = wrap(rank + 1, size);
  round.sendOffset = offsets[from];
  round.sendCount = offsets[from + 1] - offsets[from];
  round.receivePeer = wrap(rank - 1, size);
  round.receiveOffset = offsets[to];
  round.receiveCount = offsets[to + 1] - offsets[to];
  round.combine = combine;
  return round;
}

CollectiveRound wholeRound(int sendPeer, int receivePeer, int64_t count, Combine combine) {
  CollectiveRound round;
  round.sendPeer = sendPeer;
  round.sendCount = sendPeer >= 0 ? count : 0;
  round.receivePeer = receivePeer;
  round.receiveCount = receivePeer >= 0 ? count : 0;
  round.combine = combine;
  return round;
}

} // namespace

std::vector<int64_t> evenOffsets(int64_t count, int size) {
  std::vector<int64_t> offsets;
  int64_t each = count / size;
  int64_t more = count % size;
  for (int64_t part = 0; part <= size; ++part) {
    offsets.push_back(part * each + std::min(part, more));
  }
  return offsets;
}

std::vector<int64_t> offsetsOf(std::span<const int64_t> counts) {
  std::vector<int64_t> offsets = {0};
  for (int64_t count : counts) {
    HR_CHECK(count >= 0);
    offsets.push_back(offsets.back() + count);
  }
  return offsets;
}

CollectiveRounds ringReduceScatter(int rank, std::span<const int64_t> offsets) {
  int size = static_cast<int>(offsets.size()) - 1;
  CollectiveRounds rounds;
  for (int step = 1; step < size; ++step) {
    rounds.push_back(ringRound(rank, offsets, rank - step, rank - step - 1, Combine::kReduce));
  }
  return rounds;
}

CollectiveRounds ringAllGather(int rank, std::span<const int64_t> offsets) {
  int size = static_cast<int>(offsets.size()) - 1;
  CollectiveRounds rounds;
  for (int step = 0; step + 1 < size; ++step) {
    rounds.push_back(ringRound(rank, offsets, rank - step, rank - step - 1, Combine::kCopy));
  }
  return rounds;
}

CollectiveRounds ringAllReduce(int rank, int size, int64_t count) {
  std::vector<int64_t> offsets = evenOffsets(count, size);
  CollectiveRounds rounds = ringReduceScatter(rank, offsets);
  CollectiveRounds gather = ringAllGather(rank, offsets);
  rounds.insert(rounds.end(), gather.begin(), gather.end());
  return rounds;
}

CollectiveRounds doublingAllReduce(int rank, int size, int64_t count) {
  // Ranks beyond the power of two hand their data to a neighbour first and get the result last.
  int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  int extra = size - power;
  CollectiveRounds rounds;
  int position = rank - extra; // among the power of two that double
  if (rank < 2 * extra) {
    if (rank % 2 == 0) {
      rounds.push_back(wholeRound(rank + 1, -1, count, Combine::kCopy));
      rounds.push_back(wholeRound(-1, rank + 1, count, Combine::kCopy));
      return rounds;
    }
    rounds.push_back(wholeRound(-1, rank - 1, count, Combine::kReduce));
    position = rank / 2;
  }
  for (int distance = 1; distance < power; distance *= 2) {
    int other = position ^ distance;
    int peer = other < extra ? 2 * other + 1 : other + extra;
    rounds.push_back(wholeRound(peer, peer, count, Combine::kReduce));
  }
  if (rank < 2 * extra) {
    rounds.push_back(wholeRound(rank - 1, -1, count, Combine::kCopy));
  }
  return rounds;
}

CollectiveRounds pairwiseAllToAll(int rank, std::span<const int64_t> sendOffsets,
                                  std::span<const int64_t> receiveOffsets) {
  int size = static_cast<int>(sendOffsets.size()) - 1;
  CollectiveRounds rounds;
  for (int step = 1; step < size; ++step) {
    CollectiveRound round;
    round.sendPeer = wrap(rank + step, size);
    round.receivePeer = wrap(rank - step, size);
    auto to = static_cast<size_t>(round.sendPeer);
    auto from = static_cast<size_t>(round.receivePeer);
    round.sendOffset = sendOffsets[to];
    round.sendCount = sendOffsets[to + 1] - sendOffsets[to];
    round.receiveOffset = receiveOffsets[from];
    round.receiveCount = receiveOffsets[from + 1] - receiveOffsets[from];
    rounds.push_back(round);
  }
  return rounds;
}

CollectiveRounds treeBroadcast(int rank, int size, int64_t count, int root) {
  // Counted from the root, rank v receives from v without its lowest bit, and sends to v + each
  // lower power of two, the farthest first.
  int position = wrap(rank - root, size);
  int top = static_cast<int>(std::bit_ceil(static_cast<unsigned>(size)));
  int lowest = position == 0 ? top : position & -position;
  CollectiveRounds rounds;
  if (position != 0) {
    rounds.push_back(wholeRound(-1, wrap(position - lowest + root, size), count, Combine::kCopy));
  }
  for (int distance = lowest / 2; distance >= 1; distance /= 2) {
    if (position + distance < size) {
      rounds.push_back(
          wholeRound(wrap(position + distance + root, size), -1, count, Combine::kCopy));
    }
  }
  return rounds;
}

CollectiveRounds disseminationBarrier(int rank, int size) {
  CollectiveRounds rounds;
  for (int distance = 1; distance < size; distance *= 2) {
    rounds.push_back(
        wholeRound(wrap(rank + distance, size), wrap(rank - distance, size), 1, Combine::kCopy));
  }
  return rounds;
}

} // namespace headrace
