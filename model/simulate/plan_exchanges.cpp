// What goes between devices: exchanges of rows and collectives, as cost/movement.h prices them.
#include "model/simulate/plan_graph_builder.h"

namespace headrace::simulate {

Activity PlanGraph::moved(int32_t id, size_t chunk, size_t chunks,
                          const cost::Movement &movement) const {
  Activity activity = activityOf(id, chunk, chunks);
  activity.work = movement.bytes / static_cast<double>(chunks);
  activity.rateMax = movement.rateMax;
  activity.ownError = movement.relativeError;
  // Later chunks find the connections busy: what a message costs overlaps with the bytes before it.
  activity.latencySeconds = chunk == 0 ? movement.latencySeconds : 0;
  for (const cost::LinkUse &use : movement.uses) {
    activity.uses.push_back({links_[static_cast<size_t>(use.run)] + use.link, use.bytes});
  }
  return activity;
}

/// Before the first bytes a rank posts its messages, one after the other, and other movements'
/// messages between them.
void PlanGraph::addMovement(int32_t id, size_t chunks, const cost::Movement &movement,
                            double rowsError) {
  for (size_t chunk = 0; chunk < chunks; ++chunk) {
    Activity activity = moved(id, chunk, chunks, movement);
    activity.relativeError = rowsError;
    if (chunk == 0 && movement.postSeconds > 0) {
      Activity posts = activityOf(id, 0, 1);
      posts.work = movement.postSeconds;
      posts.relativeError = movement.relativeError;
      posts.uses = {{messages_, 1}};
      waitForTasks(id, posts);
      for (size_t c = 0; c < classes_.size(); ++c) {
        waitForInput(id, c, 0, posts);
      }
      activity.after.push_back(place(std::move(posts)));
    }
    appendCommon(std::move(activity), id, chunk);
  }
}

const cost::RankGroups &PlanGraph::groupsOver(const std::vector<int32_t> &axes) {
  auto known = groups_.find(axes);
  if (known != groups_.end()) {
    return known->second;
  }
  auto parts = static_cast<int64_t>(plan::partsAlong(plan_, axes, workload_.ranks));
  if (parts == workload_.ranks) {
    return groups_.try_emplace(axes, runs_).first->second;
  }
  cost::Mesh mesh;
  for (const plan::MeshAxis &axis : plan_.mesh) {
    mesh.axes.push_back({axis.name, axis.size});
  }
  cost::AxisSet set = 0;
  for (int32_t axis : axes) {
    set |= cost::AxisSet{1} << axis;
  }
  return groups_.try_emplace(axes, runs_, mesh, set).first->second;
}

void PlanGraph::addExchange(int32_t id) {
  const auto &task = *plan_.tasks[id].as<plan::ExchangeTask>();
  const plan::Stream &sent = plan_.streams[task.inputStream];
  const StreamState source = streams_[task.inputStream];
  double ranks = static_cast<double>(workload_.ranks);
  double peers = plan::partsAlong(plan_, task.axes, workload_.ranks);
  bool whole = peers == ranks;
  bool even = source.distribution == Distribution::kEven;
  bool alone = source.distribution == Distribution::kFirstRank;
  StreamState out;
  out.rows = even || alone ? source.rows : source.rows * peers;
  out.chunks = source.chunks;
  out.distribution = Distribution::kEven;
  out.copies = whole ? 1 : even ? source.copies : ranks / peers;
  out.weight = Weight::kKeys;
  if (task.exchange == plan::ExchangeKind::kBroadcast) {
    out.copies *= peers;
    out.distribution = out.copies >= ranks ? Distribution::kReplicated : Distribution::kEven;
  } else if (task.exchange == plan::ExchangeKind::kGather) {
    out.copies *= whole ? 1 : peers; // the first of each group has as many as all
    out.distribution = whole ? Distribution::kFirstRank : Distribution::kEven;
  } else {
    out.fullest = std::max(1.0, sent.fullest);
  }
  if (auto it = workload_.rows.find(plan_.streams[task.outputStream].name);
      it != workload_.rows.end()) {
    out.rows = it->second;
  }
  write(id, out);
  if (hasWorkers()) {
    StreamState handed = source;
    handed.fullest = std::max(source.fullest, alone ? 1 : out.fullest);
    addWorkerExchange(id, handed);
    return;
  }
  double rows = even ? source.rows * source.copies / ranks : source.rows;
  cost::Movement movement = cost::exchangeMovement(
      groupsOver(task.axes), topology_.collectives, task.exchange, rows * wireBytes(sent),
      alone ? 1 : out.fullest, even ? source.weight : Weight::kEven);
  addMovement(id, static_cast<size_t>(source.chunks), movement, workload_.rowsRelativeError);
}

void PlanGraph::addCollective(int32_t id) {
  if (hasWorkers()) {
    addWorkerCollective(id);
    return;
  }
  const Task &task = plan_.tasks[id];
  CollectiveKind kind = cost::collectiveOf(task);
  double bytes = cost::localBytes(
      plan_, kind == CollectiveKind::kAllGather ? task.outputs() : task.inputs(), workload_.ranks);
  cost::Movement movement =
      cost::collectiveMovement(groupsOver(task.as<plan::CollectiveTask>()->axes),
                               topology_.collectives, kind, bytes, doublingBytesMax_);
  addMovement(id, 1, movement, 0); // sizes of tensors are known
}

} // namespace headrace::simulate
