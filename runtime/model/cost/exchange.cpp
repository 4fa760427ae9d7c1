// Exchanges of rows: flat or in two steps, from a traffic matrix or spread evenly.
#include "runtime/model/cost/cost.h"
#include "runtime/model/cost/curve.h"
#include "runtime/model/cost/link_load.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

namespace headrace::cost {

using topology::CollectiveFit;
using topology::CollectiveKind;
using topology::Level;

namespace {

constexpr double kSizeEntryBytes = 8;

/// Start, steps and filling of a fitted curve for these values; bytes are another part.
void appendFitted(Breakdown &parts, const CollectiveFit &fit, const TermValues &values) {
  for (size_t term = 0; term < kTermCount; ++term) {
    double seconds = coefficient(fit, static_cast<Term>(term)) * values[term];
    if (seconds > 0) {
      parts.parts.push_back({termName(static_cast<Term>(term)), {seconds, fit.relativeError}});
    }
  }
  parts.dependence = Dependence::kCommon;
}

void appendStep(Breakdown &all, const char *prefix, const Breakdown &step) {
  for (const Breakdown::Part &part : step.parts) {
    all.parts.push_back({prefix + part.name, part.cost});
  }
  if (step.dependence == Dependence::kCommon) {
    all.dependence = Dependence::kCommon;
  }
}

/// Sums flows of equal ends.
class FlowSum {
public:
  void add(int64_t source, int64_t target, double bytes) {
    if (source != target) {
      bytes_[source * kRanksMax + target] += bytes;
    }
  }
  std::vector<Flow> flows() const {
    std::vector<Flow> flows;
    for (const auto &[key, bytes] : bytes_) {
      flows.push_back({key / kRanksMax, key % kRanksMax, bytes});
    }
    return flows;
  }

private:
  std::unordered_map<int64_t, double> bytes_;
};

ExchangeCost lesser(ExchangeCost flat, std::optional<ExchangeCost> hierarchical) {
  if (!hierarchical) {
    return flat;
  }
  Cost ofFlat = flat.parts.total();
  Cost ofHierarchical = hierarchical->parts.total();
  if (ofHierarchical.seconds < ofFlat.seconds) {
    hierarchical->rejected = ofFlat;
    return *std::move(hierarchical);
  }
  flat.rejected = ofHierarchical;
  return flat;
}

} // namespace

const char *exchangeName(ExchangeAlgorithm algorithm) {
  return algorithm == ExchangeAlgorithm::kFlat ? "flat" : "hierarchical";
}

ExchangeCost CostModel::flat(const std::vector<Flow> &flows) const {
  struct Ends {
    double sent = 0, received = 0; // to and from other nodes, or other ranks if all are on one node
    int64_t peers = 0;
  };
  ExchangeCost cost;
  LinkLoad load(*network_);
  std::set<int64_t> nodes;
  bool crosses = false; // several nodes may each talk to themselves alone
  std::unordered_map<int64_t, Ends> ends;
  auto nodeOf = [&](int64_t rank) { return network_->places()[rank].node; };
  for (const Flow &flow : flows) {
    if (flow.source != flow.target) {
      nodes.insert(nodeOf(flow.source));
      nodes.insert(nodeOf(flow.target));
      crosses = crosses || nodeOf(flow.source) != nodeOf(flow.target);
      load.add(flow.source, flow.target, flow.bytes);
    }
  }
  if (nodes.empty()) {
    return cost;
  }
  Level level = crosses ? Level::kNetwork : Level::kNode;
  for (const Flow &flow : flows) {
    Ends &source = ends[flow.source];
    Ends &target = ends[flow.target];
    bool counts = flow.source != flow.target &&
                  (level == Level::kNode || nodeOf(flow.source) != nodeOf(flow.target));
    if (counts) {
      source.sent += flow.bytes;
      target.received += flow.bytes;
      ++source.peers;
    }
  }
  double bytes = 0;
  int64_t fullestRank = 0;
  int64_t peers = 0;
  for (const auto &[rank, end] : ends) {
    double more = std::max(end.sent, end.received);
    if (more > bytes || (more == bytes && rank < fullestRank)) {
      bytes = more;
      fullestRank = rank;
    }
    peers = std::max(peers, end.peers);
  }
  LinkLoad::Fullest fullest = load.fullest();
  cost.fullest = fullest.name;
  std::map<int64_t, int64_t> ranksOf;
  for (const auto &[rank, end] : ends) {
    ++ranksOf[crosses ? 0 : nodeOf(rank)];
  }
  int64_t group = 1;
  for (const auto &[node, ranks] : ranksOf) {
    group = std::max(group, ranks);
  }
  double members = static_cast<double>(group);
  const CollectiveFit *best = nullptr;
  TermValues bestValues{};
  double bestSeconds = 0;
  for (const CollectiveFit &fit : topology_->collectives) {
    // A fit for one size of group was made for even traffic of just that group.
    if (fit.kind != CollectiveKind::kAllToAll || fit.level != level ||
        (fit.members != 0 && fit.members != group)) {
      continue;
    }
    double moved = fit.sent == topology::SentBytes::kWhole ? bytes * members / (members - 1) : bytes;
    double steps = static_cast<double>(peers);
    TermValues values{1,
                      steps,
                      members,
                      level == Level::kNetwork ? steps : 0,
                      std::log2(static_cast<double>(nodes.size())),
                      std::sqrt(moved),
                      std::sqrt(steps * moved),
                      moved};
    double seconds = 0;
    for (size_t term = 0; term < kTermCount; ++term) {
      seconds += coefficient(fit, static_cast<Term>(term)) * values[term];
    }
    bool closer = best && fit.members != 0 && best->members == 0;
    bool farther = best && fit.members == 0 && best->members != 0;
    if (!best || closer || (!farther && seconds < bestSeconds)) {
      best = &fit;
      bestValues = values;
      bestSeconds = seconds;
    }
  }
  if (!best) {
    if (double latency = load.latencySeconds(); latency > 0) {
      cost.parts.parts.push_back({"peers", {latency, fullest.relativeError}});
    }
    cost.parts.parts.push_back({"bytes", {fullest.seconds, fullest.relativeError}});
    return cost;
  }
  // What was fitted holds for even traffic; where traffic meets on a link, the link decides. What the
  // topology assumes of links is corrected by what was measured, if that is quicker.
  AxisSet all = mesh_.allAxes();
  double even = routedOverFitted(*best, crosses ? Pattern::kAllPairs : Pattern::kWithinNodes, all);
  fullest.seconds /= std::max(even, 1.0);
  double &fittedBytes = bestValues[static_cast<size_t>(Term::kBytes)];
  double fittedSeconds = fittedBytes * coefficient(*best, Term::kBytes);
  fittedBytes = 0;
  appendFitted(cost.parts, *best, bestValues);
  if (fittedSeconds >= fullest.seconds) {
    cost.fullest = "rank " + std::to_string(fullestRank);
    cost.parts.parts.push_back({"bytes", {fittedSeconds, best->relativeError}});
  } else {
    cost.parts.parts.push_back({"bytes", {fullest.seconds, fullest.relativeError}});
  }
  return cost;
}

double CostModel::routedOverFitted(const CollectiveFit &fit, Pattern pattern, AxisSet axes) const {
  const Spread &spread = spreadOf(axes);
  GroupShape shape{mesh_.sizeOf(axes), spread.nodes, spread.remotePeers};
  if (fit.level == Level::kNode) {
    shape = {spread.ranksPerNode, 1, 0};
  }
  double fitted = coefficient(fit, Term::kBytes) *
                  termValues(fit, shape, 1)[static_cast<size_t>(Term::kBytes)];
  return fitted > 0 ? patternLoad(pattern, axes).secondsPerByte / fitted : 1;
}

std::optional<ExchangeCost> CostModel::hierarchical(const std::vector<Flow> &flows) const {
  // The ranks of every node that take part, in order: a rank's position is its place.
  std::map<int64_t, std::vector<int64_t>> ranksOf;
  for (const Flow &flow : flows) {
    for (int64_t rank : {flow.source, flow.target}) {
      ranksOf[network_->places()[rank].node].push_back(rank);
    }
  }
  bool several = false;
  for (auto &[node, ranks] : ranksOf) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    several = several || ranks.size() > 1;
  }
  if (!several || ranksOf.size() < 2) {
    return std::nullopt;
  }
  FlowSum within;
  FlowSum between;
  std::unordered_map<int64_t, double> passed; // through each relay
  for (const Flow &flow : flows) {
    int64_t sourceNode = network_->places()[flow.source].node;
    int64_t targetNode = network_->places()[flow.target].node;
    if (sourceNode == targetNode) {
      within.add(flow.source, flow.target, flow.bytes);
      continue;
    }
    const std::vector<int64_t> &targets = ranksOf[targetNode];
    const std::vector<int64_t> &relays = ranksOf[sourceNode];
    size_t place = static_cast<size_t>(
        std::lower_bound(targets.begin(), targets.end(), flow.target) - targets.begin());
    int64_t relay = relays[place % relays.size()];
    within.add(flow.source, relay, flow.bytes);
    between.add(relay, flow.target, flow.bytes);
    passed[relay] += flow.bytes;
  }
  ExchangeCost inside = flat(within.flows());
  ExchangeCost outside = flat(between.flows());
  ExchangeCost cost;
  cost.algorithm = ExchangeAlgorithm::kHierarchical;
  appendStep(cost.parts, "within nodes: ", inside.parts);
  double most = 0;
  for (const auto &[relay, bytes] : passed) {
    most = std::max(most, bytes);
  }
  cost.parts.parts.push_back({"regroup", kernel({.streamBytes = 2 * most})});
  appendStep(cost.parts, "between nodes: ", outside.parts);
  cost.fullest = inside.parts.total().seconds > outside.parts.total().seconds ? inside.fullest
                                                                               : outside.fullest;
  return cost;
}

Breakdown CostModel::step(Level level, const GroupShape &shape, Pattern pattern, AxisSet axes,
                          double bytes) const {
  Breakdown parts;
  if (const CollectiveFit *fit = cost::leastFit(topology_->collectives, CollectiveKind::kAllToAll,
                                                level, shape, bytes)) {
    appendFitted(parts, *fit, termValues(*fit, shape, bytes));
    return parts;
  }
  const Load &load = patternLoad(pattern, axes);
  if (load.latencySeconds > 0) {
    parts.parts.push_back({"peers", {load.latencySeconds, load.relativeError}});
  }
  parts.parts.push_back({"bytes", {bytes * load.secondsPerByte, load.relativeError}});
  return parts;
}

std::optional<ExchangeCost> CostModel::hierarchicalShuffle(AxisSet axes,
                                                           double bytesPerRank) const {
  const Spread &spread = spreadOf(axes);
  if (spread.nodes < 2 || spread.ranksPerNode < 2) {
    return std::nullopt;
  }
  GroupShape inside{spread.ranksPerNode, 1, 0};
  GroupShape outside{spread.nodes, spread.nodes, spread.nodes - 1};
  ExchangeCost cost;
  cost.algorithm = ExchangeAlgorithm::kHierarchical;
  appendStep(cost.parts, "within nodes: ",
             step(Level::kNode, inside, Pattern::kWithinNodes, axes, bytesPerRank));
  cost.parts.parts.push_back({"regroup", kernel({.streamBytes = 2 * bytesPerRank})});
  appendStep(cost.parts, "between nodes: ",
             step(Level::kNetwork, outside, Pattern::kAcrossNodes, axes, bytesPerRank));
  cost.fullest = patternLoad(Pattern::kAcrossNodes, axes).fullest;
  return cost;
}

Cost CostModel::exchange(const std::vector<Flow> &flows) const {
  return exchangeParts(flows).parts.total();
}

ExchangeCost CostModel::exchangeParts(const std::vector<Flow> &flows) const {
  return lesser(flat(flows), hierarchical(flows));
}

Cost CostModel::shuffle(AxisSet axes, double bytesPerRank) const {
  return shuffleParts(axes, bytesPerRank).parts.total();
}

ExchangeCost CostModel::shuffleParts(AxisSet axes, double bytesPerRank) const {
  ExchangeCost cost;
  if (mesh_.sizeOf(axes) == 1) {
    return cost;
  }
  const Spread &spread = spreadOf(axes);
  cost.parts = step(levelOf(axes), {mesh_.sizeOf(axes), spread.nodes, spread.remotePeers},
                    Pattern::kAllPairs, axes, bytesPerRank);
  cost.fullest = patternLoad(Pattern::kAllPairs, axes).fullest;
  cost = lesser(std::move(cost), hierarchicalShuffle(axes, bytesPerRank));
  double members = static_cast<double>(mesh_.sizeOf(axes));
  cost.parts.parts.push_back(
      {"sizes", collective(CollectiveKind::kAllGather, axes, kSizeEntryBytes * members)});
  return cost;
}

} // namespace headrace::cost
