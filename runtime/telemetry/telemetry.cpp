// Telemetry's tracks.
#include "runtime/telemetry/telemetry.h"

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

int64_t Telemetry::droppedSpans() const {
  std::lock_guard lock(mutex_);
  int64_t dropped = 0;
  for (const auto &track : tracks_) {
    dropped += track->droppedSpans();
  }
  return dropped;
}

} // namespace headrace
