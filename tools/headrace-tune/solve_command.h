// `headrace-tune solve`: the layout solver on a problem in the IOPDDL contest's format.
#pragma once

#include <string>
#include <vector>

namespace headrace::tune {

inline constexpr const char *kSolveUsage =
    "usage: headrace-tune solve FILE [--time SECONDS] [--cpu-time SECONDS] [--seed N] [--rounds N] "
    "[--json OUT]\n"
    "  FILE           a problem in the IOPDDL contest's JSON, - for standard input\n"
    "  --time SECONDS stop after this time (60) even with a gap; it stops by itself at a proven "
    "optimum\n"
    "  --cpu-time SECONDS  the same, but by this process's processor time, which other work on the "
    "machine changes little\n"
    "  --json OUT     the figures and the strategy of every node\n";

/// Prints objective, bound, gap, peak memory and time; progress goes to stderr. Returns the exit
/// status: 0 for a choice that fits, 1 for bad input, 2 if nothing that fits was found.
int solveCommand(const std::vector<std::string> &arguments);

} // namespace headrace::tune
