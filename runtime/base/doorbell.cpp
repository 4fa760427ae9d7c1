// Doorbell on an eventfd inside an epoll set.
#include "runtime/base/doorbell.h"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "runtime/base/check.h"
#include "runtime/base/clock.h"

namespace headrace {

namespace {

/// What a thread sleeps on, made when one first does: a doorbell that is only looked at has none.
void openDescriptors(int &event, int &epoll) {
  if (epoll >= 0) {
    return;
  }
  event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  epoll = epoll_create1(EPOLL_CLOEXEC);
  HR_CHECK(event >= 0 && epoll >= 0);
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.fd = event;
  HR_CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, event, &interest) == 0);
}

} // namespace

Doorbell::Doorbell() = default;

Doorbell::~Doorbell() {
  if (epoll_ >= 0) {
    close(epoll_);
    close(event_);
  }
}

void Doorbell::ring() {
  if (state_.exchange(State::kRung, std::memory_order_acq_rel) != State::kAsleep) {
    return; // who does not sleep looks before it does
  }
  uint64_t one = 1;
  // Fails only when the counter is full, which is as good as written.
  [[maybe_unused]] ssize_t written = write(event_, &one, sizeof(one));
}

bool Doorbell::consume() {
  State rung = State::kRung;
  return state_.compare_exchange_strong(rung, State::kQuiet, std::memory_order_acq_rel);
}

Doorbell::Wake Doorbell::wait(int64_t timeoutNanoseconds) {
  openDescriptors(event_, epoll_);
  int64_t start = timeoutNanoseconds > 0 ? RealClock::instance().nowNanoseconds() : 0;
  while (true) {
    State quiet = State::kQuiet;
    if (!state_.compare_exchange_strong(quiet, State::kAsleep, std::memory_order_acq_rel)) {
      consume();
      return Wake::kRung;
    }
    int milliseconds = -1;
    if (timeoutNanoseconds >= 0) {
      int64_t spent = timeoutNanoseconds > 0 ? RealClock::instance().nowNanoseconds() - start : 0;
      int64_t left = timeoutNanoseconds - spent;
      milliseconds = left <= 0 ? 0 : static_cast<int>((left + 999'999) / 1'000'000);
    }
    epoll_event events[8];
    int count = epoll_wait(epoll_, events, 8, milliseconds);
    HR_CHECK(count >= 0 || errno == EINTR);
    bool rung = state_.exchange(State::kQuiet, std::memory_order_acq_rel) == State::kRung;
    bool descriptor = false;
    for (int index = 0; index < count; ++index) {
      if (events[index].data.fd != event_) {
        descriptor = true;
        continue;
      }
      // Of this ring, or of one whose counter was written after its sleeper had gone: nothing new.
      uint64_t written = 0;
      [[maybe_unused]] ssize_t got = read(event_, &written, sizeof(written));
    }
    if (rung) {
      return Wake::kRung;
    }
    if (descriptor) {
      return Wake::kDescriptor;
    }
    if (count == 0 && milliseconds == 0) {
      return Wake::kTimeout;
    }
  }
}

void Doorbell::watch(int descriptor, Interest interest) {
  openDescriptors(event_, epoll_);
  epoll_event event{};
  event.events = EPOLLIN | (interest == Interest::kReadableAndWritable ? EPOLLOUT : 0u);
  event.data.fd = descriptor;
  if (epoll_ctl(epoll_, EPOLL_CTL_MOD, descriptor, &event) != 0) {
    HR_CHECK(errno == ENOENT && epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0);
  }
}

void Doorbell::unwatch(int descriptor) { epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr); }

} // namespace headrace
