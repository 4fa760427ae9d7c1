// DeviceState: a state in the memory of a GPU.
#pragma once

#include "model/plan/plan.h"
#include "runtime/abi/device_kernel.h"
#include "runtime/exec/gpu/gpu_context.h"

#include <memory>

namespace headrace::exec {

/// Purpose: memory of a state as runtime/abi/device_kernel.h says, reserved before kernels run.
///
///   made --launches--> filled --count()--> counted --makeTable() (joins)--> linked, read by
///   kernels
///                                                 `--readBack()--> pinned memory of the host
///
/// Ownership: owns its memory; keeps the context alive. Thread-safety: of a plain value. What is
/// submitted is ordered by the compute lane and by the events that the calls return.
class DeviceState {
public:
  /// How much it has room for; no bytes of strings: it has none.
  using Room = StateRoom;
  /// For the 95th percentile of the rows that are expected.
  static Room firstRoom(const plan::State &state);

  /// `described` outlives it. The typed memory error if there is no room.
  static Expected<std::unique_ptr<DeviceState>> create(std::shared_ptr<GpuContext> gpu,
                                                       const plan::State &described,
                                                       const ReservationRequest &request,
                                                       Room room);

  /// What HrArgs.states has, in the device.
  uint64_t head() const { return heads_.at(kHeadOffset).address; }
  const Room &room() const { return room_; }
  /// After which kernels may use it.
  const Event &ready() const { return ready_; }
  /// Asks how many rows there are: after what was submitted to the compute lane. `pinned` pays for
  /// where the answer goes.
  Expected<Event> count(Reservation &pinned);
  /// When that event has been reached.
  void takeCount();
  uint64_t rows() const { return rows_; }
  /// The i-th row's address in the device.
  uint64_t row(uint64_t index) const {
    return rowMemory_.at().address + index * described_.rowBytes;
  }

  /// Gives the counted rows of a join state an empty directory, into which its link kernel enters
  /// them; then head() is a table.
  Status makeTable();

  /// Rows, and behind them the bytes of their strings, in pinned memory.
  struct Image {
    DeviceMemory memory;
    Event done;
    uint64_t rows = 0;
    uint64_t heapBytes = 0;
    uint64_t heap = 0; ///< where the device has them
    const uint8_t *heapBegin() const;
    uint8_t *rowBegin() const { return reinterpret_cast<uint8_t *>(memory.host()); }
  };
  Expected<Image> readBack(Reservation &pinned);

private:
  static constexpr int64_t kHeadOffset = 64; ///< behind the HrDeviceStore
  static constexpr int64_t kHeadsBytes = 192;

  DeviceState(std::shared_ptr<GpuContext> gpu, const plan::State &described, Room room)
      : gpu_(std::move(gpu)), described_(described), room_(room) {}
  Status initialize(const ReservationRequest &request);
  Expected<DeviceMemory> zeros(uint64_t bytes);
  Status write(Place target, const void *bytes, size_t count, const DeviceMemory &into);
  template <typename Head> Status writeHead(const Head &head);

  std::shared_ptr<GpuContext> gpu_;
  const plan::State &described_;
  const Room room_;
  Reservation reservation_;
  DeviceMemory heads_;
  DeviceMemory rowMemory_;
  DeviceMemory heap_;
  DeviceMemory directory_;
  DeviceMemory counts_; ///< pinned
  Event ready_;         ///< of what was written last
  uint64_t rows_ = 0;
  uint64_t heapUsed_ = 0;
};

} // namespace headrace::exec
