// Prices a plan and prints the terms.
#include "tools/headrace-tune/cost_command.h"
#include "tools/headrace-tune/plan_request.h"

#include "runtime/model/simulate/program_cost.h"

#include <iostream>

namespace headrace::tune {
namespace {

Status costRequest(const std::vector<std::string> &arguments) {
  HR_ASSIGN_OR_RETURN(PlanRequest request, readPlanRequest(arguments, {"--format"}));
  HR_ASSIGN_OR_RETURN(PlannedRun run, openPlan(request));
  HR_ASSIGN_OR_RETURN(simulate::ProgramCost cost,
                      simulate::programCost(run.plan, run.topology, run.workload));
  std::cout << (request.format == "json" ? cost.json() + "\n" : cost.text());
  return {};
}

} // namespace

int costCommand(const std::vector<std::string> &arguments) {
  if (Status status = costRequest(arguments); !status.ok()) {
    std::cerr << "headrace-tune: " << status.message() << "\n";
    return 1;
  }
  return 0;
}

} // namespace headrace::tune
