// The loop of events: ready -> (room in tiers) -> latency -> work at fair rates -> done.
#include "model/simulate/simulate.h"
#include "model/simulate/fair_share.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <queue>

namespace headrace::simulate {

using topology::Sharing;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// Work that is left below this part of an activity's own is rounding.
constexpr double kWorkSlack = 1e-12;
constexpr double kRateSlack = 1e-9;

Status checkAmount(const Activity &activity, const char *what, double value) {
  if (!std::isfinite(value) || value < 0) {
    return makeError(ErrorKind::kUser, "activity ", activity.name, ": ", what,
                     " must be finite and not negative, got ", value);
  }
  return {};
}

Status checkGraph(const Graph &graph) {
  for (const Resource &resource : graph.resources) {
    if (!std::isfinite(resource.capacity) || resource.capacity <= 0) {
      return makeError(ErrorKind::kUser, "resource ", resource.name,
                       ": capacity must be positive, got ", resource.capacity);
    }
  }
  for (const Activity &activity : graph.activities) {
    HR_RETURN_IF_ERROR(checkAmount(activity, "latency", activity.latencySeconds));
    HR_RETURN_IF_ERROR(checkAmount(activity, "work", activity.work));
    HR_RETURN_IF_ERROR(checkAmount(activity, "rate", activity.rateMax));
    for (const Use &use : activity.uses) {
      HR_RETURN_IF_ERROR(checkAmount(activity, "use", use.amount));
      if (use.resource < 0 || use.resource >= static_cast<int32_t>(graph.resources.size())) {
        return makeError(ErrorKind::kUser, "activity ", activity.name,
                         ": unknown resource: ", use.resource);
      }
    }
    for (int32_t before : activity.after) {
      if (before < 0 || before >= static_cast<int32_t>(graph.activities.size())) {
        return makeError(ErrorKind::kUser, "activity ", activity.name,
                         ": waits for an unknown activity: ", before);
      }
    }
    for (const std::vector<Hold> *holds : {&activity.acquires, &activity.releases}) {
      for (const Hold &hold : *holds) {
        HR_RETURN_IF_ERROR(checkAmount(activity, "hold", hold.bytes));
        if (hold.tier < 0 || hold.tier >= static_cast<int32_t>(graph.tiers.size())) {
          return makeError(ErrorKind::kUser, "activity ", activity.name,
                           ": unknown tier: ", hold.tier);
        }
      }
    }
  }
  return {};
}

class Simulation {
public:
  explicit Simulation(const Graph &graph)
      : graph_(graph), fairShare_(graph), waitsFor_(graph.activities.size()),
        successors_(graph.activities.size()), remaining_(graph.activities.size()),
        held_(graph.tiers.size(), 0) {
    outcome_.spans.resize(graph.activities.size());
    outcome_.uses.resize(graph.resources.size());
    outcome_.tierPeakBytes.resize(graph.tiers.size(), 0);
    for (size_t i = 0; i < graph.activities.size(); ++i) {
      waitsFor_[i] = graph.activities[i].after.size();
      remaining_[i] = graph.activities[i].work;
      for (int32_t before : graph.activities[i].after) {
        successors_[before].push_back(static_cast<int32_t>(i));
      }
    }
  }

  Expected<Outcome> run();

private:
  bool hasRoom(const Activity &activity) const;
  Status noRoom(const Activity &activity) const;
  void makeReady(int32_t id, int32_t cause);
  /// Starts those at the head of the queue that have room; `cause` let them.
  void startWaiting(int32_t cause);
  void finish(int32_t id);
  void advance(double seconds);
  void noteRate(std::vector<RateChange> &rates, double bytesPerSecond) const;
  void findCriticalPath();
  double errorOf(const std::vector<int32_t> &path) const;

  const Graph &graph_;
  FairShare fairShare_;
  Outcome outcome_;
  double now_ = 0;
  size_t finished_ = 0;
  std::vector<size_t> waitsFor_;
  std::vector<std::vector<int32_t>> successors_;
  std::vector<double> remaining_;
  std::vector<double> held_;
  std::deque<int32_t> waiting_; // ready, in order; none has room
  using Delay = std::pair<double, int32_t>;
  std::priority_queue<Delay, std::vector<Delay>, std::greater<>> delays_;
  std::vector<int32_t> running_;
  std::vector<FairRate> rates_;
  std::map<std::pair<int32_t, int32_t>, double> heldBack_; // (activity, resource) -> seconds
};

bool Simulation::hasRoom(const Activity &activity) const {
  return std::all_of(activity.acquires.begin(), activity.acquires.end(), [&](const Hold &hold) {
    return held_[hold.tier] + hold.bytes <= graph_.tiers[hold.tier].bytes;
  });
}

/// Which tier is too small for what the first that waits needs beside what others hold.
Status Simulation::noRoom(const Activity &activity) const {
  auto full =
      std::find_if(activity.acquires.begin(), activity.acquires.end(), [&](const Hold &hold) {
        return held_[hold.tier] + hold.bytes > graph_.tiers[hold.tier].bytes;
      });
  const Tier &tier = graph_.tiers[full->tier];
  bool named = activity.place >= 0 && activity.place < static_cast<int32_t>(graph_.places.size());
  return makeError(ErrorKind::kUser, "no room in ", tier.name, ": ", activity.name,
                   named ? " (" + graph_.places[activity.place] + ")" : std::string(), " needs ",
                   static_cast<int64_t>(full->bytes), " bytes beside ",
                   static_cast<int64_t>(held_[full->tier]), " that are held, of ",
                   static_cast<int64_t>(tier.bytes),
                   "; give ranks more memory, or take more of them");
}

void Simulation::makeReady(int32_t id, int32_t cause) {
  outcome_.spans[id].ready = now_;
  outcome_.spans[id].cause = cause;
  waiting_.push_back(id);
}

void Simulation::startWaiting(int32_t cause) {
  // Whoever has room passes those that wait for more: what they wait for may wait for it.
  std::deque<int32_t> stay;
  for (int32_t id : waiting_) {
    const Activity &activity = graph_.activities[id];
    if (!hasRoom(activity)) {
      stay.push_back(id);
      continue;
    }
    for (const Hold &hold : activity.acquires) {
      held_[hold.tier] += hold.bytes;
      outcome_.tierPeakBytes[hold.tier] =
          std::max(outcome_.tierPeakBytes[hold.tier], held_[hold.tier]);
    }
    Span &span = outcome_.spans[id];
    span.start = now_;
    if (span.start > span.ready) {
      span.cause = cause;
    }
    delays_.push({now_ + activity.latencySeconds, id});
  }
  waiting_ = std::move(stay);
}

void Simulation::finish(int32_t id) {
  outcome_.spans[id].finish = now_;
  ++finished_;
  for (const Hold &hold : graph_.activities[id].releases) {
    held_[hold.tier] = std::max(0.0, held_[hold.tier] - hold.bytes);
  }
  for (int32_t next : successors_[id]) {
    if (--waitsFor_[next] == 0) {
      makeReady(next, id);
    }
  }
  startWaiting(id);
}

void Simulation::advance(double seconds) {
  std::vector<bool> fatpipeUsed(graph_.resources.size(), false);
  std::vector<double> through(graph_.resources.size(), 0);
  for (size_t i = 0; i < running_.size(); ++i) {
    int32_t id = running_[i];
    double bytes = std::min(remaining_[id], rates_[i].bytesPerSecond * seconds);
    remaining_[id] -= bytes;
    if (rates_[i].bottleneck != kNone) {
      heldBack_[{id, rates_[i].bottleneck}] += seconds;
    }
    for (const Use &use : graph_.activities[id].uses) {
      outcome_.uses[use.resource].bytes += use.amount * bytes;
      through[use.resource] += use.amount * rates_[i].bytesPerSecond;
      if (graph_.resources[use.resource].sharing == Sharing::kFatpipe && use.amount > 0) {
        fatpipeUsed[use.resource] = true;
      }
    }
  }
  for (size_t resource = 0; resource < fatpipeUsed.size(); ++resource) {
    if (fatpipeUsed[resource]) {
      outcome_.uses[resource].busySeconds += seconds;
    }
    if (seconds > 0) {
      noteRate(outcome_.uses[resource].rates, through[resource]);
    }
  }
}

/// From now on; nothing if it stays as it was, but for rounding.
void Simulation::noteRate(std::vector<RateChange> &rates, double bytesPerSecond) const {
  double before = rates.empty() ? 0 : rates.back().bytesPerSecond;
  if (std::abs(bytesPerSecond - before) > kRateSlack * std::max(bytesPerSecond, before)) {
    rates.push_back({now_, bytesPerSecond});
  }
}

Expected<Outcome> Simulation::run() {
  for (size_t i = 0; i < graph_.activities.size(); ++i) {
    if (waitsFor_[i] == 0) {
      makeReady(static_cast<int32_t>(i), kNone);
    }
  }
  startWaiting(kNone);
  while (!delays_.empty() || !running_.empty()) {
    fairShare_.rates(running_, rates_);
    double next = delays_.empty() ? kInfinite : delays_.top().first;
    for (size_t i = 0; i < running_.size(); ++i) {
      next = std::min(next, now_ + remaining_[running_[i]] / rates_[i].bytesPerSecond);
    }
    double step = std::max(0.0, next - now_);
    advance(step);
    now_ = std::max(now_, next);
    std::vector<int32_t> ended;
    for (size_t i = 0; i < running_.size(); ++i) {
      int32_t id = running_[i];
      // Also what would end within rounding of `now`: a later event could not tell the difference.
      double left = remaining_[id];
      if (left <= kWorkSlack * graph_.activities[id].work ||
          now_ + left / rates_[i].bytesPerSecond <= now_) {
        ended.push_back(id);
      }
    }
    if (!ended.empty()) {
      std::erase_if(running_, [&](int32_t id) {
        return std::find(ended.begin(), ended.end(), id) != ended.end();
      });
    }
    while (!delays_.empty() && delays_.top().first <= now_) {
      int32_t id = delays_.top().second;
      delays_.pop();
      if (remaining_[id] > 0) {
        running_.push_back(id);
      } else {
        ended.push_back(id);
      }
    }
    for (int32_t id : ended) {
      finish(id);
    }
  }
  if (finished_ < graph_.activities.size()) {
    if (!waiting_.empty()) {
      return noRoom(graph_.activities[waiting_.front()]);
    }
    size_t stuck =
        std::find_if(waitsFor_.begin(), waitsFor_.end(), [](size_t count) { return count > 0; }) -
        waitsFor_.begin();
    return makeError(ErrorKind::kUser, "activities wait for each other in a cycle; one of them: ",
                     graph_.activities[stuck].name);
  }
  for (size_t resource = 0; resource < graph_.resources.size(); ++resource) {
    ResourceUse &use = outcome_.uses[resource];
    if (graph_.resources[resource].sharing == Sharing::kShared) {
      use.busySeconds = use.bytes / graph_.resources[resource].capacity;
    }
  }
  std::map<int32_t, double> longest;
  for (const auto &[key, seconds] : heldBack_) {
    if (seconds > longest[key.first]) {
      longest[key.first] = seconds;
      outcome_.spans[key.first].bottleneck = key.second;
    }
  }
  for (ResourceUse &use : outcome_.uses) {
    noteRate(use.rates, 0);
  }
  findCriticalPath();
  return std::move(outcome_);
}

void Simulation::findCriticalPath() {
  int32_t last = kNone;
  for (size_t i = 0; i < outcome_.spans.size(); ++i) {
    if (last == kNone || outcome_.spans[i].finish > outcome_.spans[last].finish) {
      last = static_cast<int32_t>(i);
    }
  }
  outcome_.seconds = last == kNone ? 0 : outcome_.spans[last].finish;
  for (int32_t id = last; id != kNone; id = outcome_.spans[id].cause) {
    outcome_.criticalPath.push_back(id);
  }
  std::reverse(outcome_.criticalPath.begin(), outcome_.criticalPath.end());
  outcome_.relativeError = errorOf(outcome_.criticalPath);
}

/// Errors of one resource's rate are the same error each time it holds the path up: they add. So do
/// an activity kind's own. Different sources are independent: they add in quadrature.
double Simulation::errorOf(const std::vector<int32_t> &path) const {
  std::map<int32_t, double> byResource;
  std::map<std::string, double> byKind;
  for (int32_t id : path) {
    const Span &span = outcome_.spans[id];
    double seconds = span.finish - span.start;
    const Activity &activity = graph_.activities[id];
    // "exchange orders #12" and its other chunks are one kind.
    double &ofKind = byKind[activity.kind()];
    double own = seconds;
    if (span.bottleneck != kNone) {
      own = std::min(seconds, activity.latencySeconds);
      byResource[span.bottleneck] +=
          (seconds - own) * graph_.resources[span.bottleneck].relativeError;
    }
    ofKind += std::hypot(seconds * activity.relativeError, own * activity.ownError);
  }
  double squares = 0;
  for (const auto &[resource, seconds] : byResource) {
    squares += seconds * seconds;
  }
  for (const auto &[kind, seconds] : byKind) {
    squares += seconds * seconds;
  }
  return outcome_.seconds > 0 ? std::sqrt(squares) / outcome_.seconds : 0;
}

double aloneSeconds(const Graph &graph, const Activity &activity) {
  double rate = activity.rateMax > 0 ? activity.rateMax : kInfinite;
  for (const Use &use : activity.uses) {
    if (use.amount > 0) {
      rate = std::min(rate, graph.resources[use.resource].capacity / use.amount);
    }
  }
  return activity.latencySeconds + activity.work / rate;
}

} // namespace

double Outcome::secondsLow() const { return std::max(0.0, seconds * (1 - 2 * relativeError)); }
double Outcome::secondsHigh() const { return seconds * (1 + 2 * relativeError); }

Expected<Outcome> simulate(const Graph &graph) {
  HR_RETURN_IF_ERROR(checkGraph(graph));
  return Simulation(graph).run();
}

double lowerBoundSeconds(const Graph &graph) {
  std::vector<double> load(graph.resources.size(), 0);
  std::vector<double> end(graph.activities.size(), 0);
  std::vector<size_t> waitsFor(graph.activities.size());
  std::vector<std::vector<int32_t>> successors(graph.activities.size());
  std::vector<int32_t> ready;
  for (size_t i = 0; i < graph.activities.size(); ++i) {
    const Activity &activity = graph.activities[i];
    waitsFor[i] = activity.after.size();
    for (int32_t before : activity.after) {
      successors[before].push_back(static_cast<int32_t>(i));
    }
    if (activity.after.empty()) {
      ready.push_back(static_cast<int32_t>(i));
    }
    for (const Use &use : activity.uses) {
      if (graph.resources[use.resource].sharing == Sharing::kShared) {
        load[use.resource] += use.amount * activity.work / graph.resources[use.resource].capacity;
      }
    }
  }
  double bound = load.empty() ? 0 : *std::max_element(load.begin(), load.end());
  while (!ready.empty()) {
    int32_t id = ready.back();
    ready.pop_back();
    end[id] += aloneSeconds(graph, graph.activities[id]);
    bound = std::max(bound, end[id]);
    for (int32_t next : successors[id]) {
      end[next] = std::max(end[next], end[id]);
      if (--waitsFor[next] == 0) {
        ready.push_back(next);
      }
    }
  }
  return bound;
}

} // namespace headrace::simulate
