// The broker: grants, growth, and the typed memory error.
#include "runtime/memory/budget.h"

#include <algorithm>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/readable.h"

namespace headrace {

Budget::Budget(Options options) : options_(std::move(options)) {
  HR_CHECK(options_.limitBytes >= 0);
}

Budget::~Budget() { HR_CHECK(reserved_ == 0); }

int64_t Budget::reservedBytes() const {
  std::lock_guard lock(mutex_);
  return reserved_;
}

int64_t Budget::peakReservedBytes() const {
  std::lock_guard lock(mutex_);
  return peak_;
}

Status Budget::refuse(const ReservationRequest &request, int64_t askedBytes,
                      int64_t reservedBytes) const {
  std::string task =
      request.task.valid() ? " (task " + std::to_string(request.task.value) + ")" : std::string();
  return makeError(ErrorKind::kMemory, "out of ", tierName(options_.tier),
                   " memory: ", request.operatorName, task, " asked for ", formatBytes(askedBytes),
                   " (", askedBytes, " bytes) with ", formatBytes(reservedBytes),
                   " of the limit of ", formatBytes(options_.limitBytes), " reserved; raise ",
                   options_.setting)
      .at(request.place);
}

int64_t Budget::take(int64_t leastBytes, int64_t mostBytes) {
  std::unique_lock lock(mutex_);
  auto room = [&] { return options_.limitBytes - reserved_; };
  if (leastBytes > room()) {
    return -1;
  }
  int64_t taken = std::min(std::max(leastBytes, mostBytes), room());
  if (options_.shared) {
    lock.unlock(); // keepers that give way may have reserved what they keep here
    if (!options_.shared->take(taken)) {
      taken = leastBytes; // other runs of the process have the rest
      if (!options_.shared->take(taken)) {
        return -1;
      }
    }
    lock.lock();
    // Others of this budget may have been faster.
    const int64_t kept = leastBytes > room() ? -1 : std::min(taken, room());
    options_.shared->giveBack(taken - std::max<int64_t>(kept, 0));
    if (kept < 0) {
      return -1;
    }
    taken = kept;
  }
  reserved_ += taken;
  peak_ = std::max(peak_, reserved_);
  return taken;
}

void Budget::giveBack(int64_t bytes) {
  std::lock_guard lock(mutex_);
  HR_CHECK(bytes >= 0 && bytes <= reserved_);
  reserved_ -= bytes;
  if (options_.shared) {
    options_.shared->giveBack(bytes);
  }
  if (putOff_ && bytes > 0) {
    putOff_ = false;
    for (Doorbell *doorbell : doorbells_) {
      doorbell->ring();
    }
  }
}

Expected<Reservation> Budget::reserve(const ReservationRequest &request) {
  HR_CHECK(request.minimumBytes >= 0 && request.expectedBytes >= 0);
  int64_t granted = take(request.minimumBytes, request.expectedBytes);
  if (granted < 0) {
    return refuse(request, request.minimumBytes, reservedBytes());
  }
  Reservation reservation;
  reservation.state_ = std::make_shared<Reservation::State>(*this, request, granted);
  return reservation;
}

Expected<std::optional<Reservation>> Budget::tryReserve(const ReservationRequest &request) {
  HR_CHECK(request.minimumBytes >= 0 && request.expectedBytes >= 0);
  if (request.minimumBytes > options_.limitBytes) {
    return refuse(request, request.minimumBytes, reservedBytes());
  }
  int64_t granted = take(request.minimumBytes, request.expectedBytes);
  if (granted < 0) {
    {
      std::lock_guard lock(mutex_);
      putOff_ = true;
    }
    // Bytes that came back before the flag rose rang nobody: ask once more.
    granted = take(request.minimumBytes, request.expectedBytes);
    if (granted < 0) {
      return std::optional<Reservation>();
    }
  }
  Reservation reservation;
  reservation.state_ = std::make_shared<Reservation::State>(*this, request, granted);
  return std::optional<Reservation>(std::move(reservation));
}

void Budget::watch(Doorbell *doorbell) {
  std::lock_guard lock(mutex_);
  doorbells_.push_back(doorbell);
}

void Budget::unwatch(Doorbell *doorbell) {
  std::lock_guard lock(mutex_);
  std::erase(doorbells_, doorbell);
}

Reservation &Reservation::operator=(Reservation &&other) noexcept {
  if (this != &other) {
    release();
    state_ = std::move(other.state_);
  }
  return *this;
}

int64_t Reservation::grantedBytes() const { return state_ ? state_->read().granted : 0; }
int64_t Reservation::chargedBytes() const { return state_ ? state_->read().charged : 0; }
int64_t Reservation::peakBytes() const { return state_ ? state_->read().peak : 0; }

Status Reservation::charge(int64_t bytes) {
  HR_CHECK(state_);
  return state_->charge(bytes);
}

void Reservation::discharge(int64_t bytes) {
  HR_CHECK(state_);
  state_->discharge(bytes);
}

Status Reservation::grow(int64_t bytes) {
  HR_CHECK(state_ && bytes >= 0);
  return state_->grow(bytes);
}

void Reservation::shrink() {
  HR_CHECK(state_);
  state_->shrink();
}

void Reservation::release() {
  if (!state_) {
    return;
  }
  State::Bytes bytes = state_->read();
  HR_CHECK(bytes.charged == 0);
  state_->budget.giveBack(bytes.granted);
  state_.reset();
}

Reservation::State::Bytes Reservation::State::read() {
  std::lock_guard lock(mutex);
  return bytes;
}

Status Reservation::State::take(int64_t more) {
  return budget.take(more, more) < 0 ? budget.refuse(request, more, budget.reservedBytes())
                                     : Status();
}

void Reservation::State::giveBackRest() {
  const int64_t rest = bytes.granted - std::max(bytes.charged, bytes.promised);
  if (rest > 0) {
    budget.giveBack(rest);
    bytes.granted -= rest;
  }
}

Status Reservation::State::grow(int64_t more) {
  HR_RETURN_IF_ERROR(take(more));
  std::lock_guard lock(mutex);
  bytes.granted += more;
  bytes.promised = bytes.granted;
  return {};
}

void Reservation::State::shrink() {
  std::lock_guard lock(mutex);
  bytes.promised = 0;
  giveBackRest();
}

Status Reservation::State::charge(int64_t more) {
  HR_CHECK(more >= 0);
  std::unique_lock lock(mutex);
  // Again where others have charged what was granted for this.
  for (int64_t missing; (missing = bytes.charged + more - bytes.granted) > 0;) {
    lock.unlock();
    HR_RETURN_IF_ERROR(take(missing));
    lock.lock();
    bytes.granted += missing;
  }
  bytes.charged += more;
  bytes.peak = std::max(bytes.peak, bytes.charged);
  giveBackRest(); // others may have discharged in between
  return {};
}

void Reservation::State::discharge(int64_t fewer) {
  std::lock_guard lock(mutex);
  HR_CHECK(fewer >= 0 && fewer <= bytes.charged);
  bytes.charged -= fewer;
  giveBackRest();
}

Charge &Charge::operator=(Charge &&other) noexcept {
  if (this != &other) {
    reset();
    state_ = std::move(other.state_);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Expected<Charge> Charge::take(Reservation &reservation, int64_t bytes) {
  HR_CHECK(reservation.state_ && bytes >= 0);
  HR_RETURN_IF_ERROR(reservation.state_->charge(bytes));
  Charge charge;
  charge.state_ = reservation.state_;
  charge.bytes_ = bytes;
  return charge;
}

Charge Charge::split(int64_t bytes) {
  HR_CHECK(bytes >= 0 && bytes <= bytes_);
  Charge part;
  part.state_ = state_;
  part.bytes_ = bytes;
  bytes_ -= bytes;
  return part;
}

void Charge::add(Charge other) {
  if (!state_) {
    *this = std::move(other);
    return;
  }
  HR_CHECK(other.state_ == state_);
  bytes_ += std::exchange(other.bytes_, 0);
}

void Charge::reset() {
  if (state_) {
    state_->discharge(bytes_);
    state_.reset();
    bytes_ = 0;
  }
}

} // namespace headrace
