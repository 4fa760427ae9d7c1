// TRW-S sweeps in node order.
#include "model/solve/message_passing.h"
#include "model/solve/min_plus.h"

#include <algorithm>

namespace headrace::solve {

MessagePassing::MessagePassing(const Graph &graph)
    : graph_(graph), messages_(graph.messageCount(), 0.0), sum_(graph.strategiesMax()),
      base_(graph.strategiesMax()), out_(graph.strategiesMax()) {
  for (size_t n = 0; n < graph.size(); ++n) {
    auto node = static_cast<int32_t>(n);
    int earlier = 0;
    int later = 0;
    for (const Incidence &edge : graph.around(node)) {
      (edge.other > node ? later : earlier)++;
    }
    weight_.push_back(1.0 / std::max({1, earlier, later}));
  }
}

double MessagePassing::pass(const Unaries &unaries, Way way) {
  // The energy is at all times the sum of the gathered unaries and of (cost − both messages) on the
  // edges. Going back, what is taken off a node's sum and off a message to make their least entry 0
  // is counted; what remains is not negative: each edge to an earlier node is covered by its share
  // (weight) of the node's sum.
  double bound = 0;
  auto count = static_cast<int32_t>(graph_.size());
  for (int32_t step = 0; step < count; ++step) {
    int32_t node = way == Way::kForward ? step : count - 1 - step;
    int32_t own = graph_.strategies(node);
    const double *unary = unaries.data() + graph_.unaryAt(node);
    std::copy(unary, unary + own, sum_.begin());
    for (const Incidence &edge : graph_.around(node)) {
      const double *in = messages_.data() + edge.message;
      for (int32_t s = 0; s < own; ++s) {
        sum_[s] += in[s];
      }
    }
    if (way == Way::kBackward) {
      double least = *std::min_element(sum_.begin(), sum_.begin() + own);
      bound += least;
      for (int32_t s = 0; s < own; ++s) {
        sum_[s] -= least;
      }
    }
    for (const Incidence &edge : graph_.around(node)) {
      if ((edge.other > node) != (way == Way::kForward)) {
        continue;
      }
      const double *in = messages_.data() + edge.message;
      for (int32_t s = 0; s < own; ++s) {
        base_[s] = weight_[node] * sum_[s] - in[s];
      }
      int32_t others = graph_.strategies(edge.other);
      minPlus(base_.data(), own, graph_.table(edge), others, out_.data());
      double least = *std::min_element(out_.begin(), out_.begin() + others);
      bound += least;
      double *out = messages_.data() + graph_.incidence(edge.reverse).message;
      for (int32_t t = 0; t < others; ++t) {
        out[t] = out_[t] - least;
      }
    }
  }
  return bound;
}

double MessagePassing::sweep(const Unaries &unaries) {
  pass(unaries, Way::kForward);
  return pass(unaries, Way::kBackward);
}

void MessagePassing::decode(const Unaries &unaries, Choice &choice) {
  choice.resize(graph_.size());
  for (size_t n = 0; n < graph_.size(); ++n) {
    auto node = static_cast<int32_t>(n);
    int32_t own = graph_.strategies(node);
    const double *unary = unaries.data() + graph_.unaryAt(node);
    std::copy(unary, unary + own, sum_.begin());
    for (const Incidence &edge : graph_.around(node)) {
      const double *costs = edge.other < node ? graph_.transposed(edge) +
                                                    static_cast<size_t>(choice[edge.other]) * own
                                              : messages_.data() + edge.message;
      for (int32_t s = 0; s < own; ++s) {
        sum_[s] += costs[s];
      }
    }
    choice[n] =
        static_cast<int32_t>(std::min_element(sum_.begin(), sum_.begin() + own) - sum_.begin());
  }
}

} // namespace headrace::solve
