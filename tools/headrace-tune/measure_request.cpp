// Parses options, runs plans in rounds.
#include "tools/headrace-tune/measure_request.h"

#include "model/cost/workers.h"
#include "tools/headrace-tune/measured_file.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace headrace::tune {

MeasureRequest::MeasureRequest() : threads(static_cast<int>(topology::thisMachine().cores)) {}

Options measureOptions(MeasureRequest &request, std::string usage) {
  Options options(std::move(usage));
  options.word("a folder of plans", request.plans)
      .path("--topology", request.topology)
      .path("--output", request.output)
      .path("--measured", request.measured)
      .count("--threads", request.threads, 1, 65536)
      .count("--runs", request.runs, 1, 1e6)
      .count("--rounds", request.rounds, 1, 1e6);
  return options;
}

Expected<topology::Topology> measuredTopology(const MeasureRequest &request) {
  topology::MachineSize machine = topology::thisMachine();
  if (request.topology.empty()) {
    return topology::machineTopology(machine, machine.cores);
  }
  HR_ASSIGN_OR_RETURN(topology::Topology topology,
                      topology::openTopology(request.topology, machine.cores));
  HR_RETURN_IF_ERROR(cost::checkIsThisMachine(topology));
  return topology;
}

namespace {

// In rounds over all plans: a slow moment of the machine then falls on some runs of each, and not
// on all of some.
Expected<std::vector<MeasuredPlan>> runAll(const std::vector<std::string> &directories,
                                           const MeasureRequest &request) {
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

} // namespace

Expected<std::vector<MeasuredPlan>> measureAll(const std::vector<std::string> &directories,
                                               const MeasureRequest &request) {
  std::error_code error;
  if (!request.measured.empty() && std::filesystem::exists(request.measured, error)) {
    return readMeasured(request.measured, directories);
  }
  HR_ASSIGN_OR_RETURN(std::vector<MeasuredPlan> measured, runAll(directories, request));
  if (!request.measured.empty()) {
    HR_RETURN_IF_ERROR(writeMeasured(request.measured, measured));
  }
  return measured;
}

Status writeOutput(const std::string &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  return file.flush() ? Status() : makeError(ErrorKind::kIo, "cannot write: ", path);
}

} // namespace headrace::tune
