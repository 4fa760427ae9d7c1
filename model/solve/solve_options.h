// What a run of the layout solver is told, and what it tells on its way.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace headrace::solve {

/// How far a run has come.
struct Progress {
  double seconds = 0; ///< since its start
  int32_t round = 0;
  double cost = 0; ///< of the best choice so far
  double bound = 0;
  double excess =
      0; ///< of the best choice: bytes over the limit, as a fraction of it; 0 if it fits
};

struct SolveOptions {
  uint64_t seed = 1;
  /// Stop after this time even with a gap. A run that is not cut off gives the same answer every
  /// time.
  double secondsMax = 0.2;
  /// Not 0: stop also when the run has taken this share of the best cost so far, which then is in
  /// seconds. A plan that runs for a millisecond is not worth longer thought.
  double shareOfCostMax = 0;
  int32_t roundsMax = 200;
  /// Stop when (cost − bound) <= this fraction of the cost.
  double gapMax = 1e-6;
  /// Seconds on any clock that does not go back; the default is the machine's steady clock.
  std::function<double()> now;
  /// What a message calls a node; without it, messages count in times and name no node. Called only
  /// for a message.
  std::function<std::string(int32_t node)> nameOf;
  /// Called after every round, on the calling thread.
  std::function<void(const Progress &)> progress;
};

} // namespace headrace::solve
