// The arguments of commands that run plans on this machine, and running them.
#pragma once

#include "model/topology/topology.h"
#include "tools/command_line/options.h"
#include "tools/headrace-tune/measured_plan.h"

#include <string>
#include <vector>

namespace headrace::tune {

inline constexpr const char *kMeasureOptions =
    "  PLANS            a folder of plan directories (NAME.plan), or one of them; each is run some "
    "times\n"
    "  --threads N      workers of all ranks together (default: one a core)\n"
    "  --runs N         of each plan in each round; of all the least counts, since the first are "
    "slower (default: 8)\n"
    "  --rounds N       over all plans (default: 6)\n"
    "  --measured FILE  takes what an earlier command measured in place of runs; written if it is "
    "not there (default: none)\n";

struct MeasureRequest {
  MeasureRequest();
  std::string plans;
  std::string topology;
  std::string output;
  std::string measured; ///< a file that keeps what was measured, or none
  int threads;          ///< as many as this machine has cores
  int runs = 8;
  int rounds = 6;
};

/// The options that kMeasureOptions lists, --topology and --output; a command adds its own.
Options measureOptions(MeasureRequest &request, std::string usage);

/// The topology of the request: one of this machine, with a place for a rank on every core. With no
/// name, as it is assumed to be (whatever an earlier calibration found). Refuses other machines'.
Expected<topology::Topology> measuredTopology(const MeasureRequest &request);

/// Runs the plans of these directories as often as the request says, or reads what was measured.
Expected<std::vector<MeasuredPlan>> measureAll(const std::vector<std::string> &directories,
                                               const MeasureRequest &request);

/// Writes the whole file.
Status writeOutput(const std::string &path, const std::string &text);

} // namespace headrace::tune
