// Exchanges of rows between devices: flat, as the runtime executes them, or in two steps.
#include "runtime/model/simulate/plan_graph_builder.h"

namespace headrace::simulate {

/// One round of messages among the ranks.
struct PlanGraph::Round {
  std::vector<Use> uses;     ///< of a byte that each rank has
  double latencySeconds = 0; ///< of all messages of a rank
  const topology::CollectiveFit *fit = nullptr;
  cost::GroupShape shape;
  double bytes = 0;  ///< that the mean rank has
  double buffer = 0; ///< of the fullest rank, as the fits count it
};

namespace {

void addUses(std::vector<Use> &uses, const TrafficUse &more) {
  uses.insert(uses.end(), more.uses.begin(), more.uses.end());
}

} // namespace

double PlanGraph::errorOf(const std::vector<Use> &uses) const {
  double error = 0;
  for (const Use &use : uses) {
    error = std::max(error, graph_.resources[use.resource].relativeError);
  }
  return error;
}

Activity PlanGraph::roundChunk(int32_t id, size_t chunk, size_t chunks, const Round &round) const {
  Activity activity = activityOf(id, chunk, chunks);
  activity.work = round.bytes / static_cast<double>(chunks);
  activity.uses = round.uses;
  // Later chunks find the connections busy: what a message costs overlaps with the bytes before it.
  activity.latencySeconds = chunk == 0 ? round.latencySeconds : 0;
  activity.ownError = errorOf(round.uses);
  if (round.fit) {
    double fixed = cost::predictSeconds(*round.fit, round.shape, 0);
    activity.latencySeconds = chunk == 0 ? fixed : 0;
    activity.rateMax =
        round.bytes / (cost::predictSeconds(*round.fit, round.shape, round.buffer) - fixed);
    activity.ownError = round.fit->relativeError;
  }
  return activity;
}

void PlanGraph::addExchange(int32_t id) {
  const Task &task = plan_.tasks[id];
  const StreamState source = streams_[task.inputStream];
  StreamState out;
  double ranks = static_cast<double>(workload_.ranks);
  bool even = source.distribution == Distribution::kEven;
  double totalRows = even ? source.rows : source.rows * ranks;
  double bytes = totalRows / ranks * rowBytes(plan_.streams[task.inputStream].schema);
  out.rows = totalRows;
  out.chunks = source.chunks;
  out.distribution = Distribution::kEven;
  out.weight = Weight::kKeys;
  if (task.exchange == plan::ExchangeKind::kBroadcast) {
    out.distribution = Distribution::kReplicated;
  } else if (task.exchange == plan::ExchangeKind::kGather) {
    out.distribution = Distribution::kFirstRank;
  }
  if (auto it = workload_.rows.find(plan_.streams[task.outputStream].name);
      it != workload_.rows.end()) {
    out.rows = it->second;
  }
  write(id, out);
  if (hasWorkers()) {
    addWorkerExchange(id, source);
    return;
  }
  Weight sent = even ? source.weight : Weight::kEven;
  size_t chunks = static_cast<size_t>(source.chunks);
  bool inSteps = workload_.exchange == cost::ExchangeAlgorithm::kHierarchical &&
                 task.exchange == plan::ExchangeKind::kHash && nodeCount() > 1 && ranksOfNode() > 1;
  if (inSteps) {
    addHierarchicalExchange(id, chunks, bytes, sent);
    return;
  }
  Round round = flatRound(task.exchange, bytes, sent);
  for (size_t chunk = 0; chunk < chunks; ++chunk) {
    appendCommon(roundChunk(id, chunk, chunks, round), id, chunk);
  }
}

int64_t PlanGraph::nodeCount() const {
  int64_t nodes = 0;
  for (const RankClass &on : classes_) {
    nodes += on.linksOwner == RankClass::Links::kOwn ? on.nodes : 0;
  }
  return nodes;
}

int64_t PlanGraph::ranksOfNode() const {
  int64_t ranks = 0;
  for (const RankClass &on : classes_) {
    ranks = std::max(ranks, on.nodeRanks);
  }
  return ranks;
}

double PlanGraph::fullest(Weight weight) const {
  double most = 1;
  for (const RankClass &on : classes_) {
    most = std::max(most, on.weight(weight));
  }
  return most;
}

/// Each rank sends to each other, or to the first.
PlanGraph::Round PlanGraph::flatRound(plan::ExchangeKind exchange, double bytes,
                                      Weight sent) const {
  bool gather = exchange == plan::ExchangeKind::kGather;
  bool broadcast = exchange == plan::ExchangeKind::kBroadcast;
  CollectiveKind kind = broadcast ? CollectiveKind::kAllGather : CollectiveKind::kAllToAll;
  double ranks = static_cast<double>(workload_.ranks);
  Weight received = gather || broadcast ? Weight::kEven : Weight::kKeys;
  Round round;
  round.bytes = bytes;
  round.buffer = (broadcast ? bytes * ranks : bytes) * std::max(fullest(sent), fullest(received));
  round.shape = {workload_.ranks, nodeCount(), 0};
  for (const RankClass &on : classes_) {
    if (on.linksOwner == RankClass::Links::kShared) {
      continue;
    }
    double remote = static_cast<double>(remoteRanks(on));
    round.shape.remotePeers = std::max(round.shape.remotePeers, remoteRanks(on));
    if (gather && &on != &classes_.front()) {
      continue;
    }
    // A byte of work is a byte that each rank has: spread, copied to all, or sent to one.
    Traffic traffic{1 / ranks, remote / ranks, sent, received};
    if (gather || broadcast) {
      traffic = {1, remote, sent, Weight::kEven};
    }
    TrafficUse use = gather ? usesOfGather(on, traffic) : usesOf(on, traffic);
    addUses(round.uses, use);
    double peers = static_cast<double>(on.nodeRanks - 1);
    double latency = gather ? std::max(use.localLatencySeconds, use.remoteLatencySeconds)
                            : peers * use.localLatencySeconds + remote * use.remoteLatencySeconds;
    round.latencySeconds = std::max(round.latencySeconds, latency);
  }
  if (!gather && workload_.ranks > 1 && round.buffer > 0) {
    Level level = round.shape.nodes > 1 ? Level::kNetwork : Level::kNode;
    round.fit = cost::leastFit(topology_.collectives, kind, level, round.shape, round.buffer);
  }
  return round;
}

/// Within nodes every rank sends to each other what goes to that one's place on any node.
PlanGraph::Round PlanGraph::roundWithinNodes(double bytes, Weight sent) const {
  Round round;
  round.bytes = bytes;
  round.buffer = bytes * fullest(sent);
  round.shape = {ranksOfNode(), 1, 0};
  for (const RankClass &on : classes_) {
    if (on.linksOwner == RankClass::Links::kShared) {
      continue;
    }
    double inside = static_cast<double>(on.nodeRanks);
    TrafficUse use = usesOf(on, {1 / inside, 0, sent, Weight::kEven});
    addUses(round.uses, use);
    round.latencySeconds = std::max(round.latencySeconds, (inside - 1) * use.localLatencySeconds);
  }
  if (round.buffer > 0) {
    round.fit = cost::leastFit(topology_.collectives, CollectiveKind::kAllToAll, Level::kNode,
                               round.shape, round.buffer);
  }
  return round;
}

/// Between nodes every rank sends to those of its own place.
PlanGraph::Round PlanGraph::roundBetweenNodes(double bytes) const {
  double nodes = static_cast<double>(nodeCount());
  Round round;
  round.bytes = bytes;
  round.buffer = bytes * fullest(Weight::kKeys);
  round.shape = {nodeCount(), nodeCount(), nodeCount() - 1};
  for (const RankClass &on : classes_) {
    if (on.linksOwner == RankClass::Links::kShared) {
      continue;
    }
    TrafficUse use = usesOf(on, {0, (nodes - 1) / nodes, Weight::kEven, Weight::kKeys});
    addUses(round.uses, use);
    round.latencySeconds = std::max(round.latencySeconds, (nodes - 1) * use.remoteLatencySeconds);
  }
  if (round.buffer > 0) {
    round.fit = cost::leastFit(topology_.collectives, CollectiveKind::kAllToAll, Level::kNetwork,
                               round.shape, round.buffer);
  }
  return round;
}

/// The steps of different chunks overlap: while one is between nodes, the next is within them.
void PlanGraph::addHierarchicalExchange(int32_t id, size_t chunks, double bytes, Weight sent) {
  Round within = roundWithinNodes(bytes, sent);
  Round between = roundBetweenNodes(bytes);
  chunksOf_[id].resize(classes_.size());
  auto follow = [](Activity &activity, int32_t before) {
    if (before != kNone) {
      activity.after.push_back(before);
    }
  };
  int32_t lastWithin = kNone;
  int32_t lastBetween = kNone;
  std::vector<int32_t> lastRegroup(classes_.size(), kNone);
  for (size_t chunk = 0; chunk < chunks; ++chunk) {
    auto named = [&](Activity activity, const char *step) {
      activity.name.insert(activity.name.find(" #") == std::string::npos ? activity.name.size()
                                                                         : activity.name.find(" #"),
                           step);
      return activity;
    };
    Activity inside = named(roundChunk(id, chunk, chunks, within), " within nodes");
    Activity outside = named(roundChunk(id, chunk, chunks, between), " between nodes");
    if (chunk == 0) {
      waitForTasks(id, inside);
    }
    for (size_t c = 0; c < classes_.size(); ++c) {
      waitForInput(id, c, chunk, inside);
    }
    follow(inside, lastWithin);
    lastWithin = place(std::move(inside), id);
    for (size_t c = 0; c < classes_.size(); ++c) {
      const RankClass &on = classes_[c];
      Activity regroup = named(activityOf(id, chunk, chunks), " regrouped");
      regroup.rankClass = static_cast<int32_t>(c);
      regroup.latencySeconds = on.deviceType->launchSeconds.value / on.speed;
      regroup.work = 2 * bytes / static_cast<double>(chunks); // read and written
      regroup.uses = {{on.memory, 1}};
      follow(regroup, lastWithin);
      follow(regroup, lastRegroup[c]);
      lastRegroup[c] = place(std::move(regroup), id);
      follow(outside, lastRegroup[c]);
    }
    follow(outside, lastBetween);
    lastBetween = place(std::move(outside), id);
    for (Chunks &made : chunksOf_[id]) {
      made.push_back(lastBetween);
    }
  }
}

} // namespace headrace::simulate
