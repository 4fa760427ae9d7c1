// headrace-tune: fits the cost model, prices, simulates and measures plans, searches for quicker
// ones, and solves layout problems. Each command is a file of its own.
#include "tools/command_line/commands.h"
#include "tools/headrace-tune/calibrate_command.h"
#include "tools/headrace-tune/compare_command.h"
#include "tools/headrace-tune/cost_command.h"
#include "tools/headrace-tune/fit_command.h"
#include "tools/headrace-tune/search_command.h"
#include "tools/headrace-tune/simulate_command.h"
#include "tools/headrace-tune/solve_command.h"

int main(int argc, char **argv) {
  using namespace headrace;
  return runCommand(
      {
          {"search", "look for a quicker plan of a program, and keep it", "", tune::searchCommand},
          {"cost", "what a plan costs on a topology, in parts", tune::costUsage(),
           tune::costCommand},
          {"simulate", "the timeline of a plan on a topology", tune::simulateUsage(),
           tune::simulateCommand},
          {"calibrate", "fit the model of tasks to this machine", tune::calibrateUsage(),
           tune::calibrateCommand},
          {"compare", "predictions beside measurements of plans", tune::compareUsage(),
           tune::compareCommand},
          {"fit", "fit collectives to measurements", tune::kFitUsage, tune::fitCommand},
          {"solve", "solve a layout problem of the IOPDDL contest", tune::kSolveUsage,
           tune::solveCommand},
      },
      "", argc, argv);
}
