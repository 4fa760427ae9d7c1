// Runs the same rank program on every backend: what a conformance test is written against.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/base/doorbell.h"
#include "runtime/base/poll.h"
#include "runtime/memory/block_pool.h"
#include "runtime/transport/transport.h"

namespace headrace::test {

enum class Backend : uint8_t {
  kLoopback,
  kLoopbackThreads,
  kSim,
  kFork,
  kSockets,
  kShared,
  kUcx,
  kUcxShared
};
const char *backendName(Backend backend);

struct Cluster {
  Backend backend;
  int size;
  uint64_t seed = 0; ///< for kSim
};
std::ostream &operator<<(std::ostream &out, const Cluster &cluster);
/// "LoopbackThreads_3": for names of test instances.
std::string clusterName(const Cluster &cluster);
/// All backends with 1 to 4 ranks.
std::vector<Cluster> allClusters();

/// What a rank has at hand.
struct RankContext {
  Transport &transport;
  BlockPool &blocks;
  Doorbell &doorbell;
};

/// A rank program: a state machine, advanced by poll() until it is not pending.
class RankProgram {
public:
  virtual ~RankProgram() = default;
  virtual PollState poll() = 0;
  virtual Status status() const { return {}; }
};
using ProgramFactory = std::function<std::unique_ptr<RankProgram>(RankContext)>;

/// Runs one program a rank; returns the status of the smallest rank whose program failed, or why
/// the cluster did not end (a hang is an error within a minute). Expectations inside programs must
/// be turned into a failed status, because they may run in another process.
Status runCluster(const Cluster &cluster, const ProgramFactory &factory);

} // namespace headrace::test
