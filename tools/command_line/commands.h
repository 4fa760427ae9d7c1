// A tool that is several commands: help, dispatch and exit statuses.
#pragma once

#include "runtime/base/status.h"

#include <string>
#include <vector>

namespace headrace {

using Arguments = std::vector<std::string>;

inline constexpr int kFailed = 1;
inline constexpr int kWrongUse = 2; // or a file that is wrong or not supported

/// The exit status of a command: 0, 2 for a user's error and what is not supported, 1 for others;
/// says on standard error which tool failed, where and why.
int exitStatus(const Status &status);

struct Command {
  const char *name;
  const char *summary;
  std::string usage;             ///< empty: the command knows --help itself
  int (*run)(const Arguments &); ///< returns the exit status
};

/// Runs the command that the first argument names, or prints help. `remark` ends the tool's help.
int runCommand(const std::vector<Command> &commands, const std::string &remark, int argc,
               char **argv);

} // namespace headrace
