// Simulates, prints the report and writes the trace.
#include "tools/headrace-tune/simulate_command.h"
#include "model/simulate/simulate.h"
#include "model/simulate/trace.h"
#include "tools/command_line/commands.h"
#include "tools/command_line/text_output.h"
#include "tools/headrace-tune/plan_request.h"

#include <iostream>

namespace headrace::tune {
namespace {

Status simulateRequest(const std::vector<std::string> &arguments) {
  PlanRequest request;
  std::string trace;
  HR_RETURN_IF_ERROR(planOptions(request, simulateUsage()).path("--trace", trace).read(arguments));
  TextOutput traceOutput;
  HR_RETURN_IF_ERROR(traceOutput.open(trace));
  HR_ASSIGN_OR_RETURN(PlannedRun run, openPlan(request));
  HR_ASSIGN_OR_RETURN(simulate::Graph graph,
                      simulate::planGraph(run.plan, run.topology, run.workload));
  HR_ASSIGN_OR_RETURN(simulate::Outcome outcome, simulate::simulate(graph));
  std::cout << simulate::report(graph, outcome) << hintFor(run.topology);
  return trace.empty() ? Status() : traceOutput.write(simulate::perfettoTrace(graph, outcome));
}

} // namespace

std::string simulateUsage() {
  return std::string("usage: headrace-tune simulate PLAN --topology NAME [--trace FILE] …\n") +
         kPlanOptions + "  --trace FILE      the timeline, for Perfetto (default: none)\n";
}

int simulateCommand(const std::vector<std::string> &arguments) {
  return exitStatus(simulateRequest(arguments));
}

} // namespace headrace::tune
