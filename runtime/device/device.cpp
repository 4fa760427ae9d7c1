// Memory of devices: charged before it is taken, discharged when it is given back.
#include "runtime/device/device.h"

namespace headrace {

namespace {
constexpr int64_t kGranule = 256; // all allocations are aligned to and made of these
}

DeviceMemory &DeviceMemory::operator=(DeviceMemory &&other) noexcept {
  if (this != &other) {
    reset();
    device_ = std::exchange(other.device_, nullptr);
    reservation_ = std::exchange(other.reservation_, nullptr);
    place_ = std::exchange(other.place_, {});
    bytes_ = std::exchange(other.bytes_, 0);
    charged_ = std::exchange(other.charged_, 0);
    ready_ = std::exchange(other.ready_, {});
  }
  return *this;
}

void DeviceMemory::reset() {
  if (device_ == nullptr) {
    return;
  }
  device_->giveBack(place_);
  reservation_->discharge(charged_);
  device_ = nullptr;
  bytes_ = charged_ = 0;
  ready_ = {};
}

Expected<DeviceMemory> Device::allocate(Tier tier, int64_t bytes, Reservation &reservation,
                                        Lane lane) {
  if (tier != Tier::kDevice && tier != Tier::kPinned) {
    return makeError(ErrorKind::kUser, "a device has no memory in tier: ", tierName(tier));
  }
  if (bytes <= 0) {
    return makeError(ErrorKind::kUser, "an allocation must have bytes, got: ", bytes);
  }
  DeviceMemory memory;
  memory.charged_ = (bytes + kGranule - 1) / kGranule * kGranule;
  HR_RETURN_IF_ERROR(reservation.charge(memory.charged_));
  Expected<Allocation> taken = take(tier, memory.charged_, lane);
  if (!taken.ok()) {
    reservation.discharge(memory.charged_);
    return taken.status();
  }
  memory.device_ = this;
  memory.reservation_ = &reservation;
  memory.place_ = {tier, taken->address};
  memory.bytes_ = bytes;
  memory.ready_ = taken->ready;
  return memory;
}

} // namespace headrace
