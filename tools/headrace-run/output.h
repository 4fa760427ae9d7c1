// What a run of headrace-run reads and writes, on one process or many.
#pragma once

#include "runtime/exec/plan_directory.h"
#include "runtime/exec/table_paths.h"
#include "tools/headrace-run/request.h"

#include <functional>

namespace headrace::run {

/// From now on SIGINT and SIGTERM ask the run to stop.
void watchSignals();
/// Whether one of them came.
bool interrupted();
/// The exit status of a run that ended with an error: by a signal 128 and its number, as shells
/// have it.
int exitStatusOf(const Status &error);

/// Purpose: how far a run is, on a line of the terminal. Not thread-safe.
class ProgressLine {
public:
  /// RunOptions::progress; empty if standard error is no terminal.
  std::function<void(const exec::Progress &)> teller();
  void clear();

private:
  bool shown_ = false;
};

/// Tables of the command line, else the files that the plan was compiled against.
exec::TablePaths tablesOf(const Request &request, const exec::StoredPlan &stored);

/// Errors: kIo, before the run, for a result or a trace that cannot be written.
Status checkOutputs(const Request &request);

/// The result, and what is asked for of explanation, profile and trace.
Status writeOutputs(const exec::RunResult &result, const exec::StoredPlan &stored,
                    const Request &request);

} // namespace headrace::run
