// Walks the tasks of a plan and adds their activities.
#include "runtime/model/simulate/plan_graph.h"
#include "runtime/model/plan/names.h"
#include "runtime/model/simulate/rank_class.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace headrace::simulate {

using plan::Task;
using plan::TaskKind;
using topology::CollectiveKind;
using topology::Level;

namespace {

/// Where the rows of a stream are.
enum class Distribution : uint8_t { kEven, kReplicated, kFirstRank };

struct StreamState {
  double rows = 0; ///< over all ranks; of a replicated one, of each
  Distribution distribution = Distribution::kEven;
  int64_t chunks = 1;
  int32_t producer = kNone;
};

double rowBytes(const plan::Schema &schema) {
  double bytes = 0;
  for (const plan::Column &column : schema.columns) {
    bytes += plan::widthOf(column.type) + (column.nullable ? 1 : 0);
  }
  return std::max(bytes, 1.0);
}

class PlanGraph {
public:
  PlanGraph(const plan::Plan &plan, const topology::Topology &topology, const Workload &workload)
      : plan_(plan), topology_(topology), workload_(workload), streams_(plan.streams.size()),
        consumer_(plan.streams.size(), kNone), skipped_(plan.tasks.size(), false),
        trips_(plan.tasks.size(), 1), waits_(plan.tasks.size()) {}

  Expected<Graph> make();

private:
  using Chunks = std::vector<int32_t>;  // activities of one task on one class
  using PerClass = std::vector<Chunks>; // of one task
  void decideBranches();
  std::vector<int32_t> order() const;
  Status addTask(int32_t id);
  Status addLoad(int32_t id);
  void addRun(int32_t id);
  void addExchange(int32_t id);
  void addCollective(int32_t id);
  void addCompute(int32_t id);
  void addMarker(int32_t id);

  Activity activityOf(int32_t id, size_t chunk, size_t chunks) const;
  /// Appends; adds the edges to `after`, to the chunk before, to the producer's chunk and to the
  /// credit.
  int32_t append(Activity activity, int32_t id, size_t rankClass, size_t chunk);
  /// One activity for all classes.
  void appendCommon(Activity activity, int32_t id, size_t chunk);
  void kernel(int32_t id, size_t rankClass, size_t chunk, size_t chunks,
              const cost::KernelWork &work, double perDevice);
  double share(const StreamState &stream) const {
    return stream.distribution == Distribution::kEven
               ? stream.rows / static_cast<double>(workload_.ranks)
               : stream.rows;
  }
  int64_t chunksFor(double rowsOfRank, uint32_t chunkRows) const {
    double real = std::ceil(rowsOfRank / std::max<uint32_t>(chunkRows, 1));
    return std::clamp<int64_t>(static_cast<int64_t>(std::min(real, 1e9)), 1, workload_.chunksMax);
  }
  double rowsOf(const std::string &name, double otherwise) const {
    auto it = workload_.rows.find(name);
    return it == workload_.rows.end() ? otherwise : it->second;
  }
  /// Classes that run a task whose input is distributed so: all, or the first alone.
  size_t classCount(Distribution distribution) const {
    return distribution == Distribution::kFirstRank ? 1 : classes_.size();
  }
  int64_t remoteRanks(const RankClass &rankClass) const {
    return workload_.ranks - rankClass.ranksPerNode;
  }

  const plan::Plan &plan_;
  const topology::Topology &topology_;
  const Workload &workload_;
  Graph graph_;
  std::vector<RankClass> classes_;
  std::vector<StreamState> streams_;
  std::vector<int32_t> consumer_;
  std::vector<bool> skipped_;
  std::vector<double> trips_;
  std::vector<std::vector<int32_t>> waits_; // `after`, and the choose or repeat whose body it is in
  std::vector<PerClass> chunksOf_;
};

void PlanGraph::decideBranches() {
  for (size_t id = 0; id < plan_.tasks.size(); ++id) {
    waits_[id].insert(waits_[id].end(), plan_.tasks[id].after.begin(), plan_.tasks[id].after.end());
  }
  for (size_t id = 0; id < plan_.tasks.size(); ++id) {
    const Task &task = plan_.tasks[id];
    if (task.kind == TaskKind::kChoose) {
      bool small = plan_.holes[task.hole].bounds.expected <= task.threshold;
      for (int32_t other : small ? task.elseTasks : task.thenTasks) {
        skipped_[other] = true;
      }
    }
    for (int32_t inner : task.body) {
      trips_[inner] = static_cast<double>(std::max<uint64_t>(task.tripsMax, 1));
    }
    for (const std::vector<int32_t> *body : {&task.thenTasks, &task.elseTasks, &task.body}) {
      for (int32_t inner : *body) {
        waits_[inner].push_back(static_cast<int32_t>(id));
      }
    }
  }
  for (size_t id = 0; id < plan_.tasks.size(); ++id) {
    const Task &task = plan_.tasks[id];
    if (!skipped_[id] && task.inputStream != kNone) {
      consumer_[task.inputStream] = static_cast<int32_t>(id);
    }
    if (!skipped_[id] && task.outputStream != kNone) {
      streams_[task.outputStream].producer = static_cast<int32_t>(id);
    }
  }
}

/// Tasks after what they wait for; plan::check has refused cycles.
std::vector<int32_t> PlanGraph::order() const {
  std::vector<int32_t> sorted;
  std::vector<bool> seen(plan_.tasks.size(), false);
  std::function<void(int32_t)> visit = [&](int32_t id) {
    if (seen[id] || skipped_[id]) {
      return;
    }
    seen[id] = true;
    for (int32_t before : waits_[id]) {
      visit(before);
    }
    if (int32_t stream = plan_.tasks[id].inputStream; stream != kNone) {
      if (int32_t producer = streams_[stream].producer; producer != kNone) {
        visit(producer);
      }
    }
    sorted.push_back(id);
  };
  for (size_t id = 0; id < plan_.tasks.size(); ++id) {
    visit(static_cast<int32_t>(id));
  }
  return sorted;
}

Activity PlanGraph::activityOf(int32_t id, size_t chunk, size_t chunks) const {
  const Task &task = plan_.tasks[id];
  Activity activity;
  activity.name = task.name.empty() ? "task " + std::to_string(id) : task.name;
  if (chunks > 1) {
    activity.name += " #" + std::to_string(chunk);
  }
  activity.place = task.place;
  activity.lane = id;
  activity.relativeError = workload_.rowsRelativeError;
  return activity;
}

int32_t PlanGraph::append(Activity activity, int32_t id, size_t rankClass, size_t chunk) {
  const Task &task = plan_.tasks[id];
  PerClass &mine = chunksOf_[id];
  mine.resize(std::max(mine.size(), rankClass + 1));
  if (chunk == 0) {
    for (int32_t before : waits_[id]) {
      for (const Chunks &others : chunksOf_[before]) {
        if (!others.empty()) {
          activity.after.push_back(others.back());
        }
      }
    }
  } else {
    activity.after.push_back(mine[rankClass].back());
  }
  if (task.inputStream != kNone) {
    if (int32_t producer = streams_[task.inputStream].producer; producer != kNone) {
      const PerClass &theirs = chunksOf_[producer];
      if (rankClass < theirs.size() && !theirs[rankClass].empty()) {
        activity.after.push_back(theirs[rankClass][std::min(chunk, theirs[rankClass].size() - 1)]);
      }
    }
  }
  std::sort(activity.after.begin(), activity.after.end());
  activity.after.erase(std::unique(activity.after.begin(), activity.after.end()),
                       activity.after.end());
  activity.work *= trips_[id];
  activity.latencySeconds *= trips_[id];
  int32_t made = static_cast<int32_t>(graph_.activities.size());
  graph_.activities.push_back(std::move(activity));
  mine[rankClass].push_back(made);
  return made;
}

void PlanGraph::appendCommon(Activity activity, int32_t id, size_t chunk) {
  const Task &task = plan_.tasks[id];
  if (task.inputStream != kNone && streams_[task.inputStream].producer != kNone) {
    for (const Chunks &theirs : chunksOf_[streams_[task.inputStream].producer]) {
      if (!theirs.empty()) {
        activity.after.push_back(theirs[std::min(chunk, theirs.size() - 1)]);
      }
    }
  }
  int32_t made = append(std::move(activity), id, 0, chunk);
  chunksOf_[id].resize(classes_.size());
  for (size_t other = 1; other < classes_.size(); ++other) {
    chunksOf_[id][other].push_back(made);
  }
}

/// Work is counted in bytes of the device's memory, or those it would have moved while computing.
void PlanGraph::kernel(int32_t id, size_t rankClass, size_t chunk, size_t chunks,
                       const cost::KernelWork &work, double perDevice) {
  const RankClass &on = classes_[rankClass];
  cost::KernelTime time = cost::kernelTime(*on.deviceType, work);
  double bandwidth = on.deviceType->memoryBandwidth.value;
  double busy = std::max(time.memorySeconds, time.computeSeconds);
  Activity activity = activityOf(id, chunk, chunks);
  activity.latencySeconds = time.launchSeconds;
  activity.work = busy * bandwidth;
  if (busy > 0) {
    activity.rateMax = activity.work / (time.total() - time.launchSeconds);
    activity.uses = {{on.memory, perDevice * time.memorySeconds / busy},
                     {on.compute, perDevice * time.computeSeconds / busy}};
  }
  append(std::move(activity), id, rankClass, chunk);
}

Status PlanGraph::addLoad(int32_t id) {
  const Task &task = plan_.tasks[id];
  const plan::Slot &slot = plan_.slots[task.slot];
  auto rows = workload_.rows.find(slot.name);
  if (rows == workload_.rows.end()) {
    return makeError(ErrorKind::kUser, "the workload has no rows for slot: ", slot.name);
  }
  StreamState &stream = streams_[task.outputStream];
  stream.rows = rows->second;
  stream.distribution = task.split ? Distribution::kEven : Distribution::kReplicated;
  stream.chunks = chunksFor(share(stream), plan_.streams[task.outputStream].chunkRows);
  double bytes = 0;
  for (const plan::SlotColumn &column : slot.columns) {
    bytes += plan::widthOf(column.type);
  }
  bytes *= share(stream) / static_cast<double>(stream.chunks);
  for (size_t c = 0; c < classes_.size(); ++c) {
    const RankClass &on = classes_[c];
    for (int64_t chunk = 0; chunk < stream.chunks; ++chunk) {
      Activity activity = activityOf(id, chunk, stream.chunks);
      activity.work = bytes;
      activity.uses = {{on.memory, 1}};
      if (on.storage != kNone) {
        activity.uses.push_back({on.storage, static_cast<double>(on.ranksPerNode)});
      }
      append(std::move(activity), id, c, chunk);
    }
  }
  return {};
}

void PlanGraph::addRun(int32_t id) {
  const Task &task = plan_.tasks[id];
  StreamState source;
  double inBytes = 1;
  size_t inColumns = 1;
  if (task.inputStream != kNone) {
    source = streams_[task.inputStream];
    inBytes = rowBytes(plan_.streams[task.inputStream].schema);
    inColumns = plan_.streams[task.inputStream].schema.columns.size();
  } else if (task.sourceState != kNone) {
    const plan::State &state = plan_.states[task.sourceState];
    // As its fillers: on the first rank after a gather, else on every rank with its own rows.
    for (const Task &filler : plan_.tasks) {
      for (const plan::StateArgument &argument : filler.states) {
        if (argument.state == task.sourceState && argument.use == plan::StateUse::kPerWorker &&
            filler.inputStream != kNone) {
          source.distribution = streams_[filler.inputStream].distribution;
        }
      }
    }
    source.rows =
        static_cast<double>(state.kind == plan::StateKind::kScalar ? 1 : state.rows.expected);
    if (source.distribution == Distribution::kEven) {
      source.rows *= static_cast<double>(workload_.ranks); // a state's rows are of one rank
    }
    inBytes = state.rowBytes;
    source.chunks = chunksFor(share(source), 65536);
  }
  double outRows = 0;
  double outBytes = 0;
  size_t outColumns = 0;
  if (task.outputStream != kNone) {
    StreamState &out = streams_[task.outputStream];
    int32_t producer = out.producer;
    out = source;
    out.producer = producer;
    out.rows = rowsOf(plan_.streams[task.outputStream].name, source.rows);
    outRows = share(out);
    outBytes = rowBytes(plan_.streams[task.outputStream].schema);
    outColumns = plan_.streams[task.outputStream].schema.columns.size();
  }
  double chunks = static_cast<double>(source.chunks);
  double inRows = share(source);
  cost::KernelWork work;
  work.streamBytes = (inRows * inBytes + outRows * outBytes) / chunks;
  work.operations =
      workload_.operationsPerValue *
      (inRows * static_cast<double>(inColumns) + outRows * static_cast<double>(outColumns)) /
      chunks;
  for (const plan::StateArgument &argument : task.states) {
    const plan::State &state = plan_.states[argument.state];
    if (state.kind != plan::StateKind::kScalar) {
      work.randomBytes += inRows * state.rowBytes / chunks;
      work.workingSetBytes += static_cast<double>(state.rows.expected) * state.rowBytes;
    }
  }
  for (size_t c = 0; c < classCount(source.distribution); ++c) {
    for (int64_t chunk = 0; chunk < source.chunks; ++chunk) {
      kernel(id, c, chunk, source.chunks, work, 1);
    }
  }
}

void PlanGraph::addExchange(int32_t id) {
  const Task &task = plan_.tasks[id];
  const StreamState source = streams_[task.inputStream];
  StreamState &out = streams_[task.outputStream];
  double ranks = static_cast<double>(workload_.ranks);
  bool even = source.distribution == Distribution::kEven;
  double totalRows = even ? source.rows : source.rows * ranks;
  double bytes = totalRows / ranks * rowBytes(plan_.streams[task.inputStream].schema);
  out.rows = rowsOf(plan_.streams[task.outputStream].name, totalRows);
  out.chunks = source.chunks;
  CollectiveKind kind = CollectiveKind::kAllToAll;
  double buffer = bytes; // of one rank, as the fits count it
  out.distribution = Distribution::kEven;
  if (task.exchange == plan::ExchangeKind::kBroadcast) {
    kind = CollectiveKind::kAllGather;
    buffer = bytes * ranks;
    out.distribution = Distribution::kReplicated;
  }
  bool gather = task.exchange == plan::ExchangeKind::kGather;
  if (gather) {
    out.distribution = Distribution::kFirstRank;
  }
  double chunks = static_cast<double>(source.chunks);
  double work = bytes / chunks;
  cost::GroupShape shape{workload_.ranks, 0, 0};
  std::vector<Use> uses;
  double latency = 0;
  for (const RankClass &on : classes_) {
    shape.nodes += on.nodes;
    double remote = static_cast<double>(remoteRanks(on));
    shape.remotePeers = std::max(shape.remotePeers, remoteRanks(on));
    if (gather && &on != &classes_.front()) {
      continue;
    }
    // A byte of work is a byte that each rank has: spread, copied to all, or sent to one.
    Traffic traffic{1 / ranks, remote / ranks};
    if (kind == CollectiveKind::kAllGather) {
      traffic = {1, remote};
    }
    if (gather) {
      traffic = {1, remote};
    }
    TrafficUse use = gather ? usesOfGather(on, traffic) : usesOf(on, traffic);
    uses.insert(uses.end(), use.uses.begin(), use.uses.end());
    double peers = static_cast<double>(on.ranksPerNode - 1);
    latency = std::max(latency, gather ? std::max(use.localLatencySeconds, use.remoteLatencySeconds)
                                       : peers * use.localLatencySeconds +
                                             remote * use.remoteLatencySeconds);
  }
  Level level = shape.nodes > 1 ? Level::kNetwork : Level::kNode;
  const topology::CollectiveFit *fit =
      gather || workload_.ranks < 2 || buffer <= 0
          ? nullptr
          : cost::leastFit(topology_.collectives, kind, level, shape, buffer);
  for (int64_t chunk = 0; chunk < source.chunks; ++chunk) {
    Activity activity = activityOf(id, chunk, source.chunks);
    activity.work = work;
    activity.uses = uses;
    // Later chunks find the connections busy: what a message costs overlaps with the bytes before
    // it.
    activity.latencySeconds = chunk == 0 ? latency : 0;
    if (fit) {
      double fixed = cost::predictSeconds(*fit, shape, 0);
      activity.latencySeconds = chunk == 0 ? fixed : 0;
      activity.rateMax = bytes / (cost::predictSeconds(*fit, shape, buffer) - fixed);
      activity.relativeError = std::hypot(activity.relativeError, fit->relativeError);
    }
    appendCommon(std::move(activity), id, chunk);
  }
}

void PlanGraph::addCollective(int32_t id) {
  const Task &task = plan_.tasks[id];
  CollectiveKind kind = CollectiveKind::kAllReduce;
  for (CollectiveKind candidate :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
        CollectiveKind::kAllToAll, CollectiveKind::kBroadcast}) {
    if (task.operation == topology::collectiveName(candidate)) {
      kind = candidate;
    }
  }
  const std::vector<int32_t> &sized =
      kind == CollectiveKind::kAllGather ? task.outputs : task.inputs;
  double bytes = 0;
  for (int32_t buffer : sized) {
    bytes += static_cast<double>(plan_.buffers[buffer].bytes);
  }
  Activity activity = activityOf(id, 0, 1);
  activity.relativeError = 0;
  cost::GroupShape shape{workload_.ranks, 0, 0};
  double ranks = static_cast<double>(workload_.ranks);
  double steps = cost::stepCount(kind, workload_.ranks);
  for (const RankClass &on : classes_) {
    shape.nodes += on.nodes;
    shape.remotePeers = std::max(shape.remotePeers, remoteRanks(on));
  }
  for (const RankClass &on : classes_) {
    if (workload_.ranks < 2) {
      break;
    }
    // A ring enters and leaves a node once; all-to-all crosses from every rank.
    double sent = cost::sentFraction(kind, workload_.ranks);
    double between = shape.nodes > 1 ? sent / static_cast<double>(on.ranksPerNode) : 0;
    Traffic traffic{sent / static_cast<double>(std::max<int64_t>(on.ranksPerNode - 1, 1)), between};
    if (kind == CollectiveKind::kAllToAll) {
      traffic = {1 / ranks, static_cast<double>(remoteRanks(on)) / ranks};
    }
    TrafficUse use = usesOf(on, traffic);
    activity.uses.insert(activity.uses.end(), use.uses.begin(), use.uses.end());
    activity.latencySeconds =
        std::max(activity.latencySeconds,
                 steps * std::max(use.localLatencySeconds, use.remoteLatencySeconds));
  }
  activity.work = workload_.ranks > 1 ? bytes : 0;
  Level level = shape.nodes > 1 ? Level::kNetwork : Level::kNode;
  const topology::CollectiveFit *fit =
      workload_.ranks < 2 || bytes <= 0
          ? nullptr
          : cost::leastFit(topology_.collectives, kind, level, shape, bytes);
  if (fit) {
    activity.latencySeconds = cost::predictSeconds(*fit, shape, 0);
    activity.rateMax = bytes / (cost::predictSeconds(*fit, shape, bytes) - activity.latencySeconds);
    activity.relativeError = fit->relativeError;
  }
  appendCommon(std::move(activity), id, 0);
}

void PlanGraph::addCompute(int32_t id) {
  const Task &task = plan_.tasks[id];
  cost::KernelWork work;
  for (const std::vector<int32_t> *buffers : {&task.inputs, &task.outputs}) {
    for (int32_t buffer : *buffers) {
      work.streamBytes += static_cast<double>(plan_.buffers[buffer].bytes);
    }
  }
  work.operations = work.streamBytes / 4 * workload_.operationsPerValue;
  bool product = task.operation == "matmul" || task.operation == "batch_matmul";
  if (product && !task.inputs.empty() && !task.outputs.empty()) {
    // Two operations for each value of the result and each of the inner dimension; this rank's
    // values.
    const plan::Buffer &left = plan_.buffers[task.inputs[0]];
    const plan::Buffer &out = plan_.buffers[task.outputs[0]];
    double width = out.element == "f32" ? 4 : 8;
    double inner =
        left.shape.empty() ? 1 : static_cast<double>(std::max<int64_t>(left.shape.back(), 1));
    work.operations = 2 * static_cast<double>(out.bytes) / width * inner;
    work.compute = out.element;
  }
  for (size_t c = 0; c < classes_.size(); ++c) {
    kernel(id, c, 0, 1, work, 1);
  }
}

void PlanGraph::addMarker(int32_t id) {
  const Task &task = plan_.tasks[id];
  bool first = task.inputStream != kNone &&
               streams_[task.inputStream].distribution == Distribution::kFirstRank;
  int64_t chunks = task.inputStream != kNone ? streams_[task.inputStream].chunks : 1;
  for (size_t c = 0; c < (first ? 1 : classes_.size()); ++c) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      Activity activity = activityOf(id, chunk, chunks);
      if (task.kind == TaskKind::kReserve) {
        activity.acquires = {{classes_[c].tier, static_cast<double>(task.bytes.expected)}};
      } else if (task.kind == TaskKind::kRelease && task.reservation != kNone) {
        double bytes = static_cast<double>(plan_.tasks[task.reservation].bytes.expected);
        activity.releases = {{classes_[c].tier, bytes}};
      } else if (task.kind == TaskKind::kCopy) {
        for (int32_t buffer : task.inputs) {
          activity.work += static_cast<double>(plan_.buffers[buffer].bytes);
        }
        activity.uses = {{classes_[c].memory, 2}}; // read and written
      }
      append(std::move(activity), id, c, chunk);
    }
  }
}

Status PlanGraph::addTask(int32_t id) {
  switch (plan_.tasks[id].kind) {
  case TaskKind::kLoad:
    return addLoad(id);
  case TaskKind::kRun:
    addRun(id);
    return {};
  case TaskKind::kExchange:
    addExchange(id);
    return {};
  case TaskKind::kCollective:
    addCollective(id);
    return {};
  case TaskKind::kCompute:
    addCompute(id);
    return {};
  default:
    addMarker(id);
    return {};
  }
}

Expected<Graph> PlanGraph::make() {
  HR_ASSIGN_OR_RETURN(classes_, makeClasses(topology_, workload_.ranks, graph_));
  for (const plan::Place &place : plan_.places) {
    graph_.places.push_back(place.operation.empty() ? place.text
                                                    : place.operation + ": " + place.text);
  }
  for (const Task &task : plan_.tasks) {
    graph_.lanes.push_back(task.name);
  }
  decideBranches();
  chunksOf_.resize(plan_.tasks.size());
  for (int32_t id : order()) {
    HR_RETURN_IF_ERROR(addTask(id));
  }
  // Back-pressure: a producer's chunk waits until the consumer has taken the one a credit before.
  for (size_t s = 0; s < plan_.streams.size(); ++s) {
    int32_t producer = streams_[s].producer;
    int32_t consumer = consumer_[s];
    if (producer == kNone || consumer == kNone) {
      continue;
    }
    double real = std::ceil(share(streams_[s]) / std::max<uint32_t>(plan_.streams[s].chunkRows, 1));
    double scale = static_cast<double>(streams_[s].chunks) / std::max(real, 1.0);
    size_t credit = static_cast<size_t>(
        std::max(2.0, std::round(plan_.streams[s].capacityChunks * std::min(scale, 1.0))));
    size_t classes = std::min(chunksOf_[producer].size(), chunksOf_[consumer].size());
    for (size_t c = 0; c < classes; ++c) {
      const Chunks &makes = chunksOf_[producer][c];
      const Chunks &takes = chunksOf_[consumer][c];
      for (size_t chunk = credit; chunk < makes.size() && chunk - credit < takes.size(); ++chunk) {
        graph_.activities[makes[chunk]].after.push_back(takes[chunk - credit]);
      }
    }
  }
  return std::move(graph_);
}

} // namespace

Expected<Graph> planGraph(const plan::Plan &plan, const topology::Topology &topology,
                          const Workload &workload) {
  return PlanGraph(plan, topology, workload).make();
}

} // namespace headrace::simulate
