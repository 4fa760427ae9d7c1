// The arguments of commands that ask about a plan on a topology.
#pragma once

#include "model/plan/plan.h"
#include "model/simulate/plan_graph.h"
#include "model/topology/topology.h"
#include "tools/command_line/options.h"

#include <string>

namespace headrace::tune {

inline constexpr const char *kPlanOptions =
    "  PLAN              a plan.json, or a directory NAME.plan\n"
    "  --topology NAME   a topology file, the name of a shipped one, or machine: this machine, "
    "divided; needed\n"
    "  --ranks N         ranks that run it (default: as many as the plan was made for)\n"
    "  --threads N       the ranks are of one process with so many workers (default: the cores, if "
    "the topology is one machine)\n"
    "  --rows NAME=ROWS  rows over all ranks of a slot or a stream; may be repeated (default: as "
    "the compiler estimated)\n"
    "  --memory BYTES    of one rank (headrace: of all ranks together); what does not fit is "
    "spilled (default: all of its device)\n"
    "  --skew FIRST:COUNT:NAME=FACTOR[,NAME=FACTOR]  ranks that are not as the others: speed, "
    "rows, keys; may be repeated (default: all equal)\n";

struct PlanRequest {
  PlanRequest();
  std::string usage;
  std::string plan;
  std::string topology;
  simulate::Workload workload; ///< ranks 0: as many as the plan was made for
};

/// The options that kPlanOptions lists; a command adds its own.
Options planOptions(PlanRequest &request, std::string usage);

/// A plan and the topology it is asked about, with the ranks of the request filled in.
struct PlannedRun {
  plan::Plan plan;
  topology::Topology topology;
  simulate::Workload workload;
};
/// Reads and checks both.
Expected<PlannedRun> openPlan(const PlanRequest &request);

/// A line that says what would make figures of this topology more certain; or nothing.
std::string hintFor(const topology::Topology &topology);

} // namespace headrace::tune
