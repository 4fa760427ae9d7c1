// Sequential tree-reweighted message passing (TRW-S): a lower bound on the optimum and a good first
// choice. Private to model/solve. Kolmogorov, "Convergent Tree-Reweighted Message Passing", 2006.
#pragma once

#include "model/solve/graph.h"

namespace headrace::solve {

/// Messages survive a change of the unaries, so that pricing rounds start warm. Not thread-safe.
class MessagePassing {
public:
  explicit MessagePassing(const Graph &graph);

  /// One sweep forward and one back, without allocation. Returns a lower bound on the cost of every
  /// choice under these unaries, whatever the messages were before.
  double sweep(const Unaries &unaries);
  /// Chooses node by node, with earlier nodes' choices and later nodes' messages.
  void decode(const Unaries &unaries, Choice &choice);

private:
  enum class Way : uint8_t { kForward, kBackward };
  double pass(const Unaries &unaries, Way way);

  const Graph &graph_;
  std::vector<double> messages_; ///< into each incidence's node
  std::vector<double> weight_; ///< per node, 1 / max(edges to earlier nodes, edges to later nodes)
  std::vector<double> sum_;    // scratch, one entry per strategy
  std::vector<double> base_;
  std::vector<double> out_;
};

} // namespace headrace::solve
