// The whole of headrace-run but for the driver of its GPUs.
#include "tools/headrace-run/run_main.h"

#include "model/plan/mesh.h"
#include "runtime/base/version.h"
#include "runtime/exec/inputs.h"
#include "runtime/exec/plan_directory.h"
#include "runtime/exec/run_settings.h"
#include "runtime/storage/files/store_limits.h"
#include "runtime/transport/fork.h"
#include "tools/headrace-run/launched.h"
#include "tools/headrace-run/output.h"
#include "tools/headrace-run/plan_fit.h"
#include "tools/headrace-run/rank_reports.h"
#include "tools/headrace-run/request.h"

#include <algorithm>
#include <chrono>
#include <iostream>

using namespace headrace;

namespace {

exec::Bindings bind(const run::Request &request, const exec::StoredPlan &stored,
                    const exec::Session &session) {
  auto storage = std::make_shared<storage::Storage>();
  storage->keepWithin(session.hostTier());
  storage::setStoreLimits(request.settings);
  exec::Bindings bindings;
  for (auto &[slot, paths] : run::tablesOf(request, stored)) {
    auto manifest = stored.manifest.find(slot);
    bindings.tables[slot] =
        exec::openFiles(storage, paths,
                        manifest == stored.manifest.end() ? std::vector<storage::FileIdentity>()
                                                          : manifest->second);
  }
  return bindings;
}

/// Rank 0 is this process. Each rank has its part of threads and memory.
Expected<exec::RunResult> runProcesses(const run::Request &request, const exec::StoredPlan &stored,
                                       const exec::RunOptions &runOptions,
                                       const cuda::FindDriver &driver) {
  auto ranks = static_cast<int>(runOptions.ranks);
  exec::SessionOptions part = exec::sessionOptions(request.settings);
  part.threads = std::max(1, part.threads / ranks);
  part.memoryBytes /= ranks;
  part.retainedBytes /= ranks;
  HR_ASSIGN_OR_RETURN(run::RankReports reports, run::RankReports::create(ranks));
  Expected<exec::RunResult> result = makeError(ErrorKind::kInternal, "rank 0 did not run");
  HR_RETURN_IF_ERROR(forkRanks(ranks, [&](Transport &transport) -> Status {
    exec::SessionOptions own = part;
    HR_ASSIGN_OR_RETURN(
        own.accelerator, // by each process: none is used behind a fork
        cuda::openAccelerator(request.settings.device, request.settings.deviceMemory, driver));
    exec::Session session(own);
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

Status runPlan(const run::Request &request, const cuda::FindDriver &driver) {
  HR_RETURN_IF_ERROR(run::checkOutputs(request));
  HR_ASSIGN_OR_RETURN(exec::StoredPlan stored, exec::loadPlanDirectory(request.plan));
  exec::RunOptions runOptions = exec::runOptions(request.settings);
  const plan::Plan &plan = stored.program->plan();
  if (!request.ranksGiven) {
    runOptions.ranks = static_cast<uint32_t>(plan::rankCount(plan));
  }
  HR_ASSIGN_OR_RETURN(runOptions.topologyHash, run::topologyToRunOn(request, plan, runOptions.ranks,
                                                                    run::Ranks::kOfThisMachine));
  runOptions.interrupted = run::interrupted;
  run::ProgressLine line;
  runOptions.progress = line.teller();
  auto runThreads = [&]() -> Expected<exec::RunResult> {
    exec::SessionOptions options = exec::sessionOptions(request.settings);
    HR_ASSIGN_OR_RETURN(
        options.accelerator,
        cuda::openAccelerator(request.settings.device, request.settings.deviceMemory, driver));
    exec::Session session(options);
    exec::Bindings bindings = bind(request, stored, session);
    for (int run = 1;; ++run) {
      auto begin = std::chrono::steady_clock::now();
      Expected<exec::RunResult> result = stored.program->run(session, bindings, runOptions);
      if (result.ok() && request.repeat > 1) {
        line.clear();
        std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        std::cerr << "run " << run << ": " << seconds.count() << " s" << std::endl;
      }
      if (!result.ok() || run == request.repeat) {
        return result;
      }
    }
  };
  Expected<exec::RunResult> ran = request.placement == run::Placement::kProcesses
                                      ? runProcesses(request, stored, runOptions, driver)
                                      : runThreads();
  line.clear();
  HR_ASSIGN_OR_RETURN(exec::RunResult result, std::move(ran));
  return run::writeOutputs(result, stored, request);
}

} // namespace

int headrace::run::runMain(const std::vector<std::string> &arguments,
                           const cuda::FindDriver &driver) {
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
  run::watchSignals();
  Expected<run::Request> request = run::readRequest(arguments);
  std::string who = "headrace-run";
  Status status = request.status();
  if (request.ok()) {
    request->settings.applyLog();
    status =
        request->launcher.empty() ? runPlan(*request, driver) : run::runLaunched(*request, who);
  }
  if (status.ok()) {
    return 0;
  }
  std::cerr << who << ": " << status.toString() << '\n';
  return run::exitStatusOf(status);
}
