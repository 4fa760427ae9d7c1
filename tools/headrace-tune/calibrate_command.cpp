// Runs the plans, fits what their work takes, says how well, and writes the topology.
#include "tools/headrace-tune/calibrate_command.h"

#include "tools/command_line/commands.h"
#include "tools/headrace-tune/fitted_work.h"
#include "tools/headrace-tune/measure_request.h"

#include <cstdio>

namespace headrace::tune {
namespace {

void printErrors(const char *what, std::vector<double> errors) {
  cost::ErrorSummary summary = cost::summarize(std::move(errors));
  std::printf("%-24s mean %5.1f %%, median %5.1f %%, p90 %5.1f %%\n", what, 100 * summary.mean,
              100 * summary.median, 100 * summary.p90);
}

void warn(const FittedWork &work) {
  if (work.parts < work.seconds.size()) {
    std::fprintf(stderr,
                 "headrace-tune: warning: %zu parts of tasks do not tell %zu kinds of work apart; "
                 "give more plans\n",
                 work.parts, work.seconds.size());
  }
}

Status calibrate(const std::vector<std::string> &arguments) {
  MeasureRequest request;
  HR_RETURN_IF_ERROR(measureOptions(request, calibrateUsage()).read(arguments));
  if (request.output.empty()) {
    return makeError(ErrorKind::kUser, "calibrate needs --output\n", calibrateUsage());
  }
  HR_ASSIGN_OR_RETURN(topology::Topology topology, measuredTopology(request));
  HR_ASSIGN_OR_RETURN(std::vector<std::string> directories, planDirectories(request.plans));
  HR_ASSIGN_OR_RETURN(std::vector<MeasuredPlan> measured, measureAll(directories, request));
  MeasuredPlans plans;
  for (const MeasuredPlan &plan : measured) {
    plans.push_back(&plan);
  }
  HR_ASSIGN_OR_RETURN(FittedWork work, fitWork(plans, topology, request.threads));
  HR_ASSIGN_OR_RETURN(PredictionErrors errors,
                      predictionErrors(plans, withWork(topology, work, 0), request.threads));
  HR_ASSIGN_OR_RETURN(PredictionErrors heldOut, heldOutErrors(plans, topology, request.threads));
  std::printf("%zu plans, %zu parts of tasks: %zu of %zu kinds of work fitted, the others stay as "
              "they were\n",
              plans.size(), work.parts, work.seconds.size(), cost::assumedSeconds().size());
  printErrors("parts of tasks", errors.parts);
  printErrors("plans", errors.plans);
  if (!heldOut.plans.empty()) {
    printErrors("parts of tasks held out", heldOut.parts);
    printErrors("plans held out", heldOut.plans);
  }
  warn(work);
  double error = cost::summarize(errors.parts).mean;
  return writeOutput(request.output,
                     topology::formatTopology(withWork(std::move(topology), work, error)));
}

} // namespace

std::string calibrateUsage() {
  return std::string("usage: headrace-tune calibrate PLANS --output FILE [--topology FILE] …\n") +
         kMeasureOptions +
         "  --topology FILE  of this machine, to fill in (default: this machine as assumed)\n"
         "  --output FILE    the topology with what work takes on this machine; needed\n";
}

int calibrateCommand(const std::vector<std::string> &arguments) {
  return exitStatus(calibrate(arguments));
}

} // namespace headrace::tune
