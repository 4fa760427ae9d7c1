// The calls of the driver, by their names in runtime/device/cuda/driver.def.
#include "runtime/device/emulated/emulated_driver.h"

#include "runtime/device/emulated/emulation.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <sys/mman.h>

namespace headrace::emulated {

using namespace cuda;

namespace {

ContextRecord theContext;
thread_local bool contextIsSet = false;

/// Holds the mutex for a call, and says with what it must end at once.
class Call {
public:
  explicit Call(const char *symbol)
      : emulation(*Emulation::current), lock_(emulation.mutex), result(emulation.begin(symbol)) {}
  /// For calls that are about memory, streams or kernels.
  static Call inContext(const char *symbol) {
    Call call(symbol);
    call.result = call.result == kSuccess && !contextIsSet ? kInvalidContext : call.result;
    return call;
  }
  Emulation &emulation;

private:
  std::unique_lock<std::mutex> lock_;

public:
  Result result;
};

#define HR_BEGIN(call)                                                                             \
  if (call.result != kSuccess) {                                                                   \
    return call.result;                                                                            \
  }                                                                                                \
  Emulation &emulation = call.emulation

// ---- driver and devices ----

Result initialize(unsigned) { return Call("cuInit").result; }

Result driverVersion(int *version) {
  Call call("cuDriverGetVersion");
  *version = 12040;
  return call.result;
}

Result errorName(Result error, const char **name) {
  switch (error) {
#define HR_ERROR_NAME(value, text)                                                                 \
  case value:                                                                                      \
    *name = text;                                                                                  \
    return kSuccess;
    HR_ERROR_NAME(kInvalidValue, "CUDA_ERROR_INVALID_VALUE")
    HR_ERROR_NAME(kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY")
    HR_ERROR_NAME(kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT")
    HR_ERROR_NAME(kEccUncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE")
    HR_ERROR_NAME(kInvalidPtx, "CUDA_ERROR_INVALID_PTX")
    HR_ERROR_NAME(kNotFound, "CUDA_ERROR_NOT_FOUND")
    HR_ERROR_NAME(kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS")
    HR_ERROR_NAME(kLaunchTimeout, "CUDA_ERROR_LAUNCH_TIMEOUT")
    HR_ERROR_NAME(kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED")
#undef HR_ERROR_NAME
  default:
    return kInvalidValue; // and *name as it was, as the driver does
  }
}

Result errorText(Result error, const char **text) {
  *text = "emulated";
  return kSuccess;
}

Result deviceCount(int *count) {
  Call call("cuDeviceGetCount");
  *count = call.emulation.options.devices;
  return call.result;
}

Result deviceGet(DeviceNumber *device, int ordinal) {
  Call call("cuDeviceGet");
  *device = ordinal;
  return call.result;
}

Result deviceName(char *name, int bytes, DeviceNumber) {
  Call call("cuDeviceGetName");
  std::strncpy(name, "emulated GPU", bytes);
  return call.result;
}

Result deviceMemory(size_t *bytes, DeviceNumber) {
  Call call("cuDeviceTotalMem_v2");
  *bytes = call.emulation.options.memoryBytes;
  return call.result;
}

Result deviceAttribute(int *value, DeviceAttribute attribute, DeviceNumber) {
  Call call("cuDeviceGetAttribute");
  switch (attribute) {
  case DeviceAttribute::kMultiprocessors:
    *value = 2;
    break;
  case DeviceAttribute::kCapabilityMajor:
    *value = 9;
    break;
  case DeviceAttribute::kMemoryPools:
    *value = 1;
    break;
  case DeviceAttribute::kCapabilityMinor:
  case DeviceAttribute::kMemoryClockKilohertz:
  case DeviceAttribute::kMemoryBusBits:
    *value = 0;
    break;
  }
  return call.result;
}

Result contextRetain(Context *context, DeviceNumber) {
  Call call("cuDevicePrimaryCtxRetain");
  *context = &theContext;
  return call.result;
}

Result contextRelease(DeviceNumber) { return Call("cuDevicePrimaryCtxRelease_v2").result; }

Result contextSet(Context context) {
  Call call("cuCtxSetCurrent");
  contextIsSet = context == &theContext;
  return call.result;
}

// ---- memory ----

Result poolCreate(Pool *pool, const PoolProperties *properties) {
  Call call = Call::inContext("cuMemPoolCreate");
  HR_BEGIN(call);
  *pool =
      emulation.pools.emplace_back(std::make_unique<PoolRecord>(PoolRecord{properties->maxSize}))
          .get();
  return kSuccess;
}

Result poolDestroy(Pool) { return Call::inContext("cuMemPoolDestroy").result; }

Result poolSet(Pool, PoolAttribute, void *) {
  return Call::inContext("cuMemPoolSetAttribute").result;
}

Result allocate(Address *address, size_t bytes, Pool pool, Stream stream) {
  Call call = Call::inContext("cuMemAllocFromPoolAsync");
  HR_BEGIN(call);
  emulation.passTime();
  return emulation.allocate(address, bytes, pool, stream);
}

Result free(Address address, Stream stream) {
  Call call = Call::inContext("cuMemFreeAsync");
  HR_BEGIN(call);
  emulation.passTime();
  return emulation.free(address, stream);
}

Result hostAllocate(void **address, size_t bytes, unsigned) {
  Call call = Call::inContext("cuMemHostAlloc");
  HR_BEGIN(call);
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return kOutOfMemory;
  }
  emulation.pinned[reinterpret_cast<uint64_t>(memory)] = bytes;
  *address = memory;
  return kSuccess;
}

Result hostFree(void *address) {
  Call call = Call::inContext("cuMemFreeHost");
  HR_BEGIN(call);
  auto found = emulation.pinned.find(reinterpret_cast<uint64_t>(address));
  if (found == emulation.pinned.end()) {
    return kInvalidValue;
  }
  munmap(address, found->second);
  emulation.pinned.erase(found);
  return kSuccess;
}

Result copy(Address target, Address source, size_t bytes, Stream stream) {
  Call call = Call::inContext("cuMemcpyAsync");
  HR_BEGIN(call);
  emulation.passTime();
  for (uint64_t place : {target, source}) {
    if (!emulation.heap.contains(place) && !emulation.isPinned(place, bytes)) {
      return kInvalidValue;
    }
  }
  emulation.submit(stream, [=, &emulation] { return emulation.copyNow(target, source, bytes); });
  return kSuccess;
}

Result fill(Address target, unsigned char value, size_t bytes, Stream stream) {
  Call call = Call::inContext("cuMemsetD8Async");
  HR_BEGIN(call);
  emulation.passTime();
  emulation.submit(stream, [=, &emulation] { return emulation.fillNow(target, value, bytes); });
  return kSuccess;
}

// ---- streams and events ----

Result streamCreate(Stream *stream, unsigned) {
  Call call = Call::inContext("cuStreamCreate");
  HR_BEGIN(call);
  *stream = emulation.streams.emplace_back(std::make_unique<StreamRecord>()).get();
  return kSuccess;
}

Result streamDestroy(Stream stream) {
  Call call = Call::inContext("cuStreamDestroy_v2");
  HR_BEGIN(call);
  Result result = emulation.runAll(stream);
  std::erase_if(emulation.streams, [&](const auto &known) { return known.get() == stream; });
  return result;
}

Result streamWait(Stream stream, Signal signal, unsigned) {
  Call call = Call::inContext("cuStreamWaitEvent");
  HR_BEGIN(call);
  emulation.passTime();
  if (signal->ticket) {
    emulation.submit(stream, {}, signal->ticket);
  }
  return kSuccess;
}

Result streamSynchronize(Stream stream) {
  Call call = Call::inContext("cuStreamSynchronize");
  HR_BEGIN(call);
  return emulation.runAll(stream);
}

Result signalCreate(Signal *signal, unsigned) {
  Call call = Call::inContext("cuEventCreate");
  *signal = call.result == kSuccess ? new SignalRecord : nullptr;
  return call.result;
}

Result signalDestroy(Signal signal) {
  Call call("cuEventDestroy_v2");
  delete signal;
  return call.result;
}

Result signalRecord(Signal signal, Stream stream) {
  Call call = Call::inContext("cuEventRecord");
  HR_BEGIN(call);
  emulation.passTime();
  signal->ticket = emulation.submit(stream, {});
  return kSuccess;
}

Result signalQuery(Signal signal) {
  Call call = Call::inContext("cuEventQuery");
  HR_BEGIN(call);
  emulation.passTime();
  if (emulation.sticky != kSuccess) {
    return emulation.sticky;
  }
  return !signal->ticket || signal->ticket->done ? kSuccess : kNotReady;
}

Result signalSynchronize(Signal signal) {
  Call call = Call::inContext("cuEventSynchronize");
  HR_BEGIN(call);
  return signal->ticket ? emulation.runUntil(signal->ticket) : kSuccess;
}

Result signalElapsed(float *milliseconds, Signal first, Signal last) {
  Call call = Call::inContext("cuEventElapsedTime");
  HR_BEGIN(call);
  if (!first->ticket || !last->ticket) {
    return kInvalidHandle;
  }
  if (!first->ticket->done || !last->ticket->done) {
    return kNotReady;
  }
  *milliseconds =
      std::chrono::duration<float, std::milli>(last->ticket->when - first->ticket->when).count();
  return emulation.sticky;
}

// ---- kernels and graphs ----

/// The length of an ELF file, which the driver is not told: up to the last of its segments,
/// sections or tables. Our own linker writes no sections.
size_t objectBytes(const std::byte *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  size_t end = std::max(header.e_phoff + static_cast<size_t>(header.e_phentsize) * header.e_phnum,
                        header.e_shoff + static_cast<size_t>(header.e_shentsize) * header.e_shnum);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image + header.e_phoff + static_cast<size_t>(header.e_phentsize) * i,
                sizeof segment);
    end = std::max<size_t>(end, segment.p_offset + segment.p_filesz);
  }
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image + header.e_shoff + static_cast<size_t>(header.e_shentsize) * i,
                sizeof section);
    end = section.sh_type == SHT_NOBITS
              ? end
              : std::max<size_t>(end, section.sh_offset + section.sh_size);
  }
  return end;
}

Result moduleLoad(Module *module, const void *image, unsigned options, JitOption *names,
                  void **values) {
  Call call = Call::inContext("cuModuleLoadDataEx");
  HR_BEGIN(call);
  const auto *bytes = static_cast<const std::byte *>(image);
  if (std::memcmp(bytes, ELFMAG, SELFMAG) == 0) {
    uint32_t number = emulation.modulesMade++;
    Outcome outcome = emulation.process.load(number, std::span(bytes, objectBytes(bytes)));
    if (outcome == Outcome::kDone) {
      *module =
          emulation.modules.emplace_back(std::make_unique<ModuleRecord>(ModuleRecord{number, {}}))
              .get();
      return kSuccess;
    }
    if (outcome != Outcome::kNotFound) {
      return emulation.resultOf(outcome);
    }
  }
  for (unsigned option = 0; option < options; ++option) {
    if (names[option] == JitOption::kErrorLog) {
      std::strcpy(static_cast<char *>(values[option]), "no shared object of emulated kernels");
    }
  }
  return kInvalidPtx;
}

Result moduleUnload(Module) { return Call::inContext("cuModuleUnload").result; }

Result moduleFunction(Function *function, Module module, const char *name) {
  Call call = Call::inContext("cuModuleGetFunction");
  HR_BEGIN(call);
  FunctionRecord record{module->number, name, {}};
  Result result =
      emulation.resultOf(emulation.process.find(module->number, record.symbol, record.shape));
  if (result == kSuccess) {
    *function =
        module->functions.emplace_back(std::make_unique<FunctionRecord>(std::move(record))).get();
  }
  return result;
}

Result functionAttribute(int *value, FunctionAttribute attribute, Function function) {
  Call call = Call::inContext("cuFuncGetAttribute");
  switch (attribute) {
  case FunctionAttribute::kThreadsMax:
    *value = static_cast<int>(function->shape.threadsMax);
    break;
  case FunctionAttribute::kSharedBytes:
    *value = static_cast<int>(function->shape.sharedBytes);
    break;
  case FunctionAttribute::kLocalBytes:
  case FunctionAttribute::kRegisters:
    *value = 0; // a CPU has others
    break;
  }
  return call.result;
}

Result launch(Function function, unsigned blocks, unsigned blocksY, unsigned blocksZ,
              unsigned threads, unsigned threadsY, unsigned threadsZ, unsigned sharedBytes,
              Stream stream, void **parameters, void **) {
  Call call = Call::inContext("cuLaunchKernel");
  HR_BEGIN(call);
  if (blocks == 0 || threads == 0 || threads > function->shape.threadsMax ||
      blocksY * blocksZ * threadsY * threadsZ != 1 || sharedBytes != 0) {
    return kInvalidValue;
  }
  KernelCall kernel{function, blocks, threads, {}};
  for (int i = 0; i < 2; ++i) { // HrDeviceKernel has two
    std::memcpy(&kernel.arguments[i], parameters[i], sizeof(uint64_t));
  }
  if (stream->recording) {
    stream->recording->launches.push_back(kernel);
    return kSuccess;
  }
  emulation.passTime();
  emulation.submit(stream, [=, &emulation] { return emulation.launchNow(kernel); });
  return kSuccess;
}

Result captureBegin(Stream stream, int) {
  Call call = Call::inContext("cuStreamBeginCapture_v2");
  HR_BEGIN(call);
  stream->recording = std::make_unique<GraphRecord>();
  return emulation.sticky;
}

Result captureEnd(Stream stream, Graph *graph) {
  Call call = Call::inContext("cuStreamEndCapture");
  HR_BEGIN(call);
  *graph = stream->recording.release();
  return emulation.sticky;
}

Result graphInstantiate(GraphExec *exec, Graph graph, unsigned long long) {
  Call call = Call::inContext("cuGraphInstantiateWithFlags");
  HR_BEGIN(call);
  *exec = new GraphExecRecord{graph->launches};
  return emulation.sticky;
}

Result graphLaunch(GraphExec exec, Stream stream) {
  Call call = Call::inContext("cuGraphLaunch");
  HR_BEGIN(call);
  emulation.passTime();
  emulation.submit(stream, [&emulation, launches = exec->launches] {
    Result result = kSuccess;
    for (const KernelCall &kernel : launches) {
      result = result == kSuccess ? emulation.launchNow(kernel) : result;
    }
    return result;
  });
  return kSuccess;
}

Result graphDestroy(Graph graph) {
  Call call("cuGraphDestroy");
  delete graph;
  return call.result;
}

Result graphExecDestroy(GraphExec exec) {
  Call call("cuGraphExecDestroy");
  delete exec;
  return call.result;
}

constexpr DriverCalls kCalls = {
#define HR_DRIVER_CALL(name, symbol, parameters) .name = emulated::name,
#include "runtime/device/cuda/driver.def"
#undef HR_DRIVER_CALL
};

} // namespace

EmulatedDriver::EmulatedDriver(Options options)
    : emulation_(std::make_unique<Emulation>(options)) {}
EmulatedDriver::~EmulatedDriver() = default;

const DriverCalls &EmulatedDriver::calls() const { return kCalls; }

void EmulatedDriver::failAt(std::string symbol, int successes, Result result, int times) {
  std::lock_guard lock(emulation_->mutex);
  emulation_->demand = {std::move(symbol), successes, result, times};
}

int64_t EmulatedDriver::overtakings() const {
  std::lock_guard lock(emulation_->mutex);
  return emulation_->overtakings;
}

} // namespace headrace::emulated
