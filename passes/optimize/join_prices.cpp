// Prices tables of rounded sizes once.
#include "passes/optimize/join_prices.h"

#include <algorithm>
#include <cmath>

using namespace headrace;
using namespace headrace::optimize;

namespace {

constexpr double kStepsOfOctave = 4;

int rounded(double value) {
  constexpr double kMost = 1e18; // estimates of products have no bound
  return static_cast<int>(std::lround(kStepsOfOctave * std::log2(std::clamp(value, 1.0, kMost))));
}

double seconds(const cost::StepWork &step) {
  static const topology::DeviceType assumed;
  return cost::secondsOf(assumed, step.lanes);
}

} // namespace

const JoinPrices::Rows &JoinPrices::of(double rows, double bytes) {
  auto [known, added] = known_.try_emplace({rounded(rows), rounded(bytes)});
  if (!added) {
    return known->second;
  }
  cost::RowShape row;
  row.bytes = std::exp2(known->first.second / kStepsOfOctave);
  cost::StateShape table;
  table.kind = plan::StateKind::kJoinTable;
  table.rows = std::exp2(known->first.first / kStepsOfOctave);
  table.rowBytes = cost::stateRowBytes(table.kind, row);
  Rows &prices = known->second;
  prices.build = seconds(cost::buildTable(table, 1, 0, {})) / table.rows;
  prices.probe = seconds(cost::probeTable(table, 1, 0, 1, 0, {}));
  prices.match = seconds(cost::probeTable(table, 0, 1, 1, 0, {}));
  cost::StateShape groups = table;
  groups.kind = plan::StateKind::kGroupTable;
  groups.rowBytes = cost::stateRowBytes(groups.kind, row);
  prices.group = seconds(cost::foldRows(groups, 1, 1, 1, {}));
  return prices;
}
