// Emulation: the state behind the calls of an EmulatedDriver, and the order in which operations
// run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "runtime/device/cuda/driver.h"
#include "runtime/device/emulated/device_heap.h"
#include "runtime/device/emulated/driver_records.h"
#include "runtime/device/emulated/emulation_options.h"

namespace headrace::emulated {

/// Thread-safety: whoever calls holds `mutex`.
class Emulation {
public:
  explicit Emulation(EmulationOptions options);
  ~Emulation();

  /// The one that the calls are about.
  static Emulation *current;

  // ---- errors ----
  /// What a call must give before it begins: an error on demand, a sticky one, or kSuccess.
  cuda::Result begin(const char *symbol);
  /// Makes an outcome of the device's process a result; one that is sticky stays.
  cuda::Result resultOf(Outcome outcome);
  cuda::Result stay(cuda::Result result) { return sticky = result; }

  // ---- streams ----
  TicketRef submit(cuda::Stream stream, std::function<cuda::Result()> act,
                   TicketRef after = nullptr);
  /// Runs a few operations, or none: time goes by.
  void passTime();
  /// Runs operations until that one has been run, or a sticky error.
  cuda::Result runUntil(TicketRef ticket);
  cuda::Result runAll(cuda::Stream stream);

  // ---- memory ----
  cuda::Result allocate(cuda::Address *address, size_t bytes, cuda::Pool pool, cuda::Stream stream);
  cuda::Result free(cuda::Address address, cuda::Stream stream);
  cuda::Result copyNow(uint64_t target, uint64_t source, size_t bytes);
  cuda::Result fillNow(uint64_t target, int value, size_t bytes);
  bool isPinned(uint64_t address, size_t bytes) const;

  // ---- kernels ----
  cuda::Result launchNow(const KernelCall &call);

  std::mutex mutex;
  const EmulationOptions options;
  std::mt19937_64 random;
  cuda::Result sticky = cuda::kSuccess;
  struct Demand {
    std::string symbol;
    int successes = 0;
    cuda::Result result = cuda::kSuccess;
    int times = 0;
  } demand;
  DeviceProcess process;
  DeviceHeap heap;
  std::map<uint64_t, uint64_t> pinned; ///< address -> bytes
  std::vector<std::unique_ptr<cuda::StreamRecord>> streams;
  std::vector<std::unique_ptr<cuda::PoolRecord>> pools;
  std::vector<std::unique_ptr<cuda::ModuleRecord>> modules;
  uint32_t modulesMade = 0;
  uint64_t submitted = 0;
  int64_t overtakings = 0;
  size_t usedBytes = 0; ///< of allocations, until they are closed

private:
  bool step();
  cuda::Result settle(cuda::Address *address, DeviceHeap::Taken taken, cuda::Pool pool,
                      cuda::Stream stream);

  std::vector<TicketRef> frees_; ///< under way
  std::map<DeviceHeap::Tenant *, cuda::Pool> owners_;
};

} // namespace headrace::emulated
