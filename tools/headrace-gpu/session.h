// Session: the opened device of this process, and the results that it writes.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/emulated/emulated_driver.h"
#include "tools/headrace-gpu/case_file.h"

namespace headrace::gpu {

/// Purpose: a device and what its memory is charged to. Lifetime: of the process's main.
class Session {
public:
  enum class Target : uint8_t { kMachine, kEmulated };
  struct Options {
    Target target = Target::kMachine;
    std::filesystem::path bundle;
    /// One small run of each case: for tools that slow kernels down a hundred times.
    bool isQuick = false;
  };
  /// The machine's first GPU, or an emulated one.
  static Expected<std::unique_ptr<Session>> open(Options options);
  ~Session();

  const Options &options() const { return options_; }
  bool isEmulated() const { return options_.target == Target::kEmulated; }
  Device &device() { return *device_; }
  const cuda::DriverCalls &driver() const { return *driver_; }
  Reservation &reservation() { return reservation_; }
  Reservation &pinned() { return pinned_; }
  /// PTX or the emulation's object, from the same folder.
  Expected<std::unique_ptr<KernelModule>> load(const std::filesystem::path &folder,
                                               const std::string &stem);

  /// A kernel of the bundle's own, kept loaded: decode_codes of decode_kernels, say.
  Expected<Kernel> handKernel(const std::string &stem, const std::string &name);

  /// Writes a line with a JSON object: what was found, and of which device. `extra` is added to it.
  void report(const std::string &name, const char *kind, const std::string &wrong,
              const Json &extra = Json::object());
  /// The same of a Status.
  void report(const std::string &name, const char *kind, const Status &status);

private:
  explicit Session(Options options) : options_(std::move(options)) {}
  const Options options_;
  std::optional<emulated::EmulatedDriver> emulated_;
  const cuda::DriverCalls *driver_ = nullptr;
  std::optional<Budget> budget_, pinnedBudget_;
  Reservation reservation_, pinned_;
  std::unique_ptr<Device> device_;
  std::map<std::string, std::unique_ptr<KernelModule>> handKernels_;
};

} // namespace headrace::gpu
