// headrace-tune: `fit FILE` fits collectives to a table of measurements and reports in-sample and
// held-out errors; `fit FILE --system NAME` prints the fitted `collectives` of a topology file.
#include "runtime/model/cost/accuracy.h"
#include "tools/headrace-tune/calibrate_command.h"
#include "tools/headrace-tune/cost_command.h"
#include "tools/headrace-tune/input_text.h"
#include "tools/headrace-tune/plan_request.h"
#include "tools/headrace-tune/search_command.h"
#include "tools/headrace-tune/simulate_command.h"
#include "tools/headrace-tune/solve_command.h"

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace headrace;

constexpr const char *kUsage =
    "usage: headrace-tune fit FILE [--system NAME]\n"
    "  FILE           measurements (schema measurements/1), - for standard input\n"
    "  --system NAME  print the collectives of a topology file, fitted to that system alone\n";

// The systems whose ranks talk through NVLink switches: one predicts another from its link rate.
const std::vector<std::string> kSwitched = {"A100-SXM 2.27.3", "H100-SXM 2.27.3", "H100-SXM 2.29.2",
                                            "B200 2.29.2", "GB200 2.29.2"};
constexpr double kMebibyte = 1 << 20;

int fail(const std::string &message) {
  std::cerr << "headrace-tune: " << message << "\n";
  return 1;
}

void report(const cost::Measurements &measurements) {
  std::vector<cost::AccuracyRow> rows = cost::accuracyWithinSizes(measurements);
  auto take = [&](std::vector<cost::AccuracyRow> more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  take(cost::accuracyOfNodes(measurements, 4));
  take(cost::accuracyOfRanks(measurements, 16, 32, 16 * kMebibyte));
  take(cost::accuracyOfSystems(measurements, kSwitched, kMebibyte));
  std::cout << cost::accuracyTable(rows);
}

int fit(const std::vector<std::string> &arguments) {
  std::string path;
  std::string system;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--system" && i + 1 < arguments.size()) {
      system = arguments[++i];
    } else if (path.empty()) {
      path = arguments[i];
    } else {
      return fail("unexpected argument: " + arguments[i]);
    }
  }
  if (path.empty()) {
    return fail(std::string("fit needs a file\n") + kUsage);
  }
  Expected<std::string> text = tune::readInput(path, "measurements");
  if (!text.ok()) {
    return fail(text.status().message());
  }
  Expected<cost::Measurements> measurements = cost::parseMeasurements(*text);
  if (!measurements.ok()) {
    return fail(path + ": " + measurements.status().message());
  }
  if (system.empty()) {
    report(*measurements);
    return 0;
  }
  std::vector<topology::CollectiveFit> fits = cost::fitSystem(*measurements, system);
  if (fits.empty()) {
    return fail("no measurements of system: " + system);
  }
  std::cout << cost::collectivesJson(fits);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments[0] == "--help") {
    std::cout << kUsage << tune::kSimulateUsage << tune::kCostUsage << tune::kPlanOptions
              << tune::kSearchUsage << tune::kCalibrateUsage << tune::kSolveUsage;
    return arguments.empty() ? 1 : 0;
  }
  if (arguments[0] == "fit") {
    return fit({arguments.begin() + 1, arguments.end()});
  }
  if (arguments[0] == "simulate") {
    return tune::simulateCommand({arguments.begin() + 1, arguments.end()});
  }
  if (arguments[0] == "solve") {
    return tune::solveCommand({arguments.begin() + 1, arguments.end()});
  }
  if (arguments[0] == "cost") {
    return tune::costCommand({arguments.begin() + 1, arguments.end()});
  }
  if (arguments[0] == "search") {
    return tune::searchCommand({arguments.begin() + 1, arguments.end()});
  }
  if (arguments[0] == "calibrate") {
    return tune::calibrateCommand({arguments.begin() + 1, arguments.end()});
  }
  if (arguments[0] == "compare") {
    return tune::compareCommand({arguments.begin() + 1, arguments.end()});
  }
  return fail("unknown command: " + arguments[0] + "\n" + kUsage);
}
