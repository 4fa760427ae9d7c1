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

std::string line(const char *format, const std::string &name, double first, double second) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, format, name.substr(0, 60).c_str(), first, second);
  return buffer;
}

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
  std::snprintf(buffer, sizeof buffer, "time %.6f s, from %.6f to %.6f\n", outcome.seconds,
                outcome.secondsLow(), outcome.secondsHigh());
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
    text += line("  %-60s %12.6f s %5.1f %%\n", name, seconds, 100 * seconds / whole);
  }
  text += "resources:\n";
  std::vector<size_t> order(graph.resources.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    double difference = outcome.uses[a].busySeconds - outcome.uses[b].busySeconds;
    return difference != 0 ? difference > 0 : a < b;
  });
  for (size_t resource : order) {
    if (outcome.uses[resource].bytes > 0) {
      text += line("  %-60s %12.4g B %5.1f %%\n", graph.resources[resource].name,
                   outcome.uses[resource].bytes, 100 * outcome.uses[resource].busySeconds / whole);
    }
  }
  for (size_t tier = 0; tier < graph.tiers.size(); ++tier) {
    text += line("tier %-57s %12.4g B of %.4g\n", graph.tiers[tier].name,
                 outcome.tierPeakBytes[tier], graph.tiers[tier].bytes);
  }
  return text;
}

} // namespace headrace::simulate
