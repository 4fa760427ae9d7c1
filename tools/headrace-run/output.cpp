// Results, tables of what was measured, and a line of progress.
#include "tools/headrace-run/output.h"

#include "model/plan/explain.h"
#include "runtime/base/writable_file.h"
#include "runtime/exec/arrow_export.h"
#include "runtime/exec/result_text.h"
#include "runtime/storage/arrow/ipc_file.h"
#include "runtime/telemetry/telemetry.h"
#include "tools/command_line/output_file.h"

#include <csignal>
#include <fstream>
#include <iostream>
#include <unistd.h>

namespace headrace::run {
namespace {

/// Rows shown on standard output; a file gets all.
constexpr uint64_t kShownRows = 100;

volatile std::sig_atomic_t signalled = 0;
void onSignal(int number) { signalled = number; }

Status writeText(const exec::ResultRows &table, const Request &request, std::ostream &out) {
  if (request.format == Format::kCsv) {
    HR_RETURN_IF_ERROR(exec::writeCsv(table, out));
  } else {
    HR_RETURN_IF_ERROR(
        exec::writeAligned(table, request.output.empty() ? kShownRows : UINT64_MAX, out));
  }
  out.flush();
  return {};
}

Status writeResult(std::shared_ptr<const exec::ResultRows> table, const Request &request) {
  if (!table) {
    return makeError(ErrorKind::kUnsupported, "only tables are printed, this plan gives tensors");
  }
  if (request.output.empty()) {
    HR_RETURN_IF_ERROR(writeText(*table, request, std::cout));
    return std::cout ? Status() : makeError(ErrorKind::kIo, "cannot write to standard output");
  }
  OutputFile file(request.output);
  if (request.format == Format::kArrow) {
    ArrowArrayStream stream;
    HR_RETURN_IF_ERROR(exec::exportStream(std::move(table), &stream));
    HR_RETURN_IF_ERROR(storage::writeIpcFile(&stream, file.path()));
  } else {
    std::ofstream out(file.path(), std::ios::binary);
    HR_RETURN_IF_ERROR(writeText(*table, request, out));
    out.close();
    if (!out) {
      return makeError(ErrorKind::kIo, "cannot write: ", request.output);
    }
  }
  return file.commit();
}

} // namespace

void watchSignals() {
  std::signal(SIGINT, onSignal);
  std::signal(SIGTERM, onSignal);
}

bool interrupted() { return signalled != 0; }

int exitStatusOf(const Status &error) {
  if (interrupted()) {
    return 128 + signalled;
  }
  return error.kind() == ErrorKind::kUser || error.kind() == ErrorKind::kUnsupported ? 2 : 1;
}

std::function<void(const exec::Progress &)> ProgressLine::teller() {
  if (!::isatty(STDERR_FILENO)) {
    return {};
  }
  return [this](const exec::Progress &at) {
    std::cerr << "\r\x1b[K  " << at.tasksEnded << " of " << at.tasks << " tasks, "
              << at.rows / 1'000'000 << " million rows, " << at.running << std::flush;
    shown_ = true;
  };
}

void ProgressLine::clear() {
  if (shown_) {
    std::cerr << "\r\x1b[K" << std::flush;
  }
  shown_ = false;
}

exec::TablePaths tablesOf(const Request &request, const exec::StoredPlan &stored) {
  exec::TablePaths tables;
  for (const plan::Slot &slot : stored.program->plan().slots) {
    std::vector<std::string> paths;
    if (auto given = request.tables.find(slot.name); given != request.tables.end()) {
      paths = given->second;
    } else if (auto known = stored.manifest.find(slot.name);
               known != stored.manifest.end() && request.tables.empty()) {
      for (const storage::FileIdentity &file : known->second) {
        paths.push_back(file.path);
      }
    }
    if (!paths.empty()) { // exec names a slot that is missing
      tables[slot.name] = paths;
    }
  }
  return tables;
}

Status checkOutputs(const Request &request) {
  if (const std::string &output = request.output; !output.empty()) {
    HR_RETURN_IF_ERROR(checkWritable(output, "the result").at("--output"));
  }
  if (const std::string &trace = request.settings.trace; !trace.empty()) {
    HR_RETURN_IF_ERROR(checkWritable(trace, "the trace").at("--trace"));
  }
  return {};
}

Status writeOutputs(const exec::RunResult &result, const exec::StoredPlan &stored,
                    const Request &request) {
  HR_RETURN_IF_ERROR(writeResult(result.table, request));
  if (request.explain == ExplainOutput::kOn) {
    const plan::Plan &plan = stored.program->plan();
    if (!plan.program.empty()) {
      std::cerr << plan.program << "\n\n";
    }
    std::cerr << plan::explain(plan, {.measured = &result.profile});
  }
  if (request.profile == ProfileOutput::kOn) {
    std::cerr << result.profile.toJson() << '\n';
  }
  return request.settings.trace.empty() ? Status()
                                        : writeTraceFile(request.settings.trace, result.traceJson);
}

} // namespace headrace::run
