// The loop of a simulated cluster: poll who has news, else let time pass, else it hangs.
#include <string>

#include "runtime/base/random.h"
#include "runtime/transport/sim.h"

namespace headrace {

Status runSimulation(SimNetwork &network, std::span<const SimRank> ranks, uint64_t seed) {
  Random random(seed);
  std::vector<bool> ended(ranks.size(), false);
  // Every rank is polled once before it is known to wait.
  for (const SimRank &rank : ranks) {
    rank.doorbell->ring();
  }
  while (true) {
    std::vector<size_t> ready;
    bool allEnded = true;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      if (ended[rank] || !network.alive(static_cast<int>(rank))) {
        continue;
      }
      allEnded = false;
      if (ranks[rank].doorbell->consume()) {
        ready.push_back(rank);
      }
    }
    if (allEnded) {
      return {};
    }
    if (ready.empty()) {
      if (!network.advance()) {
        std::string waiting;
        for (size_t rank = 0; rank < ranks.size(); ++rank) {
          if (!ended[rank] && network.alive(static_cast<int>(rank))) {
            waiting += " " + std::to_string(rank);
          }
        }
        return makeError(ErrorKind::kInternal,
                         "hang: nothing is under way and ranks still wait:", waiting);
      }
      continue;
    }
    for (size_t left = ready.size(); left > 0; --left) {
      size_t drawn = random.below(left);
      std::swap(ready[drawn], ready[left - 1]);
      size_t rank = ready[left - 1];
      ended[rank] = ranks[rank].poll() != PollState::kPending;
    }
  }
}

} // namespace headrace
