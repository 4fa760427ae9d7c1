// The plain problem that the layout solver minimises: one strategy per node, costs on nodes and
// edges, memory over time. Knows nothing of layouts, meshes or IR.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <vector>

namespace headrace::solve {

/// The cost of what is not allowed. Real costs (seconds, or a contest's units) must stay well
/// below.
inline constexpr double kForbidden = 1e18;

/// Memory that a node holds in one tier during [first, last) of the program's order.
struct MemoryUse {
  int32_t tier = 0;
  int32_t first = 0;
  int32_t last = 0;
  std::vector<double> bytes; ///< one per strategy of the node
};

struct Node {
  std::vector<double> cost; ///< one per strategy, at least one; >= 0
  std::vector<MemoryUse> memory;
};

/// Between two different nodes; several edges between the same two add up.
struct Edge {
  int32_t source = 0;
  int32_t target = 0;
  std::vector<double>
      cost; ///< [strategy of source × strategies of target + strategy of target]; >= 0
};

struct Problem {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<double> tierBytesMax; ///< one limit per tier

  /// Sizes match, indexes are in range, costs are numbers from 0 to kForbidden.
  Status check() const;
};

/// One strategy index per node.
using Choice = std::vector<int32_t>;

/// Sum of node and edge costs; memory is not looked at.
double costOf(const Problem &problem, const Choice &choice);

/// For each tier, the most bytes that the choice holds at any time.
std::vector<double> memoryPeak(const Problem &problem, const Choice &choice);

/// For each tier, the most bytes by which the choice exceeds the limit at any time; 0 if it fits.
std::vector<double> memoryExcess(const Problem &problem, const Choice &choice);

} // namespace headrace::solve
