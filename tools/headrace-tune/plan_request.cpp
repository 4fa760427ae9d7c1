// Parses options, opens plans and topologies.
#include "tools/headrace-tune/plan_request.h"

#include "model/plan/check.h"
#include "model/plan/json.h"
#include "model/plan/mesh.h"
#include "model/simulate/workload_text.h"
#include "tools/headrace-tune/predicted_plan.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace headrace::tune {
namespace {

constexpr double kNumberMax = 1e18;

Expected<plan::Plan> readPlan(const std::string &path) {
  std::filesystem::path file(path);
  if (std::filesystem::is_directory(file)) {
    file /= "plan.json";
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return makeError(ErrorKind::kUser, "cannot open plan: ", path);
  }
  std::ostringstream text;
  text << stream.rdbuf();
  HR_ASSIGN_OR_RETURN(plan::Plan plan, plan::fromJson(text.str()));
  HR_RETURN_IF_ERROR(plan::check(plan));
  return plan;
}

} // namespace

PlanRequest::PlanRequest() { workload.ranks = 0; }

Options planOptions(PlanRequest &request, std::string usage) {
  simulate::Workload &workload = request.workload;
  request.usage = usage;
  Options options(std::move(usage));
  options.word("a plan", request.plan)
      .path("--topology", request.topology)
      .count("--ranks", workload.ranks, 1, kNumberMax)
      .count("--threads", workload.threads, 1, kNumberMax)
      .bytes("--memory", workload.memoryBytes)
      .value("--skew",
             [&workload](const std::string &given) { return simulate::addSkew(workload, given); })
      .value("--rows",
             [&workload](const std::string &given) { return simulate::addRows(workload, given); });
  return options;
}

Expected<PlannedRun> openPlan(const PlanRequest &request) {
  if (request.topology.empty()) {
    return makeError(ErrorKind::kUser, "needs --topology\n", request.usage);
  }
  PlannedRun run;
  HR_ASSIGN_OR_RETURN(run.plan, readPlan(request.plan));
  HR_RETURN_IF_ERROR(simulate::checkRows(run.plan, request.workload.rows));
  run.workload = request.workload;
  if (run.workload.ranks == 0) {
    run.workload.ranks = plan::rankCount(run.plan);
  }
  HR_ASSIGN_OR_RETURN(run.topology, topology::openTopology(request.topology, run.workload.ranks));
  if (run.workload.threads == 0) {
    run.workload.threads = cost::workersOf(run.topology, run.workload.ranks, 0).threads;
  }
  return run;
}

std::string hintFor(const topology::Topology &topology) {
  bool assumed =
      cost::workersOf(topology, 1, 0).shared() && rankDevice(topology).workSeconds.empty();
  return assumed ? "what work takes on this machine is assumed: headrace calibrate measures it\n"
                 : "";
}

} // namespace headrace::tune
