// The anytime loop over pricing rounds.
#include "runtime/model/solve/solve.h"
#include "runtime/model/solve/graph.h"
#include "runtime/model/solve/memory_prices.h"
#include "runtime/model/solve/message_passing.h"
#include "runtime/model/solve/neighbourhood.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

namespace headrace::solve {
namespace {

constexpr int kFirstSweeps = 40;
constexpr int kLaterSweeps = 5;
constexpr int kFirstNeighbourhoods = 10;
constexpr int kLaterNeighbourhoods = 3;
// The subgradient step stays whole for this many rounds, then shrinks as 1/round.
constexpr int kFullStepRounds = 15;
// Cost of the whole excess being one limit, in units of the present cost.
constexpr double kRepairPenalty = 1e4;

double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// One run; its members are the state of the loop.
class Solver {
public:
  Solver(const Problem &problem, const Unaries &base, const Graph &graph, const SolveOptions &options)
      : problem_(problem), base_(base), graph_(graph), options_(options), random_(options.seed),
        messages_(graph), prices_(problem) {
    now_ = options.now ? options.now : steadySeconds;
    started_ = now_();
  }

  Solution run() {
    for (; round_ < options_.roundsMax; ++round_) {
      Unaries priced = prices_.priced(base_);
      Choice choice = relaxed(priced);
      offer(choice);
      if (prices_.canBind() && prices_.excess(choice) > 0) {
        Choice repaired = choice;
        prices_.repair(graph_, base_, kRepairPenalty * std::max(costNow(choice), 1e-12), repaired, random_);
        offer(repaired);
      }
      if (bestExcess_ <= 0 && bestCost_ - bound_ <= options_.gapMax * bestCost_) {
        break;
      }
      if (now_() - started_ >= options_.secondsMax) {
        break;
      }
      if (prices_.canBind()) {
        double dual = graph_.cost(priced, choice) - prices_.rebate();
        double target = bestExcess_ <= 0 ? bestCost_ : 20 * std::max(firstCost_, 1e-12);
        double relaxation = round_ < kFullStepRounds ? 1.0 : static_cast<double>(kFullStepRounds) / round_;
        prices_.update(choice, std::max(target - dual, 1e-3 * target), relaxation);
      }
    }
    return solution();
  }

private:
  double costNow(const Choice &choice) const { return graph_.cost(base_, choice); }

  /// The best choice found at these prices; raises the bound.
  Choice relaxed(const Unaries &priced) {
    int sweeps = round_ == 0 ? kFirstSweeps : kLaterSweeps;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      messages_.sweep(priced);
    }
    double bound = messages_.bound(priced);
    Choice choice = messages_.decode(priced);
    if (!present_.empty() && graph_.cost(priced, present_) < graph_.cost(priced, choice)) {
      choice = present_;
    }
    int tries = round_ == 0 ? kFirstNeighbourhoods : kLaterNeighbourhoods;
    for (int attempt = 0; attempt < tries; ++attempt) {
      NeighbourhoodResult improved = improve(graph_, priced, choice, random_);
      choice = std::move(improved.choice);
      if (improved.fixed == 0) {
        bound = std::max(bound, graph_.cost(priced, choice));
        break;
      }
    }
    bound_ = std::max(bound_, bound - prices_.rebate());
    if (round_ == 0) {
      firstCost_ = costNow(choice);
    }
    present_ = choice;
    return choice;
  }

  /// Keeps the choice if it fits better or, fitting as well, costs less.
  void offer(const Choice &choice) {
    double excess = std::max(0.0, prices_.excess(choice));
    double cost = costNow(choice);
    if (excess < bestExcess_ || (excess == bestExcess_ && cost < bestCost_)) {
      bestExcess_ = excess;
      bestCost_ = cost;
      best_ = choice;
    }
  }

  Solution solution() const {
    Solution solution;
    solution.choice = best_;
    solution.cost = bestCost_;
    solution.bound = std::clamp(bound_, 0.0, bestCost_);
    solution.excessBytes = memoryExcess(problem_, best_);
    solution.rounds = round_ + 1;
    return solution;
  }

  const Problem &problem_;
  const Unaries &base_;
  const Graph &graph_;
  const SolveOptions &options_;
  std::mt19937_64 random_;
  MessagePassing messages_;
  MemoryPrices prices_;
  std::function<double()> now_;
  double started_ = 0;
  int32_t round_ = 0;
  Choice present_;
  Choice best_;
  double bestCost_ = std::numeric_limits<double>::infinity();
  double bestExcess_ = std::numeric_limits<double>::infinity();
  double bound_ = 0;
  double firstCost_ = 0;
};

} // namespace

bool Solution::fits() const {
  return std::all_of(excessBytes.begin(), excessBytes.end(), [](double bytes) { return bytes <= 0; });
}

double Solution::gap() const { return cost > 0 ? (cost - bound) / cost : 0; }

Expected<Solution> solve(const Problem &problem, const SolveOptions &options) {
  return solveHolding(problem, Choice(problem.nodes.size(), -1), options);
}

Expected<Solution> solveHolding(const Problem &problem, const Choice &held, const SolveOptions &options) {
  HR_RETURN_IF_ERROR(problem.check());
  if (held.size() != problem.nodes.size()) {
    return makeError(ErrorKind::kInternal, "one entry per node is needed, got ", held.size());
  }
  Problem restricted = problem;
  for (size_t node = 0; node < held.size(); ++node) {
    for (size_t s = 0; held[node] >= 0 && s < restricted.nodes[node].cost.size(); ++s) {
      if (static_cast<int32_t>(s) != held[node]) {
        restricted.nodes[node].cost[s] = kForbidden;
      }
    }
  }
  Graph graph(restricted);
  Unaries unaries = initialUnaries(restricted, graph);
  Solution solution = Solver(restricted, unaries, graph, options).run();
  if (solution.cost >= kForbidden) {
    return makeError(ErrorKind::kUser, "no choice of layouts satisfies all constraints");
  }
  return solution;
}

Expected<Choice> randomFeasibleChoice(const Problem &problem, uint64_t seed) {
  HR_RETURN_IF_ERROR(problem.check());
  std::mt19937_64 random(seed);
  Problem restricted = problem;
  std::vector<int32_t> order(problem.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  Choice held(problem.nodes.size(), -1);
  // Arc consistency alone may leave a dead end on graphs with cycles; then the node takes what a full solve
  // with all earlier draws proposes.
  for (int32_t node : order) {
    Graph graph(restricted);
    Unaries unaries = initialUnaries(restricted, graph);
    std::vector<int32_t> possible;
    for (int32_t s = 0; s < graph.strategies[node]; ++s) {
      if (unaries[node][s] < kForbidden) {
        possible.push_back(s);
      }
    }
    std::shuffle(possible.begin(), possible.end(), random);
    bool found = false;
    for (int32_t candidate : possible) {
      Choice attempt = held;
      attempt[node] = candidate;
      SolveOptions options;
      options.seed = seed;
      options.roundsMax = 1;
      if (solveHolding(problem, attempt, options).ok()) {
        held[node] = candidate;
        found = true;
        break;
      }
    }
    if (!found) {
      return makeError(ErrorKind::kUser, "no choice of layouts satisfies all constraints");
    }
    for (size_t s = 0; s < restricted.nodes[node].cost.size(); ++s) {
      if (static_cast<int32_t>(s) != held[node]) {
        restricted.nodes[node].cost[s] = kForbidden;
      }
    }
  }
  return held;
}

} // namespace headrace::solve
