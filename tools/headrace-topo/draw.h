// Drawings of a topology: as text for a terminal, as SVG for a page.
#pragma once

#include "model/topology/topology.h"

#include <string>

namespace headrace::topo {

/// Who is in what, what each node has, and what each route can carry. Ends in a newline.
std::string drawText(const topology::Topology &topology);

/// One picture: templates on the left, a node of each type on the right.
std::string drawSvg(const topology::Topology &topology);

/// One line of the tree of templates.
struct TreeLine {
  int64_t depth = 0;
  std::string name;
  int64_t count = 1;   ///< inside its parent
  int64_t nodes = 0;   ///< of one
  int64_t ranks = 0;   ///< of one
  std::string failure; ///< "rack", "power", "node", or empty
};
/// Placements with the templates below them; equal templates are told once.
std::vector<TreeLine> treeOf(const topology::Topology &topology);

/// Bytes per second that one transfer over a route reaches alone, and the name of what bounds it.
struct RouteLimit {
  double bytesPerSecond = 0;
  double latencySeconds = 0;
  std::string resource;
};
RouteLimit limitOf(const topology::Topology &topology, const topology::NodeType &node,
                   const topology::Route &route);

} // namespace headrace::topo
