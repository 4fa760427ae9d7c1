// headrace-topo: writes, imports, checks, draws and compares topology files.
#include "tools/headrace-topo/commands.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace {

using namespace headrace;

constexpr int kDiffers = 1;
constexpr int kFailed = 1;
constexpr int kWrongUse = 2; // or a file that is wrong

/// Errors of diff are never mistaken for a difference.
int diffStatus(const topo::Arguments &arguments, Status &status) {
  Expected<topo::Comparison> done = topo::diffCommand(arguments);
  status = done.status();
  return !done.ok() ? kWrongUse : *done == topo::Comparison::kDiffers ? kDiffers : 0;
}

template <Status (*command)(const topo::Arguments &)>
int exitStatus(const topo::Arguments &arguments, Status &status) {
  status = command(arguments);
  return status.ok() ? 0 : status.kind() == ErrorKind::kUser ? kWrongUse : kFailed;
}

struct Command {
  const char *name;
  const char *summary;
  const char *usage;
  int (*run)(const topo::Arguments &, Status &);
};

constexpr Command kCommands[] = {
    {"detect", "write the topology of this machine, measured", topo::kDetectUsage,
     exitStatus<topo::detectCommand>},
    {"import", "make one of files of NCCL, hwloc or Slurm", topo::kImportUsage,
     exitStatus<topo::importCommand>},
    {"show", "draw one, as text or as a picture", topo::kShowUsage, exitStatus<topo::showCommand>},
    {"list", "name those that are shipped", topo::kListUsage, exitStatus<topo::listCommand>},
    {"diff", "what differs between two", topo::kDiffUsage, diffStatus},
    {"check", "read and check some", topo::kCheckUsage, exitStatus<topo::checkCommand>},
};

std::string usage() {
  std::string text =
      "usage: headrace-topo COMMAND …     (headrace-topo COMMAND --help says more)\n";
  for (const Command &command : kCommands) {
    char line[128];
    std::snprintf(line, sizeof line, "  %-8s %s\n", command.name, command.summary);
    text += line;
  }
  return text + "a topology is a file, the name of a shipped one, or machine\n";
}

} // namespace

int main(int argc, char **argv) {
  topo::Arguments words(argv + 1, argv + argc);
  auto asksHelp = [](const std::string &word) { return word == "--help" || word == "-h"; };
  if (words.empty() || asksHelp(words.front())) {
    (words.empty() ? std::cerr : std::cout) << usage();
    return words.empty() ? kWrongUse : 0;
  }
  std::string name = words.front();
  words.erase(words.begin());
  for (const Command &command : kCommands) {
    if (name != command.name) {
      continue;
    }
    if (std::any_of(words.begin(), words.end(), asksHelp)) {
      std::cout << command.usage;
      return 0;
    }
    Status status;
    int code = command.run(words, status);
    if (!status.ok()) {
      std::cerr << "headrace-topo: " << (status.place().empty() ? "" : status.place() + ": ")
                << status.message() << "\n";
    }
    return code;
  }
  std::cerr << "headrace-topo: unknown command: " << name << "\nsee headrace-topo --help\n";
  return kWrongUse;
}
