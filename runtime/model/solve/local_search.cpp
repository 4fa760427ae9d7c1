// Keeps loads per row, so that a move is judged by the rows it touches.
#include "runtime/model/solve/local_search.h"

#include <algorithm>

namespace headrace::solve {
namespace {
// Sums of bytes and limits are exact far beyond any rounding that matters; this much over is not
// over.
constexpr double kSlack = 1e-12;
} // namespace

LocalSearch::LocalSearch(const Graph &graph, const MemoryUses &uses)
    : graph_(graph), uses_(uses), neighbourhood_(graph), mark_(graph.size(), 0) {}

void LocalSearch::start(const Choice &choice) {
  choice_ = choice;
  cost_ = graph_.cost(graph_.unaries(), choice);
  uses_.load(choice, load_);
  excess_ = 0;
  over_ = 0;
  for (size_t row = 0; row < load_.size(); ++row) {
    double limit = uses_.limit()[row];
    excess_ += std::max(0.0, load_[row] - limit) / limit;
    over_ += load_[row] > limit * (1 + kSlack);
  }
}

void LocalSearch::grow(int32_t seed, int32_t size, std::mt19937_64 &random) {
  ++stamp_;
  region_.clear();
  region_.push_back(seed);
  mark_[seed] = stamp_;
  // Random breadth-first: each node asks its neighbours in, a few at a time, so that regions
  // differ.
  for (size_t at = 0; at < region_.size() && region_.size() < static_cast<size_t>(size); ++at) {
    std::span<const Incidence> around = graph_.around(region_[at]);
    size_t count = around.size();
    size_t begin = count > 0 ? random() % count : 0;
    for (size_t i = 0; i < count && region_.size() < static_cast<size_t>(size); ++i) {
      int32_t other = around[(begin + i) % count].other;
      if (mark_[other] != stamp_ && (count <= 4 || random() % count < 4)) {
        mark_[other] = stamp_;
        region_.push_back(other);
      }
    }
  }
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

void LocalSearch::shift(int32_t node, int32_t from, int32_t to) {
  for (const MemoryUses::Use &use : uses_.of(node)) {
    double change = uses_.bytes(use)[to] - uses_.bytes(use)[from];
    if (change == 0) {
      continue;
    }
    for (int32_t row = use.rows.first; row < use.rows.last; ++row) {
      double limit = uses_.limit()[row];
      double held = load_[row];
      double now = held + change;
      excess_ += (std::max(0.0, now - limit) - std::max(0.0, held - limit)) / limit;
      over_ += (now > limit * (1 + kSlack)) - (held > limit * (1 + kSlack));
      load_[row] = now;
    }
  }
}

bool LocalSearch::move(int32_t seed, int32_t size, const Unaries &priced, double penalty,
                       std::mt19937_64 &random) {
  grow(seed, size, random);
  before_.clear();
  for (int32_t node : region_) {
    before_.push_back(choice_[node]);
  }
  neighbourhood_.improve(priced, region_, choice_, random);
  ++stamp_;
  changed_.clear();
  old_.clear();
  for (size_t i = 0; i < region_.size(); ++i) {
    if (choice_[region_[i]] != before_[i]) {
      changed_.push_back(region_[i]);
      old_.push_back(before_[i]);
      mark_[region_[i]] = stamp_;
    }
  }
  if (changed_.empty()) {
    return false;
  }
  double excessBefore = excess_;
  double after = costOfChanged();
  for (size_t i = 0; i < changed_.size(); ++i) {
    shift(changed_[i], old_[i], choice_[changed_[i]]);
    std::swap(choice_[changed_[i]], old_[i]);
  }
  double before = costOfChanged();
  // `choice_` is the old one again, `old_` the new one.
  double rise = after - before + penalty * (excess_ - excessBefore);
  bool fitsStill = over_ == 0 || excessBefore > 0;
  if (fitsStill && rise <= 1e-12 * (after + before)) {
    for (size_t i = 0; i < changed_.size(); ++i) {
      choice_[changed_[i]] = old_[i];
    }
    cost_ += after - before;
    excess_ = over_ == 0 ? 0 : std::max(excess_, 0.0);
    return true;
  }
  for (size_t i = 0; i < changed_.size(); ++i) {
    shift(changed_[i], old_[i], choice_[changed_[i]]);
  }
  excess_ = excessBefore;
  return false;
}

} // namespace headrace::solve
