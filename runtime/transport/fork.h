// Fork: ranks as processes on one machine, joined by Unix socket pairs.
#pragma once

#include <cstdint>
#include <functional>

#include "runtime/transport/transport.h"

namespace headrace {

struct ForkOptions {
  /// A forked rank that has not ended by then is killed by SIGALRM; 0: never.
  double timeoutSeconds = 0;
  /// One that has not ended so long after rank 0 (if that failed, 3 s) is killed: it is stopped, or
  /// hangs. 0: waited for.
  double graceSeconds = 30;
};

/// What a rank does; its Status is the rank's outcome.
using RankBody = std::function<Status(Transport &)>;

/// Runs `body` on `size` ranks: rank 0 in this process, the others in forked children, which end
/// with it. Call it before threads are started: a child has only the calling one. Doorbells, worker
/// pools and block pools are made inside the body. Returns rank 0's error if it has one, else that
/// of the smallest failed rank ("rank 2: …"; a crash is kInternal and names the signal).
Status forkRanks(int size, const RankBody &body, ForkOptions options = {});

} // namespace headrace
