// Batches of moves at one temperature and one set of prices.
#include "model/solve/annealing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headrace::solve {
namespace {

constexpr int64_t kBatchMin = 64;
constexpr int64_t kBatchMax = 1024;
// The price of excess follows the walk: down while it fits, up while it does not.
constexpr double kCheaper = 0.93;
constexpr double kDearer = 1.1;
// Between these shares of what is forbidden.
constexpr double kPenaltyMin = 1e-12;
constexpr double kPenaltyMax = 1e3;
// In this last share of the moves it only goes up, so that the walk ends where it fits.
constexpr double kLastShare = 0.15;
constexpr double kLastDearer = 1.3;
// Regions have fewer nodes than this.
constexpr uint64_t kRegionMax = 24;
// One move in so many forces a strategy on a node.
constexpr uint64_t kForceEvery = 3;

double unit(std::mt19937_64 &random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

} // namespace

Annealing::Annealing(const Graph &graph, const MemoryUses &uses)
    : graph_(graph), uses_(uses), walk_(graph, uses) {
  for (size_t n = 0; n < graph.size(); ++n) {
    if (graph.strategies(static_cast<int32_t>(n)) > 1) {
      movable_.push_back(static_cast<int32_t>(n));
    }
  }
  batch_ = std::clamp(static_cast<int64_t>(movable_.size()) / 8, kBatchMin, kBatchMax);
}

void Annealing::start(const Choice &choice, const Schedule &schedule) {
  schedule_ = schedule;
  done_ = movable_.empty() ? schedule.moves : 0;
  penalty_ = schedule.penalty;
  balance_ = schedule.penalty;
  walk_.start(choice);
  bestCost_ = std::numeric_limits<double>::infinity();
  keepBest();
}

void Annealing::keepBest() {
  if (walk_.fits() && walk_.cost() < bestCost_) {
    bestCost_ = walk_.cost();
    best_ = walk_.choice();
  }
}

Move Annealing::draw(std::mt19937_64 &random) const {
  Move move;
  move.seed = movable_[random() % movable_.size()];
  // Small regions are the most, and the quickest.
  move.size = 1 + static_cast<int32_t>(random() % (1 + random() % kRegionMax));
  if (random() % kForceEvery == 0) {
    move.force = static_cast<int32_t>(random() % graph_.strategies(move.seed));
  }
  return move;
}

void Annealing::setPrices(const std::vector<double> &dual, std::mt19937_64 &random) {
  // From none to more than all of the dual prices; what is over its limit costs the penalty.
  double share = 0.5 * static_cast<double>(random() % 4);
  price_.resize(dual.size());
  for (size_t row = 0; row < dual.size(); ++row) {
    price_[row] = share * dual[row];
    if (walk_.loads().isOver(row)) {
      price_[row] += penalty_ / uses_.limit()[row];
    }
  }
  walk_.setPrices(price_);
}

void Annealing::advance(const std::vector<double> &dual, std::mt19937_64 &random) {
  double share = static_cast<double>(done_) / static_cast<double>(schedule_.moves);
  double temperature = schedule_.hot * std::pow(schedule_.cold / schedule_.hot, share);
  setPrices(dual, random);
  for (int64_t end = std::min(done_ + batch_, schedule_.moves); done_ < end; ++done_) {
    Terms terms{temperature, penalty_, -temperature * std::log(1 - unit(random)),
                Terms::Fit::kMayLeave};
    if (walk_.move(draw(random), terms, random)) {
      keepBest();
    }
  }
  bool isLast = share > 1 - kLastShare;
  if (walk_.fits()) {
    penalty_ *= isLast ? 1 : kCheaper;
  } else {
    penalty_ *= isLast ? kLastDearer : kDearer;
  }
  // Long in what fits, or out of it: a price of nothing or of infinity would never come back.
  penalty_ =
      std::clamp(penalty_, kPenaltyMin * graph_.forbidden(), kPenaltyMax * graph_.forbidden());
  balance_ = isLast ? balance_ : penalty_;
}

} // namespace headrace::solve
