// Time as a parameter: the real monotonic clock, or a virtual one that a simulation advances.
#pragma once

#include <atomic>
#include <cstdint>

namespace headrace {

/// Monotonic time in nanoseconds from an arbitrary start. Thread-safe. Outlives what it is passed
/// to.
class Clock {
public:
  virtual ~Clock() = default;
  virtual int64_t nowNanoseconds() const = 0;
};

/// The machine's monotonic clock.
class RealClock final : public Clock {
public:
  static RealClock &instance();
  int64_t nowNanoseconds() const override;
};

/// Time that stands still until someone moves it; never goes back.
class VirtualClock final : public Clock {
public:
  int64_t nowNanoseconds() const override { return now_.load(std::memory_order_acquire); }
  /// Moves to a time not before now.
  void advanceTo(int64_t nanoseconds);

private:
  std::atomic<int64_t> now_{0};
};

} // namespace headrace
