// Halves the prefix of nodes that contradicts itself.
#include "model/solve/contradiction.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace headrace::solve {
namespace {

constexpr size_t kNeighboursShown = 3;

/// The first nodes alone, without memory.
Problem firstNodes(const Problem &problem, size_t count) {
  Problem first;
  for (size_t n = 0; n < count; ++n) {
    first.nodes.push_back({problem.nodes[n].cost, {}});
  }
  for (const Edge &edge : problem.edges) {
    if (static_cast<size_t>(std::max(edge.source, edge.target)) < count) {
      first.edges.push_back(edge);
    }
  }
  return first;
}

} // namespace

Status contradiction(const Problem &problem, const std::function<bool(const Problem &)> &isAllowed,
                     const std::function<std::string(int32_t node)> &nameOf) {
  std::ostringstream text;
  text << "no choice of layouts satisfies all constraints";
  if (!nameOf) {
    return Status(ErrorKind::kUser, text.str());
  }
  size_t allowed = 0;
  size_t refused = problem.nodes.size();
  while (refused - allowed > 1) {
    size_t middle = allowed + (refused - allowed) / 2;
    (isAllowed(firstNodes(problem, middle)) ? allowed : refused) = middle;
  }
  auto last = static_cast<int32_t>(allowed);
  std::set<int32_t> neighbours;
  for (const Edge &edge : problem.edges) {
    if (std::max(edge.source, edge.target) == last) {
      neighbours.insert(std::min(edge.source, edge.target));
    }
  }
  text << ": " << nameOf(last) << " has none that fits";
  size_t shown = 0;
  for (int32_t neighbour : neighbours) {
    text << (shown == 0 ? " those of " : ", ")
         << (shown < kNeighboursShown ? nameOf(neighbour) : "…");
    if (++shown > kNeighboursShown) {
      break;
    }
  }
  return Status(ErrorKind::kUser, text.str());
}

} // namespace headrace::solve
