// Terms of measured tasks, and simulation with measured rows.
#include "tools/headrace-tune/predicted_plan.h"

#include "model/simulate/plan_graph.h"
#include "model/simulate/simulate.h"

#include <algorithm>

namespace headrace::tune {

using plan::TaskKind;

std::vector<TaskComparison> compareTasks(const MeasuredPlan &plan,
                                         const topology::DeviceType &device) {
  std::vector<TaskComparison> all;
  auto add = [&](int32_t id, const char *part, cost::Terms terms, double measured) {
    bool empty =
        std::all_of(terms.begin(), terms.end(), [](auto &term) { return term.second == 0; });
    if (!empty && measured > 0) {
      double predicted = cost::secondsOf(device, terms);
      all.push_back({id, part, std::move(terms), predicted, measured});
    }
  };
  auto scaled = [&](cost::Terms terms) {
    for (auto &[name, units] : terms) {
      units *= static_cast<double>(plan.ranks);
    }
    return terms;
  };
  for (const auto &[id, measured] : plan.tasks) {
    const plan::Task &task = plan.plan().tasks[id];
    switch (task.kind()) {
    case TaskKind::kRun:
      add(id, "run", cost::runTerms(plan.plan(), task, measured.sum), measured.busySeconds);
      add(id, "load", cost::loadTerms(plan.plan(), task, measured.sum), measured.loadSeconds);
      add(id, "finish", cost::finishTerms(plan.plan(), task, measured.most),
          measured.finishSeconds);
      break;
    case TaskKind::kExchange:
      add(id, "exchange", cost::exchangeTerms(plan.plan(), task, measured.sum, plan.ranks),
          measured.busySeconds);
      break;
    case TaskKind::kCompute:
      add(id, "compute", scaled(cost::computeTerms(plan.plan(), task, plan.ranks)),
          measured.busySeconds);
      break;
    case TaskKind::kInput:
      add(id, "load", cost::tensorLoadTerms(plan.plan(), task, plan.ranks), measured.passedSeconds);
      break;
    case TaskKind::kCollective:
      add(id, "collective", scaled(cost::collectiveTerms(plan.plan(), task, plan.ranks)),
          measured.passedSeconds);
      break;
    default:
      break;
    }
  }
  return all;
}

namespace {

/// What a rank of an exchange handles on average: in a gather one of them sends nothing.
cost::TaskRows meanRows(const MeasuredTask &task) {
  cost::TaskRows rows = task.most;
  rows.source = task.sum.source / task.sum.ranks;
  rows.bytes = task.sum.bytes / task.sum.ranks;
  rows.pieces = task.sum.pieces / task.sum.ranks;
  return rows;
}

} // namespace

Expected<double> predictSeconds(const MeasuredPlan &plan, const topology::Topology &topology,
                                int threads) {
  simulate::Workload workload;
  workload.ranks = plan.ranks;
  workload.threads = threads;
  for (const auto &[id, measured] : plan.tasks) {
    TaskKind kind = plan.plan().tasks[id].kind();
    workload.tasks[id] = kind == TaskKind::kExchange ? meanRows(measured) : measured.most;
    if (kind == TaskKind::kLoad) {
      workload.rows[plan.plan().slots[plan.plan().tasks[id].slot()].name] = measured.sum.source;
    }
  }
  for (const plan::Slot &slot : plan.plan().slots) {
    workload.rows.try_emplace(slot.name, 1);
  }
  HR_ASSIGN_OR_RETURN(simulate::Graph graph,
                      simulate::planGraph(plan.plan(), withRanks(topology, plan.ranks), workload));
  HR_ASSIGN_OR_RETURN(simulate::Outcome outcome, simulate::simulate(graph));
  return outcome.seconds;
}

const topology::DeviceType &rankDevice(const topology::Topology &topology) {
  const topology::NodeType &node = topology.nodeTypes.at(topology.instances.front().type);
  return topology.deviceTypes.at(topology::rankGroup(topology, node)->type);
}

topology::Topology withRanks(topology::Topology topology, int64_t ranks) {
  if (topology.rankCount() >= ranks || topology.nodeCount() != 1) {
    return topology;
  }
  topology::NodeType &node = topology.nodeTypes.at(topology.instances.front().type);
  const topology::DeviceGroup *group = topology::rankGroup(topology, node);
  for (topology::DeviceGroup &candidate : node.devices) {
    if (candidate.name == group->name) {
      candidate.count = ranks;
    }
  }
  return topology;
}

} // namespace headrace::tune
