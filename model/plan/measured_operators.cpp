// Every task says which of its counters belong to which operator (Task.steps).
#include "model/plan/measured_operators.h"

#include "model/plan/check_rules.h"

#include <algorithm>
#include <map>

namespace headrace::plan {
namespace {

/// The step whose rows are those of the operator's result as this task sees it: its last. None if
/// the task ends in the operator (what it counts is on the way there), or nobody counts.
const Step *rowsStep(const Task &task, int32_t op) {
  const Step *last = nullptr;
  for (const Step &step : task.steps) {
    if (step.op == op) {
      last = &step;
    }
  }
  bool counted =
      last && (last->stage == kStepSource || (last->stage >= 0 && last->stage < HR_COUNTED_STAGES));
  return counted ? last : nullptr;
}

double rowsOf(const Step &step, const TaskProfile &measured) {
  if (step.stage == kStepSource) {
    return static_cast<double>(measured.rowsIn);
  }
  auto stage = static_cast<size_t>(step.stage);
  return stage < measured.stageRows.size() ? static_cast<double>(measured.stageRows[stage]) : 0;
}

/// What a rank sends for a task. A collective counts its operand, of which a ring sends a share.
double sentBytes(const Task &task, const TaskProfile &measured, double ranks) {
  auto bytes = static_cast<double>(measured.bytes);
  const auto *collective = task.as<CollectiveTask>();
  if (!collective) {
    return bytes;
  }
  switch (collective->operation) {
  case CollectiveKind::kAllGather:
    return bytes * (ranks - 1);
  case CollectiveKind::kAllReduce:
    return 2 * bytes * (ranks - 1) / ranks;
  case CollectiveKind::kReduceScatter:
  case CollectiveKind::kAllToAll:
    break;
  }
  return bytes * (ranks - 1) / ranks;
}

bool readsFile(const Plan &plan, const Task &task) {
  return std::any_of(plan.tasks.begin(), plan.tasks.end(), [&](const Task &load) {
    return load.as<LoadTask>() && load.outputStream() == task.inputStream();
  });
}

} // namespace

std::vector<MeasuredOperator> measuredOperators(const Plan &plan, const Profile &profile) {
  const std::vector<Operator> &operators = plan.explanation.operators;
  std::vector<MeasuredOperator> all(operators.size());
  std::vector<std::map<int, double>> rowsOfRanks(operators.size());
  for (const TaskProfile &measured : profile.tasks) {
    if (!inRange(measured.task, plan.tasks.size())) {
      continue;
    }
    const Task &task = plan.tasks[measured.task];
    for (const Step &step : task.steps) {
      if (!inRange(step.op, operators.size())) {
        continue;
      }
      if (task.as<ExchangeTask>() || task.as<CollectiveTask>()) {
        double &moved = all[step.op].movedBytes;
        moved = std::max(moved, 0.0) + sentBytes(task, measured, profile.ranks);
      }
      if (task.as<RunTask>() && rowsStep(task, step.op) == &step) {
        rowsOfRanks[step.op][measured.rank] += rowsOf(step, measured);
      }
    }
  }
  for (size_t op = 0; op < operators.size(); ++op) {
    for (auto [rank, rows] : rowsOfRanks[op]) {
      double &sum = all[op].rows;
      sum = operators[op].replicated ? std::max(sum, rows) : std::max(sum, 0.0) + rows;
    }
  }
  return all;
}

std::vector<int32_t> tasksOfOperators(const Plan &plan) {
  std::vector<int32_t> tasks(plan.explanation.operators.size(), kNone);
  std::vector<int> ranking(tasks.size(), 0);
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    const Task &task = plan.tasks[t];
    for (const Step &step : task.steps) {
      if (!inRange(step.op, tasks.size())) {
        continue;
      }
      // A pipeline that begins with what another task made has no part in that.
      bool given = task.as<RunTask>() && step.stage == kStepSource &&
                   &step == &task.steps.front() && !readsFile(plan, task);
      int rank = given ? 0 : !task.as<RunTask>() ? 3 : step.stage == kStepSink ? 1 : 2;
      if (rank > ranking[step.op]) {
        ranking[step.op] = rank;
        tasks[step.op] = static_cast<int32_t>(t);
      }
    }
  }
  return tasks;
}

std::vector<double> measuredTaskSeconds(const Plan &plan, const Profile &profile) {
  std::vector<double> most(plan.tasks.size(), -1);
  std::vector<double> sum(plan.tasks.size(), 0);
  double workers = std::max<double>(profile.threads, 1);
  double ranks = std::max<double>(profile.ranks, 1);
  double lanes = std::max(workers / ranks, 1.0);
  for (const TaskProfile &measured : profile.tasks) {
    if (!inRange(measured.task, plan.tasks.size())) {
      continue;
    }
    double busy = measured.busySeconds + measured.finishBusySeconds;
    // Collectives are moved by the thread that polls the ranks.
    bool passes = plan.tasks[measured.task].as<CollectiveTask>() != nullptr;
    double seconds = passes ? measured.endSeconds - measured.startSeconds : busy / lanes;
    most[measured.task] = std::max(most[measured.task], seconds);
    sum[measured.task] += passes ? 0 : busy;
  }
  for (size_t t = 0; t < most.size(); ++t) {
    most[t] = most[t] < 0 ? -1 : std::max(most[t], sum[t] / workers);
  }
  return most;
}

} // namespace headrace::plan
