// The tool's name is that which the process was started by.
#include "tools/command_line/commands.h"

#include "runtime/base/settings.h"
#include "runtime/base/version.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
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
  return text + "\n  --version    the version\n" +
         "  --log LEVEL  of any command: off, error, warning, info or debug, to standard error "
         "(default: off; also HEADRACE_LOG)\n" +
         remark;
}

/// The level of the line, else of the environment; its words are taken out.
Status applyLog(Arguments &arguments) {
  HR_ASSIGN_OR_RETURN(Settings settings, Settings::fromEnvironment());
  for (size_t at = 0; at < arguments.size();) {
    std::string word = arguments[at];
    if (!word.starts_with("--log=") && word != "--log") {
      ++at;
      continue;
    }
    bool apart = word == "--log";
    if (apart && at + 1 == arguments.size()) {
      return makeError(ErrorKind::kUser, "needs a value: --log");
    }
    HR_RETURN_IF_ERROR(settings.set("--log", apart ? arguments[at + 1] : word.substr(6)));
    setenv("HEADRACE_LOG", settings.log.c_str(), 1); // a command may become another program
    auto first = arguments.begin() + static_cast<std::ptrdiff_t>(at);
    arguments.erase(first, first + (apart ? 2 : 1));
  }
  settings.applyLog();
  return {};
}

} // namespace

int exitStatus(const Status &status) {
  if (status.ok()) {
    return 0;
  }
  std::cerr << tool() << ": " << errorKindName(status.kind())
            << " error: " << (status.place().empty() ? "" : status.place() + ": ")
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
    if (Status status = applyLog(arguments); !status.ok()) {
      return exitStatus(status);
    }
    return command.run(arguments);
  }
  return exitStatus(
      makeError(ErrorKind::kUser, "unknown command: ", name, "\nsee ", tool(), " --help"));
}

} // namespace headrace
