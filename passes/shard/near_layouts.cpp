// A best-first search over sets of strategies that are ruled out.
#include "passes/shard/near_layouts.h"

#include <algorithm>

using namespace mlir;

namespace headrace::shard {
namespace {

/// Ops whose strategies are ruled out in one layout: those that take longest.
constexpr size_t kBranchesMax = 16;
/// Solutions that are looked for in a program of up to so many ops; fewer in a longer one, since
/// each takes longer. A number and not a time: every rank must come to the same layout.
constexpr size_t kSolutionsMax = 64;
constexpr size_t kShortProgram = 64;
/// What is not quicker by this share is no reason to leave the solver's layout.
constexpr double kGainMin = 0.01;

} // namespace

NearLayouts::NearLayouts(ShardProgram &program, solve::SolveOptions options)
    : program_(program), schedule_(program), options_(std::move(options)) {
  options_.roundsMax = 1; // an order of alternatives, not a proof of each
}

void NearLayouts::search(const solve::Choice &solved, size_t count) {
  add(solved, {});
  size_t longer = std::max<size_t>(1, program_.nodes().size() / kShortProgram);
  size_t solutionsMax = schedule_.overlaps() ? kSolutionsMax / longer : 0;
  for (bool quickest = true; !open_.empty(); quickest = !quickest) {
    // What is dear as a sum may have quick neighbours, and what is cheap others.
    auto next = std::min_element(open_.begin(), open_.end(), [&](const Open &a, const Open &b) {
      return quickest ? a.seconds < b.seconds : a.sum < b.sum;
    });
    Open from = std::move(*next);
    open_.erase(next);
    branch(from);
    if (solutions_ >= solutionsMax && found_.size() > count) {
      break;
    }
  }
  found_.front().seconds *= 1 - kGainMin;
  std::stable_sort(found_.begin(), found_.end(),
                   [](const Layouts &a, const Layouts &b) { return a.seconds < b.seconds; });
  auto own = std::find_if(found_.begin(), found_.end(),
                          [&](const Layouts &each) { return each.choice == solved; });
  own->seconds /= 1 - kGainMin;
}

void NearLayouts::add(solve::Choice choice, std::set<Exclusion> without) {
  if (!known_.insert(choice).second) {
    return;
  }
  double seconds = schedule_.secondsOf(choice);
  double sum = solve::costOf(program_.problem(), choice);
  found_.push_back({choice, seconds});
  open_.push_back({std::move(choice), seconds, sum, std::move(without)});
}

SmallVector<int32_t> NearLayouts::longest(const solve::Choice &choice) {
  // Ops that only follow their input have no layout of their own.
  auto decides = [](const PlacedNode &node) {
    auto relation = dyn_cast_or_null<frame::RelationalOpInterface>(node.op);
    bool follows = relation && relation.getRowFlow() == frame::RowFlow::kRowByRow;
    return node.strategies.size() > 1 && node.op && !follows;
  };
  std::vector<double> seconds(choice.size());
  for (auto [index, node] : llvm::enumerate(program_.nodes())) {
    seconds[index] = node.strategies[choice[index]].seconds;
  }
  for (const ShardEdge &edge : program_.edges()) {
    double moved = program_.edgeCost(edge, choice).seconds;
    seconds[edge.target] += moved;
    seconds[edge.source] += moved;
  }
  SmallVector<int32_t> nodes;
  for (auto [index, node] : llvm::enumerate(program_.nodes())) {
    if (decides(node)) {
      nodes.push_back(static_cast<int32_t>(index));
    }
  }
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](int32_t a, int32_t b) { return seconds[a] > seconds[b]; });
  nodes.resize(std::min(nodes.size(), kBranchesMax));
  return nodes;
}

void NearLayouts::branch(const Open &from) {
  for (int32_t node : longest(from.choice)) {
    std::set<Exclusion> without = from.without;
    const PlacedNode &placed = program_.nodes()[node];
    without.emplace(node, placed.strategies[from.choice[node]].label);
    Expected<solve::Solution> other = solve::solve(restricted(without), options_);
    ++solutions_;
    // What is forbidden altogether is no alternative.
    if (other.ok() && other->fits()) {
      add(std::move(other->choice), std::move(without));
    }
  }
}

solve::Problem NearLayouts::restricted(const std::set<Exclusion> &without) const {
  solve::Problem problem = program_.problem();
  for (const auto &[node, label] : without) {
    const PlacedNode &placed = program_.nodes()[node];
    for (auto [index, strategy] : llvm::enumerate(placed.strategies)) {
      if (strategy.label == label) {
        problem.nodes[node].cost[index] = solve::kForbidden;
      }
    }
  }
  return problem;
}

const NearLayouts::Layouts *NearLayouts::without(int32_t node, StringRef label) const {
  auto other = std::find_if(found_.begin(), found_.end(), [&](const Layouts &layouts) {
    return program_.nodes()[node].strategies[layouts.choice[node]].label != label;
  });
  return other == found_.end() ? nullptr : &*other;
}

} // namespace headrace::shard
