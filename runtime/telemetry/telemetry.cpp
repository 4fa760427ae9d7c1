// Telemetry's tracks, counters, totals and summary.
#include "runtime/telemetry/telemetry.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace headrace {

const char *spanKindName(SpanKind kind) {
  switch (kind) {
  case SpanKind::kPhase:
    return "phase";
  case SpanKind::kTask:
    return "task";
  case SpanKind::kWait:
    return "wait";
  case SpanKind::kIo:
    return "io";
  case SpanKind::kLink:
    return "link";
  }
  return "unknown";
}

Telemetry::Telemetry(const Clock &clock) : Telemetry(clock, Options()) {}
Telemetry::Telemetry(const Clock &clock, Options options) : clock_(clock), options_(options) {}

Track *Telemetry::track(int rank, std::string_view name) {
  std::lock_guard lock(mutex_);
  tracks_.push_back(std::unique_ptr<Track>(
      new Track(rank, std::string(name), clock_, static_cast<size_t>(options_.spansMax))));
  return tracks_.back().get();
}

Counter &Telemetry::counter(int rank, std::string_view name) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Counter> &counter = counters_[{rank, std::string(name)}];
  if (!counter) {
    counter = std::make_unique<Counter>();
  }
  return *counter;
}

const char *Telemetry::intern(std::string_view name) {
  std::lock_guard lock(mutex_);
  auto found = names_.find(name);
  if (found == names_.end()) {
    found = names_.emplace(std::string(name), 0).first;
  }
  return found->first.c_str();
}

std::vector<Telemetry::Total> Telemetry::totals() const {
  std::lock_guard lock(mutex_);
  std::map<std::tuple<SpanKind, TaskId, std::string>, Total> byKey;
  for (const auto &track : tracks_) {
    for (const Span &span : track->spans()) {
      Total &total = byKey[{span.kind, span.task, span.name}];
      int64_t nanoseconds = span.endNanoseconds - span.startNanoseconds;
      total.kind = span.kind;
      total.name = span.name;
      total.task = span.task;
      ++total.count;
      total.nanoseconds += nanoseconds;
      total.longestNanoseconds = std::max(total.longestNanoseconds, nanoseconds);
      total.rows += span.rows;
      total.bytes += span.bytes;
    }
  }
  std::vector<Total> totals;
  for (auto &[key, total] : byKey) {
    totals.push_back(std::move(total));
  }
  return totals;
}

std::string Telemetry::summary() const {
  std::string text =
      "kind   task  count    total ms  longest ms          rows         bytes  name\n";
  char line[160];
  for (const Total &total : totals()) {
    std::string task = total.task.valid() ? std::to_string(total.task.value) : "-";
    std::snprintf(line, sizeof(line), "%-6s %4s %6lld %11.3f %11.3f %13lld %13lld  ",
                  spanKindName(total.kind), task.c_str(), static_cast<long long>(total.count),
                  static_cast<double>(total.nanoseconds) * 1e-6,
                  static_cast<double>(total.longestNanoseconds) * 1e-6,
                  static_cast<long long>(total.rows), static_cast<long long>(total.bytes));
    text += line + total.name + "\n";
  }
  std::lock_guard lock(mutex_);
  for (const auto &[key, counter] : counters_) {
    text += "rank " + std::to_string(key.first) + "  " + key.second + ": " +
            std::to_string(counter->value()) + "\n";
  }
  int64_t dropped = 0;
  for (const auto &track : tracks_) {
    dropped += track->droppedSpans();
  }
  if (dropped > 0) {
    text += "spans dropped (raise --trace-events): " + std::to_string(dropped) + "\n";
  }
  return text;
}

} // namespace headrace
