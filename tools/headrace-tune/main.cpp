// headrace-tune: fits the cost model, prices, simulates and measures plans, searches for quicker
// ones, and solves layout problems. Each command is a file of its own.
#include "tools/headrace-tune/calibrate_command.h"
#include "tools/headrace-tune/compare_command.h"
#include "tools/headrace-tune/cost_command.h"
#include "tools/headrace-tune/fit_command.h"
#include "tools/headrace-tune/search_command.h"
#include "tools/headrace-tune/simulate_command.h"
#include "tools/headrace-tune/solve_command.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace headrace;

using Arguments = std::vector<std::string>;

struct Command {
  const char *name;
  const char *summary;
  std::string usage; ///< empty: it knows --help itself
  int (*run)(const Arguments &);
};

std::vector<Command> commands() {
  return {
      {"search", "look for a quicker plan of a program, and keep it", "", tune::searchCommand},
      {"cost", "what a plan costs on a topology, in parts", tune::costUsage(), tune::costCommand},
      {"simulate", "the timeline of a plan on a topology", tune::simulateUsage(),
       tune::simulateCommand},
      {"calibrate", "fit the model of tasks to this machine", tune::calibrateUsage(),
       tune::calibrateCommand},
      {"compare", "predictions beside measurements of plans", tune::compareUsage(),
       tune::compareCommand},
      {"fit", "fit collectives to measurements", tune::kFitUsage, tune::fitCommand},
      {"solve", "solve a layout problem of the IOPDDL contest", tune::kSolveUsage,
       tune::solveCommand},
  };
}

std::string usage() {
  std::string text =
      "usage: headrace-tune COMMAND …     (headrace-tune COMMAND --help says more)\n";
  for (const Command &command : commands()) {
    char line[128];
    std::snprintf(line, sizeof line, "  %-10s %s\n", command.name, command.summary);
    text += line;
  }
  return text;
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments(argv + 1, argv + argc);
  auto asksHelp = [](const std::string &word) { return word == "--help" || word == "-h"; };
  if (arguments.empty() || asksHelp(arguments.front())) {
    (arguments.empty() ? std::cerr : std::cout) << usage();
    return arguments.empty() ? 2 : 0;
  }
  std::string name = arguments.front();
  arguments.erase(arguments.begin());
  for (const Command &command : commands()) {
    if (name != command.name) {
      continue;
    }
    if (!command.usage.empty() && std::any_of(arguments.begin(), arguments.end(), asksHelp)) {
      std::cout << command.usage;
      return 0;
    }
    return command.run(arguments);
  }
  std::cerr << "headrace-tune: unknown command: " << name << "\n" << usage();
  return 2;
}
