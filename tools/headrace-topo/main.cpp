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
          {"detect", "measure this machine and write its topology", topo::kDetectUsage,
           run<topo::detectCommand>},
          {"import", "convert a file of NCCL, hwloc or Slurm to a topology", topo::kImportUsage,
           run<topo::importCommand>},
          {"show", "draw a topology, as text or as a picture", topo::kShowUsage,
           run<topo::showCommand>},
          {"list", "list the shipped topologies", topo::kListUsage, run<topo::listCommand>},
          {"diff", "show how two topologies differ", topo::kDiffUsage, runDiff},
          {"check", "check topology files", topo::kCheckUsage, run<topo::checkCommand>},
      },
      "A topology is given as a file, as the name of a shipped one, or as `machine`, which is this "
      "one.\n",
      argc, argv);
}
