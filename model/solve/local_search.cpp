// A move: grow a region, solve it, judge by cost and by the rows it touches, take back if refused.
#include "model/solve/local_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace headrace::solve {
namespace {

// What a forced strategy makes impossible comes into the region, up to so many nodes; more would be
// another problem.
constexpr size_t kConflictsMax = 200;

/// Numbers of the standard Gumbel distribution: of strategies with such noise on their costs, the
/// cheapest is drawn as at a temperature.
const std::array<double, 1024> &gumbelNumbers() {
  static const std::array<double, 1024> numbers = [] {
    std::array<double, 1024> drawn;
    for (size_t i = 0; i < drawn.size(); ++i) {
      drawn[i] = -std::log(-std::log((static_cast<double>(i) + 0.5) / drawn.size()));
    }
    return drawn;
  }();
  return numbers;
}

} // namespace

LocalSearch::LocalSearch(const Graph &graph, const MemoryUses &uses)
    : graph_(graph), uses_(uses), neighbourhood_(graph), loads_(uses), priced_(graph.unaries()),
      pricedAt_(graph.size(), 0), noisy_(graph.unaries().size()), mark_(graph.size(), 0) {}

void LocalSearch::start(const Choice &choice) {
  choice_ = choice;
  cost_ = graph_.cost(graph_.unaries(), choice);
  loads_.start(choice);
}

void LocalSearch::setPrices(const std::vector<double> &price) {
  ++prices_;
  prefix_.assign(price.empty() ? 0 : price.size() + 1, 0);
  std::partial_sum(price.begin(), price.end(), prefix_.begin() + (price.empty() ? 0 : 1));
}

void LocalSearch::take(int32_t node) {
  if (mark_[node] != stamp_) {
    mark_[node] = stamp_;
    region_.push_back(node);
  }
}

void LocalSearch::growAboutForced(const Move &move, std::mt19937_64 &random) {
  mark_[move.seed] = stamp_;
  auto present = static_cast<size_t>(choice_[move.seed]);
  auto forced = static_cast<size_t>(move.force);
  std::span<const Incidence> around = graph_.around(move.seed);
  size_t lesser = 0;
  for (const Incidence &edge : around) {
    const double *table = graph_.table(edge);
    auto others = static_cast<size_t>(graph_.strategies(edge.other));
    double now = table[forced * others + choice_[edge.other]];
    if (now >= graph_.forbidden()) {
      if (region_.size() < kConflictsMax) {
        take(edge.other);
      }
    } else if (now > table[present * others + choice_[edge.other]] &&
               lesser < static_cast<size_t>(move.size) && random() % 2 == 0) {
      take(edge.other);
      ++lesser;
    }
  }
}

void LocalSearch::grow(const Move &move, std::mt19937_64 &random) {
  ++stamp_;
  region_.clear();
  if (move.force < 0) {
    take(move.seed);
  } else {
    growAboutForced(move, random);
  }
  // Random breadth-first: each node asks its neighbours in, a few at a time, so that regions
  // differ.
  size_t size = static_cast<size_t>(move.size) + (move.force < 0 ? 0 : region_.size());
  for (size_t at = 0; at < region_.size() && region_.size() < size; ++at) {
    std::span<const Incidence> around = graph_.around(region_[at]);
    size_t count = around.size();
    size_t begin = count > 0 ? random() % count : 0;
    for (size_t i = 0; i < count && region_.size() < size; ++i) {
      if (count <= 4 || random() % count < 4) {
        take(around[(begin + i) % count].other);
      }
    }
  }
}

void LocalSearch::price(int32_t node) {
  if (pricedAt_[node] == prices_) {
    return;
  }
  pricedAt_[node] = prices_;
  size_t at = graph_.unaryAt(node);
  int32_t strategies = graph_.strategies(node);
  double *costs = priced_.data() + at;
  std::copy_n(graph_.unaries().data() + at, strategies, costs);
  if (!prefix_.empty()) {
    uses_.addPrices(node, strategies, prefix_, costs);
  }
}

void LocalSearch::addNoise(double scale, std::mt19937_64 &random) {
  const std::array<double, 1024> &numbers = gumbelNumbers();
  uint64_t bits = 0;
  int left = 0;
  for (int32_t node : region_) {
    size_t at = graph_.unaryAt(node);
    for (size_t i = at; i < at + graph_.strategies(node); ++i) {
      if (left == 0) {
        bits = random();
        left = 6;
      }
      noisy_[i] = priced_[i] - scale * numbers[bits & 1023];
      bits >>= 10;
      --left;
    }
  }
}

bool LocalSearch::collectChanged(const Move &move) {
  ++stamp_;
  changed_.clear();
  other_.clear();
  auto collect = [&](int32_t node, int32_t before) {
    if (choice_[node] != before) {
      changed_.push_back(node);
      other_.push_back(before);
      mark_[node] = stamp_;
    }
  };
  if (move.force >= 0) {
    collect(move.seed, before_.back());
  }
  for (size_t i = 0; i < region_.size(); ++i) {
    collect(region_[i], before_[i]);
  }
  return !changed_.empty();
}

double LocalSearch::costOfChanged() const {
  double sum = 0;
  for (int32_t node : changed_) {
    sum += graph_.unaries()[graph_.unaryAt(node) + choice_[node]];
    for (const Incidence &edge : graph_.around(node)) {
      if (mark_[edge.other] != stamp_ || edge.other > node) {
        sum +=
            graph_.table(edge)[static_cast<size_t>(choice_[node]) * graph_.strategies(edge.other) +
                               choice_[edge.other]];
      }
    }
  }
  return sum;
}

void LocalSearch::swapChanged() {
  for (size_t i = 0; i < changed_.size(); ++i) {
    std::swap(choice_[changed_[i]], other_[i]);
  }
}

void LocalSearch::shiftChanged() {
  for (size_t i = 0; i < changed_.size(); ++i) {
    loads_.shift(changed_[i], other_[i], choice_[changed_[i]]);
  }
}

bool LocalSearch::move(const Move &move, const Terms &terms, std::mt19937_64 &random) {
  grow(move, random);
  before_.clear();
  for (int32_t node : region_) {
    before_.push_back(choice_[node]);
  }
  if (move.force >= 0) {
    before_.push_back(choice_[move.seed]);
    choice_[move.seed] = move.force;
  }
  for (int32_t node : region_) {
    price(node);
  }
  if (terms.noise > 0) {
    addNoise(terms.noise, random);
  }
  neighbourhood_.improve(terms.noise > 0 ? noisy_ : priced_, region_, choice_, random);
  if (!collectChanged(move)) {
    return false;
  }
  double after = costOfChanged();
  swapChanged();
  double before = costOfChanged();
  double riseMax = terms.riseMax + 1e-12 * (after + before);
  double excessBefore = loads_.excess();
  // Even without any excess it would be too much: nothing of it need be added up.
  if (after - before - terms.penalty * excessBefore > riseMax) {
    return false;
  }
  bool fitted = loads_.fits();
  swapChanged();
  shiftChanged();
  double rise = after - before + terms.penalty * (loads_.excess() - excessBefore);
  bool mayFit = loads_.fits() || !fitted || terms.fit == Terms::Fit::kMayLeave;
  if (mayFit && rise <= riseMax) {
    cost_ += after - before;
    return true;
  }
  swapChanged();
  shiftChanged();
  loads_.settle(excessBefore);
  return false;
}

} // namespace headrace::solve
