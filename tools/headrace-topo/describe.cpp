// From a machine's parts and rates to device types, resources and routes.
#include "tools/headrace-topo/draft.h"

#include <cmath>

namespace headrace::topo {

using topology::Direction;
using topology::Quantity;

Quantity Draft::measured(const Measured &rate, double fallback, double part) const {
  double value = rate.value * part;
  if (value <= 0) {
    return assumed(fallback);
  }
  // What was measured is good for three digits, not for sixteen.
  double step = std::pow(10, std::floor(std::log10(value)) - 2);
  Quantity quantity(std::round(value / step) * step, rate.relativeError);
  quantity.provenance = rates.provenance;
  return quantity;
}

topology::Hop hop(const std::string &resource, topology::IndexExpression::Base base,
                  int64_t divisor, Direction direction) {
  topology::IndexExpression index;
  index.base = base;
  index.divisor = divisor;
  return {resource, index, direction};
}

void addDisks(Draft &draft) {
  if (draft.structure.disks.empty()) {
    return;
  }
  topology::DeviceType disk;
  disk.name = "disk";
  disk.deviceClass = topology::DeviceClass::kStorage;
  disk.space = "file";
  disk.totalBytes = Quantity(draft.structure.disks.front().capacityBytes, 0);
  disk.totalBytes.provenance = draft.rates.provenance;
  disk.capacityBytes = disk.totalBytes.value;
  disk.readBandwidth = draft.measured(draft.rates.diskReadBytesPerSecond, 1e9);
  disk.writeBandwidth = draft.measured(draft.rates.diskWriteBytesPerSecond, 5e8);
  disk.latencySeconds = draft.measured(draft.rates.diskLatencySeconds, 1e-4);
  draft.topology.deviceTypes["disk"] = disk;
  draft.node.devices.push_back({"ssd", "disk", 1});
  draft.node.routes.push_back(
      {{"cpu", "host"},
       {"ssd", "file"},
       {memoryHop(draft, topology::IndexExpression::Base::kSource, draft.sockets.slotsEach),
        {"ssd", {}, Direction::kWrite}}});
  draft.node.tiers.push_back({topology::Tier::kFile, "ssd", "file", disk.capacityBytes});
}

Expected<Description> describe(const NodeStructure &structure, const Rates &rates,
                               const Placement &placement) {
  Draft draft{structure, rates, placement, {}, {}, structure.notes, 1, {}, {}, {}};
  topology::Topology &made = draft.topology;
  made.name = structure.name.empty() ? "machine" : structure.name;
  draft.node.name = "node";
  divideSockets(draft);
  addCpus(draft);
  HR_RETURN_IF_ERROR(addGpus(draft));
  addDisks(draft);
  addNetwork(draft);
  made.nodeTypes[draft.node.name] = draft.node;
  made.placements = {{draft.node.name, made.name, placement.nodes}};
  HR_RETURN_IF_ERROR(topology::expandPlacements(made));
  HR_RETURN_IF_ERROR(topology::checkTopology(made));
  made.hash = topology::topologyHash(made);
  return Description{std::move(made), std::move(draft.notes)};
}

} // namespace headrace::topo
