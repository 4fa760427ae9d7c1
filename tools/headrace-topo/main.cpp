// headrace-topo: writes, imports, checks, draws and compares topology files.
#include "tools/headrace-topo/commands.h"

namespace {

using namespace headrace;

template <Status (*command)(const Arguments &)> int run(const Arguments &arguments) {
  return exitStatus(command(arguments));
}

/// 0, or 1 if anything differs. Errors are never mistaken for a difference.
int runDiff(const Arguments &arguments) {
  constexpr int kDiffers = 1;
  Expected<topo::Comparison> done = topo::diffCommand(arguments);
  if (!done.ok()) {
    exitStatus(done.status());
    return kWrongUse;
  }
  return *done == topo::Comparison::kDiffers ? kDiffers : 0;
}

} // namespace

int main(int argc, char **argv) {
  return runCommand(
      {
          {"detect", "write the topology of this machine, measured", topo::kDetectUsage,
           run<topo::detectCommand>},
          {"import", "make one of files of NCCL, hwloc or Slurm", topo::kImportUsage,
           run<topo::importCommand>},
          {"show", "draw one, as text or as a picture", topo::kShowUsage, run<topo::showCommand>},
          {"list", "name those that are shipped", topo::kListUsage, run<topo::listCommand>},
          {"diff", "what differs between two", topo::kDiffUsage, runDiff},
          {"check", "read and check some", topo::kCheckUsage, run<topo::checkCommand>},
      },
      "a topology is a file, the name of a shipped one, or machine\n", argc, argv);
}
