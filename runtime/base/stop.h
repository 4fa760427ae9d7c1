// Whether what a thread works for has been given up: loops that take long ask in between, and leave
// with whatever they have, since nobody looks at it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headrace {

/// Purpose: what its thread does while it lives is in vain once `flag` is true; a scope inside
/// another stands for it. Ownership: borrows the flag. Thread-safety: of one thread, but the flag.
class StopScope {
public:
  explicit StopScope(const std::atomic<bool> &flag) : outer_(current) { current = &flag; }
  ~StopScope() { current = outer_; }
  StopScope(const StopScope &) = delete;
  StopScope &operator=(const StopScope &) = delete;

  static bool isStopped() { return current && current->load(std::memory_order_relaxed); }

private:
  static inline thread_local const std::atomic<bool> *current = nullptr;
  const std::atomic<bool> *outer_;
};

/// Whether the thread's work was given up. A few nanoseconds.
inline bool stopRequested() { return StopScope::isStopped(); }

/// Asks now and then in loops of short steps.
class StopCheck {
public:
  /// To be called behind every `steps` steps of a few nanoseconds each. Once true, it stays so.
  bool isStoppedAfter(size_t steps = 1) {
    taken_ += steps;
    if (taken_ >= kSteps && !stopped_) {
      taken_ = 0;
      stopped_ = stopRequested();
    }
    return stopped_;
  }

private:
  static constexpr size_t kSteps = size_t{1} << 14;
  size_t taken_ = 0;
  bool stopped_ = false;
};

/// `less` for a sort that is to end soon once its work is given up: from then on all are alike.
template <typename Less> auto untilStopped(StopCheck &check, Less less) {
  return [&check, less](const auto &a, const auto &b) {
    return !check.isStoppedAfter() && less(a, b);
  };
}

/// The rows [begin, end), fewer if the work is given up on the way.
class RowsUntilStopped {
public:
  RowsUntilStopped(uint32_t begin, uint32_t end) : begin_(begin), end_(begin < end ? end : begin) {}

  class Iterator {
  public:
    Iterator(uint32_t row, uint32_t end) : row_(row), end_(end) {}
    uint32_t operator*() const { return row_; }
    Iterator &operator++() {
      ++row_;
      if (row_ % kRows == 0 && stopRequested()) {
        row_ = end_;
      }
      return *this;
    }
    bool operator!=(const Iterator &other) const { return row_ != other.row_; }

  private:
    static constexpr uint32_t kRows = 4096;
    uint32_t row_, end_;
  };
  Iterator begin() const { return {stopRequested() ? end_ : begin_, end_}; }
  Iterator end() const { return {end_, end_}; }

private:
  uint32_t begin_, end_;
};

} // namespace headrace
