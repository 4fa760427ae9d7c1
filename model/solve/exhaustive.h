// Branch and bound over all choices of a small problem: the proof where prices leave a gap. Private
// to model/solve.
#pragma once

#include "model/solve/memory_prices.h"

namespace headrace::solve {

struct ExhaustiveResult {
  bool finished = false; ///< all choices were seen or ruled out
  bool found = false; ///< `choice` fits and is cheaper than `below`; if finished, it is the optimum
  Choice choice;
  double cost = 0;
};

/// Looks for choices that fit and cost less than `below`, until it is done or has taken `steps`
/// steps (each about the work of one edge or one row).
ExhaustiveResult searchExhaustively(const Graph &graph, const MemoryUses &uses, double below,
                                    int64_t steps);

} // namespace headrace::solve
