// Sim: ranks in one thread on a seeded network in virtual time, with faults.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/poll.h"
#include "runtime/transport/transport.h"

namespace headrace {

struct SimOptions {
  int size = 1;
  uint64_t seed = 0;
  int64_t latencyNanosecondsMin = 1'000;
  int64_t latencyNanosecondsMax = 50'000;
  double bytesPerSecond = 10e9;
  /// Ranks of a node, by number; 0: all are on one. Between nodes each node has one link, which
  /// sends one message after the other.
  int nodeRanks = 0;
  double nodeBytesPerSecond = 1e9;
  /// Of losing a message, and all that the source sends to that target later; the link goes down,
  /// on both ends, `detectNanoseconds` after.
  double loseProbability = 0;
  /// Lost without notice: what a broken transport would do; the layers above must see it.
  double vanishProbability = 0;
  /// One bit of the body (or of the header, if there is no body) is flipped.
  double corruptProbability = 0;
  /// Of a message that comes twice, or before those that its stream has under way: what a broken
  /// transport would do, too.
  double duplicateProbability = 0;
  double reorderProbability = 0;
  /// A rank that does nothing for a time.
  struct Pause {
    int rank;
    int64_t fromNanoseconds;
    int64_t toNanoseconds;
  };
  std::vector<Pause> pauses = {};
  /// A rank that does nothing when it is its turn, with this probability below 1; -1: none.
  int slowRank = -1;
  double idleProbability = 0;
  struct Death {
    int rank;
    int64_t atNanoseconds;
  };
  std::vector<Death> deaths = {};
  int64_t detectNanoseconds = 1'000'000;
};

/// Purpose: the simulated network; makes the ranks' transports.
/// Ownership: shared with its transports; borrows the clock. Thread-safety: none: one thread.
/// Ordering: as Transport promises and no better: delays are drawn per message, so channels
/// overtake each other. Equal seeds and equal calls give equal runs.
class SimNetwork {
public:
  SimNetwork(SimOptions options, VirtualClock &clock);
  ~SimNetwork();

  std::unique_ptr<Transport> transport(int rank);
  /// Moves time to the next event and lets it happen; false if there is none.
  bool advance();
  bool alive(int rank) const;
  /// Whether a rank stands still at this time, by its pauses.
  bool isPaused(int rank) const;
  /// Ends a rank now; its peers learn of it after the detection time.
  void kill(int rank);
  int64_t messagesDelivered() const;

  struct State;

private:
  std::shared_ptr<State> state_;
};

/// A rank as the simulation sees it.
struct SimRank {
  Doorbell *doorbell;
  std::function<PollState()> poll;
};

/// Polls the ranks whose doorbells rang, in an order drawn from the seed, and advances the network
/// when none has news, until every living rank answers kDone or kFailed. Fails (kInternal) if ranks
/// wait and nothing is under way: that is a hang.
Status runSimulation(SimNetwork &network, std::span<const SimRank> ranks, uint64_t seed);

} // namespace headrace
