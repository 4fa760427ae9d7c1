// `headrace-tune calibrate` and `headrace-tune compare`: the model of tasks fitted to this machine
// by running plans, and predictions beside measurements.
#pragma once

#include <string>
#include <vector>

namespace headrace::tune {

inline constexpr const char *kCalibrateUsage =
    "usage: headrace-tune calibrate PLANS --output FILE [--topology FILE] [--threads N]\n"
    "  PLANS            a folder of plan directories (NAME.plan); each is run some times\n"
    "  --output FILE    the topology with what work takes on this machine\n"
    "  --topology FILE  the topology to fill in (default: this machine)\n"
    "  --threads N      workers of all ranks together (default: one a core)\n"
    "  --runs N         of each plan in each round (default 8); of all the least counts\n"
    "  --rounds N       over all plans (default 4)\n"
    "usage: headrace-tune compare PLANS --topology FILE [--threads N] [--runs N] [--rounds N]\n"
    "                             [--json FILE] [--tasks | --quiet]\n"
    "  runs and simulates each plan with the rows that it had\n";

int calibrateCommand(const std::vector<std::string> &arguments);
int compareCommand(const std::vector<std::string> &arguments);

} // namespace headrace::tune
