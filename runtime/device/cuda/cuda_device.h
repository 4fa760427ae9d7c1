// CudaDevice: a GPU by the calls of its driver: three streams, a memory pool, pinned staging.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/device/cuda/driver.h"
#include "runtime/device/device.h"

namespace headrace::cuda {

/// Purpose: Device over a table of driver calls. Lanes are streams; device memory comes from a pool
/// of its own in stream order and is freed in a stream of its own, which waits for all lanes, so
/// that no lane waits for a free; pinned memory is kept until the lanes have passed. Ownership,
/// thread-safety, ordering: as Device says. One CudaDevice a GPU and process is meant.
class CudaDevice final : public Device {
public:
  struct Options {
    int ordinal = 0;
    /// What the pool may take of the device; 0: all.
    int64_t memoryBytes = 0;
    /// Of each of two pinned buffers, through which copies from and to Tier::kHost go.
    int64_t stagingBytes = 4 << 20;
    /// Events know when they were reached: for measurements.
    bool timed = false;
  };
  /// `pinned` pays for the staging buffers, and outlives the device.
  static Expected<std::unique_ptr<CudaDevice>> open(const DriverCalls &driver, Options options,
                                                    Reservation &pinned);
  ~CudaDevice() override;

  const DeviceDescription &description() const override { return description_; }
  Expected<Event> copy(Place source, Place target, int64_t bytes,
                       std::span<const Event> after) override;
  Expected<Event> fill(Place target, uint8_t value, int64_t bytes,
                       std::span<const Event> after) override;
  Expected<std::unique_ptr<KernelModule>> load(std::span<const std::byte> image) override;
  using Device::launch;
  Expected<Event> launch(std::span<const KernelLaunch> launches,
                         std::span<const Event> after) override;
  Expected<std::unique_ptr<LaunchGraph>> record(std::span<const KernelLaunch> launches) override;
  Expected<Event> launch(LaunchGraph &graph, std::span<const Event> after) override;
  PollState poll(const Event &event) override;
  Status wait(const Event &event) override;
  Status synchronise() override;
  Status status() override;
  Expected<double> secondsBetween(const Event &first, const Event &last) override;

protected:
  Expected<Allocation> take(Tier tier, int64_t bytes, Lane lane) override;
  void giveBack(Place place) override;

private:
  friend class CudaModule;
  /// A recorded CUevent; goes back to the device for the next one.
  struct Point : Event::Point {
    Point(CudaDevice &owner, Signal recorded, Lane where)
        : device(owner), signal(recorded), lane(where) {}
    ~Point() override;
    CudaDevice &device;
    const Signal signal;
    const Lane lane;
  };
  struct Staging {
    DeviceMemory memory;
    Event free; ///< when what is in it has been copied
  };
  struct Retired {
    void *address;
    std::array<Event, kLaneCount> tails;
  };

  CudaDevice(const DriverCalls &driver, Options options) : driver_(driver), options_(options) {}
  Status start(Reservation &pinned);
  /// The calling thread may use the device, which is not lost.
  Status enter();
  /// The Status of a call; a sticky one stays.
  Status finish(Result result, const char *what);
  Stream stream(Lane lane) const { return streams_[static_cast<int>(lane)]; }
  // With the mutex held:
  Status follow(Lane lane, std::span<const Event> after);
  Expected<Event> mark(Lane lane);
  Expected<Signal> newSignal();
  Status launchIn(Stream stream, const KernelLaunch &launch);
  /// Frees pinned memory that all lanes have passed.
  void collectRetired(bool wait);
  Expected<Allocation> takePinned(int64_t bytes);

  Expected<Event> copyStaged(Place source, Place target, int64_t bytes,
                             std::span<const Event> after);
  Status waitAll(std::span<const Event> events);

  const DriverCalls &driver_;
  const Options options_;
  DeviceDescription description_;
  DeviceNumber device_ = 0;
  Context context_ = nullptr;
  std::array<Stream, kLaneCount> streams_ = {};
  Stream frees_ = nullptr, recorder_ = nullptr;
  Pool pool_ = nullptr;
  // Taken in this order.
  std::mutex stagingMutex_; ///< of staging_
  std::array<Staging, 2> staging_;
  std::mutex mutex_; ///< of the order of submissions and of retired_
  std::vector<Retired> retired_;
  std::mutex innerMutex_; ///< of what follows
  Status lost_;
  std::vector<Signal> signals_; ///< not in use
};

} // namespace headrace::cuda
