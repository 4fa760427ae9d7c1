// The workers that CPU ranks of one process share, and how many of them a rank's part of a task
// keeps busy.
#pragma once

#include "model/topology/topology.h"
#include "runtime/base/status.h"

#include <cstdint>

namespace headrace::cost {

struct Workers {
  int64_t threads = 0; ///< of all ranks together; 0: every rank has a device of its own
  int64_t ranks = 1;

  bool shared() const { return threads > 0; }
  double coresPerRank() const { return static_cast<double>(threads) / static_cast<double>(ranks); }
  /// Of one rank: tasks run on so many workers at once.
  double lanes() const;
  /// Lanes at work on average over `pieces` morsels or chunks with `rows` rows together: at the end
  /// some have none, or the short one.
  double parallelLanes(double rows, double pieces) const;

  /// Whether the other ranks' tasks take cores at the same time.
  enum class Others : uint8_t { kBusy, kIdle };
  /// How long `coreSeconds` of one core last on `parallel` lanes of a rank.
  double seconds(double coreSeconds, double parallel, Others others) const;
};

/// The one rule for which costs count. If the topology is a single node whose ranks are CPUs, they
/// are one process: tasks take seconds of cores (cost/row_work.h), and there are `threads` workers,
/// or with 0 as many as the node has cores. Else every rank has a device, and links are between
/// them.
Workers workersOf(const topology::Topology &topology, int64_t ranks, int64_t threads);

/// Whether what runs here says something of the topology: its ranks are CPUs of one process, with
/// about as many cores as this machine has. Fails (kUser) otherwise.
Status checkIsThisMachine(const topology::Topology &topology);

} // namespace headrace::cost
