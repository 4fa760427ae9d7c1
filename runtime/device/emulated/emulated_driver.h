// EmulatedDriver: the calls of the CUDA driver on the CPU, for tests: late, in other orders, strict
// about who may touch what, and failing on demand.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/device/cuda/driver.h"
#include "runtime/device/emulated/emulation_options.h"

namespace headrace::emulated {

class Emulation;

/// Purpose: a table of driver calls whose devices exist in memory alone. What is submitted to a
/// stream runs when later calls are made or waited for, each time the first operation of a stream
/// that chance chooses, after having been put off a few times. So a copy may read its source long
/// after it was submitted, and a stream that nothing orders behind another may come first. Kernels
/// are shared objects of headrace-translate --kernel-to-emulation and run in a process of their
/// own. What real drivers leave undefined is an error here: memory touched after it is freed or
/// before it is allocated in the order of streams, behind its end, or pageable in an asynchronous
/// copy. Ownership: owns all that its calls made; one at a time in a process, and outlives the
/// CudaDevice over it. Thread-safety: of the calls as of the driver's. The same seed and calls give
/// the same order.
class EmulatedDriver {
public:
  using Options = EmulationOptions;
  explicit EmulatedDriver(Options options);
  ~EmulatedDriver();

  const cuda::DriverCalls &calls() const;

  /// The call of the driver with this symbol ("cuMemHostAlloc") succeeds `successes` times more,
  /// and then gives `result`: for ever if that is sticky, else so many
  /// times.
  void failAt(std::string symbol, int successes, cuda::Result result, int times = 1);
  /// How often an operation ran before one that had been submitted earlier, to another stream.
  int64_t overtakings() const;

private:
  std::unique_ptr<Emulation> emulation_;
};

} // namespace headrace::emulated
