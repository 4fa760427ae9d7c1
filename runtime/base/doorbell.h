// Doorbell: what an idle thread sleeps on, and what everybody who has news for it rings.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/base/status.h"

namespace headrace {

/// Purpose: one place to sleep for the thread that polls a rank (or a process's ranks): messages,
/// finished jobs, freed buffers and file descriptors all wake it.
/// Ownership: borrowed by those who ring; must outlive them.
/// Thread-safety: ring() from any thread, consume() and wait() from the one polling thread.
/// Ordering: what happened before ring() is visible after the consume() or wait() that saw it.
/// Rings while nobody waits are remembered, as one.
class Doorbell {
public:
  Doorbell();
  ~Doorbell();
  Doorbell(const Doorbell &) = delete;
  Doorbell &operator=(const Doorbell &) = delete;

  /// Cheap while nobody sleeps: one atomic operation, no system call.
  void ring();

  /// True if it rang since the last consume() or wait(); never blocks.
  bool consume();

  enum class Wake : uint8_t { kRung, kDescriptor, kTimeout };
  /// Sleeps until a ring, a watched descriptor, or the timeout (negative: none).
  Wake wait(int64_t timeoutNanoseconds = -1);

  enum class Interest : uint8_t { kReadable, kReadableAndWritable };
  /// Also wakes for `descriptor` (level-triggered). Watching it again changes the interest.
  void watch(int descriptor, Interest interest);
  void unwatch(int descriptor);

private:
  enum class State : uint8_t { kQuiet, kRung, kAsleep };
  std::atomic<State> state_{State::kQuiet};
  int event_ = -1;
  int epoll_ = -1;
};

} // namespace headrace
