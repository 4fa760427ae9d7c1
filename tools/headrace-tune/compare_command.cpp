// Runs and simulates each plan with the rows that it had; prints both.
#include "tools/headrace-tune/compare_command.h"

#include "model/cost/accuracy.h"
#include "tools/command_line/commands.h"
#include "tools/headrace-tune/fitted_work.h"
#include "tools/headrace-tune/measured_file.h"
#include "tools/headrace-tune/predicted_plan.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace headrace::tune {
namespace {

using Json = nlohmann::ordered_json;

enum class Report : unsigned char { kSummary, kPlans, kTasks };

Json taskJson(const MeasuredPlan &plan, const TaskComparison &task) {
  Json json;
  json["task"] = task.task;
  json["name"] = plan.plan().tasks[task.task].name;
  json["part"] = task.part;
  json["predicted_seconds"] = task.predicted;
  json["measured_seconds"] = task.measured;
  json["terms"] = task.terms;
  json["passed_seconds"] = plan.tasks.at(task.task).passedSeconds;
  json["rows"] = rowsJson(plan.tasks.at(task.task).sum);
  json["rows_of_one_rank"] = rowsJson(plan.tasks.at(task.task).most);
  return json;
}

/// Plans that were run in turns, those compared first.
struct Measured {
  std::vector<MeasuredPlan> compared;
  std::vector<MeasuredPlan> calibration; ///< empty if the topology is taken as it is
};

Expected<Measured> measure(const MeasureRequest &request, const std::string &calibration) {
  HR_ASSIGN_OR_RETURN(std::vector<std::string> directories, planDirectories(request.plans));
  size_t compared = directories.size();
  if (!calibration.empty()) {
    HR_ASSIGN_OR_RETURN(std::vector<std::string> more, planDirectories(calibration));
    directories.insert(directories.end(), more.begin(), more.end());
  }
  HR_ASSIGN_OR_RETURN(std::vector<MeasuredPlan> all, measureAll(directories, request));
  Measured measured;
  auto end = all.begin() + static_cast<std::ptrdiff_t>(compared);
  measured.compared.assign(std::move_iterator(all.begin()), std::move_iterator(end));
  measured.calibration.assign(std::move_iterator(end), std::move_iterator(all.end()));
  return measured;
}

/// Fits the calibration's plans; without any, the topology as it is.
Expected<topology::Topology> calibrated(topology::Topology topology, const Measured &measured,
                                        int threads) {
  if (measured.calibration.empty()) {
    return topology;
  }
  MeasuredPlans plans;
  for (const MeasuredPlan &plan : measured.calibration) {
    plans.push_back(&plan);
  }
  HR_ASSIGN_OR_RETURN(FittedWork work, fitWork(plans, topology, threads));
  return withWork(std::move(topology), work, 0);
}

Expected<Json> comparePlan(const MeasuredPlan &plan, const topology::Topology &topology,
                           const MeasureRequest &request, Report report) {
  HR_ASSIGN_OR_RETURN(double predicted, predictSeconds(plan, topology, request.threads));
  if (report != Report::kSummary) {
    std::printf("%-36s %12.3f %12.3f %7.1f%%\n", plan.name.c_str(), 1e3 * predicted,
                1e3 * plan.seconds, 100 * (predicted / plan.seconds - 1));
  }
  Json record = {{"plan", plan.name},
                 {"ranks", plan.ranks},
                 {"predicted_seconds", predicted},
                 {"measured_seconds", plan.seconds},
                 {"all_seconds", plan.allSeconds}};
  for (const TaskComparison &task : compareTasks(plan, rankDevice(topology))) {
    record["tasks"].push_back(taskJson(plan, task));
    if (report == Report::kTasks) {
      std::printf("  %-24s %-10s %12.3f %12.3f %7.1f%%\n",
                  plan.plan().tasks[task.task].name.c_str(), task.part.c_str(),
                  1e3 * task.predicted, 1e3 * task.measured,
                  100 * (task.predicted / task.measured - 1));
    }
  }
  return record;
}

Status compare(const std::vector<std::string> &arguments) {
  MeasureRequest request;
  std::string calibration;
  Report report = Report::kPlans;
  HR_RETURN_IF_ERROR(measureOptions(request, compareUsage())
                         .path("--calibration", calibration)
                         .flag("--tasks", [&] { report = Report::kTasks; })
                         .flag("--quiet", [&] { report = Report::kSummary; })
                         .read(arguments));
  if (request.topology.empty() && calibration.empty()) {
    return makeError(ErrorKind::kUser, "compare needs --topology or --calibration\n",
                     compareUsage());
  }
  HR_ASSIGN_OR_RETURN(topology::Topology assumed, measuredTopology(request));
  HR_ASSIGN_OR_RETURN(Measured measured, measure(request, calibration));
  HR_ASSIGN_OR_RETURN(topology::Topology topology,
                      calibrated(std::move(assumed), measured, request.threads));
  if (report != Report::kSummary) {
    std::printf("%-36s %12s %12s %8s\n", "plan", "predicted ms", "measured ms", "error");
  }
  Json records = Json::array();
  std::vector<double> errors;
  for (const MeasuredPlan &plan : measured.compared) {
    HR_ASSIGN_OR_RETURN(Json record, comparePlan(plan, topology, request, report));
    errors.push_back(std::abs(record["predicted_seconds"].get<double>() / plan.seconds - 1));
    records.push_back(std::move(record));
  }
  cost::ErrorSummary summary = cost::summarize(errors);
  std::printf("%zu plans: mean %.1f %%, median %.1f %%, p90 %.1f %%\n", errors.size(),
              100 * summary.mean, 100 * summary.median, 100 * summary.p90);
  for (const MeasuredPlan &plan : measured.calibration) {
    HR_ASSIGN_OR_RETURN(Json record, comparePlan(plan, topology, request, Report::kSummary));
    record["calibration"] = true;
    records.push_back(std::move(record));
  }
  return request.output.empty() ? Status() : writeOutput(request.output, records.dump(1) + "\n");
}

} // namespace

std::string compareUsage() {
  return std::string("usage: headrace-tune compare PLANS [--topology NAME] [--calibration "
                     "PLANS] [--output FILE] [--tasks | --quiet] …\n") +
         kMeasureOptions +
         "  --topology NAME  of this machine: a file of calibrate or of headrace-topo detect "
         "(default: "
         "that of --calibration)\n"
         "  --calibration PLANS  plans that run in turns with those compared, and to which what "
         "work takes is fitted (default: none, --topology tells)\n"
         "  --output FILE    all figures, as JSON (default: none)\n"
         "  --tasks          also the parts of tasks\n"
         "  --quiet          only the errors of all plans\n";
}

int compareCommand(const std::vector<std::string> &arguments) {
  return exitStatus(compare(arguments));
}

} // namespace headrace::tune
