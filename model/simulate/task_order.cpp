// Candidates: the plan's own order, long chains first, one result after the other; then groups are
// brought forward, with all that they wait for, as long as that helps.
#include "model/simulate/task_order.h"

#include "model/plan/dependencies.h"
#include "model/simulate/simulate.h"
#include "model/simulate/task_groups.h"
#include "runtime/base/random.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>

namespace headrace::simulate {

namespace {

using plan::Plan;
using plan::Task;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// Later than this behind the moment when it could have started, something has waited.
constexpr double kWaitSlack = 1e-9;

/// An order of groups, simulated.
struct Candidate {
  std::vector<int32_t> groups;
  std::vector<int32_t> tasks;
  Graph graph;
  Outcome outcome;
  double seconds = kInfinite; ///< of one without room
};

class Searcher {
public:
  Searcher(const Plan &plan, const topology::Topology &topology, const Workload &workload,
           const OrderSearch &search)
      : plan_(plan), topology_(topology), workload_(workload), search_(search), groups_(plan) {}

  Expected<TaskOrder> run() {
    if (!groups_.canBeOrdered()) {
      return makeError(ErrorKind::kInternal,
                       "tasks that streams connect wait for each other through others");
    }
    HR_RETURN_IF_ERROR(compare(groups_.sorted()));
    TaskOrder found;
    found.secondsGiven = best_.seconds;
    std::vector<double> tails = chainSeconds();
    std::vector<double> longestFirst;
    std::transform(tails.begin(), tails.end(), std::back_inserter(longestFirst), std::negate());
    HR_RETURN_IF_ERROR(compare(groups_.sorted(std::move(longestFirst))));
    HR_RETURN_IF_ERROR(compare(oneAfterTheOther(tails)));
    HR_RETURN_IF_ERROR(bringForward());
    if (best_.seconds == kInfinite) {
      return noRoom_;
    }
    if (best_.seconds > (1 - search_.gainMin) * found.secondsGiven) {
      best_ = std::move(given_);
    }
    found.tasks = best_.tasks;
    found.seconds = best_.seconds;
    found.compared = compared_;
    addWaits(found);
    return found;
  }

private:
  /// Simulates an order, and keeps it if it is the best so far.
  Status compare(std::vector<int32_t> order) {
    if (compared_ >= search_.ordersMax || !seen_.insert(order).second) {
      return {};
    }
    ++compared_;
    Candidate candidate;
    candidate.tasks = groups_.tasks(order);
    candidate.groups = std::move(order);
    HR_ASSIGN_OR_RETURN(candidate.graph,
                        planGraph(inOrder(plan_, candidate.tasks), topology_, workload_));
    Expected<Outcome> outcome = simulate(candidate.graph);
    if (outcome.ok()) {
      candidate.outcome = *std::move(outcome);
      candidate.seconds = candidate.outcome.seconds;
    } else {
      noRoom_ = outcome.status();
    }
    if (compared_ == 1) {
      given_ = candidate;
      best_ = std::move(candidate);
    } else if (candidate.seconds < best_.seconds) {
      best_ = std::move(candidate);
    }
    return {};
  }

  /// How long each group and the longest chain behind it take, had they all devices to themselves.
  std::vector<double> chainSeconds() const {
    std::vector<std::vector<double>> ofTask(given_.tasks.size());
    for (const Activity &activity : given_.graph.activities) {
      if (activity.rankClass > 0) {
        continue; // the first class stands for all
      }
      double rate = activity.rateMax > 0 ? activity.rateMax : kInfinite;
      for (const Use &use : activity.uses) {
        rate = use.amount > 0
                   ? std::min(rate, given_.graph.resources[use.resource].capacity / use.amount)
                   : rate;
      }
      ofTask[activity.lane].push_back(activity.latencySeconds +
                                      (activity.work > 0 ? activity.work / rate : 0));
    }
    // Tasks of a group work at the same time: it takes as long as the longest.
    std::vector<double> seconds(groups_.count(), 0);
    for (size_t at = 0; at < ofTask.size(); ++at) {
      double all = 0;
      for (double each : ofTask[at]) {
        all += each;
      }
      double &group = seconds[groups_.of(given_.tasks[at])];
      group = std::max(group, all);
    }
    for (auto group = given_.groups.rbegin(); group != given_.groups.rend(); ++group) {
      double behind = 0;
      for (int32_t later : groups_.after()[*group]) {
        behind = std::max(behind, seconds[later]);
      }
      seconds[*group] += behind;
    }
    return seconds;
  }

  /// All that one group waits for before what the next waits for: few states are held at a time.
  std::vector<int32_t> oneAfterTheOther(const std::vector<double> &tails) const {
    std::vector<int32_t> order;
    std::set<int32_t> done;
    auto visit = [&](auto &&self, int32_t group) -> void {
      if (!done.insert(group).second) {
        return;
      }
      std::vector<int32_t> before(groups_.before(group).begin(), groups_.before(group).end());
      std::stable_sort(before.begin(), before.end(),
                       [&](int32_t a, int32_t b) { return tails[a] > tails[b]; });
      for (int32_t each : before) {
        self(self, each);
      }
      order.push_back(group);
    };
    for (size_t g = 0; g < groups_.count(); ++g) {
      if (groups_.after()[g].empty()) {
        visit(visit, static_cast<int32_t>(g));
      }
    }
    return order;
  }

  /// Brings groups forward, those first that the best waits for, as long as that helps.
  Status bringForward() {
    for (bool better = true; better && compared_ < search_.ordersMax;) {
      better = false;
      std::vector<int32_t> candidates = critical();
      for (int32_t group : best_.groups) {
        if (std::find(candidates.begin(), candidates.end(), group) == candidates.end()) {
          candidates.push_back(group);
        }
      }
      for (size_t at = 0; at < candidates.size() && !better; ++at) {
        double before = best_.seconds;
        HR_RETURN_IF_ERROR(bringForward(candidates[at]));
        better = best_.seconds < before;
      }
    }
    return {};
  }

  /// A group with all that it waits for, to any place before its own: the first that helps.
  Status bringForward(int32_t group) {
    std::vector<int32_t> given = best_.groups;
    std::set<int32_t> with = groups_.closure(group);
    double before = best_.seconds;
    for (auto place = given.begin(); *place != group && best_.seconds >= before; ++place) {
      std::vector<int32_t> order(given.begin(), place);
      std::copy_if(place, given.end(), std::back_inserter(order),
                   [&](int32_t other) { return with.contains(other); });
      std::copy_if(place, given.end(), std::back_inserter(order),
                   [&](int32_t other) { return !with.contains(other); });
      HR_RETURN_IF_ERROR(compare(std::move(order)));
    }
    return {};
  }

  /// Groups on the critical path of the best, in order.
  std::vector<int32_t> critical() const {
    std::vector<int32_t> path;
    for (int32_t activity : best_.outcome.criticalPath) {
      int32_t group = groups_.of(best_.tasks[best_.graph.activities[activity].lane]);
      if (std::find(path.begin(), path.end(), group) == path.end()) {
        path.push_back(group);
      }
    }
    return path;
  }

  /// Reservations that waited for room in the simulation wait for what made it; in the run a state
  /// that is refused room would fail.
  void addWaits(TaskOrder &found) const {
    const std::vector<Activity> &activities = best_.graph.activities;
    for (size_t at = 0; at < activities.size(); ++at) {
      const Span &span = best_.outcome.spans[at];
      if (activities[at].acquires.empty() || span.cause == kNone ||
          span.start <= span.ready * (1 + kWaitSlack)) {
        continue;
      }
      int32_t release = best_.tasks[activities[span.cause].lane];
      std::pair<int32_t, int32_t> wait(release, best_.tasks[activities[at].lane]);
      if (plan_.tasks[release].as<plan::ReleaseTask>() &&
          std::find(found.waits.begin(), found.waits.end(), wait) == found.waits.end()) {
        found.waits.push_back(wait);
      }
    }
    if (found.waits.empty()) {
      return;
    }
    Plan waiting = plan_;
    for (auto [release, reserve] : found.waits) {
      waiting.tasks[reserve].after.push_back(release);
    }
    found.tasks = withWaits(waiting);
    // With few simulated chunks a stream may have taken what a full one would have held back.
    if (found.tasks.size() < plan_.tasks.size() ||
        !plan::Dependencies(inOrder(waiting, found.tasks), plan::BackPressure::kIncluded)
             .cycle()
             .empty()) {
      found.waits.clear();
      found.tasks = best_.tasks;
    }
  }

  /// Each task where its group is in the best order, or as soon after as what it waits for allows:
  /// a group may have to wait for room between two of its tasks.
  std::vector<int32_t> withWaits(const Plan &waiting) const {
    std::vector<double> places(waiting.tasks.size());
    for (size_t at = 0; at < places.size(); ++at) {
      places[best_.tasks[at]] = static_cast<double>(at);
    }
    return sortedByRank(listedBehind(waiting), places);
  }

  const Plan &plan_;
  const topology::Topology &topology_;
  const Workload &workload_;
  const OrderSearch &search_;
  TaskGroups groups_;
  Candidate given_, best_;
  std::set<std::vector<int32_t>> seen_;
  Status noRoom_;
  int64_t compared_ = 0;
};

} // namespace

std::vector<int32_t> randomOrder(const Plan &plan, uint64_t seed) {
  TaskGroups groups(plan);
  if (!groups.canBeOrdered()) {
    std::vector<int32_t> given(plan.tasks.size());
    std::iota(given.begin(), given.end(), 0);
    return given;
  }
  Random random(seed);
  std::vector<double> ranks(groups.count());
  for (double &rank : ranks) {
    rank = static_cast<double>(random.below(1 << 30));
  }
  return groups.tasks(groups.sorted(std::move(ranks)));
}

bool hasOrders(const Plan &plan) { return TaskGroups(plan).hasOrders(); }

Plan inOrder(const Plan &plan, const std::vector<int32_t> &tasks) {
  std::vector<int32_t> number(plan.tasks.size(), kNone);
  for (size_t at = 0; at < tasks.size(); ++at) {
    number[tasks[at]] = static_cast<int32_t>(at);
  }
  auto renumber = [&](std::vector<int32_t> &ids) {
    for (int32_t &id : ids) {
      id = number[id];
    }
  };
  Plan ordered = plan;
  int32_t lastCollective = kNone;
  for (size_t at = 0; at < tasks.size(); ++at) {
    Task &task = ordered.tasks[at];
    task = plan.tasks[tasks[at]];
    std::erase_if(task.after, [&](int32_t before) { return onlyInTurn(plan, before, task); });
    renumber(task.after);
    if (task.as<plan::CollectiveTask>()) {
      if (lastCollective != kNone &&
          std::find(task.after.begin(), task.after.end(), lastCollective) == task.after.end()) {
        task.after.push_back(lastCollective);
      }
      lastCollective = static_cast<int32_t>(at);
    }
    if (auto *choose = task.as<plan::ChooseTask>()) {
      renumber(choose->thenTasks);
      renumber(choose->elseTasks);
    }
    if (auto *repeat = task.as<plan::RepeatTask>()) {
      renumber(repeat->tasks);
    }
    if (auto *release = task.as<plan::ReleaseTask>()) {
      release->reservation = number[release->reservation];
    }
  }
  for (plan::Hole &hole : ordered.holes) {
    hole.producer = hole.producer == kNone ? kNone : number[hole.producer];
  }
  return ordered;
}

Expected<TaskOrder> findOrder(const Plan &plan, const topology::Topology &topology,
                              const Workload &workload, const OrderSearch &search) {
  return Searcher(plan, topology, workload, search).run();
}

} // namespace headrace::simulate
