// TRW-S sweeps in node order.
#include "runtime/model/solve/message_passing.h"

#include <algorithm>
#include <limits>

namespace headrace::solve {

MessagePassing::MessagePassing(const Graph &graph) : graph_(graph) {
  for (const GraphEdge &edge : graph.edges) {
    toSource_.emplace_back(graph.strategies[edge.source], 0.0);
    toTarget_.emplace_back(graph.strategies[edge.target], 0.0);
  }
  for (size_t node = 0; node < graph.size(); ++node) {
    int earlier = 0;
    int later = 0;
    for (int32_t e : graph.around[node]) {
      (graph.edges[e].other(static_cast<int32_t>(node)) > static_cast<int32_t>(node) ? later : earlier)++;
    }
    weight_.push_back(1.0 / std::max({1, earlier, later}));
  }
}

std::vector<double> MessagePassing::gathered(const Unaries &unaries, int32_t node) const {
  std::vector<double> sum = unaries[node];
  for (int32_t e : graph_.around[node]) {
    const std::vector<double> &message = incoming(e, node);
    for (size_t s = 0; s < sum.size(); ++s) {
      sum[s] += message[s];
    }
  }
  return sum;
}

void MessagePassing::pass(const Unaries &unaries, Way way) {
  int32_t count = static_cast<int32_t>(graph_.size());
  for (int32_t step = 0; step < count; ++step) {
    int32_t node = way == Way::kForward ? step : count - 1 - step;
    std::vector<double> sum = gathered(unaries, node);
    for (int32_t e : graph_.around[node]) {
      const GraphEdge &edge = graph_.edges[e];
      int32_t other = edge.other(node);
      if ((other > node) != (way == Way::kForward)) {
        continue;
      }
      const std::vector<double> &in = incoming(e, node);
      std::vector<double> &out = edge.source == node ? toTarget_[e] : toSource_[e];
      std::fill(out.begin(), out.end(), std::numeric_limits<double>::infinity());
      for (int32_t s = 0; s < graph_.strategies[node]; ++s) {
        double base = weight_[node] * sum[s] - in[s];
        for (int32_t t = 0; t < graph_.strategies[other]; ++t) {
          out[t] = std::min(out[t], base + graph_.edgeCost(edge, node, s, t));
        }
      }
      // Only differences matter; the cap keeps forbidden strategies from growing without end.
      double least = *std::min_element(out.begin(), out.end());
      for (double &value : out) {
        value = std::min(value - least, kForbidden);
      }
    }
  }
}

void MessagePassing::sweep(const Unaries &unaries) {
  pass(unaries, Way::kForward);
  pass(unaries, Way::kBackward);
}

double MessagePassing::bound(const Unaries &unaries) const {
  // Messages move cost between nodes and edges without changing the total of any choice, so the sum of
  // the least entries of all of them is a bound.
  double total = 0;
  for (size_t node = 0; node < graph_.size(); ++node) {
    std::vector<double> sum = gathered(unaries, static_cast<int32_t>(node));
    total += *std::min_element(sum.begin(), sum.end());
  }
  for (size_t e = 0; e < graph_.edges.size(); ++e) {
    const GraphEdge &edge = graph_.edges[e];
    double least = std::numeric_limits<double>::infinity();
    size_t index = 0;
    for (double fromTarget : toSource_[e]) {
      for (double fromSource : toTarget_[e]) {
        least = std::min(least, edge.cost[index++] - fromTarget - fromSource);
      }
    }
    total += least;
  }
  return total;
}

Choice MessagePassing::decode(const Unaries &unaries) const {
  Choice choice(graph_.size(), 0);
  for (size_t n = 0; n < graph_.size(); ++n) {
    int32_t node = static_cast<int32_t>(n);
    std::vector<double> sum = unaries[n];
    for (int32_t e : graph_.around[n]) {
      const GraphEdge &edge = graph_.edges[e];
      int32_t other = edge.other(node);
      for (int32_t s = 0; s < graph_.strategies[n]; ++s) {
        sum[s] += other < node ? graph_.edgeCost(edge, node, s, choice[other]) : incoming(e, node)[s];
      }
    }
    choice[n] = static_cast<int32_t>(std::min_element(sum.begin(), sum.end()) - sum.begin());
  }
  return choice;
}

} // namespace headrace::solve
