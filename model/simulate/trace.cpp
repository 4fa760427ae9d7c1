// Writes traces and reports.
#include "model/simulate/trace.h"

#include "runtime/base/readable.h"
#include "runtime/telemetry/trace_time.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace headrace::simulate {
namespace {

using Json = nlohmann::ordered_json;

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

/// What goes through a processor are operations: its rate is in bytes that stand for them.
bool carriesBytes(const Resource &resource) { return !resource.name.ends_with(" compute"); }

double microseconds(double seconds) { return traceMicroseconds(std::llround(1e9 * seconds)); }

Json metadata(const char *what, size_t process, size_t thread, Json arguments) {
  return {{"ph", "M"},
          {"pid", process},
          {"tid", thread},
          {"name", what},
          {"args", std::move(arguments)}};
}

Json nameEvent(const char *what, size_t process, size_t thread, const std::string &name) {
  return metadata(what, process, thread, {{"name", name}});
}

Json argumentsOf(const Graph &graph, const Activity &activity, const Span &span) {
  Json arguments = {
      {"bytes", activity.work},
      {"bottleneck", bottleneckOf(graph, span)},
      {"waited_us", 1e6 * (span.start - span.ready)},
      {"ranks", activity.rankClass == kNone ? "all" : graph.rankClasses[activity.rankClass]}};
  if (std::string place = placeOf(graph, activity); !place.empty()) {
    arguments["place"] = place;
  }
  return arguments;
}

std::vector<int32_t> byStart(const Outcome &outcome) {
  std::vector<int32_t> order(outcome.spans.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return outcome.spans[a].start < outcome.spans[b].start;
  });
  return order;
}

/// Gives every activity a line on which nothing else is at that time: one for each kind of each
/// task and class of ranks, and more where such overlap. Takes them in the order of their starts.
class Lines {
public:
  /// The line's number, from 1, and whether it is new.
  std::pair<size_t, bool> place(size_t process, const Activity &activity, const Span &span) {
    std::vector<Line> &lines = lines_[{process, activity.lane, activity.kind()}];
    auto free = std::find_if(lines.begin(), lines.end(),
                             [&](const Line &line) { return line.end <= span.start; });
    bool isNew = free == lines.end();
    if (isNew) {
      free = lines.insert(lines.end(), {++count_, 0});
    }
    free->end = span.finish;
    return {free->number, isNew};
  }

private:
  struct Line {
    size_t number = 0;
    double end = 0;
  };
  std::map<std::tuple<size_t, int32_t, std::string>, std::vector<Line>> lines_;
  size_t count_ = 0;
};

/// A curve for every resource that anything goes through, in a process of their own: the part of
/// the capacity that is in use. Of a fatpipe, which bounds each alone, it may be above 100.
void addResourceUse(const Graph &graph, const Outcome &outcome, Json &events) {
  size_t process = graph.rankClasses.size() + 1;
  events.push_back(nameEvent("process_name", process, 0, "resources"));
  for (size_t r = 0; r < graph.resources.size(); ++r) {
    for (const RateChange &change : outcome.uses[r].rates) {
      double percent = 100 * change.bytesPerSecond / graph.resources[r].capacity;
      events.push_back({{"ph", "C"},
                        {"pid", process},
                        {"name", graph.resources[r].name},
                        {"ts", microseconds(change.seconds)},
                        {"args", {{"percent", percent}}}});
    }
  }
}

} // namespace

std::string perfettoTrace(const Graph &graph, const Outcome &outcome) {
  Json events = Json::array();
  events.push_back(nameEvent("process_name", 0, 0, "all ranks"));
  for (size_t c = 0; c < graph.rankClasses.size(); ++c) {
    events.push_back(nameEvent("process_name", c + 1, 0, graph.rankClasses[c]));
  }
  Lines lines;
  for (int32_t id : byStart(outcome)) {
    const Activity &activity = graph.activities[id];
    const Span &span = outcome.spans[id];
    size_t process = static_cast<size_t>(activity.rankClass + 1);
    auto [thread, isNew] = lines.place(process, activity, span);
    if (isNew) {
      events.push_back(nameEvent("thread_name", process, thread, activity.kind()));
      events.push_back(
          metadata("thread_sort_index", process, thread, {{"sort_index", activity.lane}}));
    }
    events.push_back({{"ph", "X"},
                      {"pid", process},
                      {"tid", thread},
                      {"name", activity.name},
                      {"ts", microseconds(span.start)},
                      {"dur", microseconds(span.finish) - microseconds(span.start)},
                      {"args", argumentsOf(graph, activity, span)}});
  }
  addResourceUse(graph, outcome, events);
  Json trace = {{"displayTimeUnit", "ms"}, {"traceEvents", events}};
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace);
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
    std::string name = activity.kind() + " (" + bottleneckOf(graph, span) + ")" +
                       (place.empty() ? "" : " at " + place);
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
                   used.name + (carriesBytes(used) ? ", " + formatBytes(use.bytes) : ""));
    }
  }
  for (size_t tier = 0; tier < graph.tiers.size(); ++tier) {
    text += graph.tiers[tier].name + ": " + formatBytes(outcome.tierPeakBytes[tier]) + " of " +
            formatBytes(graph.tiers[tier].bytes) + "\n";
  }
  return text;
}

} // namespace headrace::simulate
