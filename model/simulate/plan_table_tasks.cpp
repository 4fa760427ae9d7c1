// Loads, and kernels over rows.
#include "model/cost/row_work.h"
#include "model/plan/dependencies.h"
#include "model/plan/names.h"
#include "model/plan/page_form.h"
#include "model/simulate/plan_graph_builder.h"
#include "runtime/abi/type_bytes.h"

namespace headrace::simulate {

namespace {

/// The level of the rows that a kernel looks up in the state at this position, or adds to it.
size_t touchingLevel(const plan::Kernel &kernel, size_t position) {
  size_t level = 0;
  for (const plan::Work &work : kernel.work) {
    bool touches = work.kind == plan::WorkKind::kProbe || work.kind == plan::WorkKind::kGroup ||
                   work.kind == plan::WorkKind::kInsert;
    if (touches && work.state == static_cast<int32_t>(position)) {
      level = std::max<size_t>(level, work.level);
    }
  }
  return level;
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
  activity.precedence = precedences_[id];
  activity.latencySeconds = time.launchSeconds / on.speed;
  activity.ownError = time.relativeError;
  activity.work = busy * bandwidth;
  if (busy > 0) {
    activity.rateMax = on.speed * activity.work / (time.total() - time.launchSeconds);
    activity.uses = {{on.memory, perDevice * time.memorySeconds / busy},
                     {on.compute, perDevice * time.computeSeconds / busy}};
  }
  append(std::move(activity), id, rankClass, chunk);
}

Status PlanGraph::addLoad(int32_t id) {
  const auto &task = *plan_.tasks[id].as<plan::LoadTask>();
  const plan::Slot &slot = plan_.slots[task.slot];
  StreamState stream;
  double parts = partsOf(task, workload_.ranks);
  stream.distribution =
      parts > 1 || workload_.ranks == 1 ? Distribution::kEven : Distribution::kReplicated;
  stream.copies = static_cast<double>(workload_.ranks) / parts;
  stream.weight = task.shared                    ? Weight::kSpeed
                  : !slot.stretches.axes.empty() ? Weight::kKeys
                                                 : Weight::kRows;
  auto rows = workload_.rows.find(slot.name);
  double literal = slot.kind == plan::SlotKind::kValues && !slot.columns.empty()
                       ? static_cast<double>(slot.cells.size() / slot.columns.size())
                       : kNotKnown;
  stream.rows =
      rows != workload_.rows.end() ? rows->second : rowsOf(task.outputStream, stream, literal);
  if (stream.rows < 0) {
    return makeError(ErrorKind::kUser, "the workload has no rows for slot: ", slot.name);
  }
  stream.chunks =
      chunksFor(share(stream), std::min(slot.pieceRows, static_cast<uint32_t>(plan::kMorselRows)));
  if (hasWorkers()) {
    addWorkerLoad(id, stream);
    return {};
  }
  write(id, stream);
  double bytes = 0;
  for (const plan::SlotColumn &column : slot.columns) {
    bytes += column.fileBytes > 0 ? column.fileBytes : abi::bytesOf(column.type);
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
  const Task &described = plan_.tasks[id];
  const auto &task = *described.as<plan::RunTask>();
  StreamState source;
  double inBytes = 1;
  size_t inColumns = 1;
  if (task.inputStream != kNone) {
    source = streams_[task.inputStream];
    inBytes = rowBytes(plan_.streams[task.inputStream]);
    inColumns = plan_.streams[task.inputStream].schema.columns.size();
  } else if (task.sourceState != kNone) {
    const plan::State &state = plan_.states[task.sourceState];
    // As its fillers: on the first rank after a gather, else on every rank with its own rows.
    for (const Task &filler : plan_.tasks) {
      for (const plan::StateArgument &argument : filler.states()) {
        if (argument.state == task.sourceState && argument.use == plan::StateUse::kPerWorker &&
            filler.inputStream() != kNone) {
          source.distribution = streams_[filler.inputStream()].distribution;
          source.copies = streams_[filler.inputStream()].copies;
          source.weight = streams_[filler.inputStream()].weight;
          source.fullest = streams_[filler.inputStream()].fullest;
        }
      }
    }
    source.rows =
        static_cast<double>(state.kind == plan::StateKind::kScalar ? 1 : state.rows.expected);
    if (source.distribution == Distribution::kEven) {
      // A state's rows are of one rank.
      source.rows *= static_cast<double>(workload_.ranks) / source.copies;
    }
    inBytes = state.rowBytes;
    source.chunks = chunksFor(share(source), hasWorkers() ? 65536 : plan::kStateMorselRows);
  }
  double outRows = 0;
  double outBytes = 0;
  size_t outColumns = 0;
  if (task.outputStream != kNone) {
    StreamState made = source;
    double part = writtenPart(id);
    std::vector<double> stages = throughStages(described, source.rows);
    double through = stages.empty() ? source.rows : stages.back();
    made.rows = rowsOf(task.outputStream, source, through / part) * part;
    outRows = share(made);
    write(id, made);
    outBytes = rowBytes(plan_.streams[task.outputStream]);
    outColumns = plan_.streams[task.outputStream].schema.columns.size();
  }
  if (hasWorkers() && !plan_.kernels[task.kernel].work.empty()) {
    addWorkerRun(id, source, outRows);
    return;
  }
  double chunks = static_cast<double>(source.chunks);
  double launches = task.sourceState != kNone        ? cost::launchesOverState(share(source))
                    : plan::scanOf(plan_, described) ? cost::morselsOf(share(source))
                                                     : cost::piecesOf(share(source));
  std::vector<double> through = stageRows(described, share(source), outRows);
  for (size_t c = 0; c < classCount(source.distribution); ++c) {
    double weight = shareOf(source, classes_[c]) / std::max(share(source), 1e-300);
    double inRows = share(source) * weight / chunks;
    double madeRows = outRows * weight / chunks;
    cost::KernelWork work;
    // A simulated chunk stands for as many real ones.
    work.launches = std::max(1.0, launches / chunks);
    cost::addValues(work, inRows, static_cast<double>(inColumns), inBytes);
    cost::addValues(work, madeRows, static_cast<double>(outColumns), outBytes);
    auto rowsAt = [&](size_t level) {
      bool stage = level > 0 && level <= through.size();
      return stage ? through[level - 1] * weight / chunks : inRows;
    };
    for (const plan::Work &does : plan_.kernels[task.kernel].work) {
      if (does.kind == plan::WorkKind::kHash || does.kind == plan::WorkKind::kHashString) {
        cost::addHashes(work, rowsAt(does.level), does.amount);
      }
    }
    for (size_t index = 0; index < task.states.size(); ++index) {
      const plan::State &state = plan_.states[task.states[index].state];
      if (state.kind != plan::StateKind::kScalar) {
        double rows = rowsAt(touchingLevel(plan_.kernels[task.kernel], index));
        cost::StateShape shape = cost::shapeOf(state, static_cast<double>(state.rows.expected));
        cost::addLookUps(work, shape, rows);
        const bool isOrdered =
            state.kind == plan::StateKind::kSortBuffer || state.kind == plan::StateKind::kWindow;
        if (isOrdered && task.states[index].use == plan::StateUse::kPerWorker) {
          cost::KernelWork order;
          cost::addOrder(order, shape, rows * chunks);
          work.operations += order.operations / chunks;
        }
      }
    }
    for (int64_t chunk = 0; chunk < source.chunks; ++chunk) {
      kernel(id, c, chunk, source.chunks, work, 1);
    }
  }
  addSpillWrites(id);
}

} // namespace headrace::simulate
