// Tasks of CPU ranks that share one process and its workers: seconds of cores by the terms of
// cost/task_time.h.
#include "model/plan/dependencies.h"
#include "model/plan/names.h"
#include "model/simulate/plan_graph_builder.h"
#include "runtime/abi/type_bytes.h"

namespace headrace::simulate {

Activity PlanGraph::onCores(int32_t id, size_t rankClass, size_t chunk, size_t chunks,
                            double coreSeconds, double parallel, Others others) const {
  const RankClass &on = classes_[rankClass];
  // In the unit of the class's resources: bytes that its memory would move meanwhile.
  double oneCore = on.deviceType->memoryBandwidth.value / workers().coresPerRank();
  Activity activity = activityOf(id, chunk, chunks);
  activity.precedence = precedences_[id];
  activity.relativeError = on.deviceType->workRelativeError;
  activity.work = coreSeconds * oneCore;
  activity.rateMax = on.speed * parallel * oneCore;
  if (activity.work > 0) {
    // The class's resource is one rank's share of the cores. What one rank alone has takes its part
    // of all shares, and may use more than its own while the others wait.
    double ranks = static_cast<double>(workload_.ranks);
    activity.uses = {{on.compute, others == Others::kBusy ? 1 : 1 / ranks}};
  }
  return activity;
}

double PlanGraph::rowsThrough(const Task &task, double otherwise) const {
  for (const plan::StateArgument &argument : task.states()) {
    const plan::State &state = plan_.states[argument.state];
    bool keepsAll = state.kind == plan::StateKind::kJoinTable ||
                    state.kind == plan::StateKind::kRowBuffer ||
                    state.kind == plan::StateKind::kWindow ||
                    (state.kind == plan::StateKind::kSortBuffer && state.limit == 0);
    if (argument.use == plan::StateUse::kPerWorker && keepsAll && state.rows.p95 > 0) {
      return static_cast<double>(state.rows.expected);
    }
  }
  return otherwise;
}

std::vector<double> PlanGraph::throughStages(const Task &task, double source) const {
  std::vector<double> rows;
  if (task.kernel() != kNone) {
    for (double selectivity : plan_.kernels[task.kernel()].selectivity) {
      rows.push_back(source *= selectivity);
    }
  }
  return rows;
}

std::vector<double> PlanGraph::stageRows(const Task &task, double source, double outRows) const {
  std::vector<double> rows = throughStages(task, source);
  double last = task.outputStream() != kNone
                    ? outRows
                    : rowsThrough(task, rows.empty() ? source : rows.back());
  if (rows.empty()) {
    return {last};
  }
  rows.back() = last;
  return rows;
}

double PlanGraph::sourceBytes(const Task &task) const {
  double bytes = 0;
  if (task.as<plan::RunTask>() && plan::scanOf(plan_, task)) {
    for (const plan::Work &work : plan_.kernels[task.kernel()].work) {
      bytes += work.kind == plan::WorkKind::kPageByte ? work.amount : 0;
    }
  } else if (task.inputStream() != kNone) {
    bytes = task.as<plan::ExchangeTask>() ? plan_.streams[task.inputStream()].textBytes : 0;
    for (const plan::Column &column : plan_.streams[task.inputStream()].schema.columns) {
      bytes += abi::bytesOf(column.type);
    }
  }
  return bytes;
}

cost::TaskRows PlanGraph::taskRows(int32_t id, const StreamState &source, double outRows) const {
  cost::TaskRows rows;
  if (auto known = workload_.tasks.find(id); known != workload_.tasks.end()) {
    rows = known->second;
  } else {
    const Task &task = plan_.tasks[id];
    rows.source = share(source);
    rows.stages = stageRows(task, rows.source, outRows);
    rows.pieces = static_cast<double>(source.chunks);
    for (const plan::StateArgument &argument : task.states()) {
      rows.states.push_back(static_cast<double>(plan_.states[argument.state].rows.expected));
    }
    rows.bytes = rows.source * sourceBytes(task);
    if (auto ordered = ordered_.find(task.inputStream()); ordered != ordered_.end()) {
      rows.order = cost::RowOrder::kClustered;
      rows.orderExtent = ordered->second;
    }
  }
  rows.lanes = workers().lanes();
  rows.copies = static_cast<double>(workload_.ranks);
  return rows;
}

/// The lanes of the kernel that reads the stream load its morsels: here it is only cut into chunks.
void PlanGraph::addWorkerLoad(int32_t id, StreamState stream) {
  int32_t reader = consumer_[plan_.tasks[id].outputStream()];
  if (auto known = workload_.tasks.find(reader); known != workload_.tasks.end()) {
    double pieces = std::clamp(known->second.pieces, 1.0, static_cast<double>(workload_.chunksMax));
    stream.chunks = static_cast<int64_t>(pieces);
  }
  write(id, stream);
  for (size_t c = 0; c < classes_.size(); ++c) {
    for (int64_t chunk = 0; chunk < stream.chunks; ++chunk) {
      append(activityOf(id, chunk, stream.chunks), id, c, chunk);
    }
  }
}

/// Chunks share the lanes; the states that are filled end when the last has.
void PlanGraph::addWorkerRun(int32_t id, const StreamState &source, double outRows) {
  const Task &task = plan_.tasks[id];
  cost::TaskRows rows = taskRows(id, source, outRows);
  double parallel = workers().parallelLanes(rows.source, rows.pieces);
  bool first = source.distribution == Distribution::kFirstRank;
  Others others = first ? Others::kIdle : Others::kBusy;
  size_t chunks = static_cast<size_t>(source.chunks);
  for (size_t c = 0; c < classCount(source.distribution); ++c) {
    double seconds = cost::secondsOf(device(c), cost::runTerms(plan_, task, rows)) +
                     cost::secondsOf(device(c), cost::loadTerms(plan_, task, rows));
    double finish = cost::secondsOf(device(c), cost::finishTerms(plan_, task, rows));
    for (size_t chunk = 0; chunk < chunks; ++chunk) {
      Activity activity =
          onCores(id, c, chunk, chunks, seconds / static_cast<double>(chunks), parallel, others);
      activity.latencySeconds = chunk == 0 ? overhead(c, "task") : 0;
      append(std::move(activity), id, c, chunk);
    }
    if (finish > 0) {
      append(onCores(id, c, chunks, chunks + 1, finish, rows.lanes, others), id, c, chunks);
    }
  }
}

/// Ranks of one process hand rows over: one worker encodes, the rank's thread takes in.
void PlanGraph::addWorkerExchange(int32_t id, const StreamState &source) {
  const Task &task = plan_.tasks[id];
  cost::TaskRows rows = taskRows(id, source, 0);
  size_t chunks = static_cast<size_t>(source.chunks);
  auto peers = static_cast<int64_t>(
      plan::partsAlong(plan_, task.as<plan::ExchangeTask>()->axes, workload_.ranks));
  double seconds = cost::secondsOf(device(0), cost::exchangeTerms(plan_, task, rows, peers));
  for (size_t chunk = 0; chunk < chunks; ++chunk) {
    Activity activity =
        onCores(id, 0, chunk, chunks, seconds / static_cast<double>(chunks), 1, Others::kBusy);
    // Each rank waits for the last row of the others before what follows can end.
    double hop = workload_.ranks > 1 ? overhead(0, "hop") : 0;
    activity.latencySeconds = chunk == 0 ? overhead(0, "task") + hop : 0;
    appendCommon(std::move(activity), id, chunk);
  }
}

void PlanGraph::addWorkerCollective(int32_t id) {
  double seconds = polledSeconds(0, cost::collectiveTerms(plan_, plan_.tasks[id], workload_.ranks));
  Activity activity = onCores(id, 0, 0, 1, seconds, 1, Others::kIdle);
  activity.latencySeconds = overhead(0, "task");
  appendCommon(std::move(activity), id, 0);
}

void PlanGraph::addWorkerCompute(int32_t id) {
  const Task &task = plan_.tasks[id];
  for (size_t c = 0; c < classes_.size(); ++c) {
    double seconds = cost::secondsOf(device(c), cost::computeTerms(plan_, task, workload_.ranks));
    Activity activity = onCores(id, c, 0, 1, seconds, workers().lanes(), Others::kBusy);
    activity.latencySeconds = overhead(c, "task");
    append(std::move(activity), id, c, 0);
  }
}

/// Each rank copies its part of what the caller bound.
void PlanGraph::addWorkerTensorLoad(int32_t id) {
  cost::Terms terms = cost::tensorLoadTerms(plan_, plan_.tasks[id], workload_.ranks);
  for (size_t c = 0; c < classes_.size(); ++c) {
    append(onCores(id, c, 0, 1, polledSeconds(c, terms), 1, Others::kIdle), id, c, 0);
  }
}

void PlanGraph::addRunOverhead() {
  for (Activity &activity : graph_.activities) {
    if (activity.after.empty()) {
      activity.latencySeconds += overhead(0, "run");
    }
  }
}

} // namespace headrace::simulate
