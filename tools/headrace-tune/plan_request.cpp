// Parses options, opens plans and topologies.
#include "tools/headrace-tune/plan_request.h"

#include "runtime/model/plan/check.h"
#include "runtime/model/plan/json.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace headrace::tune {
namespace {

Expected<double> readNumber(const std::string &text) {
  char *end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(number >= 0) || number > 1e18) {
    return makeError(ErrorKind::kUser, "expected a number from 0 to 1e18, got ", text);
  }
  return number;
}

Expected<simulate::RankSkew> readSkew(const std::string &text) {
  simulate::RankSkew skew;
  std::istringstream parts(text);
  std::string first;
  std::string count;
  std::string factor;
  if (!std::getline(parts, first, ':') || !std::getline(parts, count, ':')) {
    return makeError(ErrorKind::kUser, "expected a skew such as 3:1:speed=0.5, got ", text);
  }
  HR_ASSIGN_OR_RETURN(double firstRank, readNumber(first));
  HR_ASSIGN_OR_RETURN(double ranks, readNumber(count));
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
    HR_ASSIGN_OR_RETURN(*value, readNumber(factor.substr(equals + 1)));
  }
  return skew;
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

Expected<PlanRequest> readPlanRequest(const std::vector<std::string> &arguments,
                                      const std::set<std::string> &extra) {
  PlanRequest request;
  request.workload.ranks = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &name = arguments[i];
    if (!name.starts_with("--")) {
      request.plan = name;
      continue;
    }
    if (i + 1 == arguments.size()) {
      return makeError(ErrorKind::kUser, "needs a value: ", name);
    }
    const std::string &value = arguments[++i];
    if (name == "--topology") {
      request.topology = value;
    } else if (name == "--trace" && extra.count(name)) {
      request.trace = value;
    } else if (name == "--format" && extra.count(name)) {
      if (value != "text" && value != "json") {
        return makeError(ErrorKind::kUser, "format must be text or json, got ", value);
      }
      request.format = value;
    } else if (name == "--ranks") {
      HR_ASSIGN_OR_RETURN(double ranks, readNumber(value));
      request.workload.ranks = static_cast<int64_t>(ranks);
    } else if (name == "--threads") {
      HR_ASSIGN_OR_RETURN(double threads, readNumber(value));
      request.workload.threads = static_cast<int64_t>(threads);
    } else if (name == "--memory") {
      HR_ASSIGN_OR_RETURN(request.workload.memoryBytes, readNumber(value));
    } else if (name == "--exchange") {
      bool hierarchical = value == exchangeName(cost::ExchangeAlgorithm::kHierarchical);
      if (!hierarchical && value != exchangeName(cost::ExchangeAlgorithm::kFlat)) {
        return makeError(ErrorKind::kUser, "exchange must be flat or hierarchical, got ", value);
      }
      request.workload.exchange = hierarchical ? cost::ExchangeAlgorithm::kHierarchical
                                               : cost::ExchangeAlgorithm::kFlat;
    } else if (name == "--skew") {
      HR_ASSIGN_OR_RETURN(simulate::RankSkew skew, readSkew(value));
      request.workload.skews.push_back(skew);
    } else if (name == "--rows" && value.find('=') != std::string::npos) {
      size_t equals = value.rfind('=');
      HR_ASSIGN_OR_RETURN(double rows, readNumber(value.substr(equals + 1)));
      request.workload.rows[value.substr(0, equals)] = rows;
    } else {
      return makeError(ErrorKind::kUser, "unexpected argument: ", name, " ", value);
    }
  }
  if (request.plan.empty() || request.topology.empty()) {
    return makeError(ErrorKind::kUser, "needs a plan and --topology\n", kPlanOptions);
  }
  return request;
}

Expected<topology::Topology> openTopology(const std::string &name, int64_t ranks) {
  if (name == "machine") {
    return topology::machineTopology(topology::thisMachine(), std::max<int64_t>(ranks, 1));
  }
  std::vector<std::string> shipped = topology::shippedTopologyNames();
  bool known = std::find(shipped.begin(), shipped.end(), name) != shipped.end();
  return known ? topology::shippedTopology(name) : topology::readTopologyFile(name);
}

Expected<PlannedRun> openPlan(const PlanRequest &request) {
  PlannedRun run;
  HR_ASSIGN_OR_RETURN(run.plan, readPlan(request.plan));
  run.workload = request.workload;
  if (run.workload.ranks == 0) {
    run.workload.ranks = 1;
    for (const plan::MeshAxis &axis : run.plan.mesh) {
      run.workload.ranks *= axis.size;
    }
  }
  HR_ASSIGN_OR_RETURN(run.topology, openTopology(request.topology, run.workload.ranks));
  return run;
}

} // namespace headrace::tune
