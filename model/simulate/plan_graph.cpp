// Walks the tasks of a plan and adds their activities.
#include "model/simulate/plan_graph.h"

#include "model/plan/mesh.h"
#include "model/simulate/plan_graph_builder.h"

#include <functional>

namespace headrace::simulate {

double PlanGraph::partsOf(const plan::LoadTask &load, int64_t ranks) const {
  return plan::partsAlong(plan_, load.split, ranks) *
         plan::partsAlong(plan_, plan_.slots[load.slot].stretches.axes, ranks);
}

double PlanGraph::rowsScale() const {
  double given = 0;
  double planned = 0;
  for (const Task &task : plan_.tasks) {
    const auto *load = task.as<plan::LoadTask>();
    if (!load) {
      continue;
    }
    auto rows = workload_.rows.find(plan_.slots[load->slot].name);
    double estimate = static_cast<double>(plan_.streams[load->outputStream].rows.expected) *
                      partsOf(*load, static_cast<int64_t>(planRanks_));
    if (rows != workload_.rows.end() && estimate > 0) {
      given += rows->second;
      planned += estimate;
    }
  }
  return planned > 0 ? given / planned : 1;
}

double PlanGraph::rowsOf(int32_t stream, const StreamState &like, double otherwise) const {
  if (auto it = workload_.rows.find(plan_.streams[stream].name); it != workload_.rows.end()) {
    return it->second;
  }
  const plan::Cardinality &rows = plan_.streams[stream].rows;
  if (rows.p95 == 0) {
    return otherwise;
  }
  double whole = like.distribution == Distribution::kEven ? planRanks_ / like.copies : 1;
  return static_cast<double>(rows.expected) * whole * rowsScale_;
}

void PlanGraph::decideBranches() {
  for (size_t id = 0; id < plan_.tasks.size(); ++id) {
    for (int32_t before : plan_.tasks[id].after) {
      waits_[id].push_back(before);
      if (const auto *repeat = plan_.tasks[before].as<plan::RepeatTask>()) {
        waits_[id].insert(waits_[id].end(), repeat->tasks.begin(), repeat->tasks.end());
      }
    }
  }
  for (size_t id = 0; id < plan_.tasks.size(); ++id) {
    if (plan_.tasks[id].as<plan::RepeatTask>()) {
      for (int32_t inner : plan_.tasks[id].body()) {
        waits_[inner].push_back(static_cast<int32_t>(id));
      }
    }
    const auto *choose = plan_.tasks[id].as<plan::ChooseTask>();
    if (!choose) {
      continue;
    }
    bool small = plan_.holes[choose->hole].bounds.expected <= choose->threshold;
    for (int32_t other : small ? choose->elseTasks : choose->thenTasks) {
      skipped_[other] = true;
    }
    for (int32_t inner : plan_.tasks[id].body()) {
      waits_[inner].push_back(static_cast<int32_t>(id));
    }
  }
  for (size_t id = 0; id < plan_.tasks.size(); ++id) {
    const Task &task = plan_.tasks[id];
    if (!skipped_[id] && task.inputStream() != kNone) {
      consumer_[task.inputStream()] = static_cast<int32_t>(id);
    }
    if (!skipped_[id] && task.outputStream() != kNone) {
      streams_[task.outputStream()].writers.push_back({static_cast<int32_t>(id)});
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
    if (int32_t stream = plan_.tasks[id].inputStream(); stream != kNone) {
      for (const StreamWriter &writer : streams_[stream].writers) {
        visit(writer.task);
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
  PerClass &mine = chunksOf_[id];
  mine.resize(std::max(mine.size(), rankClass + 1));
  if (chunk == 0) {
    waitForTasks(id, activity);
  } else {
    activity.after.push_back(mine[rankClass].back());
  }
  waitForInput(id, rankClass, chunk, activity);
  activity.rankClass = static_cast<int32_t>(rankClass);
  if (chunk == 0) {
    addSpillReads(id, rankClass, activity);
  }
  int32_t made = place(std::move(activity));
  mine[rankClass].push_back(made);
  return made;
}

void PlanGraph::waitForTasks(int32_t id, Activity &activity) const {
  for (int32_t before : waits_[id]) {
    for (const Chunks &others : chunksOf_[before]) {
      if (!others.empty()) {
        activity.after.push_back(others.back());
      }
    }
  }
}

int32_t PlanGraph::place(Activity activity) {
  std::sort(activity.after.begin(), activity.after.end());
  activity.after.erase(std::unique(activity.after.begin(), activity.after.end()),
                       activity.after.end());
  graph_.activities.push_back(std::move(activity));
  return static_cast<int32_t>(graph_.activities.size()) - 1;
}

void PlanGraph::appendCommon(Activity activity, int32_t id, size_t chunk) {
  for (size_t other = 1; other < classes_.size(); ++other) {
    waitForInput(id, other, chunk, activity);
  }
  int32_t made = append(std::move(activity), id, 0, chunk);
  graph_.activities[made].rankClass = kNone;
  chunksOf_[id].resize(classes_.size());
  for (size_t other = 1; other < classes_.size(); ++other) {
    chunksOf_[id][other].push_back(made);
  }
}

Status PlanGraph::addTask(int32_t id) {
  switch (plan_.tasks[id].kind()) {
  case TaskKind::kLoad:
    return addLoad(id);
  case TaskKind::kInput:
    addTensorLoad(id);
    return {};
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
  case TaskKind::kToTensor:
    addCompute(id);
    return {};
  case TaskKind::kReserve:
  case TaskKind::kRelease:
  case TaskKind::kChoose:
  case TaskKind::kRepeat:
  case TaskKind::kResult:
  case TaskKind::kTensorResult:
    addMarker(id);
    return {};
  }
  return {};
}

Expected<Graph> PlanGraph::make() {
  Division division{workload_.ranks, workload_.skews, plan_.movableKeys, workload_.memoryBytes};
  HR_ASSIGN_OR_RETURN(Classes made, makeClasses(topology_, division, graph_));
  classes_ = std::move(made.classes);
  runs_ = std::move(made.runs);
  links_ = std::move(made.links);
  messages_ = static_cast<int32_t>(graph_.resources.size());
  graph_.resources.push_back({"messages of a rank", 1, topology::Sharing::kShared, 0});
  planRanks_ = static_cast<double>(plan::rankCount(plan_));
  rowsScale_ = rowsScale();
  for (const plan::Place &place : plan_.places) {
    graph_.places.push_back(place.operation.empty() ? place.text
                                                    : place.operation + ": " + place.text);
  }
  for (const RankClass &on : classes_) {
    graph_.rankClasses.push_back(on.ranks);
  }
  decideBranches();
  chunksOf_.resize(plan_.tasks.size());
  std::vector<int32_t> sorted = order();
  sortWriters(sorted);
  for (int32_t id : sorted) {
    HR_RETURN_IF_ERROR(addTask(id));
  }
  if (hasWorkers()) {
    addRunOverhead();
  }
  for (size_t stream = 0; stream < plan_.streams.size(); ++stream) {
    addBackPressure(static_cast<int32_t>(stream));
  }
  return std::move(graph_);
}

Expected<Graph> planGraph(const plan::Plan &plan, const topology::Topology &topology,
                          const Workload &workload) {
  return PlanGraph(plan, topology, workload).make();
}

} // namespace headrace::simulate
