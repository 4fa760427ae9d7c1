// Memory and copies of a GPU: the pool in stream order, pinned memory, staging.
#include "runtime/device/cuda/cuda_device.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/readable.h"

namespace headrace::cuda {

namespace {
void *hostOf(Place place) { return reinterpret_cast<void *>(place.address); }

Lane laneOf(Place source, Place target) {
  if (target.tier == Tier::kDevice) {
    return source.tier == Tier::kDevice ? Lane::kCompute : Lane::kIn;
  }
  return source.tier == Tier::kDevice ? Lane::kOut : Lane::kIn;
}
} // namespace

// ---- allocation ----

Expected<Device::Allocation> CudaDevice::take(Tier tier, int64_t bytes, Lane lane) {
  HR_RETURN_IF_ERROR(enter());
  std::lock_guard lock(mutex_);
  if (tier == Tier::kPinned) {
    return takePinned(bytes);
  }
  Address address = 0;
  Result result = driver_.allocate(&address, bytes, pool_, stream(lane));
  if (result == kOutOfMemory) {
    // What was given back may still wait for its turn.
    HR_RETURN_IF_ERROR(finish(driver_.streamSynchronize(frees_), "waiting for freed memory"));
    result = driver_.allocate(&address, bytes, pool_, stream(lane));
  }
  if (result == kOutOfMemory) {
    return makeError(ErrorKind::kMemory, "out of device memory: ", formatBytes(bytes), " (", bytes,
                     " bytes) do not fit into the pool of: ", description_.name);
  }
  HR_RETURN_IF_ERROR(finish(result, "allocating device memory"));
  Expected<Event> ready = mark(lane);
  if (!ready.ok()) {
    driver_.free(address, stream(lane));
    return ready.status();
  }
  return Allocation{address, std::move(*ready)};
}

Expected<Device::Allocation> CudaDevice::takePinned(int64_t bytes) {
  collectRetired(/*wait=*/false);
  void *address = nullptr;
  Result result = driver_.hostAllocate(&address, bytes, 0);
  if (result == kOutOfMemory) {
    collectRetired(/*wait=*/true);
    result = driver_.hostAllocate(&address, bytes, 0);
  }
  if (result == kOutOfMemory) {
    return makeError(ErrorKind::kMemory, "out of pinned memory: the system refused ",
                     formatBytes(bytes), " (", bytes, " bytes) for: ", description_.name);
  }
  HR_RETURN_IF_ERROR(finish(result, "allocating pinned memory"));
  return Allocation{reinterpret_cast<uint64_t>(address), Event()};
}

void CudaDevice::giveBack(Place place) {
  if (!enter().ok()) {
    return; // of a lost device nothing comes back
  }
  std::lock_guard lock(mutex_);
  std::array<Event, kLaneCount> tails;
  for (int lane = 0; lane < kLaneCount; ++lane) {
    Expected<Event> tail = mark(static_cast<Lane>(lane));
    if (!tail.ok()) {
      return; // the error stays, or comes again with the next submission
    }
    tails[lane] = std::move(*tail);
  }
  if (place.tier == Tier::kPinned) {
    retired_.push_back({hostOf(place), std::move(tails)});
    collectRetired(/*wait=*/false);
    return;
  }
  for (const Event &tail : tails) {
    driver_.streamWait(frees_, static_cast<Point *>(tail.point())->signal, 0);
  }
  driver_.free(place.address, frees_);
}

void CudaDevice::collectRetired(bool wait) {
  std::erase_if(retired_, [&](Retired &retired) {
    for (const Event &tail : retired.tails) {
      Signal signal = static_cast<Point *>(tail.point())->signal;
      if ((wait ? driver_.signalSynchronize(signal) : driver_.signalQuery(signal)) == kNotReady) {
        return false;
      }
    }
    driver_.hostFree(retired.address);
    return true;
  });
}

// ---- copies ----

Expected<Event> CudaDevice::copy(Place source, Place target, int64_t bytes,
                                 std::span<const Event> after) {
  if (source.tier == Tier::kFile || target.tier == Tier::kFile || bytes < 0) {
    return makeError(ErrorKind::kUser,
                     "a device copies no negative bytes, and none from or to tier ",
                     tierName(Tier::kFile), ", got: ", bytes, " from ", tierName(source.tier),
                     " to ", tierName(target.tier));
  }
  HR_RETURN_IF_ERROR(enter());
  if (bytes > 0 && (source.tier == Tier::kHost || target.tier == Tier::kHost)) {
    return copyStaged(source, target, bytes, after);
  }
  Lane lane = laneOf(source, target);
  std::lock_guard lock(mutex_);
  HR_RETURN_IF_ERROR(follow(lane, after));
  if (bytes > 0) {
    HR_RETURN_IF_ERROR(
        finish(driver_.copy(target.address, source.address, bytes, stream(lane)), "copying"));
  }
  return mark(lane);
}

Expected<Event> CudaDevice::copyStaged(Place source, Place target, int64_t bytes,
                                       std::span<const Event> after) {
  if (source.tier != Tier::kDevice && target.tier != Tier::kDevice) {
    HR_RETURN_IF_ERROR(waitAll(after));
    std::memcpy(hostOf(target), hostOf(source), bytes);
    return Event();
  }
  const bool inwards = target.tier == Tier::kDevice;
  std::lock_guard lock(stagingMutex_);
  // Outwards the host takes a part only when the next one is under way.
  Place unread;
  int64_t unreadBytes = 0;
  Staging *unreadIn = nullptr;
  auto read = [&]() -> Status {
    if (unreadIn != nullptr) {
      HR_RETURN_IF_ERROR(wait(unreadIn->free));
      std::memcpy(hostOf(unread), unreadIn->memory.host(), unreadBytes);
    }
    return {};
  };
  int turn = 0;
  Event last;
  for (int64_t done = 0; done < bytes;) {
    turn = 1 - turn;
    Staging &staging = staging_[turn];
    int64_t part = std::min(bytes - done, staging.memory.bytes());
    HR_RETURN_IF_ERROR(wait(staging.free));
    if (inwards) {
      std::memcpy(staging.memory.host(), hostOf(source + done), part);
      HR_ASSIGN_OR_RETURN(last, copy(staging.memory.at(), target + done, part, after));
    } else {
      HR_ASSIGN_OR_RETURN(last, copy(source + done, staging.memory.at(), part, after));
      HR_RETURN_IF_ERROR(read());
      unread = target + done;
      unreadBytes = part;
      unreadIn = &staging;
    }
    staging.free = last;
    done += part;
  }
  HR_RETURN_IF_ERROR(read());
  return last;
}

Expected<Event> CudaDevice::fill(Place target, uint8_t value, int64_t bytes,
                                 std::span<const Event> after) {
  if (target.tier != Tier::kDevice || bytes < 0) {
    return makeError(ErrorKind::kUser, "a device fills its own memory alone, got: ", bytes,
                     " bytes in tier ", tierName(target.tier));
  }
  HR_RETURN_IF_ERROR(enter());
  std::lock_guard lock(mutex_);
  HR_RETURN_IF_ERROR(follow(Lane::kCompute, after));
  if (bytes > 0) {
    HR_RETURN_IF_ERROR(
        finish(driver_.fill(target.address, value, bytes, stream(Lane::kCompute)), "filling"));
  }
  return mark(Lane::kCompute);
}

} // namespace headrace::cuda
