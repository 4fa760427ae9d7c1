// Device: the one interface of what holds memory of its own and runs kernels in it. Above it nobody
// knows what a GPU is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "runtime/base/poll.h"
#include "runtime/base/status.h"
#include "runtime/base/tier.h"
#include "runtime/memory/budget.h"

namespace headrace {

class Device;

/// What runs in the order in which it was submitted. Lanes run beside each other; events order
/// them.
enum class Lane : uint8_t {
  kCompute, ///< launches, fills, copies within the device
  kIn,      ///< copies towards the device, and between pinned places
  kOut,     ///< copies from the device
};
constexpr int kLaneCount = 3;

/// Purpose: a point in a lane: reached once all that was submitted there before has been done.
/// Ownership: shared. Thread-safety: of a shared_ptr. Lifetime: within the device's.
class Event {
public:
  /// What the device knows of it.
  struct Point {
    virtual ~Point() = default;
  };
  /// A point that has been reached.
  Event() = default;
  explicit Event(std::shared_ptr<Point> point) : point_(std::move(point)) {}
  Point *point() const { return point_.get(); }

private:
  std::shared_ptr<Point> point_;
};

/// Where bytes begin. The address is the tier's: only who reaches the tier may follow it.
struct Place {
  Tier tier = Tier::kHost;
  uint64_t address = 0;

  /// Memory of the caller's.
  static Place of(const void *host) { return {Tier::kHost, reinterpret_cast<uint64_t>(host)}; }
  Place operator+(int64_t bytes) const { return {tier, address + static_cast<uint64_t>(bytes)}; }
};

/// Purpose: bytes of a tier, aligned to 256, contents undefined, charged to a reservation.
/// Ownership: move-only. Giving it back lets what was submitted before end first, without waiting;
/// the reservation is discharged at once, since what is allocated next comes later in the same
/// order. Thread-safety: of a plain value. Lifetime: within the device's and the reservation's.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory &&other) noexcept { *this = std::move(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept;
  ~DeviceMemory() { reset(); }

  explicit operator bool() const { return device_ != nullptr; }
  int64_t bytes() const { return bytes_; }
  Place at(int64_t offset = 0) const { return place_ + offset; }
  /// The same for pinned memory, which the host reaches too.
  std::byte *host() const { return reinterpret_cast<std::byte *>(place_.address); }
  /// From when on lanes other than the one it was allocated in may use it.
  const Event &ready() const { return ready_; }
  void reset();

private:
  friend class Device;
  Device *device_ = nullptr;
  Reservation *reservation_ = nullptr;
  Place place_;
  int64_t bytes_ = 0;
  int64_t charged_ = 0;
  Event ready_;
};

/// A kernel of a module, and what a thread of it takes.
struct Kernel {
  void *function = nullptr;
  int registers = 0;
  int64_t sharedBytes = 0; ///< of a block, that the kernel declares
  int64_t localBytes = 0;  ///< of a thread: registers that spilled, arrays
  int threadsMax = 0;      ///< of a block
};

/// Purpose: loaded kernels. Ownership: owns them; unloaded when destroyed, by when all launches of
/// them must have ended. Thread-safety: find() from any thread.
class KernelModule {
public:
  virtual ~KernelModule() = default;
  virtual Expected<Kernel> find(const std::string &symbol) = 0;
};

/// One launch: blocks and threads in one dimension; arguments are passed by value, 8 bytes each.
struct KernelLaunch {
  Kernel kernel;
  uint32_t blocks = 1;
  uint32_t threads = 1;
  std::span<const uint64_t> arguments;
};

/// Purpose: launches that always follow each other, submitted as one. Ownership: keeps the values
/// of the arguments, not what they point to. Lifetime: until its last run has ended, within the
/// device's and the kernels'.
class LaunchGraph {
public:
  virtual ~LaunchGraph() = default;
};

/// What a device is, for people and for choosing.
struct DeviceDescription {
  std::string name;
  std::string driver; ///< its version, "13.0"
  int capabilityMajor = 0;
  int capabilityMinor = 0;
  int multiprocessors = 0;
  int64_t memoryBytes = 0;
  double memoryBytesPerSecond = 0; ///< by clock and width of the bus; 0: not known
  std::string capability() const {
    return std::to_string(capabilityMajor) + "." + std::to_string(capabilityMinor);
  }
};

/// Purpose: memory, copies and kernels of one accelerator.
/// Ownership: owns its lanes and pools; outlives all that it gave out.
/// Thread-safety: full. Ordering: within a lane as submitted; between lanes only by `after`. All
/// calls but wait(), synchronise() and copies from or to Tier::kHost return at once.
/// Errors: kUser for wrong arguments, kMemory where there is no room, kInternal for what the driver
/// refuses. A failure of work that was submitted is sticky: from then on every call, and every
/// event that is not reached, gives that error, and only another process can use the device again.
class Device {
public:
  virtual ~Device() = default;

  virtual const DeviceDescription &description() const = 0;

  /// `bytes` (> 0) of Tier::kDevice or kPinned, charged before they are taken. In `lane` it can be
  /// used at once, elsewhere after ready(). The typed memory error if the reservation or the pool
  /// has no room.
  Expected<DeviceMemory> allocate(Tier tier, int64_t bytes, Reservation &reservation,
                                  Lane lane = Lane::kCompute);

  /// Copies after the given events; 0 bytes are fine, from anywhere. What lies in Tier::kHost is
  /// the caller's again when the call returns: it goes through pinned staging buffers, and waits
  /// for them.
  virtual Expected<Event> copy(Place source, Place target, int64_t bytes,
                               std::span<const Event> after = {}) = 0;
  /// Sets bytes of the device, in the compute lane.
  virtual Expected<Event> fill(Place target, uint8_t value, int64_t bytes,
                               std::span<const Event> after = {}) = 0;

  /// `image` is PTX (a text) or machine code of the device. The error has the compiler's log.
  virtual Expected<std::unique_ptr<KernelModule>> load(std::span<const std::byte> image) = 0;
  /// One after the other, in the compute lane; at least one.
  virtual Expected<Event> launch(std::span<const KernelLaunch> launches,
                                 std::span<const Event> after = {}) = 0;
  Expected<Event> launch(const KernelLaunch &one, std::span<const Event> after = {}) {
    return launch(std::span(&one, 1), after);
  }
  virtual Expected<std::unique_ptr<LaunchGraph>> record(std::span<const KernelLaunch> launches) = 0;
  virtual Expected<Event> launch(LaunchGraph &graph, std::span<const Event> after = {}) = 0;

  /// kFailed: status() says why. Nothing rings: who is told kPending asks again.
  virtual PollState poll(const Event &event) = 0;
  virtual Status wait(const Event &event) = 0;
  /// All lanes. For ends of tests and programs, not between tasks.
  virtual Status synchronise() = 0;
  /// The sticky error, or ok.
  virtual Status status() = 0;
  /// Between two events that have been reached.
  virtual Expected<double> secondsBetween(const Event &first, const Event &last) = 0;

protected:
  struct Allocation {
    uint64_t address;
    Event ready;
  };
  virtual Expected<Allocation> take(Tier tier, int64_t bytes, Lane lane) = 0;
  /// After what was submitted before to any lane.
  virtual void giveBack(Place place) = 0;

private:
  friend class DeviceMemory;
};

} // namespace headrace
