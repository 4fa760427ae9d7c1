// Makes a problem smaller without changing its optimum, and leads choices back. Private to
// model/solve.
#pragma once

#include "model/solve/problem.h"

namespace headrace::solve {

/// Exact steps only, until none applies: strategies without an allowed partner or dominated by
/// another are dropped; nodes with one strategy, and nodes of degree up to two whose strategies
/// hold the same memory, are eliminated; a node whose strategy follows from a neighbour's joins it;
/// of equal nodes with equal neighbours one remains.
class Reduction {
public:
  explicit Reduction(const Problem &problem);

  /// True if the problem has no choice without a forbidden part.
  bool isContradiction() const { return contradiction_; }
  /// What remains. Its optimum costs what the problem's does; a node with one strategy may carry
  /// what is decided. At most one edge between two nodes, no forbidden node costs; times count only
  /// moments at which memory can bind.
  const Problem &reduced() const { return reduced_; }
  /// The best choice of the whole problem that agrees with a choice of the reduced one.
  Choice lift(const Choice &reduced) const;
  /// A choice of the reduced problem that is as near as can be to one of the whole: where a
  /// strategy was dropped, the one that dominates it.
  Choice lower(const Choice &choice) const;

private:
  friend class Reducer;

  struct Link {
    int32_t other = 0;
    int32_t table = 0;
  };
  struct Table {
    int32_t first = 0; ///< the node whose strategies are rows
    std::vector<double> cost;
  };
  enum class Kind : uint8_t { kDecided, kEliminated, kFollows, kTwin };
  /// How one node got out, in terms of strategies as the problem numbers them.
  struct Step {
    Kind kind;
    int32_t node = 0;
    int32_t strategy = 0;         ///< kDecided
    int32_t leader = 0;           ///< kFollows, kTwin
    std::vector<Link> links;      ///< kEliminated
    std::vector<double> cost;     ///< kEliminated: without links
    std::vector<int32_t> follows; ///< kFollows: by the leader's strategy
  };
  double at(const Table &table, int32_t node, int32_t own, int32_t other, int32_t others) const {
    return table.first == node ? table.cost[static_cast<size_t>(own) * strategies_[other] + others]
                               : table.cost[static_cast<size_t>(others) * strategies_[node] + own];
  }

  Problem reduced_;
  std::vector<int32_t> strategies_; ///< per node of the problem
  std::vector<int32_t> kept_;       ///< nodes of the problem that remain
  std::vector<std::vector<int32_t>> keptStrategies_;
  std::vector<Step> steps_;
  std::vector<std::vector<int32_t>>
      better_; ///< per node, what dominates a strategy, or -1; often empty
  std::vector<Table> tables_;
  bool contradiction_ = false;
};

} // namespace headrace::solve
