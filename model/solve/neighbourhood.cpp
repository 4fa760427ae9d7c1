// Elimination of nodes of degree 0, 1 and 2, keeping others at the present choice.
#include "model/solve/neighbourhood.h"
#include "model/solve/min_plus.h"

#include <algorithm>

namespace headrace::solve {
namespace {
// Of this many candidates drawn, the one with most neighbours keeps its strategy.
constexpr int kDraws = 4;
} // namespace

double *Neighbourhood::Pool::take(size_t count) {
  while (block_ < blocks_.size() && used_ + count > blocks_[block_].size) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    size_t size = std::max(kBlock, count);
    blocks_.push_back({std::make_unique_for_overwrite<double[]>(size), size});
  }
  double *taken = blocks_[block_].values.get() + used_;
  used_ += count;
  return taken;
}

Neighbourhood::Neighbourhood(const Graph &graph)
    : graph_(graph), unaries_(graph.unaries().size()), links_(graph.size()),
      state_(graph.size(), State::kOutside), row_(graph.strategiesMax()),
      sum_(graph.strategiesMax()) {}

int32_t Neighbourhood::improve(const Unaries &unaries, std::span<const int32_t> region,
                               Choice &choice, std::mt19937_64 &random) {
  enter(unaries, region, choice);
  int32_t kept = 0;
  for (size_t left = region.size(); left > 0; --left) {
    int32_t node = next(random);
    order_.push_back(node);
    const std::vector<Link> &links = links_[node];
    if (links.size() > 2) {
      choice[node] = keep(node, choice[node]);
      ++kept;
      continue;
    }
    state_[node] = State::kGone;
    if (links.size() == 1) {
      eliminateOne(node, links[0]);
    } else if (links.size() == 2) {
      eliminateTwo(node, links[0], links[1]);
    }
  }
  assign(choice);
  for (int32_t node : region) {
    state_[node] = State::kOutside;
  }
  return kept;
}

void Neighbourhood::enter(const Unaries &unaries, std::span<const int32_t> region,
                          const Choice &choice) {
  pool_.reset();
  order_.clear();
  low_.clear();
  high_.clear();
  for (int32_t node : region) {
    state_[node] = State::kFree;
  }
  for (int32_t node : region) {
    int32_t own = graph_.strategies(node);
    double *costs = unary(node);
    const double *given = unaries.data() + graph_.unaryAt(node);
    std::copy(given, given + own, costs);
    links_[node].clear();
    for (const Incidence &edge : graph_.around(node)) {
      if (state_[edge.other] == State::kFree) {
        links_[node].push_back({edge.other, graph_.table(edge), graph_.transposed(edge)});
        continue;
      }
      const double *row = graph_.transposed(edge) + static_cast<size_t>(choice[edge.other]) * own;
      for (int32_t s = 0; s < own; ++s) {
        costs[s] += row[s];
      }
    }
    file(node);
  }
}

void Neighbourhood::file(int32_t node) {
  (links_[node].size() <= 2 ? low_ : high_).push_back(node);
}

int32_t Neighbourhood::next(std::mt19937_64 &random) {
  while (!low_.empty()) {
    int32_t node = low_.back();
    low_.pop_back();
    if (state_[node] == State::kFree) {
      return node;
    }
  }
  int32_t best = -1;
  for (int draw = 0; draw < kDraws && !high_.empty();) {
    size_t at = random() % high_.size();
    int32_t node = high_[at];
    if (state_[node] != State::kFree) {
      high_[at] = high_.back();
      high_.pop_back();
      continue;
    }
    if (best < 0 || links_[node].size() > links_[best].size()) {
      best = node;
    }
    ++draw;
  }
  return best;
}

void Neighbourhood::detach(int32_t node, int32_t gone) {
  std::vector<Link> &links = links_[node];
  auto at = std::find_if(links.begin(), links.end(),
                         [&](const Link &link) { return link.other == gone; });
  *at = links.back();
  links.pop_back();
  if (links.size() == 2) {
    low_.push_back(node); // nodes with fewer were filed when they came to two
  }
}

void Neighbourhood::eliminateOne(int32_t node, const Link &link) {
  int32_t others = graph_.strategies(link.other);
  minPlus(unary(node), graph_.strategies(node), link.table, others, row_.data());
  double *costs = unary(link.other);
  for (int32_t t = 0; t < others; ++t) {
    costs[t] += row_[t];
  }
  detach(link.other, node);
}

void Neighbourhood::eliminateTwo(int32_t node, const Link &first, const Link &second) {
  int32_t left = first.other;
  int32_t right = second.other;
  int32_t own = graph_.strategies(node);
  int32_t height = graph_.strategies(left);
  int32_t width = graph_.strategies(right);
  size_t size = static_cast<size_t>(height) * width;
  double *joint = pool_.take(2 * size);
  double *transposed = joint + size;
  const double *costs = unary(node);
  for (int32_t l = 0; l < height; ++l) {
    const double *column = first.transposed + static_cast<size_t>(l) * own;
    for (int32_t s = 0; s < own; ++s) {
      sum_[s] = costs[s] + column[s];
    }
    minPlus(sum_.data(), own, second.table, width, joint + static_cast<size_t>(l) * width);
  }
  auto link = std::find_if(links_[left].begin(), links_[left].end(),
                           [&](const Link &candidate) { return candidate.other == right; });
  if (link != links_[left].end()) {
    for (size_t i = 0; i < size; ++i) {
      joint[i] += link->table[i];
    }
  }
  for (int32_t l = 0; l < height; ++l) {
    for (int32_t r = 0; r < width; ++r) {
      transposed[static_cast<size_t>(r) * height + l] = joint[static_cast<size_t>(l) * width + r];
    }
  }
  // `node` gives its place in both lists to the joint table, unless there was one already.
  auto replace = [&](int32_t at, int32_t other, const double *table, const double *back) {
    for (Link &candidate : links_[at]) {
      if (candidate.other == other) {
        candidate.table = table;
        candidate.transposed = back;
        detach(at, node);
        return;
      }
    }
    for (Link &candidate : links_[at]) {
      if (candidate.other == node) {
        candidate = {other, table, back};
        return;
      }
    }
  };
  replace(left, right, joint, transposed);
  replace(right, left, transposed, joint);
}

int32_t Neighbourhood::keep(int32_t node, int32_t strategy) {
  state_[node] = State::kKept;
  const double *own = unary(node);
  if (own[strategy] >= graph_.forbidden()) {
    strategy = static_cast<int32_t>(std::min_element(own, own + graph_.strategies(node)) - own);
  }
  for (const Link &link : links_[node]) {
    int32_t others = graph_.strategies(link.other);
    const double *row = link.table + static_cast<size_t>(strategy) * others;
    double *costs = unary(link.other);
    for (int32_t t = 0; t < others; ++t) {
      costs[t] += row[t];
    }
    detach(link.other, node);
  }
  return strategy;
}

void Neighbourhood::assign(Choice &choice) const {
  for (size_t position = order_.size(); position-- > 0;) {
    int32_t node = order_[position];
    if (state_[node] == State::kKept) {
      continue;
    }
    int32_t own = graph_.strategies(node);
    const double *costs = unaries_.data() + graph_.unaryAt(node);
    std::copy(costs, costs + own, sum_.begin());
    for (const Link &link : links_[node]) {
      const double *row = link.transposed + static_cast<size_t>(choice[link.other]) * own;
      for (int32_t s = 0; s < own; ++s) {
        sum_[s] += row[s];
      }
    }
    // On a tie the present strategy stays, so that equal costs do not change memory back and forth.
    auto least =
        static_cast<int32_t>(std::min_element(sum_.begin(), sum_.begin() + own) - sum_.begin());
    if (sum_[least] < sum_[choice[node]]) {
      choice[node] = least;
    }
  }
}

} // namespace headrace::solve
