// What the simulator says of a measured plan, given the rows that it had.
#pragma once

#include "model/topology/topology.h"
#include "tools/headrace-tune/measured_plan.h"

namespace headrace::tune {

/// One figure of a task beside what was measured, in seconds of one core.
struct TaskComparison {
  int32_t task = 0;
  std::string part; ///< "run", "finish", "exchange", "compute", "collective"
  cost::Terms terms;
  double predicted = 0;
  double measured = 0;
};

/// The parts of a plan's tasks that the model has terms for and that were measured.
std::vector<TaskComparison> compareTasks(const MeasuredPlan &plan,
                                         const topology::DeviceType &device);

/// Seconds from start to end, with the rows of each task that were measured.
Expected<double> predictSeconds(const MeasuredPlan &plan, const topology::Topology &topology,
                                int threads);

/// The device of the first rank.
const topology::DeviceType &rankDevice(const topology::Topology &topology);

/// The topology with at least `ranks` places: as it is, or with more devices on its only node.
topology::Topology withRanks(topology::Topology topology, int64_t ranks);

} // namespace headrace::tune
