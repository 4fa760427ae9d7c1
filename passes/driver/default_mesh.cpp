// Nodes, or equal parts of them, are an axis, the ranks of each another; too many nodes are two.
#include "passes/driver/default_mesh.h"

#include "model/topology/rank_nodes.h"
#include "passes/shard/row_order.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace headrace::driver {
namespace {

/// Up to so many ranks also agree on keys with many rows, which steps along axes do not.
constexpr int64_t kOneAxisRanksMax = 256;
constexpr int64_t kAxisMax = 2048;

bool hasTensors(func::FuncOp program) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  bool found = llvm::any_of(program.getArgumentTypes(), isTensor);
  program.walk([&](Operation *op) { found |= llvm::any_of(op->getResultTypes(), isTensor); });
  return found;
}

/// Its divisor next to the root from below: the other one is the larger.
int64_t middleDivisor(int64_t number) {
  int64_t found = 1;
  for (int64_t divisor = 2; divisor * divisor <= number; ++divisor) {
    found = number % divisor == 0 ? divisor : found;
  }
  return found;
}

} // namespace

Expected<std::string> defaultMesh(func::FuncOp program, const CompileOptions &options) {
  const int64_t ranks = options.ranks;
  const std::string one = "ranks:" + std::to_string(ranks);
  if (ranks <= kOneAxisRanksMax || hasTensors(program) || shard::residentKeys(program)) {
    return one;
  }
  HR_ASSIGN_OR_RETURN(topology::Topology topology, topology::openTopology(options.topology, ranks));
  const std::vector<int64_t> onNodes = topology::ranksOfNodes(topology, ranks);
  // Nodes with different numbers of ranks are cut into equal parts.
  const int64_t each =
      std::accumulate(onNodes.begin(), onNodes.end(), int64_t{0}, std::gcd<int64_t, int64_t>);
  const int64_t nodes = ranks / each;
  std::string axes;
  auto add = [&](const char *name, int64_t size) {
    axes +=
        size > 1 ? (axes.empty() ? "" : ",") + std::string(name) + ":" + std::to_string(size) : "";
  };
  const int64_t part = nodes > kAxisMax ? middleDivisor(nodes) : 1;
  add("group", part > 1 ? nodes / part : 1);
  add(each == onNodes.front() ? "node" : "part", part > 1 ? part : nodes);
  add("rank", each);
  return axes.find(',') == std::string::npos ? one : axes;
}

} // namespace headrace::driver
