// Generators of small problems; exhaustive search.
#include "test/unit/model/solve/random_problems.h"

#include <algorithm>
#include <random>

namespace headrace::solve {

Problem randomProblem(uint64_t seed, Memory memory, int32_t nodes, double edgeDensity) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  Problem problem;
  problem.tierBytesMax = {memory == Memory::kLimited ? 100.0 * nodes / 2 : 1e18};
  for (int32_t n = 0; n < nodes; ++n) {
    Node node;
    MemoryUse use{0, n / 2, n / 2 + 1 + static_cast<int32_t>(random() % 3), {}};
    size_t strategies = 1 + random() % 4;
    for (size_t s = 0; s < strategies; ++s) {
      node.cost.push_back(1e-3 * unit(random));
      use.bytes.push_back(200 * unit(random));
    }
    node.memory.push_back(use);
    problem.nodes.push_back(node);
  }
  for (int32_t a = 0; a < nodes; ++a) {
    for (int32_t b = a + 1; b < nodes; ++b) {
      if (unit(random) > edgeDensity) {
        continue;
      }
      Edge edge{a, b, {}};
      size_t size = problem.nodes[a].cost.size() * problem.nodes[b].cost.size();
      for (size_t i = 0; i < size; ++i) {
        edge.cost.push_back(unit(random) < 0.1 ? kForbidden : 1e-3 * unit(random));
      }
      problem.edges.push_back(edge);
    }
  }
  return problem;
}

Problem randomChain(uint64_t seed, int32_t nodes, double limit) {
  std::mt19937_64 random(seed);
  auto below = [&](uint64_t bound) { return static_cast<int32_t>(random() % bound); };
  Problem problem;
  double most = 0;
  for (int32_t n = 0; n < nodes; ++n) {
    Node node;
    size_t strategies = 2 + random() % 2;
    for (size_t s = 0; s < strategies; ++s) {
      node.cost.push_back(below(6) == 0 ? kForbidden : below(5));
    }
    node.cost[random() % strategies] = below(5);
    for (int use = below(3); use > 0; --use) {
      int32_t first = std::max(0, n - below(3));
      MemoryUse held{0, first, first + below(4), {}}; // some are empty
      for (size_t s = 0; s < strategies; ++s) {
        held.bytes.push_back(below(3) == 0 ? 4 : below(9));
      }
      most += held.first < held.last ? *std::max_element(held.bytes.begin(), held.bytes.end()) : 0;
      node.memory.push_back(held);
    }
    problem.nodes.push_back(node);
  }
  for (int32_t b = 1; b < nodes; ++b) {
    for (int edges = 1 + below(3); edges > 0; --edges) {
      int32_t a = below(3) == 0 ? below(b) : b - 1;
      Edge edge{a, b, {}};
      if (below(2) == 0) {
        std::swap(edge.source, edge.target);
      }
      size_t width = problem.nodes[edge.target].cost.size();
      size_t height = problem.nodes[edge.source].cost.size();
      bool follows = below(2) == 0;
      for (size_t i = 0; i < height * width; ++i) {
        bool apart = i / width != i % width;
        edge.cost.push_back(apart && follows ? kForbidden : apart ? below(4) : 0);
      }
      problem.edges.push_back(edge);
    }
  }
  problem.tierBytesMax = {limit * most};
  return problem;
}

Problem trainingGraph(int32_t layers) {
  constexpr int32_t kStrategies = 4;
  Problem problem;
  int32_t end = 2 * layers + 2;
  auto add = [&](std::vector<double> cost, int32_t first, int32_t last, std::vector<double> bytes) {
    problem.nodes.push_back({std::move(cost), {{0, first, last, std::move(bytes)}}});
    return static_cast<int32_t>(problem.nodes.size()) - 1;
  };
  // Free on the diagonal; off it the price of a reshard, or nothing that is allowed.
  auto connect = [&](int32_t source, int32_t target, double reshard) {
    Edge edge{source, target, {}};
    for (int32_t i = 0; i < kStrategies * kStrategies; ++i) {
      edge.cost.push_back(i / kStrategies == i % kStrategies ? 0 : reshard);
    }
    problem.edges.push_back(std::move(edge));
  };
  std::vector<int32_t> weights;
  std::vector<int32_t> activations;
  int32_t before = -1;
  for (int32_t step = 0; step < 2 * layers; ++step) {
    int32_t layer = step < layers ? step : 2 * layers - 1 - step;
    if (step < layers) {
      weights.push_back(add({0, 1, 2, 3}, 0, end, {64, 32, 32, 16}));
      activations.push_back(add({0, 0, 1, 1}, step, 2 * layers - step, {16, 8, 8, 4}));
      connect(weights[layer], activations[layer], 20);
    }
    int32_t work = add({40, 20, 20, 30}, step, step + 1, {16, 8, 8, 4});
    int32_t norm = add({1, 1, 1, 1}, step, step + 1, {8, 4, 4, 2});
    connect(weights[layer], work, 11);
    connect(activations[layer], work, 7);
    connect(work, norm, kForbidden);
    if (before >= 0) {
      connect(before, norm, 5);
      connect(before, work, 9);
    }
    before = norm;
  }
  problem.tierBytesMax = {1e18};
  return problem;
}

Best bruteForce(const Problem &problem) {
  Best best;
  Choice choice(problem.nodes.size(), 0);
  while (true) {
    double cost = costOf(problem, choice);
    if (cost < kForbidden) {
      best.allowed.insert(choice);
      best.cost = std::min(best.cost, cost);
      std::vector<double> excess = memoryExcess(problem, choice);
      if (std::all_of(excess.begin(), excess.end(), [](double bytes) { return bytes <= 0; })) {
        best.feasibleCost = std::min(best.feasibleCost, cost);
      }
    }
    size_t n = 0;
    while (n < choice.size() && ++choice[n] == static_cast<int32_t>(problem.nodes[n].cost.size())) {
      choice[n++] = 0;
    }
    if (n == choice.size()) {
      return best;
    }
  }
}

SolveOptions timeless(int32_t rounds, uint64_t seed) {
  SolveOptions options;
  options.seed = seed;
  options.roundsMax = rounds;
  options.now = [] { return 0.0; };
  return options;
}

} // namespace headrace::solve
