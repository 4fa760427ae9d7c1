// The backends behind runCluster().
#include "test/unit/transport/cluster.h"

#include <thread>

#include "runtime/transport/connect.h"
#include "runtime/transport/fork.h"
#include "runtime/transport/loopback.h"
#include "runtime/transport/sim.h"
#include "runtime/transport/ucx_library.h"
#include "test/unit/bootstrap/meetings.h"

namespace headrace::test {

namespace {

constexpr int64_t kPatienceNanoseconds = 60'000'000'000;
BlockPool::Options blockOptions() { return {.capacityBytes = 256 << 20, .retainedBytesMax = 0}; }

struct Rank {
  std::unique_ptr<BlockPool> blocks = std::make_unique<BlockPool>(blockOptions());
  std::unique_ptr<Doorbell> doorbell = std::make_unique<Doorbell>();
  std::unique_ptr<RankProgram> program;
};

Status runAlone(Transport &transport, const ProgramFactory &factory) {
  Rank rank;
  transport.setDoorbell(rank.doorbell.get());
  rank.program = factory({transport, *rank.blocks, *rank.doorbell});
  Status status;
  while (true) {
    transport.progress();
    PollState state = rank.program->poll();
    if (state != PollState::kPending) {
      status = state == PollState::kFailed ? rank.program->status() : Status();
      break;
    }
    if (rank.doorbell->wait(kPatienceNanoseconds) == Doorbell::Wake::kTimeout) {
      status = makeError(ErrorKind::kInternal, "hang: no news for a minute");
      break;
    }
  }
  while (!transport.drained()) {
    transport.progress();
    rank.doorbell->wait(1'000'000);
  }
  rank.program.reset();
  transport.setDoorbell(nullptr);
  return status;
}

Status runLoopbackThreads(int size, const ProgramFactory &factory) {
  auto transports = makeLoopback(size);
  std::vector<Status> statuses(static_cast<size_t>(size));
  // One block pool for all: handles of its buffers cross ranks and must not outlive it.
  BlockPool blocks(blockOptions());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < statuses.size(); ++rank) {
    threads.emplace_back([&, rank] {
      Doorbell doorbell;
      Transport &transport = *transports[rank];
      transport.setDoorbell(&doorbell);
      std::unique_ptr<RankProgram> program = factory({transport, blocks, doorbell});
      while (true) {
        transport.progress();
        PollState state = program->poll();
        if (state != PollState::kPending) {
          statuses[rank] = state == PollState::kFailed ? program->status() : Status();
          break;
        }
        if (doorbell.wait(kPatienceNanoseconds) == Doorbell::Wake::kTimeout) {
          statuses[rank] = makeError(ErrorKind::kInternal, "hang: no news for a minute");
          break;
        }
      }
      program.reset();
      // The rank leaves while others may still be at work.
      transports[rank].reset();
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  transports.clear();
  for (const Status &status : statuses) {
    HR_RETURN_IF_ERROR(status);
  }
  return {};
}

/// Each rank in a thread.
Status runConnected(int size, const ConnectOptions &options, const std::string &passage,
                    const ProgramFactory &factory) {
  for (const Status &status : meet({Kind::kStore, size}, [&](Bootstrap &bootstrap) -> Status {
         HR_ASSIGN_OR_RETURN(auto transport, connectTransport(bootstrap, options));
         for (int peer = 0; peer < size; ++peer) {
           if (peer != bootstrap.rank() && transport->passageName(peer) != passage) {
             return makeError(ErrorKind::kInternal, "expected messages to go by ", passage,
                              ", got: ", transport->passageName(peer));
           }
         }
         return runAlone(*transport, factory);
       })) {
    HR_RETURN_IF_ERROR(status);
  }
  return {};
}

/// Loopback in one thread is polled as the simulation does it, with a network that has no events.
Status runOneThread(const Cluster &cluster, const ProgramFactory &factory) {
  VirtualClock clock;
  BlockPool blocks(blockOptions());
  SimNetwork network({.size = cluster.size, .seed = cluster.seed}, clock);
  std::vector<std::unique_ptr<Transport>> transports;
  if (cluster.backend == Backend::kLoopback) {
    transports = makeLoopback(cluster.size);
  } else {
    for (int rank = 0; rank < cluster.size; ++rank) {
      transports.push_back(network.transport(rank));
    }
  }
  std::vector<Rank> ranks(transports.size());
  std::vector<Status> statuses(transports.size());
  std::vector<SimRank> polled;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    transports[rank]->setDoorbell(ranks[rank].doorbell.get());
    ranks[rank].program = factory({*transports[rank], blocks, *ranks[rank].doorbell});
    auto poll = [&, rank] {
      PollState state = ranks[rank].program->poll();
      if (state != PollState::kPending) {
        statuses[rank] = state == PollState::kFailed ? ranks[rank].program->status() : Status();
        // The rank leaves while others may still be at work.
        ranks[rank].program.reset();
        transports[rank].reset();
      }
      return state;
    };
    polled.push_back({ranks[rank].doorbell.get(), poll});
  }
  Status status = runSimulation(network, polled, cluster.seed);
  for (const Status &ended : statuses) {
    if (status.ok()) {
      status = ended;
    }
  }
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    ranks[rank].program.reset();
    transports[rank].reset();
  }
  while (network.advance()) {
  }
  return status;
}

} // namespace

const char *backendName(Backend backend) {
  switch (backend) {
  case Backend::kLoopback:
    return "Loopback";
  case Backend::kLoopbackThreads:
    return "LoopbackThreads";
  case Backend::kSim:
    return "Sim";
  case Backend::kFork:
    return "Fork";
  case Backend::kSockets:
    return "Sockets";
  case Backend::kShared:
    return "Shared";
  case Backend::kUcx:
    return "Ucx";
  case Backend::kUcxShared:
    return "UcxShared";
  }
  return "Unknown";
}

std::ostream &operator<<(std::ostream &out, const Cluster &cluster) {
  return out << backendName(cluster.backend) << " with " << cluster.size << " ranks, seed "
             << cluster.seed;
}

std::string clusterName(const Cluster &cluster) {
  return std::string(backendName(cluster.backend)) + "_" + std::to_string(cluster.size);
}

std::vector<Cluster> allClusters() {
  // Without it UCX does not say that a process of this machine has died, and is not used.
  setenv("UCX_POSIX_ERROR_HANDLING", "y", 1);
  setenv("UCX_WARN_UNUSED_ENV_VARS", "n", 1);  // over TCP it is not used
  setenv("UCX_MEM_MMAP_HOOK_MODE", "none", 1); // sanitizers have hooks of their own
  std::vector<Cluster> clusters;
  for (Backend backend :
       {Backend::kLoopback, Backend::kLoopbackThreads, Backend::kSim, Backend::kFork,
        Backend::kSockets, Backend::kShared, Backend::kUcx, Backend::kUcxShared}) {
    bool byUcx = backend == Backend::kUcx || backend == Backend::kUcxShared;
    if (byUcx && !ucx::library().ok()) {
      continue; // the machine has none
    }
    for (int size = 1; size <= 4; ++size) {
      clusters.push_back({backend, size});
    }
  }
  return clusters;
}

Status runCluster(const Cluster &cluster, const ProgramFactory &factory) {
  switch (cluster.backend) {
  case Backend::kLoopback:
  case Backend::kSim:
    return runOneThread(cluster, factory);
  case Backend::kLoopbackThreads:
    return runLoopbackThreads(cluster.size, factory);
  case Backend::kFork:
    return forkRanks(cluster.size,
                     [&](Transport &transport) { return runAlone(transport, factory); },
                     {.timeoutSeconds = 120});
  case Backend::kSockets:
    return runConnected(cluster.size, {.neighbours = ConnectOptions::Neighbours::kAsOthers},
                        "sockets", factory);
  case Backend::kShared:
    return runConnected(cluster.size, {.sharedBytes = 256 << 20}, "shared memory", factory);
  case Backend::kUcx:
  case Backend::kUcxShared:
    return runConnected(cluster.size,
                        {.neighbours = ConnectOptions::Neighbours::kAsOthers,
                         .network = ConnectOptions::Network::kUcx,
                         .ucxTransports = cluster.backend == Backend::kUcx ? "tcp" : "posix,cma"},
                        "UCX", factory);
  }
  return {};
}

} // namespace headrace::test
