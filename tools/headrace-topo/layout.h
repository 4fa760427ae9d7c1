// Where the parts of a node stand in a drawing: rows, from what devices share down to the devices
// and below them the links among them.
#pragma once

#include "model/topology/topology.h"

#include <string>
#include <vector>

namespace headrace::topo {

enum class PartKind : uint8_t { kProcessor, kGpu, kStorage, kLink, kNetwork };

/// One resource or device group.
struct Part {
  std::string name;
  PartKind kind = PartKind::kLink;
  int64_t count = 1;
  std::string title;                        ///< "8 × H100-SXM"
  std::string figures;                      ///< "80 GB · 2.68 TB/s"
  const topology::Quantity *main = nullptr; ///< the figure whose error and origin are shown
};

/// A line from one unit of a part to one of another, with indexes into Drawing::rows.
struct Wire {
  size_t fromRow = 0, fromPart = 0;
  int64_t fromUnit = 0;
  size_t toRow = 0, toPart = 0;
  int64_t toUnit = 0;
  bool operator<(const Wire &other) const;
};

struct NodeDrawing {
  std::vector<std::vector<Part>> rows; ///< top to bottom
  std::vector<Wire> wires;             ///< each once
};

/// Wires are drawn for at most `unitsMax` units of a part; parts with more show the first ones.
NodeDrawing layOut(const topology::Topology &topology, const topology::NodeType &node,
                   int64_t unitsMax);

} // namespace headrace::topo
