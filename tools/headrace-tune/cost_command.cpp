// Prices a plan and prints the terms.
#include "tools/headrace-tune/cost_command.h"
#include "tools/headrace-tune/plan_request.h"

#include "runtime/model/simulate/program_cost.h"

#include <iostream>

namespace headrace::tune {
namespace {

Status costRequest(const std::vector<std::string> &arguments) {
  PlanRequest request;
  std::string format = "text";
  HR_RETURN_IF_ERROR(planOptions(request, costUsage())
                         .value("--format",
                                [&](const std::string &given) -> Status {
                                  format = given;
                                  bool known = given == "text" || given == "json";
                                  return known ? Status()
                                               : makeError(ErrorKind::kUser,
                                                           "--format must be text or json, got ",
                                                           given);
                                })
                         .read(arguments));
  HR_ASSIGN_OR_RETURN(PlannedRun run, openPlan(request));
  HR_ASSIGN_OR_RETURN(simulate::ProgramCost cost,
                      simulate::programCost(run.plan, run.topology, run.workload));
  std::cout << (format == "json" ? cost.json() + "\n" : cost.text() + hintFor(run.topology));
  return {};
}

} // namespace

std::string costUsage() {
  return std::string("usage: headrace-tune cost PLAN --topology NAME [--format text|json] …\n") +
         kPlanOptions + "  --format KIND     text (default) or json\n";
}

int costCommand(const std::vector<std::string> &arguments) {
  return exitStatus(costRequest(arguments));
}

} // namespace headrace::tune
