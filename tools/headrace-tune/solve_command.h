// `headrace-tune solve`: the layout solver on a problem in the IOPDDL contest's format.
#pragma once

#include <string>
#include <vector>

namespace headrace::tune {

inline constexpr const char *kSolveUsage =
    "usage: headrace-tune solve FILE [--seconds S] [--cpu-seconds S] [--seed N] [--rounds N] "
    "[--output FILE]\n"
    "  FILE             a problem in the IOPDDL contest's JSON, - for standard input\n"
    "  --seconds S      stop after this time even with a gap; it stops by itself at a proven "
    "optimum (default: 60)\n"
    "  --cpu-seconds S  the same, but by this process's processor time, which other work on the "
    "machine changes little (default: no limit)\n"
    "  --seed N         seed of the random steps: equal seeds, equal choices (default: 1)\n"
    "  --rounds N       rounds of pricing, at most (default: 1000000000)\n"
    "  --output FILE    the figures and the strategy of every node, as JSON (default: none)\n";

/// Prints objective, bound, gap, peak memory and time; progress goes to stderr. Returns the exit
/// status: 0 for a choice that fits, 2 for bad input, 3 if nothing that fits was found.
int solveCommand(const std::vector<std::string> &arguments);

} // namespace headrace::tune
