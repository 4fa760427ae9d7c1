// Runs the plans, fits the terms, writes the topology; or prints predicted beside measured.
#include "tools/headrace-tune/calibrate_command.h"

#include "runtime/model/cost/workers.h"
#include "tools/headrace-tune/options.h"
#include "tools/headrace-tune/plan_request.h"
#include "tools/headrace-tune/predicted_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unistd.h>

namespace headrace::tune {
namespace {

using Json = nlohmann::ordered_json;

/// How much calibration leans to the assumed seconds: samples that they are worth.
constexpr double kPriorStrength = 0.05;

struct Request {
  std::string plans;
  std::string output;
  std::string topology;
  std::string json;
  enum class Report : unsigned char { kSummary, kPlans, kTasks } report = Report::kPlans;
  int threads = 0;
  int runs = 8;
  int rounds = 4;
};

Expected<Request> readRequest(const std::vector<std::string> &arguments) {
  Request request;
  request.threads = static_cast<int>(topology::thisMachine().cores);
  Status read = Options(kCalibrateUsage)
                    .word("a folder of plans", request.plans)
                    .text("--output", request.output)
                    .text("--topology", request.topology)
                    .text("--json", request.json)
                    .count("--threads", request.threads, 1, 65536)
                    .count("--runs", request.runs, 1, 1e6)
                    .count("--rounds", request.rounds, 1, 1e6)
                    .flag("--tasks", [&] { request.report = Request::Report::kTasks; })
                    .flag("--quiet", [&] { request.report = Request::Report::kSummary; })
                    .read(arguments);
  return read.ok() ? Expected<Request>(std::move(request)) : Expected<Request>(std::move(read));
}

/// What is filled in: a topology, or this machine as it is assumed to be (whatever an earlier
/// calibration found), with a place for a rank on every core.
Expected<topology::Topology> baseTopology(const std::string &name) {
  topology::MachineSize machine = topology::thisMachine();
  if (name.empty()) {
    return topology::machineTopology(machine, machine.cores);
  }
  HR_ASSIGN_OR_RETURN(topology::Topology topology, topology::openTopology(name, machine.cores));
  HR_RETURN_IF_ERROR(cost::checkIsThisMachine(topology));
  return topology;
}

struct Summary {
  double mean = 0;
  double median = 0;
  double p90 = 0;
};

Summary summarize(std::vector<double> errors) {
  Summary summary;
  if (errors.empty()) {
    return summary;
  }
  std::sort(errors.begin(), errors.end());
  for (double error : errors) {
    summary.mean += error / static_cast<double>(errors.size());
  }
  auto at = [&](double share) {
    return errors[static_cast<size_t>(std::min(share * static_cast<double>(errors.size()),
                                               static_cast<double>(errors.size()) - 1))];
  };
  summary.median = at(0.5);
  summary.p90 = at(0.9);
  return summary;
}

/// In rounds over all plans: a slow moment of the machine then falls on some runs of each, and not
/// on all of some.
Expected<std::vector<MeasuredPlan>> measureAll(const Request &request) {
  HR_ASSIGN_OR_RETURN(std::vector<std::string> directories, planDirectories(request.plans));
  Measurer measurer(request.threads);
  std::vector<MeasuredPlan> measured;
  size_t total = directories.size() * static_cast<size_t>(request.rounds);
  for (size_t i = 0; i < total; ++i) {
    if (isatty(2)) {
      std::fprintf(stderr, "\r%zu of %zu runs of plans", i + 1, total);
    }
    size_t plan = i % directories.size();
    HR_ASSIGN_OR_RETURN(MeasuredPlan made, measurer.measure(directories[plan], request.runs));
    if (i < directories.size()) {
      measured.push_back(std::move(made));
    } else {
      measured[plan].add(made);
    }
  }
  if (isatty(2)) {
    std::fprintf(stderr, "\r\033[K");
  }
  return measured;
}

/// Also what the model of operations and bytes, which plans without kernels are chosen by, knows of
/// a device: its rates follow from the same terms.
void setWork(topology::DeviceType &device, std::map<std::string, double> seconds, double error) {
  device.workRelativeError = error;
  double cores = static_cast<double>(device.cores);
  auto set = [&](const char *kind, const char *term, double operations) {
    if (seconds[term] > 0) {
      device.compute[kind] = topology::Quantity(operations * cores / seconds[term], error);
      device.compute[kind].provenance.origin = topology::Origin::kFitted;
    }
  };
  set("f32", "product_f32", 2);
  set("f64", "product_f64", 2);
  device.workSeconds = std::move(seconds);
}

/// What a run and each of its tasks take beside their work: so that the simulated times of the
/// plans meet the measured ones.
Status fitOverheads(const std::vector<MeasuredPlan> &plans, topology::Topology &topology,
                    std::map<std::string, double> &seconds, int threads) {
  topology::DeviceType &device = topology.deviceTypes.at(rankDevice(topology).name);
  const std::vector<std::string> terms = {"run", "task", "hop"};
  constexpr double kProbe = 10e-6; // seconds of one of them, to see how often it counts
  std::map<std::string, double> prior;
  for (const std::string &term : terms) {
    prior[term] = cost::assumedSeconds().at(term);
  }
  std::vector<cost::TaskSample> samples;
  for (const MeasuredPlan &plan : plans) {
    auto predicted = [&](const std::string &probed) -> Expected<double> {
      for (const std::string &term : terms) {
        seconds[term] = term == probed ? kProbe : 0;
      }
      device.workSeconds = seconds;
      return predictSeconds(plan, topology, threads);
    };
    HR_ASSIGN_OR_RETURN(double bare, predicted(""));
    if (bare > 0.9 * plan.seconds) {
      continue; // its work explains it; what is left is the error of the work
    }
    cost::TaskSample sample;
    sample.seconds = plan.seconds - bare;
    for (const std::string &term : terms) {
      HR_ASSIGN_OR_RETURN(double with, predicted(term));
      sample.terms[term] = (with - bare) / kProbe;
    }
    samples.push_back(std::move(sample));
  }
  for (const auto &[term, fitted] : cost::fitTerms(samples, prior, kPriorStrength)) {
    seconds[term] = fitted;
  }
  device.workSeconds = seconds;
  return {};
}

Status calibrate(const Request &request) {
  if (request.output.empty()) {
    return makeError(ErrorKind::kUser, "calibrate needs --output\n", kCalibrateUsage);
  }
  HR_ASSIGN_OR_RETURN(topology::Topology topology, baseTopology(request.topology));
  HR_ASSIGN_OR_RETURN(std::vector<MeasuredPlan> plans, measureAll(request));
  std::vector<cost::TaskSample> samples;
  for (const MeasuredPlan &plan : plans) {
    for (TaskComparison &task : compareTasks(plan, rankDevice(topology))) {
      if (task.measured > 20e-6) {
        samples.push_back({std::move(task.terms), task.measured});
      }
    }
  }
  std::map<std::string, double> seconds =
      cost::fitTerms(samples, cost::assumedSeconds(), kPriorStrength);
  HR_RETURN_IF_ERROR(fitOverheads(plans, topology, seconds, request.threads));
  std::vector<double> errors;
  for (const cost::TaskSample &sample : samples) {
    errors.push_back(
        std::abs(cost::secondsOf(rankDevice(topology), sample.terms) / sample.seconds - 1));
  }
  std::vector<double> planErrors;
  for (const MeasuredPlan &plan : plans) {
    HR_ASSIGN_OR_RETURN(double predicted, predictSeconds(plan, topology, request.threads));
    planErrors.push_back(std::abs(predicted / plan.seconds - 1));
  }
  Summary ofTasks = summarize(errors);
  Summary ofPlans = summarize(planErrors);
  std::printf("%zu plans, %zu parts of tasks\n", plans.size(), samples.size());
  std::printf("parts of tasks: mean %.1f %%, median %.1f %%, p90 %.1f %%\n", 100 * ofTasks.mean,
              100 * ofTasks.median, 100 * ofTasks.p90);
  std::printf("plans:          mean %.1f %%, median %.1f %%, p90 %.1f %%\n", 100 * ofPlans.mean,
              100 * ofPlans.median, 100 * ofPlans.p90);
  setWork(topology.deviceTypes.at(rankDevice(topology).name), seconds, ofTasks.mean);
  std::ofstream file(request.output, std::ios::binary);
  file << topology::formatTopology(topology);
  return file.flush() ? Status()
                      : makeError(ErrorKind::kIo, "cannot write topology: ", request.output);
}

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

Status compare(const Request &request) {
  if (request.topology.empty()) {
    return makeError(ErrorKind::kUser, "compare needs --topology\n", kCalibrateUsage);
  }
  HR_ASSIGN_OR_RETURN(topology::Topology topology, baseTopology(request.topology));
  HR_ASSIGN_OR_RETURN(std::vector<MeasuredPlan> plans, measureAll(request));
  Json records = Json::array();
  std::vector<double> errors;
  if (request.report != Request::Report::kSummary) {
    std::printf("%-36s %12s %12s %8s\n", "plan", "predicted ms", "measured ms", "error");
  }
  for (const MeasuredPlan &plan : plans) {
    HR_ASSIGN_OR_RETURN(double predicted, predictSeconds(plan, topology, request.threads));
    double error = predicted / plan.seconds - 1;
    errors.push_back(std::abs(error));
    if (request.report != Request::Report::kSummary) {
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
      if (request.report == Request::Report::kTasks) {
        std::printf("  %-24s %-10s %12.3f %12.3f %7.1f%%\n",
                    plan.plan().tasks[task.task].name.c_str(), task.part.c_str(),
                    1e3 * task.predicted, 1e3 * task.measured,
                    100 * (task.predicted / task.measured - 1));
      }
    }
    records.push_back(std::move(record));
  }
  Summary summary = summarize(errors);
  std::printf("%zu plans: mean %.1f %%, median %.1f %%, p90 %.1f %%\n", plans.size(),
              100 * summary.mean, 100 * summary.median, 100 * summary.p90);
  if (!request.json.empty()) {
    std::ofstream file(request.json, std::ios::binary);
    file << records.dump(1) << "\n";
    if (!file.flush()) {
      return makeError(ErrorKind::kIo, "cannot write: ", request.json);
    }
  }
  return {};
}

int finish(const Status &status) {
  if (status.ok()) {
    return 0;
  }
  std::cerr << "headrace-tune: " << status.message() << "\n";
  return status.kind() == ErrorKind::kUser ? 2 : 1;
}

} // namespace

int calibrateCommand(const std::vector<std::string> &arguments) {
  Expected<Request> request = readRequest(arguments);
  return finish(request.ok() ? calibrate(*request) : request.status());
}

int compareCommand(const std::vector<std::string> &arguments) {
  Expected<Request> request = readRequest(arguments);
  return finish(request.ok() ? compare(*request) : request.status());
}

} // namespace headrace::tune
