// Runs without the GIL, which callbacks take for a moment.
#include "python/bindings/run.h"

#include "python/bindings/interrupt.h"
#include "runtime/communication/mirror.h"
#include "runtime/communication/poison.h"
#include "runtime/exec/run_settings.h"
#include "runtime/storage/files/store_limits.h"
#include "runtime/telemetry/telemetry.h"

#include <nlohmann/json.hpp>

#include <set>

namespace nb = nanobind;

namespace headrace::python {

namespace {

/// `faults`: probabilities of messages, ranks and nanoseconds, by name.
SimOptions simulationOf(uint64_t seed, const std::map<std::string, double> &faults) {
  SimOptions simulation{.seed = seed};
  auto at = [&](const char *name, double otherwise) {
    auto found = faults.find(name);
    return found == faults.end() ? otherwise : found->second;
  };
  auto whole = [&](const char *name) { return static_cast<int64_t>(at(name, 0)); };
  simulation.loseProbability = at("lose", 0);
  simulation.corruptProbability = at("corrupt", 0);
  simulation.duplicateProbability = at("duplicate", 0);
  simulation.reorderProbability = at("reorder", 0);
  simulation.slowRank = static_cast<int>(at("slow_rank", -1));
  simulation.idleProbability = at("idle", 0);
  if (faults.contains("dead_rank")) {
    simulation.deaths.push_back({static_cast<int>(whole("dead_rank")), whole("dies_at")});
  }
  if (faults.contains("paused_rank")) {
    simulation.pauses.push_back(
        {static_cast<int>(whole("paused_rank")), whole("pause_from"), whole("pause_to")});
  }
  return simulation;
}

} // namespace

std::function<void(const exec::Progress &)> tellerOf(const nb::object &progress) {
  if (progress.is_none()) {
    return {};
  }
  return [&progress](const exec::Progress &at) {
    nb::gil_scoped_acquire acquire;
    if (PyErr_Occurred()) {
      return;
    }
    nb::object told = nb::steal(PyObject_CallFunction(
        progress.ptr(), "nnLs", static_cast<Py_ssize_t>(at.tasksEnded),
        static_cast<Py_ssize_t>(at.tasks), static_cast<long long>(at.rows), at.running.c_str()));
  };
}

Result LoadedProgram::run(const nb::dict &offered, uint32_t ranks, std::optional<int> threads,
                          std::optional<int64_t> memory, std::optional<uint64_t> simulationSeed,
                          const std::map<std::string, double> &faults,
                          const std::map<std::string, std::string> &tuned,
                          const std::map<std::string, std::string> &given, const nb::object &poll,
                          const nb::object &progress, const std::string &sink,
                          const std::vector<uint32_t> &keyShares) {
  Settings settings = settingsOf(tuned, given, threads, memory);
  checkTrace(settings, given);
  settings.ranks = ranks;
  exec::RunOptions options = exec::runOptions(settings);
  options.interrupted = interruptedBy(poll);
  options.progress = tellerOf(progress);
  options.keyShares = keyShares;
  exec::SessionOptions sessionOptions = exec::sessionOptions(settings);
  sessionOptions.accelerator = valueOf(Process::instance().accelerator(settings));
  if (simulationSeed) {
    options.simulation = simulationOf(*simulationSeed, faults);
    sessionOptions.threads = 0;
  }
  std::vector<TensorArgument> held;
  exec::Bindings bindings = bind(program_->plan(), offered, held);
  Expected<exec::RunResult> result = [&] {
    nb::gil_scoped_release release;
    std::shared_ptr<exec::Session> session = Process::instance().session(sessionOptions);
    Process::instance().storage()->keepWithin(session->hostTier());
    storage::setStoreLimits(settings);
    return program_->run(*session, bindings, options);
  }();
  return take(std::move(result), settings, sink);
}

std::string LoadedProgram::mirrored(const nb::dict &offered, uint32_t ranks, uint32_t rank,
                                    std::optional<int64_t> memory,
                                    const std::map<std::string, std::string> &given) const {
  Settings settings = settingsOf({}, given, 1, memory);
  exec::RunOptions options = exec::runOptions(settings);
  options.ranks = ranks;
  options.peerSilenceSecondsMax = 0;
  MirrorOptions mirror{static_cast<int>(rank), static_cast<int>(ranks)};
  mirror.window = options.exchange.window;
  const plan::Plan &plan = program_->plan();
  if (plan.mesh.size() > 1) { // one axis is all ranks there are
    for (const plan::MeshAxis &axis : plan.mesh) {
      mirror.mesh.push_back(static_cast<int>(axis.size));
    }
  }
  for (const plan::Task &task : plan.tasks) {
    const auto *exchange = task.as<plan::ExchangeTask>();
    if (exchange && exchange->exchange == plan::ExchangeKind::kGather) {
      mirror.gathers[static_cast<uint32_t>(exchange->channel)] = {exchange->axes.begin(),
                                                                  exchange->axes.end()};
    }
  }
  nb::object nobody = nb::none();
  options.interrupted = interruptedBy(nobody);
  std::vector<TensorArgument> held;
  exec::Bindings bindings = bind(program_->plan(), offered, held);
  MirrorTransport transport(std::move(mirror));
  Expected<exec::RunResult> result = [&] {
    nb::gil_scoped_release release;
    exec::Session session(exec::sessionOptions(settings));
    return program_->runRank(session, bindings, options, transport);
  }();
  if (PyErr_Occurred()) {
    throw nb::python_error();
  }
  const exec::RunResult done = valueOf(std::move(result));
  nlohmann::json channels = nlohmann::json::object();
  std::set<int> peers; // but for those who hear how the run ended
  for (const auto &[channel, numbers] : transport.numbers()) {
    channels[std::to_string(channel)] = {{"control", numbers.control},
                                         {"data", numbers.data},
                                         {"bytes", numbers.bytes},
                                         {"peers", numbers.peers.size()}};
    if (channel != kPoisonChannel.value) {
      peers.insert(numbers.peers.begin(), numbers.peers.end());
    }
  }
  const nlohmann::json found = {{"channels", channels},
                                {"peers", peers.size()},
                                {"end_channel", kPoisonChannel.value},
                                {"end_bytes", PoisonBoard::memoryBytes(static_cast<int>(ranks))},
                                {"peak_bytes", done.profile.peakBytes.front()},
                                {"seconds", done.profile.wallSeconds}};
  return found.dump();
}

Result LoadedProgram::take(Expected<exec::RunResult> result, const Settings &settings,
                           const std::string &sink) {
  if (PyErr_Occurred()) {
    throw nb::python_error();
  }
  exec::RunResult done = valueOf(std::move(result));
  if (!settings.trace.empty()) {
    Status status = writeTraceFile(settings.trace, done.traceJson);
    // The result is there: it is not lost for its trace.
    if (!status.ok() && PyErr_WarnEx(PyExc_RuntimeWarning, status.message().c_str(), 1) != 0) {
      throw nb::python_error();
    }
  }
  Result taken{std::move(done.table)};
  if (program_->plan().resident) {
    taken.kept = keptOf(done);
  } else {
    taken.tensors = std::move(done.tensors);
  }
  const int threads = std::max<int>(1, exec::sessionOptions(settings).threads /
                                           std::max<int>(1, static_cast<int>(settings.ranks)));
  taken.partKeys = program_->plan().residentKeys;
  for (std::shared_ptr<const exec::ResultRows> &rows : done.parts) {
    if (!sink.empty()) {
      taken.rows.push_back({std::move(rows), threads});
      continue;
    }
    Expected<std::shared_ptr<const storage::ArrowTable>> part = [&] {
      nb::gil_scoped_release release;
      return importRows(std::move(rows));
    }();
    taken.parts.push_back({valueOf(std::move(part))});
    taken.partStatistics.push_back(taken.parts.back().table->statistics().dump());
  }
  std::lock_guard lock(mutex_);
  profile_ = done.profile.toJson();
  return taken;
}

} // namespace headrace::python
