// Finds the command `headrace` and becomes it.
#include "tools/headrace-tune/search_command.h"
#include "tools/command_line/commands.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace headrace::tune {
namespace {

/// Beside this tool, as in a build; else what the path says.
std::string packageCommand() {
  std::error_code error;
  std::filesystem::path tool = std::filesystem::read_symlink("/proc/self/exe", error);
  std::filesystem::path beside = tool.parent_path() / "headrace";
  return !error && std::filesystem::exists(beside, error) ? beside.string() : "headrace";
}

} // namespace

int searchCommand(const std::vector<std::string> &arguments) {
  std::vector<std::string> command = {packageCommand(), "tune"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<char *> pointers;
  for (std::string &argument : command) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  ::execvp(pointers.front(), pointers.data());
  // no test: the package is beside it
  return exitStatus(
      makeError(ErrorKind::kIo, "cannot start ", command.front(), ": ", std::strerror(errno)));
}

} // namespace headrace::tune
