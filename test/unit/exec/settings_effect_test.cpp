// Every setting of the table has an effect that can be seen: what nobody reads is no setting.
#include "model/plan/shared_loads.h"
#include "runtime/base/log.h"
#include "runtime/device/cuda/open_accelerator.h"
#include "runtime/device/emulated/emulated_driver.h"
#include "runtime/exec/run_settings.h"
#include "runtime/session/cluster.h"
#include "runtime/storage/files/http_client.h"
#include "runtime/storage/files/store_limits.h"
#include "runtime/storage/storage.h"
#include "runtime/transport/fork.h"
#include "test/unit/exec/test_plans.h"
#include "test/unit/storage/silent_server.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

namespace headrace::exec {
namespace {

/// Rows by hash to the other ranks and all of them to the first.
PlanBuilder shuffle() {
  PlanBuilder b;
  b.chunkRows = 1000;
  int32_t parts = b.stream();
  b.run("partition", b.load("t"), {}, parts);
  b.result(b.exchange(plan::ExchangeKind::kGather, b.exchange(plan::ExchangeKind::kHash, parts)));
  return b;
}

PlanBuilder copy() {
  PlanBuilder b;
  int32_t copied = b.stream();
  b.run("copy", b.load("t"), {}, copied);
  b.result(copied);
  return b;
}

/// The accelerator of a session with these settings.
std::shared_ptr<Accelerator> gpuOf(const Settings &settings) {
  static emulated::EmulatedDriver driver({});
  return *cuda::openAccelerator(settings.device, settings.deviceMemory,
                                [] { return Expected(&driver.calls()); });
}

/// Into a state, so that no worker waits for room.
PlanBuilder sum() {
  PlanBuilder b;
  int32_t input = b.load("t");
  int32_t state = b.state(plan::StateKind::kScalar, 16, "merge_sum");
  int32_t filled = b.run("sum", input, {{state, plan::StateUse::kPerWorker}});
  int32_t out = b.stream();
  b.runState("emit_sum", state, out, {filled});
  b.result(out);
  return b;
}

/// How often a store that says nothing was asked by two requests, after a while; three is again.
std::string askedOfStore(const Settings &settings) {
  storage::setStoreLimits(settings);
  storage::SilentServer server;
  storage::HttpRequest request;
  request.url = request.shown = server.url();
  const auto first = storage::HttpCall::start(request), second = storage::HttpCall::start(request);
  std::this_thread::sleep_for(std::chrono::milliseconds(settings.storeTimeout == 1 ? 3500 : 500));
  storage::setStoreLimits(Settings());
  return std::to_string(std::min<int64_t>(server.connections(), 3));
}

/// A tensor of 2 MB, summed over the ranks.
PlanBuilder allReduce() {
  PlanBuilder b;
  plan::Slot slot;
  slot.name = "a";
  slot.kind = plan::SlotKind::kTensor;
  b.plan.slots.push_back(slot);
  for (const char *name : {"a", "sum"}) {
    plan::Buffer &buffer = b.plan.buffers.emplace_back();
    buffer.name = name;
    buffer.element = plan::Element::kF64;
    buffer.shape = {1 << 18};
  }
  plan::Task load;
  load.work = plan::InputTask{0, 0};
  plan::Task reduce;
  reduce.name = "all_reduce";
  reduce.work = plan::CollectiveTask{.axes = {0}, .input = 0, .output = 1};
  reduce.after = {0};
  plan::Task result;
  result.work = plan::TensorResultTask{1};
  result.after = {1};
  b.plan.tasks = {load, reduce, result};
  return b;
}

struct Seen {
  Status status;
  RunResult result;
  int64_t retainedBytes = 0;
};

Seen run(const PlanBuilder &builder, const Settings &settings,
         std::optional<SimOptions> simulation = std::nullopt) {
  auto program = Program::load(builder.plan, testKernels());
  EXPECT_TRUE(program.ok()) << program.status().toString();
  SessionOptions shared = sessionOptions(settings);
  RunOptions options = runOptions(settings);
  if (simulation) {
    options.simulation = simulation;
    shared.threads = 0;
  }
  Session session(shared);
  TestTable table(2);
  for (int64_t i = 0; i < 50000; ++i) {
    table[0].push_back(i);
    table[1].push_back(i * 3);
  }
  std::vector<double> tensor(1 << 18, 1.0);
  Bindings bindings;
  bindings.tables["t"] = openTable(table, 4000);
  bindings.tensors["a"] = TensorView{tensor.data(), plan::Element::kF64, {1 << 18}, {}};
  Expected<RunResult> ran = (*program)->run(session, bindings, options);
  Seen seen;
  seen.status = ran.status();
  if (ran.ok()) {
    seen.result = *std::move(ran);
  }
  seen.result.table.reset(); // what it holds goes back to the pool
  seen.result.tensors.clear();
  seen.retainedBytes = session.blocks()->retainedBytes();
  return seen;
}

/// How often workers took up a task.
size_t spansNamed(const Seen &seen, const std::string &name) {
  size_t count = 0;
  nlohmann::json trace = nlohmann::json::parse(seen.result.traceJson);
  for (const nlohmann::json &event : trace["traceEvents"]) {
    count += event["ph"] == "X" && event["cat"] == "task" && event["name"] == name;
  }
  return count;
}

/// In virtual time the same run takes the same time to the nanosecond, unless a setting differs.
std::string simulated(const PlanBuilder &builder, Settings settings) {
  settings.ranks = 4;
  Seen seen = run(builder, settings, SimOptions{.seed = 7});
  EXPECT_TRUE(seen.status.ok()) << seen.status.toString();
  return std::to_string(seen.result.profile.wallSeconds);
}

/// Two processes, of which the second says nothing for two seconds when it opens its table.
std::string withSilentRank(const Settings &settings) {
  TestTable table(2, std::vector<int64_t>(100, 1));
  Status status = forkRanks(2, [&](Transport &transport) -> Status {
    Session session({.threads = 1, .memoryBytes = 256 << 20});
    OpenSource open = openTable(table, 500);
    Bindings bindings;
    bindings.tables["t"] = [open, &transport](const plan::Slot &slot, storage::Share share) {
      std::this_thread::sleep_for(std::chrono::seconds(2 * transport.rank()));
      return open(slot, share);
    };
    HR_ASSIGN_OR_RETURN(auto program, Program::load(shuffle().plan, testKernels()));
    return program->runRank(session, bindings, runOptions(settings), transport).status();
  });
  return status.ok() ? "waited for" : "given up";
}

/// Rank 0 of two, to which the second does not come.
std::string alone(const Settings &settings) {
  std::string folder = std::filesystem::temp_directory_path() / "headrace-alone-XXXXXX";
  Launch launch{0, 2, mkdtemp(folder.data()), {}, "127.0.0.1"};
  std::string message = session::Cluster::join(launch, settings).status().message();
  std::filesystem::remove_all(folder);
  return message;
}

/// Whether a rank looks for UCX: it has it afterwards, or says that there is none.
std::string lookedFor(const Settings &settings) {
  setenv("UCX_MEM_MMAP_HOOK_MODE", "none", 1); // sanitizers have hooks of their own
  std::string folder = std::filesystem::temp_directory_path() / "headrace-network-XXXXXX";
  Launch launch{0, 1, mkdtemp(folder.data()), {}, "127.0.0.1"};
  testing::internal::CaptureStderr();
  setLogLevel(LogLevel::kWarning);
  Status joined = session::Cluster::join(launch, settings).status();
  setLogLevel(LogLevel::kOff);
  const std::string said = testing::internal::GetCapturedStderr();
  std::filesystem::remove_all(folder);
  std::ifstream maps("/proc/self/maps");
  const std::string mapped{std::istreambuf_iterator<char>(maps), {}};
  const bool looked = mapped.find("libucp") != std::string::npos ||
                      said.find("messages go by sockets") != std::string::npos;
  return !joined.ok() ? joined.message() : looked ? "UCX" : "sockets";
}

struct Experiment {
  const char *one;
  const char *other;
  std::function<std::string(const Settings &)> observe;
};

std::map<std::string, Experiment> experiments() {
  auto traced = [](Settings settings) {
    settings.trace = "a file";
    settings.threads = 2;
    return settings;
  };
  auto ofExchange = [](const Settings &s) { return simulated(shuffle(), s); };
  auto inRounds = [](Settings s) {
    s.threads = 1;
    s.memory = 5 << 19; // most of it chunks that are being filled
    return run(groupsInRounds(), s).status.toString();
  };
  auto ofCollective = [](const Settings &s) { return simulated(allReduce(), s); };
  return {
      {"memory",
       {"1GiB", "128KiB", [](const Settings &s) { return run(shuffle(), s).status.toString(); }}},
      {"retainedMemory",
       {"0", "1GiB",
        [](const Settings &s) {
          return run(allReduce(), s).retainedBytes < 4 << 20 ? "freed" : "kept";
        }}},
      {"spillDirectory", {"", "/no/such/folder", inRounds}},
      {"spillLimit", {"0", "64KiB", inRounds}},
      {"threads",
       {"1", "3",
        [](const Settings &s) { return std::to_string(run(copy(), s).result.profile.threads); }}},
      {"ranks",
       {"1", "3",
        [](const Settings &s) { return std::to_string(run(shuffle(), s).result.profile.ranks); }}},
      {"exchangeBuffer", {"4KiB", "1MiB", ofExchange}},
      {"exchangeWindow", {"1", "16", ofExchange}},
      {"collectiveBuffer", {"4KiB", "1MiB", ofCollective}},
      {"collectiveWindow", {"1", "16", ofCollective}},
      {"collectiveTree", {"0", "1GiB", ofCollective}},
      {"shareMorsels",
       {"on", "off",
        [](Settings s) {
          s.ranks = 2;
          PlanBuilder shared = shuffle();
          plan::shareLoads(shared.plan);
          const SimOptions slow{.seed = 3, .slowRank = 1, .idleProbability = 0.95};
          int64_t taken = 0;
          for (const TaskProfile &task : run(shared, s, slow).result.profile.tasks) {
            taken += task.morselsTaken;
          }
          return std::string(taken > 0 ? "taken" : "each its own");
        }}},
      {"joinTimeout", {"1", "2", alone}},
      {"storeTimeout", {"1", "60", askedOfStore}},
      {"storeRequests", {"1", "8", askedOfStore}},
      {"network", {"sockets", "ucx", lookedFor}},
      {"peerTimeout", {"1", "3600", withSilentRank}},
      {"checksums",
       {"on", "off",
        [](Settings s) {
          s.ranks = 2;
          s.exchangeBuffer = 4096;
          bool seen = false; // a damaged header always is
          for (uint64_t seed = 0; seed < 10; ++seed) {
            SimOptions damaging{.seed = seed, .corruptProbability = 0.02};
            std::string message = run(shuffle(), s, damaging).status.message();
            seen |= message.find("the body's checksum") != std::string::npos;
          }
          return std::string(seen ? "seen" : "not seen");
        }}},
      {"deterministic",
       {"on", "off",
        [=](const Settings &s) { // how many workers are given the task at once
          return spansNamed(run(sum(), traced(s)), "sum") == 1 ? "one" : "several";
        }}},
      {"device", {"cpu", "cuda", [=](const Settings &s) { return gpuOf(s) ? "a GPU" : "none"; }}},
      {"deviceMemory",
       {"1MiB", "2MiB",
        [=](Settings s) {
          s.device = "cuda";
          return std::to_string(gpuOf(s)->tier()->limitBytes());
        }}},
      {"log",
       {"off", "info",
        [](const Settings &s) {
          testing::internal::CaptureStderr();
          s.applyLog();
          run(copy(), s);
          setLogLevel(LogLevel::kOff);
          return testing::internal::GetCapturedStderr().empty() ? "silent" : "told";
        }}},
      {"randomSeed",
       {"1", "2", // what random() draws follows from
        [](const Settings &s) { return std::to_string(runOptions(s).seed); }}},
      {"trace",
       {"", "trace.json",
        [](const Settings &s) {
          return run(copy(), s).result.traceJson.empty() ? "none" : "a trace";
        }}},
      {"traceEvents",
       {"0", "100000", // the span of a task follows those of its waits
        [=](const Settings &s) {
          return spansNamed(run(copy(), traced(s)), "copy") == 0 ? "no spans" : "spans";
        }}},
  };
}

TEST(Settings, EachHasAnEffect) {
  std::map<std::string, Experiment> known = experiments();
  for (const SettingInfo &setting : settingTable()) {
    auto found = known.find(setting.name);
    ASSERT_NE(found, known.end()) << "no experiment shows an effect of: " << setting.name;
    SCOPED_TRACE(setting.name);
    auto observed = [&](const char *value) {
      Settings settings;
      Status status = settings.set(setting.name, value);
      EXPECT_TRUE(status.ok()) << status.toString();
      return found->second.observe(settings);
    };
    std::string one = observed(found->second.one);
    EXPECT_EQ(one, observed(found->second.one)) << setting.name << " alone does not decide it";
    EXPECT_NE(one, observed(found->second.other)) << "without effect: " << setting.name;
    known.erase(found);
  }
  EXPECT_TRUE(known.empty()) << "no setting: " << known.begin()->first;
}

} // namespace
} // namespace headrace::exec
