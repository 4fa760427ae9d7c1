// Telemetry as Chrome trace JSON, which Perfetto reads.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <unistd.h>

#include "runtime/telemetry/telemetry.h"
#include "runtime/telemetry/trace_time.h"

namespace headrace {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char letter : text) {
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", letter);
      out += escape;
    } else {
      out += letter;
    }
  }
  return out + "\"";
}

std::string metadata(const char *what, int rank, size_t thread, std::string_view name) {
  return std::string("{\"ph\":\"M\",\"name\":\"") + what + "\",\"pid\":" + std::to_string(rank) +
         ",\"tid\":" + std::to_string(thread) + ",\"args\":{\"name\":" + quoted(name) + "}}";
}

/// A span before those within it: Perfetto drops one that begins with an earlier one and ends
/// later.
std::vector<Span> outerFirst(std::vector<Span> spans) {
  std::stable_sort(spans.begin(), spans.end(), [](const Span &a, const Span &b) {
    return a.startNanoseconds != b.startNanoseconds ? a.startNanoseconds < b.startNanoseconds
                                                    : a.endNanoseconds > b.endNanoseconds;
  });
  return spans;
}

} // namespace

std::string Telemetry::traceJson() const {
  std::lock_guard lock(mutex_);
  std::string json = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  bool first = true;
  auto append = [&](const std::string &event) {
    json += first ? "\n" : ",\n";
    json += event;
    first = false;
  };
  std::set<int> ranks;
  for (size_t thread = 0; thread < tracks_.size(); ++thread) {
    const Track &track = *tracks_[thread];
    if (ranks.insert(track.rank()).second) {
      append(metadata("process_name", track.rank(), 0, "rank " + std::to_string(track.rank())));
    }
    append(metadata("thread_name", track.rank(), thread, track.name()));
    for (const Span &span : outerFirst(track.spans())) {
      double start = traceMicroseconds(span.startNanoseconds);
      char times[96];
      std::snprintf(times, sizeof(times), "\"ts\":%.3f,\"dur\":%.3f", start,
                    traceMicroseconds(span.endNanoseconds) - start);
      std::string event = "{\"ph\":\"X\",\"name\":" + quoted(span.name) + ",\"cat\":\"" +
                          spanKindName(span.kind) + "\",\"pid\":" + std::to_string(track.rank()) +
                          ",\"tid\":" + std::to_string(thread) + "," + times + ",\"args\":{";
      if (span.task.valid()) {
        event += "\"task\":" + std::to_string(span.task.value) + ",";
      }
      event += "\"rows\":" + std::to_string(span.rows) +
               ",\"bytes\":" + std::to_string(span.bytes) + "}}";
      append(event);
    }
  }
  json += "\n]}\n";
  return json;
}

std::string mergedTraces(const std::vector<std::string> &traces) {
  nlohmann::json merged;
  for (const std::string &text : traces) {
    nlohmann::json trace = nlohmann::json::parse(text);
    if (merged.is_null()) {
      merged = std::move(trace);
      continue;
    }
    for (nlohmann::json &event : trace["traceEvents"]) {
      merged["traceEvents"].push_back(std::move(event));
    }
  }
  return merged.dump() + "\n";
}

Status writeTraceFile(const std::string &path, const std::string &text) {
  std::string partial = path + "." + std::to_string(getpid()) + ".partial";
  std::ofstream file(partial, std::ios::binary);
  file << text;
  file.close();
  if (!file || std::rename(partial.c_str(), path.c_str()) != 0) {
    Status status =
        makeError(ErrorKind::kIo, "cannot write the trace: ", path, ": ", std::strerror(errno));
    std::remove(partial.c_str());
    return status;
  }
  return {};
}

} // namespace headrace
