// Loads, kernels over rows, and exchanges.
#include "runtime/model/plan/names.h"
#include "runtime/abi/type_bytes.h"
#include "runtime/model/simulate/plan_graph_builder.h"

namespace headrace::simulate {
namespace {

double rowBytes(const plan::Schema &schema) {
  double bytes = 0;
  for (const plan::Column &column : schema.columns) {
    bytes += abi::bytesOf(column.type) + (column.nullable ? 1 : 0);
  }
  return std::max(bytes, 1.0);
}

} // namespace

/// Work is counted in bytes of the device's memory, or those it would have moved while computing.
void PlanGraph::kernel(int32_t id, size_t rankClass, size_t chunk, size_t chunks,
                       const cost::KernelWork &work, double perDevice) {
  const RankClass &on = classes_[rankClass];
  cost::KernelTime time = cost::kernelTime(*on.deviceType, work);
  double bandwidth = on.deviceType->memoryBandwidth.value;
  double busy = std::max(time.memorySeconds, time.computeSeconds);
  Activity activity = activityOf(id, chunk, chunks);
  activity.latencySeconds = time.launchSeconds / on.speed;
  activity.work = busy * bandwidth;
  if (busy > 0) {
    activity.rateMax = on.speed * activity.work / (time.total() - time.launchSeconds);
    activity.uses = {{on.memory, perDevice * time.memorySeconds / busy},
                     {on.compute, perDevice * time.computeSeconds / busy}};
  }
  append(std::move(activity), id, rankClass, chunk);
}

Status PlanGraph::addLoad(int32_t id) {
  const Task &task = plan_.tasks[id];
  const plan::Slot &slot = plan_.slots[task.slot];
  if (task.outputStream == kNone) {
    return addTensorLoad(id);
  }
  StreamState stream;
  stream.distribution = task.split ? Distribution::kEven : Distribution::kReplicated;
  stream.weight = Weight::kRows;
  auto rows = workload_.rows.find(slot.name);
  double literal = slot.kind == "values" && !slot.columns.empty()
                       ? static_cast<double>(slot.cells.size() / slot.columns.size())
                       : kNotKnown;
  stream.rows = rows != workload_.rows.end()
                    ? rows->second
                    : rowsOf(task.outputStream, stream.distribution, literal);
  if (stream.rows < 0) {
    return makeError(ErrorKind::kUser, "the workload has no rows for slot: ", slot.name);
  }
  stream.chunks = chunksFor(share(stream), plan_.streams[task.outputStream].chunkRows);
  if (hasWorkers()) {
    addWorkerLoad(id, stream);
    return {};
  }
  write(id, stream);
  double bytes = 0;
  for (const plan::SlotColumn &column : slot.columns) {
    bytes += abi::bytesOf(column.type);
  }
  for (size_t c = 0; c < classes_.size(); ++c) {
    const RankClass &on = classes_[c];
    for (int64_t chunk = 0; chunk < stream.chunks; ++chunk) {
      Activity activity = activityOf(id, chunk, stream.chunks);
      activity.work = bytes * shareOf(stream, on) / static_cast<double>(stream.chunks);
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
          source.weight = streams_[filler.inputStream].weight;
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
    StreamState made = source;
    double part = writtenPart(id);
    made.rows = rowsOf(task.outputStream, source.distribution, source.rows / part) * part;
    outRows = share(made);
    write(id, made);
    outBytes = rowBytes(plan_.streams[task.outputStream].schema);
    outColumns = plan_.streams[task.outputStream].schema.columns.size();
  }
  if (hasWorkers() && !plan_.kernels[task.kernel].work.empty()) {
    addWorkerRun(id, source, outRows);
    return;
  }
  double chunks = static_cast<double>(source.chunks);
  for (size_t c = 0; c < classCount(source.distribution); ++c) {
    double weight = shareOf(source, classes_[c]) / std::max(share(source), 1e-300);
    double inRows = share(source) * weight / chunks;
    double madeRows = outRows * weight / chunks;
    cost::KernelWork work;
    work.streamBytes = inRows * inBytes + madeRows * outBytes;
    work.operations = workload_.operationsPerValue * (inRows * static_cast<double>(inColumns) +
                                                      madeRows * static_cast<double>(outColumns));
    for (const plan::StateArgument &argument : task.states) {
      const plan::State &state = plan_.states[argument.state];
      if (state.kind != plan::StateKind::kScalar) {
        work.randomBytes += inRows * state.rowBytes;
        work.workingSetBytes += static_cast<double>(state.rows.expected) * state.rowBytes;
      }
    }
    for (int64_t chunk = 0; chunk < source.chunks; ++chunk) {
      kernel(id, c, chunk, source.chunks, work, 1);
    }
  }
  addSpillWrites(id);
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
  CollectiveKind kind = CollectiveKind::kAllToAll;
  double buffer = bytes; // of one rank, as the fits count it
  out.distribution = Distribution::kEven;
  out.weight = Weight::kKeys;
  if (task.exchange == plan::ExchangeKind::kBroadcast) {
    kind = CollectiveKind::kAllGather;
    buffer = bytes * ranks;
    out.distribution = Distribution::kReplicated;
  }
  bool gather = task.exchange == plan::ExchangeKind::kGather;
  if (gather) {
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
  double chunks = static_cast<double>(source.chunks);
  double work = bytes / chunks;
  Weight sent = even ? source.weight : Weight::kEven;
  Weight received = kind == CollectiveKind::kAllToAll && !gather ? Weight::kKeys : Weight::kEven;
  double fullest = 1; // of the rank that sends or receives most, against the mean
  cost::GroupShape shape{workload_.ranks, 0, 0};
  std::vector<Use> uses;
  double latency = 0;
  for (const RankClass &on : classes_) {
    fullest = std::max({fullest, on.weight(sent), on.weight(received)});
    if (on.linksOwner == RankClass::Links::kShared) {
      continue;
    }
    shape.nodes += on.nodes;
    double remote = static_cast<double>(remoteRanks(on));
    shape.remotePeers = std::max(shape.remotePeers, remoteRanks(on));
    if (gather && &on != &classes_.front()) {
      continue;
    }
    // A byte of work is a byte that each rank has: spread, copied to all, or sent to one.
    Traffic traffic{1 / ranks, remote / ranks, sent, received};
    if (kind == CollectiveKind::kAllGather || gather) {
      traffic = {1, remote, sent, Weight::kEven};
    }
    TrafficUse use = gather ? usesOfGather(on, traffic) : usesOf(on, traffic);
    uses.insert(uses.end(), use.uses.begin(), use.uses.end());
    double peers = static_cast<double>(on.nodeRanks - 1);
    latency = std::max(latency, gather ? std::max(use.localLatencySeconds, use.remoteLatencySeconds)
                                       : peers * use.localLatencySeconds +
                                             remote * use.remoteLatencySeconds);
  }
  Level level = shape.nodes > 1 ? Level::kNetwork : Level::kNode;
  const topology::CollectiveFit *fit =
      gather || workload_.ranks < 2 || buffer <= 0
          ? nullptr
          : cost::leastFit(topology_.collectives, kind, level, shape, buffer * fullest);
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
      activity.rateMax = bytes / (cost::predictSeconds(*fit, shape, buffer * fullest) - fixed);
      activity.relativeError = std::hypot(activity.relativeError, fit->relativeError);
    }
    appendCommon(std::move(activity), id, chunk);
  }
}

} // namespace headrace::simulate
