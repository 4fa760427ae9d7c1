// Prices a plan and prints the terms.
#include "tools/headrace-tune/cost_command.h"
#include "model/simulate/program_cost.h"
#include "tools/command_line/commands.h"
#include "tools/headrace-tune/plan_request.h"

#include <iostream>

namespace headrace::tune {
namespace {

enum class Format : uint8_t { kText, kJson };

Status costRequest(const std::vector<std::string> &arguments) {
  PlanRequest request;
  Format format = Format::kText;
  HR_RETURN_IF_ERROR(
      planOptions(request, costUsage())
          .choice("--format", format, {{"text", Format::kText}, {"json", Format::kJson}})
          .read(arguments));
  HR_ASSIGN_OR_RETURN(PlannedRun run, openPlan(request));
  HR_ASSIGN_OR_RETURN(simulate::ProgramCost cost,
                      simulate::programCost(run.plan, run.topology, run.workload));
  std::cout << (format == Format::kJson ? cost.json() + "\n" : cost.text() + hintFor(run.topology));
  return {};
}

} // namespace

std::string costUsage() {
  return std::string("usage: headrace-tune cost PLAN --topology NAME [--format text|json] …\n") +
         kPlanOptions + "  --format KIND     text or json (default: text)\n";
}

int costCommand(const std::vector<std::string> &arguments) {
  return exitStatus(costRequest(arguments));
}

} // namespace headrace::tune
