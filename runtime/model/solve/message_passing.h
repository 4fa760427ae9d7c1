// Sequential tree-reweighted message passing (TRW-S): a lower bound on the optimum and a good first choice.
// Private to model/solve. Kolmogorov, "Convergent Tree-Reweighted Message Passing", 2006.
#pragma once

#include "runtime/model/solve/graph.h"

namespace headrace::solve {

/// Messages survive a change of the unaries, so that pricing rounds start warm.
class MessagePassing {
public:
  explicit MessagePassing(const Graph &graph);

  /// One sweep forward and one back.
  void sweep(const Unaries &unaries);
  /// A valid lower bound on the cost of every choice, whatever the messages are.
  double bound(const Unaries &unaries) const;
  /// Chooses node by node, with earlier nodes' choices and later nodes' messages.
  Choice decode(const Unaries &unaries) const;

private:
  enum class Way : uint8_t { kForward, kBackward };
  void pass(const Unaries &unaries, Way way);
  const std::vector<double> &incoming(int32_t edge, int32_t node) const {
    return graph_.edges[edge].source == node ? toSource_[edge] : toTarget_[edge];
  }
  std::vector<double> gathered(const Unaries &unaries, int32_t node) const;

  const Graph &graph_;
  std::vector<std::vector<double>> toSource_; ///< message into the source end of each edge
  std::vector<std::vector<double>> toTarget_;
  std::vector<double> weight_; ///< 1 / max(edges to earlier nodes, edges to later nodes)
};

} // namespace headrace::solve
