// Runs and simulates each plan with the rows that it had; prints both.
#include "tools/headrace-tune/compare_command.h"

#include "runtime/model/cost/accuracy.h"
#include "tools/command_line/commands.h"
#include "tools/headrace-tune/predicted_plan.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace headrace::tune {
namespace {

using Json = nlohmann::ordered_json;

enum class Report : unsigned char { kSummary, kPlans, kTasks };

Json rowsJson(const cost::TaskRows &rows) {
  return {{"source", rows.source}, {"stages", rows.stages},           {"states", rows.states},
          {"bytes", rows.bytes},   {"pieces", rows.pieces},           {"lanes", rows.lanes},
          {"ranks", rows.ranks},   {"order_extent", rows.orderExtent}};
}

Json taskJson(const MeasuredPlan &plan, const TaskComparison &task) {
  Json json;
  json["task"] = task.task;
  json["name"] = plan.plan().tasks[task.task].name;
  json["part"] = task.part;
  json["predicted_seconds"] = task.predicted;
  json["measured_seconds"] = task.measured;
  json["terms"] = task.terms;
  json["rows"] = rowsJson(plan.tasks.at(task.task).sum);
  json["rows_of_one_rank"] = rowsJson(plan.tasks.at(task.task).most);
  return json;
}

Status compare(const std::vector<std::string> &arguments) {
  MeasureRequest request;
  Report report = Report::kPlans;
  HR_RETURN_IF_ERROR(measureOptions(request, compareUsage())
                         .flag("--tasks", [&] { report = Report::kTasks; })
                         .flag("--quiet", [&] { report = Report::kSummary; })
                         .read(arguments));
  if (request.topology.empty()) {
    return makeError(ErrorKind::kUser, "compare needs --topology\n", compareUsage());
  }
  HR_ASSIGN_OR_RETURN(topology::Topology topology, measuredTopology(request));
  HR_ASSIGN_OR_RETURN(std::vector<MeasuredPlan> plans, measureAll(request));
  Json records = Json::array();
  std::vector<double> errors;
  if (report != Report::kSummary) {
    std::printf("%-36s %12s %12s %8s\n", "plan", "predicted ms", "measured ms", "error");
  }
  for (const MeasuredPlan &plan : plans) {
    HR_ASSIGN_OR_RETURN(double predicted, predictSeconds(plan, topology, request.threads));
    double error = predicted / plan.seconds - 1;
    errors.push_back(std::abs(error));
    if (report != Report::kSummary) {
      std::printf("%-36s %12.3f %12.3f %7.1f%%\n", plan.name.c_str(), 1e3 * predicted,
                  1e3 * plan.seconds, 100 * error);
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
    records.push_back(std::move(record));
  }
  cost::ErrorSummary summary = cost::summarize(errors);
  std::printf("%zu plans: mean %.1f %%, median %.1f %%, p90 %.1f %%\n", plans.size(),
              100 * summary.mean, 100 * summary.median, 100 * summary.p90);
  return request.output.empty() ? Status() : writeOutput(request.output, records.dump(1) + "\n");
}

} // namespace

std::string compareUsage() {
  return std::string("usage: headrace-tune compare PLANS --topology NAME [--output FILE] "
                     "[--tasks | --quiet] …\n") +
         kMeasureOptions +
         "  --topology NAME  of this machine: a file (of calibrate, or of headrace-topo detect), "
         "or "
         "machine\n"
         "  --output FILE    all figures, as JSON\n"
         "  --tasks          also the parts of tasks\n"
         "  --quiet          only the errors of all plans\n";
}

int compareCommand(const std::vector<std::string> &arguments) {
  return exitStatus(compare(arguments));
}

} // namespace headrace::tune
