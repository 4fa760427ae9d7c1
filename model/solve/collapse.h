// Repeated layers choose alike: nodes that are equal up to their names share one choice, and a
// problem of thousands of nodes becomes one of hundreds. Private to model/solve.
#pragma once

#include "model/solve/problem.h"

#include <cstdint>

namespace headrace::solve {

/// A colour per node; nodes of one colour look alike. Where a node stands in the program and when
/// it is live does not count, so that the layers of a model look alike.
class Colouring {
public:
  /// At first: equal costs, equal memory per strategy.
  explicit Colouring(const Problem &problem);

  /// Nodes look alike if they did and their neighbours did, over equal edges.
  void refine();
  const std::vector<uint64_t> &colours() const { return colours_; }
  /// Number of different ones.
  size_t count() const;

private:
  const Problem &problem_;
  std::vector<uint64_t> colours_;
  std::vector<uint64_t> edges_; ///< a print of each edge's costs
};

/// The problem in which nodes of one colour choose the same strategy. Every choice of it is a
/// choice of the whole that costs and holds the same; the other way round that is not so: it is a
/// restriction, not an exact reduction.
class Collapse {
public:
  Collapse(const Problem &problem, const std::vector<uint64_t> &colours);

  const Problem &collapsed() const { return collapsed_; }
  /// The choice of the whole problem.
  Choice expand(const Choice &collapsed) const;

private:
  Problem collapsed_;
  std::vector<int32_t> classOf_; ///< per node of the problem
};

} // namespace headrace::solve
