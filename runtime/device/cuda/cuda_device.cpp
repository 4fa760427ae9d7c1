// Lanes, events, launches and graphs of a GPU.
#include "runtime/device/cuda/cuda_device.h"

#include <algorithm>

namespace headrace::cuda {

CudaDevice::Point::~Point() {
  std::lock_guard lock(device.innerMutex_);
  device.signals_.push_back(signal);
}

Expected<std::unique_ptr<CudaDevice>> CudaDevice::open(const DriverCalls &driver, Options options,
                                                       Reservation &pinned) {
  std::unique_ptr<CudaDevice> device(new CudaDevice(driver, options));
  HR_RETURN_IF_ERROR(device->start(pinned));
  return device;
}

Status CudaDevice::start(Reservation &pinned) {
  HR_ASSIGN_OR_RETURN(std::vector<DeviceDescription> all, devices(driver_));
  if (options_.ordinal < 0 || options_.ordinal >= static_cast<int>(all.size())) {
    return makeError(ErrorKind::kUser, "there are ", all.size(),
                     " CUDA devices, numbered from 0, got: ", options_.ordinal);
  }
  description_ = all[options_.ordinal];
  HR_RETURN_IF_ERROR(finish(driver_.deviceGet(&device_, options_.ordinal), "finding the device"));
  int pools = 0;
  HR_RETURN_IF_ERROR(finish(driver_.deviceAttribute(&pools, DeviceAttribute::kMemoryPools, device_),
                            "asking for memory pools"));
  if (pools == 0) {
    // no test: the emulated ones have them, as all GPUs since sm_60 on Linux
    return makeError(ErrorKind::kUnsupported,
                     "a CUDA device without memory pools, got: ", description_.name);
  }
  HR_RETURN_IF_ERROR(finish(driver_.contextRetain(&context_, device_), "opening the device"));
  HR_RETURN_IF_ERROR(enter());
  PoolProperties properties;
  properties.locationId = options_.ordinal;
  properties.maxSize = options_.memoryBytes;
  HR_RETURN_IF_ERROR(finish(driver_.poolCreate(&pool_, &properties), "making the memory pool"));
  // What was freed stays in the pool: a synchronisation would give it to the system else.
  unsigned long long keep = ~0ull;
  HR_RETURN_IF_ERROR(finish(driver_.poolSet(pool_, PoolAttribute::kReleaseThreshold, &keep),
                            "setting up the memory pool"));
  for (Stream *stream : {&streams_[0], &streams_[1], &streams_[2], &frees_, &recorder_}) {
    HR_RETURN_IF_ERROR(finish(driver_.streamCreate(stream, kStreamNonBlocking), "making a stream"));
  }
  for (Staging &staging : staging_) {
    HR_ASSIGN_OR_RETURN(staging.memory, allocate(Tier::kPinned, options_.stagingBytes, pinned));
  }
  return {};
}

CudaDevice::~CudaDevice() {
  if (context_ == nullptr) {
    return;
  }
  // Errors have nobody to go to, and after a sticky one all of these fail.
  driver_.contextSet(context_);
  for (Staging &staging : staging_) {
    staging = {};
  }
  for (Stream stream : {streams_[0], streams_[1], streams_[2], frees_, recorder_}) {
    if (stream != nullptr) {
      driver_.streamSynchronize(stream);
    }
  }
  {
    std::lock_guard lock(mutex_);
    collectRetired(/*wait=*/true);
  }
  for (Signal signal : signals_) {
    driver_.signalDestroy(signal);
  }
  for (Stream stream : {streams_[0], streams_[1], streams_[2], frees_, recorder_}) {
    if (stream != nullptr) {
      driver_.streamDestroy(stream);
    }
  }
  if (pool_ != nullptr) {
    driver_.poolDestroy(pool_);
  }
  driver_.contextRelease(device_);
}

// ---- errors ----

Status CudaDevice::finish(Result result, const char *what) {
  if (result == kSuccess) {
    return {};
  }
  Status status = statusOf(driver_, result, what);
  if (!isSticky(result)) {
    return status;
  }
  std::lock_guard lock(innerMutex_);
  if (lost_.ok()) {
    lost_ = makeError(ErrorKind::kInternal, "device ", description_.name, " was lost, ",
                      status.message());
  }
  return lost_;
}

Status CudaDevice::status() {
  std::lock_guard lock(innerMutex_);
  return lost_;
}

Status CudaDevice::enter() {
  HR_RETURN_IF_ERROR(status());
  return finish(driver_.contextSet(context_), "entering the device's context");
}

// ---- events ----

Expected<Signal> CudaDevice::newSignal() {
  {
    std::lock_guard lock(innerMutex_);
    if (!signals_.empty()) {
      Signal signal = signals_.back();
      signals_.pop_back();
      return signal;
    }
  }
  Signal signal = nullptr;
  HR_RETURN_IF_ERROR(finish(driver_.signalCreate(&signal, options_.timed ? 0 : kEventWithoutTiming),
                            "making an event"));
  return signal;
}

Expected<Event> CudaDevice::mark(Lane lane) {
  HR_ASSIGN_OR_RETURN(Signal signal, newSignal());
  auto point = std::make_shared<Point>(*this, signal, lane);
  HR_RETURN_IF_ERROR(finish(driver_.signalRecord(signal, stream(lane)), "recording an event"));
  return Event(std::move(point));
}

Status CudaDevice::follow(Lane lane, std::span<const Event> after) {
  for (const Event &event : after) {
    auto *point = static_cast<Point *>(event.point());
    if (point != nullptr && point->lane != lane) {
      HR_RETURN_IF_ERROR(
          finish(driver_.streamWait(stream(lane), point->signal, 0), "waiting for an event"));
    }
  }
  return {};
}

PollState CudaDevice::poll(const Event &event) {
  auto *point = static_cast<Point *>(event.point());
  if (!enter().ok()) {
    return PollState::kFailed;
  }
  if (point == nullptr) {
    return PollState::kDone;
  }
  Result result = driver_.signalQuery(point->signal);
  if (result == kNotReady) {
    return PollState::kPending;
  }
  return finish(result, "asking for an event").ok() ? PollState::kDone : PollState::kFailed;
}

Status CudaDevice::wait(const Event &event) {
  HR_RETURN_IF_ERROR(enter());
  auto *point = static_cast<Point *>(event.point());
  return point == nullptr
             ? Status()
             : finish(driver_.signalSynchronize(point->signal), "waiting for the device");
}

Status CudaDevice::waitAll(std::span<const Event> events) {
  for (const Event &event : events) {
    HR_RETURN_IF_ERROR(wait(event));
  }
  return {};
}

Status CudaDevice::synchronise() {
  HR_RETURN_IF_ERROR(enter());
  for (Stream stream : streams_) {
    HR_RETURN_IF_ERROR(finish(driver_.streamSynchronize(stream), "waiting for the device"));
  }
  return {};
}

Expected<double> CudaDevice::secondsBetween(const Event &first, const Event &last) {
  HR_RETURN_IF_ERROR(enter());
  auto *from = static_cast<Point *>(first.point()), *to = static_cast<Point *>(last.point());
  if (!options_.timed || from == nullptr || to == nullptr) {
    return Status(ErrorKind::kUser, "these events have no time: open the device with timed events");
  }
  float milliseconds = 0;
  HR_RETURN_IF_ERROR(finish(driver_.signalElapsed(&milliseconds, from->signal, to->signal),
                            "asking for the time between events"));
  return milliseconds * 1e-3;
}

// ---- kernels ----

/// CUmodule.
class CudaModule final : public KernelModule {
public:
  CudaModule(CudaDevice &device, Module module) : device_(device), module_(module) {}
  ~CudaModule() override {
    if (device_.enter().ok()) {
      device_.driver_.moduleUnload(module_);
    }
  }
  Expected<Kernel> find(const std::string &symbol) override;

private:
  CudaDevice &device_;
  const Module module_;
};

Expected<Kernel> CudaModule::find(const std::string &symbol) {
  HR_RETURN_IF_ERROR(device_.enter());
  const DriverCalls &driver = device_.driver_;
  Function function = nullptr;
  Result result = driver.moduleFunction(&function, module_, symbol.c_str());
  if (result == kNotFound) {
    return makeError(ErrorKind::kUser, "the module has no kernel: ", symbol);
  }
  HR_RETURN_IF_ERROR(device_.finish(result, "finding a kernel"));
  int sharedBytes = 0, localBytes = 0;
  Kernel kernel;
  kernel.function = function;
  for (auto [attribute, value] : {std::pair(FunctionAttribute::kRegisters, &kernel.registers),
                                  std::pair(FunctionAttribute::kThreadsMax, &kernel.threadsMax),
                                  std::pair(FunctionAttribute::kSharedBytes, &sharedBytes),
                                  std::pair(FunctionAttribute::kLocalBytes, &localBytes)}) {
    HR_RETURN_IF_ERROR(device_.finish(driver.functionAttribute(value, attribute, function),
                                      "asking what a kernel takes"));
  }
  kernel.sharedBytes = sharedBytes;
  kernel.localBytes = localBytes;
  return kernel;
}

Expected<std::unique_ptr<KernelModule>> CudaDevice::load(std::span<const std::byte> image) {
  HR_RETURN_IF_ERROR(enter());
  std::string text(reinterpret_cast<const char *>(image.data()),
                   image.size()); // with a 0 behind it
  char log[16384] = {};
  JitOption names[] = {JitOption::kErrorLog, JitOption::kErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log - 1)};
  Module module = nullptr;
  Status status =
      finish(driver_.moduleLoad(&module, text.data(), 2, names, values), "loading kernels");
  if (!status.ok()) {
    return log[0] == 0 ? status : makeError(status.kind(), status.message(), ": ", log);
  }
  return std::unique_ptr<KernelModule>(std::make_unique<CudaModule>(*this, module));
}

Status CudaDevice::launchIn(Stream stream, const KernelLaunch &launch) {
  if (launch.blocks == 0 || launch.threads == 0 ||
      launch.threads > static_cast<uint32_t>(launch.kernel.threadsMax)) {
    return makeError(
        ErrorKind::kUser, "a launch has at least one block and one thread, and at most ",
        launch.kernel.threadsMax, " threads a block, got: ", launch.blocks, " × ", launch.threads);
  }
  std::vector<uint64_t> values(launch.arguments.begin(), launch.arguments.end());
  std::vector<void *> parameters;
  for (uint64_t &value : values) {
    parameters.push_back(&value);
  }
  return finish(driver_.launch(static_cast<Function>(launch.kernel.function), launch.blocks, 1, 1,
                               launch.threads, 1, 1, 0, stream, parameters.data(), nullptr),
                "launching a kernel");
}

Expected<Event> CudaDevice::launch(std::span<const KernelLaunch> launches,
                                   std::span<const Event> after) {
  HR_RETURN_IF_ERROR(enter());
  std::lock_guard lock(mutex_);
  HR_RETURN_IF_ERROR(follow(Lane::kCompute, after));
  for (const KernelLaunch &launch : launches) {
    HR_RETURN_IF_ERROR(launchIn(stream(Lane::kCompute), launch));
  }
  return mark(Lane::kCompute);
}

// ---- graphs ----

namespace {
/// CUgraphExec.
struct CudaGraph final : LaunchGraph {
  CudaGraph(const DriverCalls &calls, GraphExec made) : driver(calls), exec(made) {}
  ~CudaGraph() override { driver.graphExecDestroy(exec); }
  const DriverCalls &driver;
  const GraphExec exec;
};
} // namespace

Expected<std::unique_ptr<LaunchGraph>> CudaDevice::record(std::span<const KernelLaunch> launches) {
  HR_RETURN_IF_ERROR(enter());
  std::lock_guard lock(mutex_);
  HR_RETURN_IF_ERROR(
      finish(driver_.captureBegin(recorder_, kCaptureThreadLocal), "recording a graph"));
  Status status;
  for (const KernelLaunch &launch : launches) {
    status = status.ok() ? launchIn(recorder_, launch) : status;
  }
  Graph graph = nullptr;
  Status ended = finish(driver_.captureEnd(recorder_, &graph), "recording a graph");
  status = status.ok() ? ended : status;
  GraphExec exec = nullptr;
  if (status.ok()) {
    status = finish(driver_.graphInstantiate(&exec, graph, 0), "making a graph");
  }
  if (graph != nullptr) {
    driver_.graphDestroy(graph);
  }
  HR_RETURN_IF_ERROR(status);
  return std::unique_ptr<LaunchGraph>(std::make_unique<CudaGraph>(driver_, exec));
}

Expected<Event> CudaDevice::launch(LaunchGraph &graph, std::span<const Event> after) {
  HR_RETURN_IF_ERROR(enter());
  std::lock_guard lock(mutex_);
  HR_RETURN_IF_ERROR(follow(Lane::kCompute, after));
  HR_RETURN_IF_ERROR(
      finish(driver_.graphLaunch(static_cast<CudaGraph &>(graph).exec, stream(Lane::kCompute)),
             "launching a graph"));
  return mark(Lane::kCompute);
}

} // namespace headrace::cuda
