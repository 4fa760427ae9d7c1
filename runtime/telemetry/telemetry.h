// Telemetry: spans of a run, per rank and per thread or task, kept at negligible cost.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/ids.h"
#include "runtime/base/status.h"

namespace headrace {

/// What a span is about: its category in a trace.
enum class SpanKind : uint8_t {
  kPhase, ///< a task of the plan from start to end
  kTask,  ///< a worker at work on a task
  kWait,  ///< a task that cannot go on; the name says why ("credits", "reservation", "peer 2")
  kIo,    ///< reading or writing a file
  kLink,  ///< a message under way
};
const char *spanKindName(SpanKind kind);

/// One thing that took time. The name lives as long as the track: a literal, or of the plan.
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

/// Purpose: where one thread of one rank writes spans that do not overlap, but may be nested.
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
  /// `name` must live as long as the track: a literal, or of the plan.
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

/// Writes text to a file that appears under its name only when it is complete. Errors: kIo.
Status writeTraceFile(const std::string &path, const std::string &text);
/// One trace of several, such as those of processes.
std::string mergedTraces(const std::vector<std::string> &traces);

/// Purpose: the tracks of a run, and their output.
/// Ownership: owns the tracks. Thread-safety: track() from any thread; the rest once the tracks'
/// writers stopped. Lifetime: outlives everything that writes to it.
class Telemetry {
public:
  struct Options {
    /// Spans a track keeps at most (setting traceEvents).
    int64_t spansMax = 1 << 18;
  };
  explicit Telemetry(const Clock &clock);
  Telemetry(const Clock &clock, Options options);

  /// A new track of a rank, written by one thread.
  Track *track(int rank, std::string_view name);

  /// The run in Chrome's trace format (ui.perfetto.dev opens it): a process a rank, a thread a
  /// track.
  std::string traceJson() const;

  /// Over all tracks.
  int64_t droppedSpans() const;

private:
  const Clock &clock_;
  Options options_;
  mutable std::mutex mutex_;
  std::deque<std::unique_ptr<Track>> tracks_;
};

} // namespace headrace
