// A best-first search over sets of strategies that are ruled out.
#include "passes/shard/near_layouts.h"

#include <map>
#include <set>

using namespace mlir;

namespace headrace::shard {
namespace {

/// A node and the label that it must not have.
using Exclusion = std::pair<int32_t, std::string>;

class NearLayouts {
public:
  NearLayouts(const ShardProgram &program, solve::SolveOptions options)
      : program_(program), options_(std::move(options)) {
    options_.roundsMax = 1; // an order of alternatives, not a proof of each
  }

  Expected<solve::Choice> find(uint64_t number) {
    Expected<solve::Solution> best = solve::solve(program_.problem(), options_);
    if (!best.ok()) {
      return best.status();
    }
    open_.emplace(best->cost, Found{best->choice, {}});
    known_.insert(best->choice);
    solve::Choice last = best->choice;
    for (uint64_t taken = 0; taken <= number && !open_.empty(); ++taken) {
      Found found = open_.extract(open_.begin()).mapped();
      last = found.choice;
      if (taken < number) {
        branch(found);
      }
    }
    return last;
  }

private:
  struct Found {
    solve::Choice choice;
    std::set<Exclusion> without;
  };

  /// Ops that only follow their input have no layout of their own.
  bool decides(size_t index) const {
    const PlacedNode &node = program_.nodes()[index];
    return node.strategies.size() > 1 && node.op &&
           !isa<frame::FilterOp, frame::ProjectOp, frame::RenameOp>(node.op);
  }

  void branch(const Found &found) {
    for (size_t node = 0; node < program_.nodes().size(); ++node) {
      if (!decides(node)) {
        continue;
      }
      std::set<Exclusion> without = found.without;
      without.emplace(static_cast<int32_t>(node),
                      program_.nodes()[node].strategies[found.choice[node]].label);
      Expected<solve::Solution> other = solve::solve(restricted(without), options_);
      // What is forbidden altogether is no alternative.
      if (other.ok() && other->fits() && known_.insert(other->choice).second) {
        open_.emplace(other->cost, Found{other->choice, std::move(without)});
      }
    }
  }

  solve::Problem restricted(const std::set<Exclusion> &without) const {
    solve::Problem problem = program_.problem();
    for (const auto &[node, label] : without) {
      const PlacedNode &placed = program_.nodes()[static_cast<size_t>(node)];
      for (auto [index, strategy] : llvm::enumerate(placed.strategies)) {
        if (strategy.label == label) {
          problem.nodes[static_cast<size_t>(node)].cost[index] = solve::kForbidden;
        }
      }
    }
    return problem;
  }

  const ShardProgram &program_;
  solve::SolveOptions options_;
  std::multimap<double, Found> open_; // by cost
  std::set<solve::Choice> known_;
};

} // namespace

Expected<solve::Choice> nearLayout(const ShardProgram &program, uint64_t number,
                                   solve::SolveOptions options) {
  return NearLayouts(program, std::move(options)).find(number);
}

} // namespace headrace::shard
