// Heartbeat: signs of life between ranks of different processes, and who has given none for too
// long.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/transport/transport.h"

namespace headrace {

struct HeartbeatOptions {
  const Clock *clock = &RealClock::instance();
  /// A peer that has given no sign for so long is given up; 0: never, and no signs are sent.
  int64_t silenceNanosecondsMax = 0;
};

/// Purpose: keeps the times. A process that is stopped, or whose machine hangs, keeps its links up:
/// only its silence tells. Ranks of one process live and die together and need no signs.
/// Ownership: borrows transport and clock. Thread-safety: none.
class Heartbeat {
public:
  Heartbeat(Transport &transport, HeartbeatOptions options);

  /// Between the signs of one rank: whoever waits should wake as often. 0: there are none.
  static int64_t intervalNanoseconds(int64_t silenceNanosecondsMax);

  /// A sign of life came.
  void heard(int peer);
  /// Whether it is time to give signs to peers(); the next time is then an interval later.
  bool due();
  /// The peers of other processes whose links are up.
  std::vector<int> peers();

  /// Less patience once the run has failed: who waits then waits for nothing but the end.
  enum class Patience : uint8_t { kFull, kLittle };
  /// Peers that have been silent for too long.
  std::vector<int> silent(Patience patience);
  /// Why such a peer is given up.
  Status why(int peer) const;

private:
  Transport &transport_;
  HeartbeatOptions options_;
  std::vector<int64_t> heard_; ///< when
  int64_t next_ = 0;
};

} // namespace headrace
