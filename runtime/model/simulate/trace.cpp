// Writes traces and reports.
#include "runtime/model/simulate/trace.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

namespace headrace::simulate {
namespace {

std::string placeOf(const Graph &graph, const Activity &activity) {
  bool known = activity.place >= 0 && activity.place < static_cast<int32_t>(graph.places.size());
  return known ? graph.places[activity.place] : std::string();
}

std::string bottleneckOf(const Graph &graph, const Span &span) {
  return span.bottleneck == kNone ? "itself" : graph.resources[span.bottleneck].name;
}

/// Its part of the whole first, then what it is, however long that is.
std::string line(double seconds, double whole, const std::string &what) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%12.3f ms %5.1f %%  ", 1e3 * seconds,
                100 * seconds / whole);
  return buffer + what + "\n";
}

std::string bytesText(double bytes) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.4g B", bytes);
  return buffer;
}

/// What goes through a processor are operations: its rate is in bytes that stand for them.
bool carriesBytes(const Resource &resource) { return !resource.name.ends_with(" compute"); }

} // namespace

std::string perfettoTrace(const Graph &graph, const Outcome &outcome) {
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  for (size_t lane = 0; lane < graph.lanes.size(); ++lane) {
    events.push_back({{"ph", "M"},
                      {"pid", 0},
                      {"tid", lane},
                      {"name", "thread_name"},
                      {"args", {{"name", graph.lanes[lane]}}}});
  }
  for (size_t i = 0; i < graph.activities.size(); ++i) {
    const Activity &activity = graph.activities[i];
    const Span &span = outcome.spans[i];
    nlohmann::ordered_json arguments = {{"bytes", activity.work},
                                        {"bottleneck", bottleneckOf(graph, span)},
                                        {"waited_us", 1e6 * (span.start - span.ready)}};
    if (std::string place = placeOf(graph, activity); !place.empty()) {
      arguments["place"] = place;
    }
    events.push_back({{"ph", "X"},
                      {"pid", 0},
                      {"tid", activity.lane},
                      {"name", activity.name},
                      {"ts", 1e6 * span.start},
                      {"dur", 1e6 * (span.finish - span.start)},
                      {"args", arguments}});
  }
  nlohmann::ordered_json trace = {{"displayTimeUnit", "ms"}, {"traceEvents", events}};
  return trace.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string report(const Graph &graph, const Outcome &outcome) {
  char buffer[160];
  std::snprintf(buffer, sizeof buffer, "time %.3f ms, from %.3f to %.3f ms\n",
                1e3 * outcome.seconds, 1e3 * outcome.secondsLow(), 1e3 * outcome.secondsHigh());
  std::string text = buffer;
  double whole = std::max(outcome.seconds, 1e-300);
  text += "critical path:\n";
  // Chunks of one task at one place count as one line.
  std::vector<std::pair<std::string, double>> lines;
  for (int32_t id : outcome.criticalPath) {
    const Activity &activity = graph.activities[id];
    const Span &span = outcome.spans[id];
    std::string place = placeOf(graph, activity);
    std::string name = activity.name.substr(0, activity.name.find(" #")) + " (" +
                       bottleneckOf(graph, span) + ")" + (place.empty() ? "" : " at " + place);
    auto it = std::find_if(lines.begin(), lines.end(),
                           [&](const auto &entry) { return entry.first == name; });
    if (it == lines.end()) {
      it = lines.insert(lines.end(), {name, 0});
    }
    it->second += span.finish - span.start;
  }
  for (const auto &[name, seconds] : lines) {
    if (seconds > 0) {
      text += line(seconds, whole, name);
    }
  }
  text += "busy:\n";
  std::vector<size_t> order(graph.resources.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    double difference = outcome.uses[a].busySeconds - outcome.uses[b].busySeconds;
    return difference != 0 ? difference > 0 : a < b;
  });
  for (size_t resource : order) {
    const ResourceUse &use = outcome.uses[resource];
    if (use.bytes > 0) {
      const Resource &used = graph.resources[resource];
      text += line(use.busySeconds, whole,
                   used.name + (carriesBytes(used) ? ", " + bytesText(use.bytes) : ""));
    }
  }
  for (size_t tier = 0; tier < graph.tiers.size(); ++tier) {
    text += graph.tiers[tier].name + ": " + bytesText(outcome.tierPeakBytes[tier]) + " of " +
            bytesText(graph.tiers[tier].bytes) + "\n";
  }
  return text;
}

} // namespace headrace::simulate
