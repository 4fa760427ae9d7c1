// Rules over edges and order: endpoints, schemas, cycles, deadlock, states, reservations,
// collectives.
#include "model/plan/check_rules.h"
#include "model/plan/dependencies.h"
#include "model/plan/reservations.h"
#include "model/plan/shared_loads.h"

#include <algorithm>
#include <map>
#include <set>

namespace headrace::plan {
namespace {

/// Whether one task of `tasks` runs on every path: a single one, or one in each branch of one
/// choose.
bool onePerPath(const std::vector<int32_t> &tasks, const std::vector<Region> &regions) {
  if (tasks.size() != 2) {
    return tasks.size() == 1;
  }
  const Region &a = regions[tasks[0]];
  const Region &b = regions[tasks[1]];
  return a.owner != kNone && a.owner == b.owner && a.branch != b.branch;
}

class GraphChecker {
public:
  GraphChecker(const Plan &plan, const CheckOptions &options)
      : plan_(plan), options_(options), regions_(regionsOf(plan)), producers_(plan.streams.size()),
        consumers_(plan.streams.size()), order_(plan, BackPressure::kIgnored) {
    for (int32_t t = 0; t < taskCount(); ++t) {
      if (task(t).inputStream() != kNone) {
        consumers_[task(t).inputStream()].push_back(t);
      }
      if (task(t).outputStream() != kNone) {
        producers_[task(t).outputStream()].push_back(t);
      }
    }
  }

  Status run() {
    HR_RETURN_IF_ERROR(checkEndpoints());
    HR_RETURN_IF_ERROR(checkSchemas());
    HR_RETURN_IF_ERROR(checkParts());
    HR_RETURN_IF_ERROR(checkAcyclic());
    HR_RETURN_IF_ERROR(checkDeadlock());
    HR_RETURN_IF_ERROR(checkFilled());
    HR_RETURN_IF_ERROR(checkWritten());
    HR_RETURN_IF_ERROR(checkHoles());
    HR_RETURN_IF_ERROR(checkReservations());
    HR_RETURN_IF_ERROR(checkExchanges());
    HR_RETURN_IF_ERROR(checkPairs());
    return checkCollectives();
  }

private:
  int32_t taskCount() const { return static_cast<int32_t>(plan_.tasks.size()); }
  const Task &task(int32_t index) const { return plan_.tasks[index]; }
  template <typename... Parts>
  Status broken(const char *rule, int32_t index, const Parts &...parts) const {
    return ruleBroken(plan_, rule, index, parts...);
  }
  std::string streamName(size_t index) const {
    return detail::joinText("stream ", index, " '", plan_.streams[index].name, "'");
  }
  std::string listTasks(const std::vector<int32_t> &tasks) const {
    std::string text;
    for (int32_t t : tasks) {
      text += (text.empty() ? "" : ", ") + describeTask(plan_, t);
    }
    return text.empty() ? "none" : text;
  }

  Status checkEndpoints() const {
    for (size_t s = 0; s < plan_.streams.size(); ++s) {
      if (plan_.streams[s].capacityChunks == 0 || plan_.streams[s].chunkRows == 0) {
        return broken("endpoints", kNone, streamName(s), " has no capacity");
      }
      if (plan_.streams[s].writers != 1) {
        HR_RETURN_IF_ERROR(checkWriters(s));
      } else if (!onePerPath(producers_[s], regions_)) {
        return broken("endpoints", kNone, streamName(s), " needs exactly one producer, got ",
                      listTasks(producers_[s]));
      }
      if (!onePerPath(consumers_[s], regions_)) {
        return broken("endpoints", kNone, streamName(s), " needs exactly one consumer, got ",
                      listTasks(consumers_[s]));
      }
    }
    return {};
  }

  bool inRepeat(int32_t t) const {
    return regions_[t].owner != kNone && task(regions_[t].owner).as<RepeatTask>();
  }

  /// What is kept in parts is read by a repeat that begins when all is there, and written in parts.
  Status checkParts() const {
    for (int32_t t = 0; t < taskCount(); ++t) {
      int32_t input = task(t).inputStream();
      if (input == kNone || plan_.streams[input].parts == 0) {
        continue;
      }
      if (!inRepeat(t)) {
        return broken("parts", t, "is in no repeat, but reads parts of ", streamName(input));
      }
      for (int32_t producer : producers_[input]) {
        if (!task(producer).partitioned() || !order_.endsBefore(producer, regions_[t].owner)) {
          return broken("parts", regions_[t].owner,
                        "reads parts that no run has written when it begins: ", streamName(input));
        }
      }
    }
    for (int32_t t = 0; t < taskCount(); ++t) {
      const auto *repeat = task(t).as<RepeatTask>();
      if (!repeat) {
        continue;
      }
      std::set<uint32_t> counts;
      for (int32_t inner : repeat->tasks) {
        if (int32_t input = task(inner).inputStream();
            input != kNone && plan_.streams[input].parts != 0) {
          counts.insert(plan_.streams[input].parts);
        }
      }
      if (counts.size() != 1) {
        return broken("parts", t,
                      "needs streams of one number of parts, got numbers: ", counts.size());
      }
    }
    return {};
  }

  /// Several tasks write the stream, and all of them run.
  Status checkWriters(size_t s) const {
    bool fits = producers_[s].size() == plan_.streams[s].writers;
    std::set<uint32_t> parts;
    for (int32_t producer : producers_[s]) {
      const auto *run = task(producer).as<RunTask>();
      fits = fits && run && run->part < plan_.streams[s].writers && parts.insert(run->part).second;
      fits = fits && !task(producer).partitioned() &&
             (regions_[producer].owner == kNone || inRepeat(producer));
    }
    return fits ? Status()
                : broken("endpoints", kNone, streamName(s),
                         " needs as many run tasks that write it, each as another part, as it has "
                         "writers, ",
                         plan_.streams[s].writers, ", got ", listTasks(producers_[s]));
  }

  static bool sameTypes(const Schema &a, const Schema &b) {
    return std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
                      [](const Column &x, const Column &y) {
                        return x.type == y.type && x.nullable == y.nullable;
                      });
  }

  Status checkSchemas() const {
    int32_t tableResult = kNone;
    for (int32_t t = 0; t < taskCount(); ++t) {
      int32_t input = task(t).inputStream();
      switch (task(t).kind()) {
      case TaskKind::kExchange:
        if (int32_t output = task(t).outputStream();
            !sameTypes(plan_.streams[input].schema, plan_.streams[output].schema)) {
          return broken("schema", t, streamName(input), " and ", streamName(output),
                        " have different types");
        }
        break;
      case TaskKind::kLoad:
        HR_RETURN_IF_ERROR(checkLoad(t));
        break;
      case TaskKind::kResult:
        if (tableResult != kNone) {
          return broken("operands", t, "a plan has one table result, another is ",
                        describeTask(plan_, tableResult));
        }
        tableResult = t;
        if (!sameTypes(plan_.streams[input].schema, plan_.result)) {
          return broken("schema", t, streamName(input),
                        " and the plan's result have different types");
        }
        break;
      default:
        break;
      }
    }
    return {};
  }

  Status checkLoad(int32_t t) const {
    const std::vector<SlotColumn> &from = plan_.slots[task(t).slot()].columns;
    const std::vector<Column> &to = plan_.streams[task(t).outputStream()].schema.columns;
    if (from.size() != to.size()) {
      return broken("schema", t, "the slot has ", from.size(), " columns, its stream ", to.size());
    }
    for (size_t c = 0; c < from.size(); ++c) {
      if (from[c].type != to[c].type || from[c].nullable != to[c].nullable) {
        return broken("schema", t, "column ", c, " has different types in the slot ('",
                      from[c].file, "') and the stream ('", to[c].name, "')");
      }
    }
    if (const char *why = task(t).as<LoadTask>()->shared ? whyNotShared(plan_, t) : nullptr) {
      return broken("sharing", t, "ranks cannot share its morsels: ", why);
    }
    for (int32_t consumer : consumers_[task(t).outputStream()]) {
      if (!task(consumer).as<RunTask>()) {
        return broken("operands", consumer, "encoded morsels of a load are read by run tasks only");
      }
    }
    return {};
  }

  Status checkAcyclic() const {
    std::vector<int32_t> cycle = order_.cycle();
    return cycle.empty() ? Status()
                         : broken("acyclic", cycle.front(), "waits for itself: ", listTasks(cycle));
  }

  Status checkDeadlock() const {
    for (size_t s = 0; s < plan_.streams.size(); ++s) {
      for (int32_t producer : producers_[s]) {
        for (int32_t consumer : consumers_[s]) {
          if (plan_.streams[s].parts == 0 && order_.endsBefore(producer, consumer)) {
            return broken("deadlock", consumer,
                          "starts only after its producer ends: ", describeTask(plan_, producer),
                          "; materialise ", streamName(s), " in a state");
          }
        }
      }
    }
    std::vector<int32_t> cycle = Dependencies(plan_, BackPressure::kIncluded).cycle();
    return cycle.empty() ? Status()
                         : broken("deadlock", cycle.front(),
                                  "full streams can hold each other up: ", listTasks(cycle));
  }

  Status checkFilled() const {
    std::vector<std::vector<int32_t>> fillers = fillersOf(plan_);
    for (int32_t t = 0; t < taskCount(); ++t) {
      std::vector<int32_t> read;
      if (task(t).sourceState() != kNone) {
        read.push_back(task(t).sourceState());
      }
      for (const StateArgument &argument : task(t).states()) {
        if (argument.use == StateUse::kShared) {
          read.push_back(argument.state);
        }
      }
      for (int32_t state : read) {
        if (fillers[state].empty()) {
          return broken("filled", t,
                        "reads a state that no task fills: ", plan_.states[state].name);
        }
        for (int32_t filler : fillers[state]) {
          if (!order_.endsBefore(filler, t)) {
            return broken("filled", t, "reads state '", plan_.states[state].name,
                          "' but does not wait for the end of ", describeTask(plan_, filler));
          }
        }
      }
    }
    return {};
  }

  Status checkWritten() const {
    std::vector<std::vector<int32_t>> writers(plan_.buffers.size());
    for (int32_t t = 0; t < taskCount(); ++t) {
      for (int32_t buffer : task(t).outputs()) {
        writers[buffer].push_back(t);
      }
    }
    for (int32_t t = 0; t < taskCount(); ++t) {
      std::vector<int32_t> read(task(t).inputs().begin(), task(t).inputs().end());
      if (const auto *result = task(t).as<TensorResultTask>()) {
        read.push_back(result->buffer);
      }
      for (int32_t buffer : read) {
        if (writers[buffer].size() != 1 || !order_.endsBefore(writers[buffer].front(), t)) {
          return broken("written", t, "reads buffer '", plan_.buffers[buffer].name,
                        "', which needs one writer that ends before, got ",
                        listTasks(writers[buffer]));
        }
      }
    }
    return {};
  }

  Status checkHoles() const {
    for (size_t h = 0; h < plan_.holes.size(); ++h) {
      int32_t producer = plan_.holes[h].producer;
      if (!inRange(producer, plan_.tasks.size())) {
        return broken("range", kNone, "hole '", plan_.holes[h].name, "': no such task: ", producer);
      }
    }
    for (int32_t t = 0; t < taskCount(); ++t) {
      const auto *choose = task(t).as<ChooseTask>();
      if (choose && !order_.endsBefore(plan_.holes[choose->hole].producer, t)) {
        return broken("region", t, "chooses by hole '", plan_.holes[choose->hole].name,
                      "' but does not wait for the end of ",
                      describeTask(plan_, plan_.holes[choose->hole].producer));
      }
    }
    return {};
  }

  Status checkReservations() const {
    std::vector<int32_t> reserves;
    std::set<int32_t> released;
    for (int32_t t = 0; t < taskCount(); ++t) {
      if (task(t).as<ReserveTask>()) {
        reserves.push_back(t);
      } else if (const auto *release = task(t).as<ReleaseTask>()) {
        if (!released.insert(release->reservation).second ||
            !order_.endsBefore(release->reservation, t)) {
          return broken("reserved", t,
                        "releases twice or too early: ", describeTask(plan_, release->reservation));
        }
      }
    }
    if (reserves.empty()) {
      return {};
    }
    HR_RETURN_IF_ERROR(checkUsesAreReserved(reserves));
    return checkCapacity();
  }

  std::vector<int32_t> statesUsed(int32_t t) const {
    std::vector<int32_t> used;
    if (task(t).sourceState() != kNone) {
      used.push_back(task(t).sourceState());
    }
    for (const StateArgument &argument : task(t).states()) {
      used.push_back(argument.state);
    }
    return used;
  }

  Status checkUsesAreReserved(const std::vector<int32_t> &reserves) const {
    for (int32_t t = 0; t < taskCount(); ++t) {
      for (int32_t state : statesUsed(t)) {
        bool reserved = std::any_of(reserves.begin(), reserves.end(), [&](int32_t reserve) {
          if (task(reserve).as<ReserveTask>()->state != state || !order_.endsBefore(reserve, t)) {
            return false;
          }
          int32_t release = releaseOf(plan_, reserve);
          return release == kNone || order_.endsBefore(t, release);
        });
        if (!reserved) {
          return broken("reserved", t, "uses state '", plan_.states[state].name,
                        "' without a reservation of it that lives until it ends");
        }
      }
    }
    return {};
  }

  Status checkCapacity() const {
    for (const auto &[tier, capacity] : options_.tierBytes) {
      PeakReservation peak = peakReservation(plan_, order_, tier);
      if (peak.task != kNone && peak.bytes > capacity) {
        return broken("capacity", peak.task, "reservations and tensors in tier ", nameOf(tier),
                      " that are live together need at least ", peak.bytes, " bytes, it has ",
                      capacity);
      }
    }
    return {};
  }

  Status checkExchanges() const {
    std::set<int32_t> channels;
    for (int32_t t = 0; t < taskCount(); ++t) {
      if (const auto *exchange = task(t).as<ExchangeTask>()) {
        if (!channels.insert(exchange->channel).second) {
          return broken("collectives", t,
                        "shares its channel with another exchange: ", exchange->channel);
        }
        bool hash = exchange->exchange == ExchangeKind::kHash;
        for (int32_t producer : producers_[exchange->inputStream]) {
          if (hash != task(producer).partitioned()) {
            return broken("operands", t, "a hash exchange, and only it, reads a partitioned run: ",
                          describeTask(plan_, producer));
          }
        }
      } else if (task(t).partitioned()) {
        for (int32_t consumer : consumers_[task(t).outputStream()]) {
          bool parts = plan_.streams[task(t).outputStream()].parts != 0;
          if (!parts && !task(consumer).as<ExchangeTask>()) {
            return broken("operands", t, "partitioned rows go to a hash exchange, got ",
                          describeTask(plan_, consumer));
          }
        }
      }
    }
    return {};
  }

  /// Each of a pair waits for the first rows of the other. (That neither needs what the other gives
  /// follows from the graph of events.)
  Status checkPairs() const {
    std::map<int32_t, std::vector<int32_t>> pairs;
    for (int32_t t = 0; t < taskCount(); ++t) {
      const auto *exchange = task(t).as<ExchangeTask>();
      if (exchange && exchange->pair != kNone) {
        pairs[exchange->pair].push_back(t);
      }
    }
    for (const auto &[pair, members] : pairs) {
      bool two = members.size() == 2;
      const auto *a = task(members.front()).as<ExchangeTask>();
      const auto *b = task(members.back()).as<ExchangeTask>();
      const Region &here = regions_[members.front()], &there = regions_[members.back()];
      if (!two || a->axes != b->axes || a->keys.size() != b->keys.size() ||
          here.owner != there.owner || here.branch != there.branch) {
        return broken("pairs", members.front(),
                      "needs one other exchange over the same axes, by as many keys, in pair ",
                      pair, ", got ", listTasks(members));
      }
      for (int32_t t : members) {
        if (comesInRounds(t)) {
          return broken("pairs", t, "gets its rows in rounds, the first of which may have none");
        }
      }
    }
    return {};
  }

  /// Whether a task on the way to it is repeated.
  bool comesInRounds(int32_t t) const {
    std::vector<int32_t> open{t};
    std::set<int32_t> seen;
    while (!open.empty()) {
      t = open.back();
      open.pop_back();
      if (inRepeat(t)) {
        return true;
      }
      int32_t input = task(t).inputStream();
      if (input != kNone && seen.insert(t).second) {
        open.insert(open.end(), producers_[input].begin(), producers_[input].end());
      }
    }
    return false;
  }

  /// The hole by which a task is chosen, or null.
  const Hole *holeOf(int32_t t) const {
    const auto *choose = task(t).as<ChooseTask>();
    return choose ? &plan_.holes[choose->hole] : nullptr;
  }

  Status checkCollectives() const {
    std::vector<int32_t> ordered;
    for (int32_t t = 0; t < taskCount(); ++t) {
      bool agrees = holeOf(t) && holeOf(t)->agreed;
      bool collective = task(t).as<CollectiveTask>() != nullptr;
      if (collective || agrees) {
        ordered.push_back(t);
      }
      int32_t owner = regions_[t].owner;
      if ((collective || task(t).as<ExchangeTask>()) && owner != kNone && !inRepeat(t) &&
          !holeOf(owner)->agreed) {
        return broken("collectives", t,
                      "is chosen by a hole that ranks do not agree on: ", holeOf(owner)->name);
      }
    }
    for (size_t i = 0; i < ordered.size(); ++i) {
      for (size_t j = i + 1; j < ordered.size(); ++j) {
        int32_t a = ordered[i];
        int32_t b = ordered[j];
        bool nested = regions_[a].owner == b || regions_[b].owner == a;
        if (!nested && !onePerPath({a, b}, regions_) && !order_.endsBefore(a, b) &&
            !order_.endsBefore(b, a)) {
          return broken("collectives", b, "has no order with ", describeTask(plan_, a),
                        ", so ranks may meet them differently");
        }
      }
    }
    return {};
  }

  const Plan &plan_;
  const CheckOptions &options_;
  std::vector<Region> regions_;
  std::vector<std::vector<int32_t>> producers_;
  std::vector<std::vector<int32_t>> consumers_;
  Dependencies order_;
};

} // namespace

Status checkGraph(const Plan &plan, const CheckOptions &options) {
  return GraphChecker(plan, options).run();
}

} // namespace headrace::plan
