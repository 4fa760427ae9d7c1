// The tool's name is that which the process was started by.
#include "tools/command_line/commands.h"

#include "runtime/base/version.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iostream>

namespace headrace {
namespace {

std::string tool() { return program_invocation_short_name; }

bool asksHelp(const std::string &word) { return word == "--help" || word == "-h"; }

std::string usageOf(const std::vector<Command> &commands, const std::string &remark) {
  std::string text =
      "usage: " + tool() + " COMMAND …     (" + tool() + " COMMAND --help says more)\n";
  for (const Command &command : commands) {
    char line[128];
    std::snprintf(line, sizeof line, "  %-10s %s\n", command.name, command.summary);
    text += line;
  }
  return text + remark;
}

} // namespace

int exitStatus(const Status &status) {
  if (status.ok()) {
    return 0;
  }
  std::cerr << tool() << ": " << (status.place().empty() ? "" : status.place() + ": ")
            << status.message() << "\n";
  bool wrong = status.kind() == ErrorKind::kUser || status.kind() == ErrorKind::kUnsupported;
  return wrong ? kWrongUse : kFailed;
}

int runCommand(const std::vector<Command> &commands, const std::string &remark, int argc,
               char **argv) {
  Arguments arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    std::cerr << usageOf(commands, remark);
    return kWrongUse;
  }
  std::string name = arguments.front();
  if (asksHelp(name)) {
    std::cout << usageOf(commands, remark);
    return 0;
  }
  if (name == "--version") {
    std::cout << tool() << " " << version() << "\n";
    return 0;
  }
  arguments.erase(arguments.begin());
  for (const Command &command : commands) {
    if (name != command.name) {
      continue;
    }
    if (!command.usage.empty() && std::any_of(arguments.begin(), arguments.end(), asksHelp)) {
      std::cout << command.usage;
      return 0;
    }
    return command.run(arguments);
  }
  return exitStatus(
      makeError(ErrorKind::kUser, "unknown command: ", name, "\nsee ", tool(), " --help"));
}

} // namespace headrace
