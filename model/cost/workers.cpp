// Lanes of ranks that share the workers of a process.
#include "model/cost/workers.h"
#include "model/plan/page_form.h"

#include <algorithm>
#include <cmath>

namespace headrace::cost {

double Workers::lanes() const { return shared() ? std::ceil(coresPerRank()) : 1; }

double Workers::parallelLanes(double rows, double pieces) const {
  double full = std::max(pieces, 1.0) - 1;
  if (full < 1 || rows <= 0) {
    return 1;
  }
  double size = std::min(plan::kMorselRows, rows / full);
  double left = std::max(rows - full * size, 0.0);
  double rounds = std::ceil(full / lanes());
  bool even = rounds * lanes() == full;
  // No two morsels take the same time: after a few the lanes are up to one apart, on average half
  // of one.
  double apart = rounds > 1 ? size * (1 - 1 / lanes()) / 2 : 0;
  double longest = std::max(rounds * size + (even ? left : 0), rows / lanes() + apart);
  return std::clamp(rows / longest, 1.0, lanes());
}

double Workers::seconds(double coreSeconds, double parallel, Others others) const {
  return coreSeconds / (others == Others::kBusy ? std::min(parallel, coresPerRank()) : parallel);
}

Workers workersOf(const topology::Topology &topology, int64_t ranks, int64_t threads) {
  if (topology.nodeCount() != 1) {
    return {0, ranks};
  }
  const topology::NodeType &node = topology.nodeTypes.at(topology.instances.front().type);
  const topology::DeviceGroup *group = topology::rankGroup(topology, node);
  if (!group || topology.deviceTypes.at(group->type).deviceClass != topology::DeviceClass::kCpu) {
    return {0, ranks};
  }
  const topology::DeviceType &device = topology.deviceTypes.at(group->type);
  return {threads > 0 ? threads : device.cores * group->count, ranks};
}

Status checkIsThisMachine(const topology::Topology &topology) {
  constexpr const char *kInstead =
      "; give the topology of this machine (machine, or a file of headrace-topo detect), got ";
  Workers workers = workersOf(topology, 1, 0);
  if (!workers.shared()) {
    return makeError(ErrorKind::kUser,
                     "what runs here says nothing of ranks that are not CPUs of one machine",
                     kInstead, topology.name);
  }
  // Files may count cores where the system counts their threads, two of each at most.
  int64_t here = topology::thisMachine().cores;
  if (workers.threads > here || 2 * workers.threads < here) {
    return makeError(ErrorKind::kUser, "what runs on the ", here,
                     " cores of this machine says nothing of one of ", workers.threads, kInstead,
                     topology.name);
  }
  return {};
}

} // namespace headrace::cost
