// `headrace-tune fit`: collectives fitted to a table of measurements.
#pragma once

#include <string>
#include <vector>

namespace headrace::tune {

inline constexpr const char *kFitUsage =
    "usage: headrace-tune fit FILE [--system NAME]\n"
    "  FILE           measurements (schema measurements/1, docs/reference/tuning.md), - for "
    "standard input\n"
    "  --system NAME  print the sources and collectives of a topology file, fitted to that system "
    "alone, and its errors to standard error (default: the errors of all, within the sample and of "
    "what was held out)\n";

/// Prints errors or curves; returns the exit status.
int fitCommand(const std::vector<std::string> &arguments);

} // namespace headrace::tune
