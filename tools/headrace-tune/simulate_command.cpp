// Reads plan and topology, simulates, prints the report and writes the trace.
#include "tools/headrace-tune/simulate_command.h"

#include "runtime/model/plan/check.h"
#include "runtime/model/plan/json.h"
#include "runtime/model/simulate/plan_graph.h"
#include "runtime/model/simulate/simulate.h"
#include "runtime/model/simulate/trace.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

namespace headrace::tune {
namespace {

struct Request {
  std::string plan;
  std::string topology;
  std::string trace;
  simulate::Workload workload;
};

Expected<double> readNumber(const std::string &text) {
  char *end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(number >= 0) || number > 1e18) {
    return makeError(ErrorKind::kUser, "expected a number from 0 to 1e18, got ", text);
  }
  return number;
}

Expected<Request> readRequest(const std::vector<std::string> &arguments) {
  Request request;
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
    } else if (name == "--trace") {
      request.trace = value;
    } else if (name == "--ranks") {
      HR_ASSIGN_OR_RETURN(double ranks, readNumber(value));
      request.workload.ranks = static_cast<int64_t>(ranks);
    } else if (name == "--rows" && value.find('=') != std::string::npos) {
      size_t equals = value.rfind('=');
      HR_ASSIGN_OR_RETURN(double rows, readNumber(value.substr(equals + 1)));
      request.workload.rows[value.substr(0, equals)] = rows;
    } else {
      return makeError(ErrorKind::kUser, "unexpected argument: ", name, " ", value);
    }
  }
  if (request.plan.empty() || request.topology.empty()) {
    return makeError(ErrorKind::kUser, "simulate needs a plan and --topology\n", kSimulateUsage);
  }
  return request;
}

Expected<plan::Plan> readPlan(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return makeError(ErrorKind::kUser, "cannot open plan: ", path);
  }
  std::ostringstream text;
  text << file.rdbuf();
  HR_ASSIGN_OR_RETURN(plan::Plan plan, plan::fromJson(text.str()));
  HR_RETURN_IF_ERROR(plan::check(plan));
  return plan;
}

Status simulateRequest(const Request &request) {
  HR_ASSIGN_OR_RETURN(plan::Plan plan, readPlan(request.plan));
  std::vector<std::string> shipped = topology::shippedTopologyNames();
  bool known = std::find(shipped.begin(), shipped.end(), request.topology) != shipped.end();
  HR_ASSIGN_OR_RETURN(topology::Topology topology,
                      known ? topology::shippedTopology(request.topology)
                            : topology::readTopologyFile(request.topology));
  HR_ASSIGN_OR_RETURN(simulate::Graph graph, simulate::planGraph(plan, topology, request.workload));
  HR_ASSIGN_OR_RETURN(simulate::Outcome outcome, simulate::simulate(graph));
  std::cout << simulate::report(graph, outcome);
  if (!request.trace.empty()) {
    std::ofstream file(request.trace, std::ios::binary);
    file << simulate::perfettoTrace(graph, outcome);
    if (!file.flush()) {
      return makeError(ErrorKind::kIo, "cannot write trace: ", request.trace);
    }
  }
  return {};
}

} // namespace

int simulateCommand(const std::vector<std::string> &arguments) {
  Expected<Request> request = readRequest(arguments);
  Status status = request.ok() ? simulateRequest(*request) : request.status();
  if (!status.ok()) {
    std::cerr << "headrace-tune: " << status.message() << "\n";
    return 1;
  }
  return 0;
}

} // namespace headrace::tune
