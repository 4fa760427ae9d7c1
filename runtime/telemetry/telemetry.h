// Telemetry: spans and counters of a run, per rank and per thread, kept at negligible cost.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/ids.h"

namespace headrace {

/// What a span is about; the summary groups by it.
enum class SpanKind : uint8_t {
  kPhase, ///< compile, load, run, …
  kTask,  ///< a task of the plan at work
  kWait,  ///< a task that cannot go on; the name says why ("credits", "reservation", "peer 2")
  kIo,    ///< reading or writing a file
  kLink,  ///< a message under way
};
const char *spanKindName(SpanKind kind);

/// One thing that took time. The name is interned by the Telemetry that made the track.
struct Span {
  const char *name;
  SpanKind kind;
  TaskId task;
  int64_t startNanoseconds;
  int64_t endNanoseconds;
  int64_t rows;
  int64_t bytes;
};

class Telemetry;

/// Purpose: where one thread of one rank writes its spans.
/// Ownership: owned by its Telemetry and valid as long as that. Thread-safety: one writer; readers
/// (the exporters) only after the writer has stopped. Ordering: as written. Bounded: later spans
/// than the limit are counted as dropped.
class Track {
public:
  int rank() const { return rank_; }
  const std::string &name() const { return name_; }
  const Clock &clock() const { return clock_; }
  const std::vector<Span> &spans() const { return spans_; }
  int64_t droppedSpans() const { return dropped_; }
  void add(const Span &span) {
    if (spans_.size() < limit_) {
      spans_.push_back(span);
    } else {
      ++dropped_;
    }
  }

private:
  friend class Telemetry;
  Track(int rank, std::string name, const Clock &clock, size_t limit)
      : rank_(rank), name_(std::move(name)), clock_(clock), limit_(limit) {}

  int rank_;
  std::string name_;
  const Clock &clock_;
  size_t limit_;
  std::vector<Span> spans_;
  int64_t dropped_ = 0;
};

/// Records one span from construction to destruction. A null track costs one comparison.
class ScopedSpan {
public:
  /// `name` must live as long as the track: a literal, or Telemetry::intern().
  ScopedSpan(Track *track, SpanKind kind, const char *name, TaskId task = {})
      : track_(track), span_{name, kind, task, 0, 0, 0, 0} {
    if (track_) {
      span_.startNanoseconds = track_->clock().nowNanoseconds();
    }
  }
  ~ScopedSpan() {
    if (track_) {
      span_.endNanoseconds = track_->clock().nowNanoseconds();
      track_->add(span_);
    }
  }
  ScopedSpan(const ScopedSpan &) = delete;
  ScopedSpan &operator=(const ScopedSpan &) = delete;

  void addRows(int64_t rows) { span_.rows += rows; }
  void addBytes(int64_t bytes) { span_.bytes += bytes; }

private:
  Track *track_;
  Span span_;
};

/// A number that many threads add to. Valid as long as its Telemetry.
class Counter {
public:
  void add(int64_t amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
  void raiseTo(int64_t value) {
    int64_t seen = value_.load(std::memory_order_relaxed);
    while (seen < value && !value_.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
  std::atomic<int64_t> value_{0};
};

/// Purpose: the tracks and counters of a run, and their output.
/// Ownership: owns tracks, counters and interned names. Thread-safety: track(), counter() and
/// intern() from any thread; traceJson(), summary() and totals() once the tracks' writers stopped.
/// Lifetime: outlives everything that writes to it.
class Telemetry {
public:
  struct Options {
    /// Spans a track keeps at most (setting traceEvents).
    int64_t spansMax = 1 << 18;
  };
  explicit Telemetry(const Clock &clock);
  Telemetry(const Clock &clock, Options options);

  /// A new track of a rank, for one thread.
  Track *track(int rank, std::string_view name);
  /// The counter of that name of a rank, made at first use.
  Counter &counter(int rank, std::string_view name);
  /// A copy of the name that lives as long as this.
  const char *intern(std::string_view name);

  /// The run in Chrome's trace format (ui.perfetto.dev opens it): a process a rank, a thread a
  /// track.
  std::string traceJson() const;

  /// Sums over the spans of one kind, name and task.
  struct Total {
    SpanKind kind;
    std::string name;
    TaskId task;
    int64_t count = 0;
    int64_t nanoseconds = 0; ///< over all tracks
    int64_t longestNanoseconds = 0;
    int64_t rows = 0;
    int64_t bytes = 0;
  };
  /// Ordered by kind, then task, then name.
  std::vector<Total> totals() const;
  /// The totals and counters as a table in text.
  std::string summary() const;

private:
  const Clock &clock_;
  Options options_;
  mutable std::mutex mutex_;
  std::deque<std::unique_ptr<Track>> tracks_;
  std::map<std::pair<int, std::string>, std::unique_ptr<Counter>> counters_;
  std::map<std::string, int, std::less<>> names_;
};

} // namespace headrace
