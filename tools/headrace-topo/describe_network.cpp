// Network cards, and the switch between nodes.
#include "tools/headrace-topo/draft.h"

#include <algorithm>

namespace headrace::topo {
namespace {

using topology::Direction;
using topology::Hop;
using topology::IndexExpression;
using topology::Resource;

constexpr double kNetworkLatency = 1.8e-5;
constexpr double kNetworkEfficiency = 0.84;
constexpr double kNetworkBytes = 1.25e9;

} // namespace

void addNetwork(Draft &draft) {
  const std::vector<NetworkCard> &cards = draft.structure.networkCards;
  if (cards.empty() && draft.placement.nodes == 1) {
    return;
  }
  double bytes = 0;
  double latency = kNetworkLatency;
  int64_t unknown = cards.empty() ? 1 : 0;
  for (const NetworkCard &card : cards) {
    unknown += card.bytesPerSecond <= 0 ? 1 : 0;
    bytes += card.bytesPerSecond > 0 ? card.bytesPerSecond : kNetworkBytes;
    latency = card.latencySeconds > 0 ? card.latencySeconds : latency;
  }
  if (cards.empty()) {
    draft.notes.push_back("no network card in it: one of 1.25 GB/s is assumed");
  } else if (unknown > 0) {
    draft.notes.push_back("rates of " + std::to_string(unknown) + " of " +
                          std::to_string(cards.size()) + " network cards: 1.25 GB/s assumed");
  }
  bool known = unknown == 0;
  bytes = cards.empty() ? kNetworkBytes : bytes;
  int64_t count = std::max<int64_t>(1, static_cast<int64_t>(cards.size()));
  int64_t ranks = draft.gpuCount() > 0 ? draft.gpuCount() : draft.slots;
  // Routes name cards by the rank's index: as many as divide the ranks evenly, each with its
  // part.
  while (ranks % count != 0) {
    --count;
  }
  if (count < static_cast<int64_t>(cards.size())) {
    draft.notes.push_back(std::to_string(cards.size()) + " network cards for " +
                          std::to_string(ranks) + " ranks: taken together as " +
                          std::to_string(count));
  }
  Resource card;
  card.name = "nic";
  card.count = count;
  double each = bytes / static_cast<double>(count);
  card.bandwidth = known ? datasheet(each, kNetworkEfficiency) : assumed(each);
  card.latencySeconds = assumed(latency);
  card.fullDuplex = true;
  const char *group = draft.gpuCount() > 0 ? "gpu" : "cpu";
  card.per = {group, ranks / count};
  card.rail = count > 1 ? group : "";
  bool direct =
      draft.gpuCount() > 0 && draft.structure.gpus.front().networkDirect == Gpu::Direct::kYes;
  card.ability.directAccess = direct;
  draft.node.resources.push_back(card);
  std::vector<Hop> via;
  if (draft.gpuCount() > 0) {
    via = direct ? std::vector<Hop>{draft.gpuUp.front()} : draft.hostUp;
  }
  if (!direct) {
    int64_t each = draft.gpuCount() > 0 ? draft.sockets.gpusEach : draft.sockets.slotsEach;
    via.push_back(memoryHop(draft, IndexExpression::Base::kSource, each));
  }
  via.push_back(hop("nic", IndexExpression::Base::kSource, ranks / count, Direction::kOut));
  draft.node.routes.push_back({{group, draft.gpuCount() > 0 ? "hbm" : "host"}, {}, via});
  if (draft.placement.nodes > 1) {
    topology::Fabric fabric;
    fabric.kind = "switch";
    fabric.rails = count;
    topology::FabricTier tier;
    tier.bandwidth = known ? datasheet(each, 1) : assumed(each);
    tier.latencySeconds = assumed(6e-7);
    fabric.tiers = {tier};
    draft.topology.fabric = fabric;
  }
}

} // namespace headrace::topo
