// headrace-run: runs a compiled plan on the ranks of this process and prints or writes its result.
#include "model/plan/explain.h"
#include "model/topology/topology.h"
#include "runtime/base/version.h"
#include "runtime/exec/arrow_export.h"
#include "runtime/exec/inputs.h"
#include "runtime/exec/plan_directory.h"
#include "runtime/exec/result_text.h"
#include "runtime/exec/run_settings.h"
#include "runtime/storage/arrow/ipc_file.h"
#include "runtime/telemetry/telemetry.h"
#include "runtime/transport/fork.h"
#include "tools/command_line/output_file.h"
#include "tools/headrace-run/rank_reports.h"
#include "tools/headrace-run/request.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iostream>
#include <unistd.h>

using namespace headrace;

namespace {

/// Rows shown on standard output; a file gets all.
constexpr uint64_t kShownRows = 100;

volatile std::sig_atomic_t interrupted = 0;
void onSignal(int) { interrupted = 1; }

/// Tables of the command line, else the files that the plan was compiled against.
exec::Bindings bind(const run::Request &request, const exec::StoredPlan &stored,
                    const exec::Session &session) {
  auto storage = std::make_shared<storage::Storage>();
  storage->keepWithin(session.hostTier());
  exec::Bindings bindings;
  for (const plan::Slot &slot : stored.program->plan().slots) {
    std::vector<storage::FileIdentity> manifest;
    if (auto found = stored.manifest.find(slot.name); found != stored.manifest.end()) {
      manifest = found->second;
    }
    std::vector<std::string> paths;
    if (auto found = request.tables.find(slot.name); found != request.tables.end()) {
      paths = found->second;
    } else if (request.tables.empty()) {
      for (const storage::FileIdentity &file : manifest) {
        paths.push_back(file.path);
      }
    }
    if (!paths.empty()) { // exec names a slot that is missing
      bindings.tables[slot.name] = exec::openFiles(storage, paths, manifest);
    }
  }
  return bindings;
}

void writeText(const exec::TableResult &table, const run::Request &request, std::ostream &out) {
  if (request.format == run::Format::kCsv) {
    exec::writeCsv(table, out);
  } else {
    exec::writeAligned(table, request.output.empty() ? kShownRows : UINT64_MAX, out);
  }
  out.flush();
}

Status writeResult(std::shared_ptr<const exec::TableResult> table, const run::Request &request) {
  if (!table) {
    return makeError(ErrorKind::kUnsupported, "only tables are printed, this plan gives tensors");
  }
  if (request.output.empty()) {
    writeText(*table, request, std::cout);
    return std::cout ? Status() : makeError(ErrorKind::kIo, "cannot write to standard output");
  }
  OutputFile file(request.output);
  if (request.format == run::Format::kArrow) {
    ArrowArrayStream stream;
    HR_RETURN_IF_ERROR(exec::exportStream(std::move(table), &stream));
    HR_RETURN_IF_ERROR(storage::writeIpcFile(&stream, file.path()));
  } else {
    std::ofstream out(file.path(), std::ios::binary);
    writeText(*table, request, out);
    out.close();
    if (!out) {
      return makeError(ErrorKind::kIo, "cannot write: ", request.output);
    }
  }
  return file.commit();
}

/// Rank 0 is this process. Each rank has its part of threads and memory.
Expected<exec::RunResult> runProcesses(const run::Request &request, const exec::StoredPlan &stored,
                                       const exec::RunOptions &runOptions) {
  auto ranks = static_cast<int>(runOptions.ranks);
  exec::SessionOptions part = exec::sessionOptions(request.settings);
  part.threads = std::max(1, part.threads / ranks);
  part.memoryBytes /= ranks;
  part.retainedBytes /= ranks;
  HR_ASSIGN_OR_RETURN(run::RankReports reports, run::RankReports::create(ranks));
  Expected<exec::RunResult> result = makeError(ErrorKind::kInternal, "rank 0 did not run");
  HR_RETURN_IF_ERROR(forkRanks(ranks, [&](Transport &transport) {
    exec::Session session(part);
    Expected<exec::RunResult> ran =
        stored.program->runRank(session, bind(request, stored, session), runOptions, transport);
    Status status = ran.status();
    if (transport.rank() == 0) {
      result = std::move(ran);
    } else if (status.ok()) {
      status = reports.put(transport.rank(), *ran);
    }
    return status;
  }));
  if (result.ok()) {
    HR_RETURN_IF_ERROR(reports.addTo(*result));
  }
  return result;
}

/// One plan runs on any number of ranks: what was split by rank and size still is.
Status runPlan(const run::Request &request) {
  request.settings.applyLog();
  HR_ASSIGN_OR_RETURN(exec::StoredPlan stored, exec::loadPlanDirectory(request.plan));
  exec::RunOptions runOptions = exec::runOptions(request.settings);
  if (!request.ranksGiven) {
    for (const plan::MeshAxis &axis : stored.program->plan().mesh) {
      runOptions.ranks *= axis.size;
    }
  }
  if (!request.topology.empty()) {
    HR_ASSIGN_OR_RETURN(topology::Topology topology,
                        topology::openTopology(request.topology, runOptions.ranks));
    runOptions.topologyHash = topology.hash;
  }
  runOptions.interrupted = [] { return interrupted != 0; };
  bool progressShown = false;
  if (::isatty(STDERR_FILENO)) {
    runOptions.progress = [&](const exec::Progress &at) {
      std::cerr << "\r\x1b[K  " << at.tasksEnded << " of " << at.tasks << " tasks, "
                << at.rows / 1'000'000 << " million rows, " << at.running << std::flush;
      progressShown = true;
    };
  }
  auto runThreads = [&] {
    exec::Session session(exec::sessionOptions(request.settings));
    return stored.program->run(session, bind(request, stored, session), runOptions);
  };
  Expected<exec::RunResult> ran = request.placement == run::Placement::kProcesses
                                      ? runProcesses(request, stored, runOptions)
                                      : runThreads();
  if (progressShown) {
    std::cerr << "\r\x1b[K" << std::flush;
  }
  HR_ASSIGN_OR_RETURN(exec::RunResult result, std::move(ran));
  HR_RETURN_IF_ERROR(writeResult(result.table, request));
  if (request.explain == run::ExplainOutput::kOn) {
    const plan::Plan &plan = stored.program->plan();
    if (!plan.program.empty()) {
      std::cerr << plan.program << "\n\n";
    }
    std::cerr << plan::explain(plan, {.measured = &result.profile});
  }
  if (request.profile == run::ProfileOutput::kOn) {
    std::cerr << result.profile.toJson() << '\n';
  }
  return request.settings.trace.empty() ? Status()
                                        : writeTraceFile(request.settings.trace, result.traceJson);
}

} // namespace

/// Exit status: 0; 2 for a user's error; 1 for any other.
int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (const std::string &argument : arguments) {
    if (argument == "--help") {
      std::cout << run::helpText();
      return 0;
    }
    if (argument == "--version") {
      std::cout << "headrace-run " << version() << '\n';
      return 0;
    }
  }
  std::signal(SIGINT, onSignal);
  std::signal(SIGTERM, onSignal);
  Expected<run::Request> request = run::readRequest(arguments);
  Status status = request.ok() ? runPlan(*request) : request.status();
  if (status.ok()) {
    return 0;
  }
  std::cerr << "headrace-run: " << status.toString() << '\n';
  return status.kind() == ErrorKind::kUser || status.kind() == ErrorKind::kUnsupported ? 2 : 1;
}
