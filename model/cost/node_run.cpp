// Divides ranks among the nodes of a topology's instances.
#include "model/cost/node_run.h"

#include <algorithm>

namespace headrace::cost {

const std::vector<double> &NodeRun::weights(Weight kind) const {
  static const std::vector<double> kAlike;
  switch (kind) {
  case Weight::kEven:
    return kAlike;
  case Weight::kRows:
    return rows;
  case Weight::kKeys:
    return keys;
  case Weight::kSpeed:
    return speeds;
  }
  return kAlike;
}

double NodeRun::weight(Weight kind, int64_t device) const {
  const std::vector<double> &each = weights(kind);
  return each.empty() ? 1 : each[static_cast<size_t>(device)];
}

double NodeRun::fullest(Weight kind) const {
  const std::vector<double> &each = weights(kind);
  return each.empty() ? 1 : *std::max_element(each.begin(), each.end());
}

NodeRun makeNodeRun(const topology::Topology &topology, const topology::Instance &instance,
                    int64_t nodes, int64_t ranks, int64_t firstRank) {
  NodeRun run;
  run.instance = instance.name;
  run.nodes = nodes;
  run.ranks = ranks;
  run.firstRank = firstRank;
  topology::Topology pair = topology;
  pair.placements.clear();
  pair.instances = {{instance.type, instance.name, 2}};
  run.pair = std::make_shared<const topology::Topology>(std::move(pair));
  run.network = std::make_shared<const Network>(*run.pair, run.pair->rankCount());
  return run;
}

std::vector<NodeRun> nodeRuns(const topology::Topology &topology, int64_t ranks) {
  std::vector<NodeRun> runs;
  int64_t rank = 0;
  for (const topology::Instance &instance : topology.instances) {
    const topology::DeviceGroup *group =
        topology::rankGroup(topology, topology.nodeTypes.at(instance.type));
    if (!group || rank >= ranks) {
      continue;
    }
    int64_t whole = std::min(instance.count, (ranks - rank) / group->count);
    if (whole > 0) {
      runs.push_back(makeNodeRun(topology, instance, whole, group->count, rank));
      rank += whole * group->count;
    }
    if (whole < instance.count && rank < ranks) {
      runs.push_back(makeNodeRun(topology, instance, 1, ranks - rank, rank));
      rank = ranks;
    }
  }
  return runs;
}

} // namespace headrace::cost
