// What the command line of headrace-run asks for.
#pragma once

#include "runtime/base/settings.h"
#include "runtime/exec/table_paths.h"

#include <map>
#include <string>
#include <vector>

namespace headrace::run {

enum class Format {
  kOfOutput, ///< by the ending of the file's name; readRequest() decides
  kTable,
  kCsv,
  kArrow,
};
enum class ProfileOutput { kOff, kOn };
enum class ExplainOutput { kOff, kOn };
/// Where the ranks run.
enum class Placement {
  kThreads,   ///< in this process
  kProcesses, ///< each in its own, over sockets
};

struct Request {
  std::string plan;
  exec::TablePaths tables;
  Format format = Format::kOfOutput;
  std::string output; ///< empty: standard output
  ProfileOutput profile = ProfileOutput::kOff;
  ExplainOutput explain = ExplainOutput::kOff;
  Placement placement = Placement::kThreads;
  int repeat = 1;       ///< runs in one session
  std::string launcher; ///< that has started this process as one of its ranks; empty: none
  std::string topology; ///< that the plan must be for, or any; empty: what is known of the ranks
  Settings settings;
  /// Whether the line or the environment says how many ranks; else as many as the plan was made
  /// for.
  bool ranksGiven = false;
};

/// Every setting is a flag. Errors: kUser for what is wrong on the line; kIo for a directory of
/// tables that cannot be read.
Expected<Request> readRequest(const std::vector<std::string> &arguments);

/// What --help prints.
std::string helpText();

} // namespace headrace::run
