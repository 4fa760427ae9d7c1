// Fits, and prints a table of errors or the fitted curves.
#include "tools/headrace-tune/fit_command.h"

#include "model/cost/accuracy.h"
#include "tools/command_line/commands.h"
#include "tools/command_line/options.h"
#include "tools/headrace-tune/input_text.h"

#include <iostream>
#include <set>

namespace headrace::tune {
namespace {

constexpr double kMebibyte = 1 << 20;

void report(const cost::Measurements &measurements) {
  std::vector<cost::AccuracyRow> rows = cost::accuracyWithinSizes(measurements);
  auto take = [&](std::vector<cost::AccuracyRow> more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  take(cost::accuracyOfNodes(measurements, 4));
  take(cost::accuracyOfRanks(measurements, 16, 32, 16 * kMebibyte));
  take(cost::accuracyOfSystems(measurements, kMebibyte));
  std::cout << cost::accuracyTable(rows);
}

std::string systemsOf(const cost::Measurements &measurements) {
  std::set<std::string> systems;
  for (const auto &[system, link] : measurements.linkBandwidth) {
    systems.insert(system);
  }
  for (const cost::Measurement &point : measurements.points) {
    systems.insert(point.system);
  }
  std::string names;
  for (const std::string &system : systems) {
    names += (names.empty() ? "" : ", ") + system;
  }
  return names;
}

Status fit(const std::vector<std::string> &arguments) {
  std::string path;
  std::string system;
  HR_RETURN_IF_ERROR(
      Options(kFitUsage).word("a file", path).text("--system", system).read(arguments));
  HR_ASSIGN_OR_RETURN(std::string text, readInput(path, "measurements"));
  Expected<cost::Measurements> measurements = cost::parseMeasurements(text);
  if (!measurements.ok()) {
    return makeError(ErrorKind::kUser, path, ": ", measurements.status().message());
  }
  if (system.empty()) {
    report(*measurements);
    return {};
  }
  std::vector<topology::CollectiveFit> fits = cost::fitSystem(*measurements, system);
  if (fits.empty()) {
    fits = cost::fitFromLink(*measurements, system, kMebibyte);
  }
  if (fits.empty()) {
    return makeError(ErrorKind::kUser, "the file has measurements or the link of ",
                     systemsOf(*measurements), ", got --system ", system);
  }
  std::cerr << cost::accuracyTable(cost::accuracyOfSystem(*measurements, system));
  std::cout << cost::collectivesJson(*measurements, fits);
  return {};
}

} // namespace

int fitCommand(const std::vector<std::string> &arguments) { return exitStatus(fit(arguments)); }

} // namespace headrace::tune
