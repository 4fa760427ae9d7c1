// A measurement made some times over, so that its spread is known.
#pragma once

#include "tools/headrace-topo/node_structure.h"

#include <algorithm>
#include <array>
#include <functional>

namespace headrace::topo {

/// How often everything is measured that is over quickly.
constexpr size_t kRuns = 3;
/// From here on the runs disagree so much that a person should know.
constexpr double kSpreadMuch = 0.3;

/// The median, and as its error the spread of the runs; never less than a twentieth, since runs in
/// a row agree better than runs on another day.
inline Measured medianOf(std::array<double, kRuns> runs) {
  constexpr double kSpreadMin = 0.05;
  constexpr double kSpreadMax = 1;
  std::sort(runs.begin(), runs.end());
  double median = runs[kRuns / 2];
  double spread = median > 0 ? (runs.back() - runs.front()) / median : 0;
  return {median, std::clamp(spread, kSpreadMin, kSpreadMax)};
}

inline Measured repeated(const std::function<double()> &run) {
  std::array<double, kRuns> runs;
  std::generate(runs.begin(), runs.end(), run);
  return medianOf(runs);
}

} // namespace headrace::topo
