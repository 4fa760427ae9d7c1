// A worklist of nodes; a node is looked at again whenever something near it changed.
#include "model/solve/reduction.h"
#include "model/solve/memory_rows.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>

namespace headrace::solve {
namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Looking for dominated strategies takes strategies² × neighbours' strategies.
constexpr size_t kDominanceWorkMax = 200000;
constexpr size_t kDominanceLinksMax = 64;
// A joint table of two neighbours may be this much larger than the two tables that it replaces.
constexpr size_t kJointGrowthMax = 4;
// A node may have this many more edges and memory uses than the one it joins.
constexpr size_t kJoinedWeight = 16;
} // namespace

class Reducer {
public:
  Reducer(const Problem &problem, Reduction &out) : problem_(problem), out_(out) {}

  void run() {
    load();
    while (!out_.contradiction_) {
      if (!unchecked_.empty()) {
        auto [node, other] = unchecked_.back();
        unchecked_.pop_back();
        dropUnsupported(node, other);
      } else if (!queue_.empty()) {
        int32_t node = queue_.back();
        queue_.pop_back();
        queued_[node] = false;
        examine(node);
      } else if (!mergeTwins()) {
        finish();
        return;
      }
    }
  }

private:
  using Link = Reduction::Link;
  using Table = Reduction::Table;
  using Step = Reduction::Step;
  using Kind = Reduction::Kind;

  struct State {
    std::vector<double> cost; // infinite: dropped
    std::vector<int32_t> alive;
    std::vector<MemoryUse> memory;
    size_t memoryMax = 16; // join uses beyond this many
    std::vector<Link> links;
    bool gone = false;
  };

  // ---- getting in ----

  void load() {
    size_t count = problem_.nodes.size();
    MemoryRows rows(problem_);
    nodes_.resize(count);
    out_.better_.resize(count);
    queued_.assign(count, false);
    for (size_t n = 0; n < count; ++n) {
      const Node &node = problem_.nodes[n];
      State &state = nodes_[n];
      state.cost = node.cost;
      out_.strategies_.push_back(static_cast<int32_t>(node.cost.size()));
      for (size_t s = 0; s < node.cost.size(); ++s) {
        if (node.cost[s] < kForbidden) {
          state.alive.push_back(static_cast<int32_t>(s));
        } else {
          state.cost[s] = kInfinity;
        }
      }
      out_.contradiction_ = out_.contradiction_ || state.alive.empty();
      for (const MemoryUse &use : node.memory) {
        RowRange range = rows.rows(use);
        if (!range.empty()) {
          state.memory.push_back({use.tier, range.first, range.last, use.bytes});
        }
      }
    }
    for (const Edge &edge : problem_.edges) {
      std::vector<double> cost = edge.cost;
      for (double &entry : cost) {
        entry = entry < kForbidden ? entry : kInfinity;
      }
      join(edge.source, edge.target, std::move(cost));
    }
    for (size_t n = count; n-- > 0;) {
      push(static_cast<int32_t>(n));
    }
  }

  void push(int32_t node) {
    if (!nodes_[node].gone && !queued_[node]) {
      queued_[node] = true;
      queue_.push_back(node);
    }
  }
  void pushAround(int32_t node) {
    for (const Link &link : nodes_[node].links) {
      push(link.other);
    }
  }

  /// Adds a table between two nodes, to the one that is there if there is one.
  void join(int32_t first, int32_t second, std::vector<double> cost) {
    unchecked_.push_back({first, second});
    unchecked_.push_back({second, first});
    auto &links = nodes_[first].links;
    auto found = std::find_if(links.begin(), links.end(),
                              [&](const Link &link) { return link.other == second; });
    if (found == links.end()) {
      auto index = static_cast<int32_t>(out_.tables_.size());
      out_.tables_.push_back({first, std::move(cost)});
      links.push_back({second, index});
      nodes_[second].links.push_back({first, index});
      return;
    }
    Table &table = out_.tables_[found->table];
    int32_t width = out_.strategies_[second];
    for (int32_t a = 0; a < out_.strategies_[first]; ++a) {
      for (int32_t b = 0; b < width; ++b) {
        size_t index = table.first == first ? static_cast<size_t>(a) * width + b
                                            : static_cast<size_t>(b) * out_.strategies_[first] + a;
        table.cost[index] += cost[static_cast<size_t>(a) * width + b];
      }
    }
  }

  double at(const Link &link, int32_t node, int32_t own, int32_t others) const {
    return out_.at(out_.tables_[link.table], node, own, link.other, others);
  }

  void unlink(int32_t node, int32_t gone) {
    std::erase_if(nodes_[node].links, [&](const Link &link) { return link.other == gone; });
  }

  // ---- steps ----

  void examine(int32_t node) {
    State &state = nodes_[node];
    if (state.gone) {
      return;
    }
    dropDominated(node);
    if (state.alive.size() == 1) {
      decide(node);
    } else if (isLight(state) && state.links.size() <= 1) {
      eliminate(node);
    } else if (!follow(node) && isLight(state) && state.links.size() == 2 && jointIsSmall(state)) {
      eliminate(node);
    }
  }

  void drop(int32_t node, int32_t strategy) {
    State &state = nodes_[node];
    state.cost[strategy] = kInfinity;
    std::erase(state.alive, strategy);
    out_.contradiction_ = out_.contradiction_ || state.alive.empty();
    push(node);
    for (const Link &link : state.links) {
      push(link.other);
      unchecked_.push_back({link.other, node});
    }
  }

  /// Drops what has no allowed partner at one neighbour.
  void dropUnsupported(int32_t node, int32_t other) {
    State &state = nodes_[node];
    auto link = std::find_if(state.links.begin(), state.links.end(),
                             [&](const Link &candidate) { return candidate.other == other; });
    if (state.gone || link == state.links.end()) {
      return;
    }
    std::vector<int32_t> lost;
    for (int32_t s : state.alive) {
      const std::vector<int32_t> &others = nodes_[other].alive;
      if (std::none_of(others.begin(), others.end(),
                       [&](int32_t t) { return at(*link, node, s, t) < kInfinity; })) {
        lost.push_back(s);
      }
    }
    for (int32_t s : lost) {
      drop(node, s);
    }
  }

  /// Adds a cost that may be infinite.
  void charge(int32_t node, int32_t strategy, double cost) {
    if (cost < kInfinity) {
      nodes_[node].cost[strategy] += cost;
    } else {
      drop(node, strategy);
    }
  }

  /// Whatever the neighbours do, `better` costs no more and holds no more.
  bool dominates(int32_t node, int32_t better, int32_t worse) const {
    const State &state = nodes_[node];
    double slack = state.cost[worse] - state.cost[better];
    for (const MemoryUse &use : state.memory) {
      if (use.bytes[better] > use.bytes[worse]) {
        return false;
      }
    }
    for (const Link &link : state.links) {
      double most = -kInfinity;
      for (int32_t t : nodes_[link.other].alive) {
        double cost = at(link, node, worse, t);
        if (cost < kInfinity) {
          most = std::max(most, at(link, node, better, t) - cost);
        }
      }
      if (most == kInfinity) {
        return false;
      }
      slack -= most;
    }
    return slack >= 0;
  }

  void dropDominated(int32_t node) {
    State &state = nodes_[node];
    size_t work = 1;
    for (const Link &link : state.links) {
      work += nodes_[link.other].alive.size();
    }
    if (state.alive.size() < 2 || state.links.size() > kDominanceLinksMax ||
        work * state.alive.size() * state.alive.size() > kDominanceWorkMax) {
      return;
    }
    for (int32_t worse : std::vector<int32_t>(state.alive)) {
      auto better = std::find_if(state.alive.begin(), state.alive.end(), [&](int32_t other) {
        return other != worse && dominates(node, other, worse);
      });
      if (better != state.alive.end()) {
        std::vector<int32_t> &known = out_.better_[node];
        known.resize(state.cost.size(), -1);
        known[worse] = *better;
        drop(node, worse);
      }
    }
  }

  void leave(int32_t node) {
    pushAround(node);
    for (const Link &link : nodes_[node].links) {
      unlink(link.other, node);
    }
    nodes_[node].gone = true;
  }

  /// A node with one strategy: its edges are costs of its neighbours.
  void decide(int32_t node) {
    State &state = nodes_[node];
    int32_t strategy = state.alive.front();
    settled_ += state.cost[strategy];
    for (const Link &link : state.links) {
      for (int32_t t : std::vector<int32_t>(nodes_[link.other].alive)) {
        charge(link.other, t, at(link, node, strategy, t));
      }
    }
    for (const MemoryUse &use : state.memory) {
      settledMemory_.push_back({use.tier, use.first, use.last, {use.bytes[strategy]}});
    }
    leave(node);
    out_.steps_.push_back({Kind::kDecided, node, strategy, 0, {}, {}, {}});
  }

  /// All strategies hold the same memory.
  static bool isLight(const State &state) {
    return std::all_of(state.memory.begin(), state.memory.end(), [&](const MemoryUse &use) {
      return std::all_of(state.alive.begin(), state.alive.end(),
                         [&](int32_t s) { return use.bytes[s] == use.bytes[state.alive.front()]; });
    });
  }

  bool jointIsSmall(const State &state) const {
    size_t left = nodes_[state.links[0].other].alive.size();
    size_t right = nodes_[state.links[1].other].alive.size();
    return left * right <= kJointGrowthMax * state.alive.size() * (left + right);
  }

  void eliminate(int32_t node) {
    State &state = nodes_[node];
    for (const MemoryUse &use : state.memory) {
      settledMemory_.push_back({use.tier, use.first, use.last, {use.bytes[state.alive.front()]}});
    }
    std::vector<Link> links = state.links;
    if (links.empty()) {
      settled_ += *std::min_element(state.cost.begin(), state.cost.end());
    } else if (links.size() == 1) {
      int32_t other = links[0].other;
      for (int32_t t : std::vector<int32_t>(nodes_[other].alive)) {
        double least = kInfinity;
        for (int32_t s : state.alive) {
          least = std::min(least, state.cost[s] + at(links[0], node, s, t));
        }
        charge(other, t, least);
      }
    }
    leave(node);
    if (links.size() == 2) {
      auto [left, right] = std::pair{links[0].other, links[1].other};
      size_t width = static_cast<size_t>(out_.strategies_[right]);
      std::vector<double> joint(static_cast<size_t>(out_.strategies_[left]) * width, kInfinity);
      for (int32_t l : nodes_[left].alive) {
        for (int32_t s : state.alive) {
          double base = state.cost[s] + at(links[0], node, s, l);
          for (int32_t r : nodes_[right].alive) {
            double &entry = joint[l * width + r];
            entry = std::min(entry, base + at(links[1], node, s, r));
          }
        }
      }
      join(left, right, std::move(joint));
    }
    out_.steps_.push_back(
        {Kind::kEliminated, node, 0, 0, std::move(links), std::move(state.cost), {}});
  }

  static size_t weight(const State &state) { return state.links.size() + state.memory.size(); }

  /// Joins the node to a neighbour each of whose strategies leaves it one.
  bool follow(int32_t node) {
    State &state = nodes_[node];
    size_t around = 0;
    for (const Link &link : state.links) {
      around += nodes_[link.other].alive.size();
    }
    for (const Link &link : state.links) {
      // The lesser joins the greater, or hubs would be copied again and again.
      const State &lead = nodes_[link.other];
      if (weight(state) > weight(lead) + kJoinedWeight) {
        continue;
      }
      const std::vector<int32_t> &leaders = lead.alive;
      size_t others = around - leaders.size();
      bool small = leaders.size() * others <= 2 * state.alive.size() * others + 64;
      if (!small) {
        continue;
      }
      std::vector<int32_t> follows(out_.strategies_[link.other], -1);
      bool unique = std::all_of(leaders.begin(), leaders.end(), [&](int32_t t) {
        for (int32_t s : state.alive) {
          if (at(link, node, s, t) < kInfinity) {
            if (follows[t] >= 0) {
              return false;
            }
            follows[t] = s;
          }
        }
        return follows[t] >= 0; // else the neighbour has yet to drop t
      });
      if (unique) {
        attach(node, link, std::move(follows));
        return true;
      }
    }
    return false;
  }

  void attach(int32_t node, Link link, std::vector<int32_t> follows) {
    State &state = nodes_[node];
    int32_t leader = link.other;
    State &lead = nodes_[leader];
    for (int32_t t : lead.alive) {
      lead.cost[t] += state.cost[follows[t]] + at(link, node, follows[t], t);
    }
    for (const MemoryUse &use : state.memory) {
      addMemory(lead, use, follows);
    }
    std::vector<Link> links = state.links;
    leave(node);
    for (const Link &other : links) {
      if (other.other == leader) {
        continue;
      }
      size_t width = static_cast<size_t>(out_.strategies_[other.other]);
      std::vector<double> cost(out_.strategies_[leader] * width, kInfinity);
      for (int32_t t : lead.alive) {
        for (int32_t o : nodes_[other.other].alive) {
          cost[t * width + o] = at(other, node, follows[t], o);
        }
      }
      join(leader, other.other, std::move(cost));
    }
    push(leader);
    out_.steps_.push_back({Kind::kFollows, node, 0, leader, {}, {}, std::move(follows)});
  }

  static void addMemory(State &lead, const MemoryUse &use, const std::vector<int32_t> &follows) {
    MemoryUse moved{use.tier, use.first, use.last, std::vector<double>(lead.cost.size(), 0)};
    for (int32_t t : lead.alive) {
      moved.bytes[t] = use.bytes[follows[t]];
    }
    lead.memory.push_back(std::move(moved));
    if (lead.memory.size() >= lead.memoryMax) {
      lead.memory = stretches(std::move(lead.memory), lead.cost.size());
      lead.memoryMax = 2 * lead.memory.size() + 8;
    }
  }

  /// The same memory over time as uses that do not overlap, one per stretch in which nothing
  /// changes.
  static std::vector<MemoryUse> stretches(std::vector<MemoryUse> uses, size_t strategies) {
    struct Change {
      int32_t tier;
      int32_t time;
      double sign;
      const std::vector<double> *bytes;
    };
    std::vector<Change> changes;
    for (const MemoryUse &use : uses) {
      changes.push_back({use.tier, use.first, 1, &use.bytes});
      changes.push_back({use.tier, use.last, -1, &use.bytes});
    }
    std::sort(changes.begin(), changes.end(), [](const Change &a, const Change &b) {
      return a.tier != b.tier ? a.tier < b.tier : a.time < b.time;
    });
    std::vector<MemoryUse> joined;
    std::vector<double> held(strategies, 0);
    for (size_t i = 0; i + 1 < changes.size(); ++i) {
      for (size_t s = 0; s < strategies; ++s) {
        held[s] += changes[i].sign * (*changes[i].bytes)[s];
      }
      const Change &next = changes[i + 1];
      bool empty = std::all_of(held.begin(), held.end(), [](double bytes) { return bytes == 0; });
      if (empty || next.tier != changes[i].tier || next.time == changes[i].time) {
        continue;
      }
      if (!joined.empty() && joined.back().tier == next.tier &&
          joined.back().last == changes[i].time && joined.back().bytes == held) {
        joined.back().last = next.time;
      } else {
        joined.push_back({next.tier, changes[i].time, next.time, held});
      }
    }
    return joined;
  }

  // ---- twins ----

  uint64_t fingerprint(int32_t node) const {
    const State &state = nodes_[node];
    auto mix = [](uint64_t hash, double value) {
      hash = (hash ^ std::bit_cast<uint64_t>(value)) * 0x100000001b3ull;
      return hash ^ hash >> 29;
    };
    uint64_t hash = state.cost.size();
    for (double cost : state.cost) {
      hash = mix(hash, cost);
    }
    uint64_t sum = 0; // the order of links does not count
    for (const Link &link : state.links) {
      uint64_t part = static_cast<uint64_t>(link.other) + 1;
      for (int32_t s : state.alive) {
        for (int32_t t : nodes_[link.other].alive) {
          part = mix(part, at(link, node, s, t));
        }
      }
      sum += part * 0x9e3779b97f4a7c15ull;
    }
    return hash ^ sum;
  }

  bool areTwins(int32_t a, int32_t b) const {
    const State &left = nodes_[a];
    const State &right = nodes_[b];
    if (left.cost != right.cost || left.links.size() != right.links.size()) {
      return false;
    }
    return std::all_of(left.links.begin(), left.links.end(), [&](const Link &link) {
      auto match = std::find_if(right.links.begin(), right.links.end(), [&](const Link &candidate) {
        return candidate.other == link.other;
      });
      if (match == right.links.end()) {
        return false;
      }
      for (int32_t s : left.alive) {
        for (int32_t t : nodes_[link.other].alive) {
          if (at(link, a, s, t) != at(*match, b, s, t)) {
            return false;
          }
        }
      }
      return true;
    });
  }

  /// Under equal neighbours, equal nodes have equal best strategies. True if some were merged.
  bool mergeTwins() {
    std::unordered_map<uint64_t, std::vector<int32_t>> alike;
    std::vector<uint64_t> order; // so that the outcome does not depend on the hash table
    for (size_t n = 0; n < nodes_.size(); ++n) {
      if (!nodes_[n].gone && !nodes_[n].links.empty() && isLight(nodes_[n])) {
        uint64_t key = fingerprint(static_cast<int32_t>(n));
        std::vector<int32_t> &group = alike[key];
        group.push_back(static_cast<int32_t>(n));
        if (group.size() == 2) {
          order.push_back(key);
        }
      }
    }
    bool merged = false;
    for (uint64_t key : order) {
      std::vector<int32_t> &group = alike[key];
      int32_t first = group.front();
      std::erase_if(group, [&](int32_t node) { return node == first || !areTwins(first, node); });
      if (!group.empty()) {
        mergeInto(first, group);
        merged = true;
      }
    }
    return merged;
  }

  void mergeInto(int32_t first, const std::vector<int32_t> &twins) {
    for (int32_t twin : twins) {
      State &state = nodes_[twin];
      for (const MemoryUse &use : state.memory) {
        settledMemory_.push_back({use.tier, use.first, use.last, {use.bytes[state.alive.front()]}});
      }
      leave(twin);
      out_.steps_.push_back({Kind::kTwin, twin, 0, first, {}, {}, {}});
    }
    auto factor = static_cast<double>(twins.size() + 1);
    for (double &cost : nodes_[first].cost) {
      cost *= factor;
    }
    for (const Link &link : nodes_[first].links) {
      for (double &cost : out_.tables_[link.table].cost) {
        cost *= factor;
      }
    }
    push(first);
  }

  // ---- getting out ----

  void finish() {
    Problem &reduced = out_.reduced_;
    reduced.tierBytesMax = problem_.tierBytesMax;
    std::vector<int32_t> number(nodes_.size(), -1);
    for (size_t n = 0; n < nodes_.size(); ++n) {
      State &state = nodes_[n];
      if (state.gone) {
        continue;
      }
      number[n] = static_cast<int32_t>(out_.kept_.size());
      out_.kept_.push_back(static_cast<int32_t>(n));
      out_.keptStrategies_.push_back(state.alive);
      Node node;
      for (int32_t s : state.alive) {
        node.cost.push_back(state.cost[s]);
      }
      for (const MemoryUse &use : stretches(std::move(state.memory), state.cost.size())) {
        MemoryUse kept{use.tier, use.first, use.last, {}};
        for (int32_t s : state.alive) {
          kept.bytes.push_back(use.bytes[s]);
        }
        // What every strategy holds is settled.
        double least = *std::min_element(kept.bytes.begin(), kept.bytes.end());
        if (least > 0) {
          settledMemory_.push_back({use.tier, use.first, use.last, {least}});
        }
        double most = 0;
        for (double &bytes : kept.bytes) {
          bytes -= least;
          most = std::max(most, bytes);
        }
        if (most > 0) {
          node.memory.push_back(std::move(kept));
        }
      }
      reduced.nodes.push_back(std::move(node));
    }
    for (int32_t n : out_.kept_) {
      for (const Link &link : nodes_[n].links) {
        if (link.other < n) {
          continue;
        }
        Edge edge{number[n], number[link.other], {}};
        for (int32_t s : nodes_[n].alive) {
          for (int32_t t : nodes_[link.other].alive) {
            edge.cost.push_back(std::min(at(link, n, s, t), kForbidden));
          }
        }
        reduced.edges.push_back(std::move(edge));
      }
    }
    if (settled_ > 0 || !settledMemory_.empty() || reduced.nodes.empty()) {
      reduced.nodes.push_back({{settled_}, stretches(std::move(settledMemory_), 1)});
    }
  }

  const Problem &problem_;
  Reduction &out_;
  std::vector<State> nodes_;
  std::vector<int32_t> queue_;
  std::vector<bool> queued_;
  std::vector<std::pair<int32_t, int32_t>> unchecked_; ///< ends of edges that may lack support
  double settled_ = 0;
  std::vector<MemoryUse> settledMemory_;
};

Reduction::Reduction(const Problem &problem) { Reducer(problem, *this).run(); }

Choice Reduction::lift(const Choice &reduced) const {
  Choice choice(strategies_.size(), 0);
  for (size_t i = 0; i < kept_.size(); ++i) {
    choice[kept_[i]] = keptStrategies_[i][reduced[i]];
  }
  for (size_t i = steps_.size(); i-- > 0;) {
    const Step &step = steps_[i];
    switch (step.kind) {
    case Kind::kDecided:
      choice[step.node] = step.strategy;
      break;
    case Kind::kFollows:
      choice[step.node] = step.follows[choice[step.leader]];
      break;
    case Kind::kTwin:
      choice[step.node] = choice[step.leader];
      break;
    case Kind::kEliminated: {
      double least = kInfinity;
      for (int32_t s = 0; s < strategies_[step.node]; ++s) {
        double cost = step.cost[s];
        for (const Link &link : step.links) {
          cost += at(tables_[link.table], step.node, s, link.other, choice[link.other]);
        }
        if (cost < least) {
          least = cost;
          choice[step.node] = s;
        }
      }
      break;
    }
    }
  }
  return choice;
}

Choice Reduction::lower(const Choice &choice) const {
  Choice reduced(reduced_.nodes.size(), 0);
  for (size_t i = 0; i < kept_.size(); ++i) {
    const std::vector<int32_t> &strategies = keptStrategies_[i];
    const std::vector<int32_t> &better = better_[kept_[i]];
    int32_t strategy = choice[kept_[i]];
    while (!better.empty() && better[strategy] >= 0) {
      strategy = better[strategy];
    }
    auto found = std::find(strategies.begin(), strategies.end(), strategy);
    reduced[i] = found == strategies.end() ? 0 : static_cast<int32_t>(found - strategies.begin());
  }
  return reduced;
}

} // namespace headrace::solve
