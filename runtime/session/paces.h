// How quick the ranks of a cluster are beside each other, as runs have measured it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/plan/profile.h"

namespace headrace::session {

/// Purpose: learns from the profiles of runs, of which the last seconds of work count, what part of
/// the keys each rank is to have in the next one. Thread-safety: of a plain value.
class Paces {
public:
  explicit Paces(int ranks = 1) : ranks_(static_cast<size_t>(ranks)) {}

  /// `profile`: of all ranks.
  void learn(const plan::Profile &profile);
  /// As exec::RunOptions::keyShares: empty if the ranks are about alike, or too little is known.
  std::vector<uint32_t> keyShares() const;

private:
  /// Of one rank.
  struct Pace {
    double expectedSeconds = 0; ///< of workers, for its rows, at the pace of the mean rank
    double busySeconds = 0;     ///< that it took
  };
  std::vector<Pace> ranks_;
};

} // namespace headrace::session
