// Parses options, opens plans and topologies.
#include "tools/headrace-tune/plan_request.h"

#include "runtime/model/plan/check.h"
#include "runtime/model/plan/json.h"
#include "tools/headrace-tune/predicted_plan.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace headrace::tune {
namespace {

constexpr double kNumberMax = 1e18;

Expected<simulate::RankSkew> readSkew(const std::string &text) {
  simulate::RankSkew skew;
  std::istringstream parts(text);
  std::string first;
  std::string count;
  std::string factor;
  if (!std::getline(parts, first, ':') || !std::getline(parts, count, ':')) {
    return makeError(ErrorKind::kUser, "expected a skew such as 3:1:speed=0.5, got ", text);
  }
  HR_ASSIGN_OR_RETURN(double firstRank, parseCount("--skew", first, 0, kNumberMax));
  HR_ASSIGN_OR_RETURN(double ranks, parseCount("--skew", count, 1, kNumberMax));
  skew.first = static_cast<int64_t>(firstRank);
  skew.count = static_cast<int64_t>(ranks);
  while (std::getline(parts, factor, ',')) {
    size_t equals = factor.find('=');
    std::string name = factor.substr(0, equals);
    double *value = name == "speed"  ? &skew.speed
                    : name == "rows" ? &skew.rows
                    : name == "keys" ? &skew.keys
                                     : nullptr;
    if (!value || equals == std::string::npos) {
      return makeError(ErrorKind::kUser, "a skew has speed, rows and keys, got ", factor);
    }
    HR_ASSIGN_OR_RETURN(*value, parseNumber("--skew", factor.substr(equals + 1), 0, kNumberMax));
  }
  return skew;
}

/// Rows are given of what the plan has.
Status checkRows(const plan::Plan &plan, const std::map<std::string, double> &rows) {
  std::set<std::string> known;
  for (const plan::Slot &slot : plan.slots) {
    known.insert(slot.name);
  }
  for (const plan::Stream &stream : plan.streams) {
    known.insert(stream.name);
  }
  for (const auto &[name, count] : rows) {
    if (!known.contains(name)) {
      std::string names;
      for (const std::string &each : known) {
        names += (names.empty() ? "" : ", ") + each;
      }
      return makeError(ErrorKind::kUser, "--rows: the plan has the slots and streams ", names,
                       ", got ", name);
    }
  }
  return {};
}

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
      .text("--topology", request.topology)
      .count("--ranks", workload.ranks, 1, kNumberMax)
      .count("--threads", workload.threads, 1, kNumberMax)
      .number("--memory", workload.memoryBytes, 1, kNumberMax)
      .value("--skew",
             [&workload](const std::string &given) -> Status {
               HR_ASSIGN_OR_RETURN(simulate::RankSkew skew, readSkew(given));
               workload.skews.push_back(skew);
               return {};
             })
      .value("--rows",
             [&workload](const std::string &given) -> Status {
               size_t equals = given.rfind('=');
               if (equals == std::string::npos) {
                 return makeError(ErrorKind::kUser, "--rows needs NAME=ROWS, got ", given);
               }
               HR_ASSIGN_OR_RETURN(workload.rows[given.substr(0, equals)],
                                   parseNumber("--rows", given.substr(equals + 1), 0, kNumberMax));
               return {};
             })
      .choice("--exchange", workload.exchange,
              {{"flat", cost::ExchangeAlgorithm::kFlat},
               {"hierarchical", cost::ExchangeAlgorithm::kHierarchical}});
  return options;
}

Expected<PlannedRun> openPlan(const PlanRequest &request) {
  if (request.topology.empty()) {
    return makeError(ErrorKind::kUser, "needs --topology\n", request.usage);
  }
  PlannedRun run;
  HR_ASSIGN_OR_RETURN(run.plan, readPlan(request.plan));
  HR_RETURN_IF_ERROR(checkRows(run.plan, request.workload.rows));
  run.workload = request.workload;
  if (run.workload.ranks == 0) {
    run.workload.ranks = 1;
    for (const plan::MeshAxis &axis : run.plan.mesh) {
      run.workload.ranks *= axis.size;
    }
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
