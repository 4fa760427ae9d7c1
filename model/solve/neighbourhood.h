// Exact search of a neighbourhood: nodes with at most two neighbours are eliminated exactly; when
// none is left, a node keeps its present strategy. What remains free is solved to optimality.
// Private to model/solve.
#pragma once

#include "model/solve/graph.h"

#include <memory>
#include <random>
#include <span>

namespace headrace::solve {

/// Reuses its memory from call to call. Not thread-safe.
class Neighbourhood {
public:
  explicit Neighbourhood(const Graph &graph);

  /// Gives the nodes of `region` (distinct) the best strategies reachable from `choice`, all others
  /// held. Of `unaries` only those of the region are read. Which nodes of the region keep theirs is
  /// drawn from `random`. Returns how many did: 0
  /// means the optimum over the region. By rounding alone can the outcome be worse than `choice`.
  int32_t improve(const Unaries &unaries, std::span<const int32_t> region, Choice &choice,
                  std::mt19937_64 &random);

private:
  struct Link {
    int32_t other = 0;
    const double *table = nullptr;      // [own × strategies of other + other's]
    const double *transposed = nullptr; // [other's × own strategies + own]
  };
  enum class State : uint8_t { kOutside, kFree, kGone, kKept };

  /// Memory for joint tables; freed all at once.
  class Pool {
  public:
    void reset() {
      block_ = 0;
      used_ = 0;
    }
    double *take(size_t count);

  private:
    static constexpr size_t kBlock = size_t{1} << 16;
    struct Block {
      std::unique_ptr<double[]> values;
      size_t size = 0;
    };
    std::vector<Block> blocks_;
    size_t block_ = 0;
    size_t used_ = 0;
  };

  void enter(const Unaries &unaries, std::span<const int32_t> region, const Choice &choice);
  int32_t next(std::mt19937_64 &random);
  void detach(int32_t node, int32_t gone);
  void file(int32_t node);
  void eliminateOne(int32_t node, const Link &link);
  void eliminateTwo(int32_t node, const Link &first, const Link &second);
  /// Keeps a strategy, or the cheapest if that one is forbidden; returns what is kept.
  int32_t keep(int32_t node, int32_t strategy);
  void assign(Choice &choice) const;
  double *unary(int32_t node) { return unaries_.data() + graph_.unaryAt(node); }

  const Graph &graph_;
  Unaries unaries_;
  std::vector<std::vector<Link>> links_;
  std::vector<State> state_;
  std::vector<int32_t> order_;
  std::vector<int32_t> low_;  // at most two links; may hold nodes that are gone
  std::vector<int32_t> high_; // more; may hold nodes that have fewer by now
  std::vector<double> joint_;
  std::vector<double> row_;
  mutable std::vector<double> sum_;
  Pool pool_;
};

} // namespace headrace::solve
