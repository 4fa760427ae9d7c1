// Orders of tasks: what waits for the network goes first, states that do not fit together follow
// each other, and among all orders of random plans the best is found or nearly so.
#include "model/plan/check.h"
#include "model/plan/dependencies.h"
#include "model/plan/precedence.h"
#include "model/simulate/simulate.h"
#include "model/simulate/task_groups.h"
#include "model/simulate/task_order.h"
#include "test/unit/model/simulate/shuffle_plan.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <set>

namespace headrace::simulate {
namespace {

constexpr int64_t kRanks = 16;

/// Products of matrices and sums of them over all ranks.
class Tensors {
public:
  /// Of (rows, inner) and (inner, rows), of which every rank has its part of the inner dimension.
  int32_t product(int64_t rows, int64_t inner, std::vector<int32_t> after = {}) {
    int32_t left = buffer({rows, inner}, 1), right = buffer({inner, rows}, 0);
    int32_t made = buffer({rows, rows}, plan::kNone);
    return add("product",
               plan::ComputeTask{
                   plan::ComputeKind::kMatmul, plan::kNone, {left, right}, {made}, {0, 0, 0}},
               std::move(after));
  }
  /// Of what a task has made, behind the last sum.
  int32_t sum(int32_t of) {
    int32_t input = plan_.tasks[of].outputs().front();
    std::vector<int64_t> shape = plan_.buffers[input].shape;
    int32_t made = buffer(shape, plan::kNone);
    std::vector<int32_t> after = {of};
    if (last_ != plan::kNone) {
      after.push_back(last_);
    }
    return last_ =
               add("sum",
                   plan::CollectiveTask{
                       plan::CollectiveKind::kAllReduce, plan::Reduction::kSum, {0}, input, made},
                   std::move(after));
  }
  const plan::Plan &plan() const { return plan_; }

private:
  int32_t buffer(std::vector<int64_t> shape, int32_t divided) {
    plan::Buffer made;
    made.bytes = static_cast<uint64_t>(shape[0] * shape[1] * 4);
    made.shape = std::move(shape);
    if (divided != plan::kNone) {
      made.splits = {{divided, {0}}};
    }
    plan_.buffers.push_back(std::move(made));
    return static_cast<int32_t>(plan_.buffers.size()) - 1;
  }
  int32_t add(const char *name, plan::TaskWork work, std::vector<int32_t> after) {
    plan::Task task;
    task.name = name;
    task.work = std::move(work);
    task.after = std::move(after);
    plan_.tasks.push_back(std::move(task));
    return static_cast<int32_t>(plan_.tasks.size()) - 1;
  }

  plan::Plan plan_;
  int32_t last_ = plan::kNone;
};

Workload workload() {
  Workload made;
  made.ranks = kRanks;
  return made;
}

topology::Topology cluster() { return *topology::shippedTopology("p5-2node"); }

double secondsOf(const plan::Plan &plan, const Workload &load = workload()) {
  Expected<Graph> graph = planGraph(plan, cluster(), load);
  EXPECT_TRUE(graph.ok()) << graph.status().toString();
  Expected<Outcome> outcome = simulate(*graph);
  return outcome.ok() ? outcome->seconds : std::numeric_limits<double>::infinity();
}

TaskOrder found(const plan::Plan &plan, const Workload &load = workload(),
                OrderSearch search = {}) {
  Expected<TaskOrder> order = findOrder(plan, cluster(), load, search);
  EXPECT_TRUE(order.ok()) << order.status().toString();
  return order.ok() ? *order : TaskOrder();
}

TEST(TaskOrder, what_the_network_waits_for_is_computed_first) {
  // The second product has to be summed over all ranks, the first has not.
  Tensors tensors;
  tensors.product(8192, 16384);
  int32_t second = tensors.product(8192, 16384);
  tensors.sum(second);
  TaskOrder order = found(tensors.plan());
  EXPECT_LT(order.seconds, 0.9 * order.secondsGiven);
  EXPECT_EQ(
      *std::find_if(order.tasks.begin(), order.tasks.end(), [](int32_t task) { return task != 2; }),
      1);
  EXPECT_TRUE(order.waits.empty());
  // It is what the plan in that order is simulated to take.
  EXPECT_NEAR(secondsOf(inOrder(tensors.plan(), order.tasks)), order.seconds, 1e-12);
}

TEST(TaskOrder, collectives_follow_each_other_in_the_order_found) {
  // One tower of a short and one of a long product; the sums were listed long first.
  Tensors tensors;
  int32_t large = tensors.product(8192, 65536), small = tensors.product(8192, 4096);
  int32_t later = tensors.sum(large), sooner = tensors.sum(small);
  TaskOrder order = found(tensors.plan());
  EXPECT_LT(order.seconds, 0.95 * order.secondsGiven);
  plan::Plan ordered = inOrder(tensors.plan(), order.tasks);
  auto place = [&](int32_t task) {
    return static_cast<int32_t>(std::find(order.tasks.begin(), order.tasks.end(), task) -
                                order.tasks.begin());
  };
  EXPECT_LT(place(sooner), place(later));
  EXPECT_EQ(ordered.tasks[place(sooner)].after, std::vector<int32_t>{place(small)});
  EXPECT_EQ(ordered.tasks[place(later)].after, (std::vector<int32_t>{place(large), place(sooner)}));
}

TEST(TaskOrder, an_order_without_a_better_one_stays) {
  Tensors tensors;
  int32_t first = tensors.product(4096, 8192);
  tensors.sum(first);
  EXPECT_FALSE(hasOrders(tensors.plan()));
  tensors.product(4096, 8192);
  EXPECT_TRUE(hasOrders(tensors.plan()));
  TaskOrder order = found(tensors.plan());
  EXPECT_EQ(order.tasks, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(order.seconds, order.secondsGiven);
}

/// `count` times a shuffle into groups of so many bytes, each read and given back.
plan::Plan groupings(int32_t count, uint64_t bytes) {
  plan::Plan made;
  for (int32_t number = 0; number < count; ++number) {
    plan::Plan one = shufflePlan();
    auto tasks = static_cast<int32_t>(made.tasks.size()),
         streams = static_cast<int32_t>(made.streams.size()),
         slots = static_cast<int32_t>(made.slots.size()),
         states = static_cast<int32_t>(made.states.size()),
         kernels = static_cast<int32_t>(made.kernels.size());
    plan::Schema schema = one.streams[0].schema;
    made.streams.insert(made.streams.end(), one.streams.begin(), one.streams.end());
    made.streams.push_back({"groups", schema, 4, 65536});
    made.slots.insert(made.slots.end(), one.slots.begin(), one.slots.end());
    made.states.insert(made.states.end(), one.states.begin(), one.states.end());
    made.kernels.resize(made.kernels.size() + 3);
    auto add = [&](std::string name, plan::TaskWork work, std::vector<int32_t> after = {}) {
      plan::Task task;
      task.name = std::move(name);
      task.work = std::move(work);
      task.after = std::move(after);
      made.tasks.push_back(std::move(task));
    };
    add("reserve", plan::ReserveTask{states, {.expected = bytes, .p95 = bytes}});
    add("load", plan::LoadTask{.slot = slots, .split = {0}, .outputStream = streams});
    add("divide",
        plan::RunTask{.kernel = kernels, .inputStream = streams, .outputStream = streams + 1});
    add("shuffle",
        plan::ExchangeTask{plan::ExchangeKind::kHash, number, {0}, streams + 1, streams + 2});
    add("aggregate",
        plan::RunTask{.kernel = kernels + 1,
                      .inputStream = streams + 2,
                      .states = {{states, plan::StateUse::kPerWorker}}},
        {tasks});
    add("read",
        plan::RunTask{.kernel = kernels + 2, .sourceState = states, .outputStream = streams + 3},
        {tasks + 4});
    add("release", plan::ReleaseTask{tasks}, {tasks + 5});
  }
  return made;
}

TEST(TaskOrder, states_that_do_not_fit_together_follow_each_other) {
  // Two of three fit.
  plan::Plan plan = groupings(3, 3'000'000'000);
  Workload load = workload();
  load.rows = {{"t", 1e9}};
  load.memoryBytes = 8e9;
  TaskOrder order = found(plan, load);
  ASSERT_EQ(order.waits.size(), 1u);
  auto [release, reserve] = order.waits.front();
  EXPECT_TRUE(plan.tasks[release].as<plan::ReleaseTask>());
  EXPECT_TRUE(plan.tasks[reserve].as<plan::ReserveTask>());
  // With the wait in the plan itself nothing has to wait for room any more, on any memory.
  plan::Plan waiting = plan;
  waiting.tasks[reserve].after.push_back(release);
  plan::Plan ordered = inOrder(waiting, order.tasks);
  Workload roomy = load;
  roomy.memoryBytes = 0;
  Expected<Graph> graph = planGraph(ordered, cluster(), roomy);
  Expected<Outcome> outcome = simulate(*graph);
  EXPECT_LE(*std::max_element(outcome->tierPeakBytes.begin(), outcome->tierPeakBytes.end()), 6e9);
  EXPECT_TRUE(plan::Dependencies(ordered, plan::BackPressure::kIncluded).cycle().empty());
  // Each task stands behind those that it waits for.
  for (size_t t = 0; t < ordered.tasks.size(); ++t) {
    for (int32_t before : ordered.tasks[t].after) {
      EXPECT_LT(before, static_cast<int32_t>(t));
    }
  }
  // With room for all of them nothing waits.
  load.memoryBytes = 0;
  EXPECT_TRUE(found(plan, load).waits.empty());
}

TEST(TaskOrder, tasks_that_wait_for_each_other_across_a_stream_are_refused) {
  // What takes the rows waits for a task that waits for the end of what makes them.
  plan::Plan plan = groupings(1, 1);
  plan::Task between;
  between.name = "between";
  between.work = plan::ReleaseTask{0};
  between.after = {2};
  plan.tasks.push_back(between);
  plan.tasks[4].after.push_back(static_cast<int32_t>(plan.tasks.size()) - 1);
  EXPECT_EQ(findOrder(plan, cluster(), workload()).status().message(),
            "tasks that streams connect wait for each other through others");
  EXPECT_FALSE(TaskGroups(plan).canBeOrdered());
  std::vector<int32_t> given(plan.tasks.size());
  std::iota(given.begin(), given.end(), 0);
  EXPECT_EQ(randomOrder(plan, 1), given);
}

/// Random products and sums of random sizes that wait for each other.
plan::Plan randomPlan(uint64_t seed, int32_t products) {
  std::mt19937_64 random(seed);
  Tensors tensors;
  std::vector<int32_t> made;
  for (int32_t number = 0; number < products; ++number) {
    std::vector<int32_t> after;
    if (!made.empty() && random() % 2) {
      after = {made[random() % made.size()]};
    }
    int32_t task = tensors.product(2048 << random() % 3, 4096 << random() % 6, after);
    made.push_back(random() % 3 ? tensors.sum(task) : task);
  }
  return tensors.plan();
}

/// The least of all orders, one behind the other.
double leastOfAll(const plan::Plan &plan) {
  std::vector<int32_t> order(plan.tasks.size());
  std::iota(order.begin(), order.end(), 0);
  double least = std::numeric_limits<double>::infinity();
  do {
    std::vector<size_t> place(order.size());
    for (size_t at = 0; at < order.size(); ++at) {
      place[order[at]] = at;
    }
    bool valid = true;
    for (size_t t = 0; t < plan.tasks.size(); ++t) {
      for (int32_t before : plan.tasks[t].after) {
        bool inTurn = plan.tasks[t].as<plan::CollectiveTask>() &&
                      plan.tasks[before].as<plan::CollectiveTask>() &&
                      plan.tasks[before].outputs().front() != plan.tasks[t].inputs().front();
        valid = valid && (inTurn || place[before] < place[t]);
      }
    }
    if (valid) {
      least = std::min(least, secondsOf(inOrder(plan, order)));
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

TEST(TaskOrder, any_order_has_each_task_behind_what_it_waits_for) {
  std::set<std::vector<int32_t>> orders;
  plan::Plan plan = randomPlan(1, 6);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<int32_t> order = randomOrder(plan, seed);
    ASSERT_EQ(order.size(), plan.tasks.size());
    plan::Plan ordered = inOrder(plan, order);
    for (size_t t = 0; t < ordered.tasks.size(); ++t) {
      for (int32_t before : ordered.tasks[t].after) {
        EXPECT_LT(before, static_cast<int32_t>(t));
      }
    }
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 5u);
}

TEST(TaskOrder, the_best_of_all_orders_is_found_or_nearly_so) {
  double worst = 1, sum = 0, given = 0;
  int count = 0;
  for (uint64_t seed = 0; count < 40; ++seed) {
    plan::Plan plan = randomPlan(seed, 4);
    if (!hasOrders(plan) || plan.tasks.size() > 7) {
      continue;
    }
    TaskOrder order = found(plan, workload(), {.ordersMax = 200, .gainMin = 0});
    double least = leastOfAll(plan);
    EXPECT_LE(order.seconds, order.secondsGiven);
    EXPECT_GE(order.seconds, least * (1 - 1e-9));
    worst = std::max(worst, order.seconds / least);
    sum += order.seconds / least;
    given += order.secondsGiven / least;
    ++count;
  }
  RecordProperty("mean", std::to_string(sum / count));
  EXPECT_LT(worst, 1.01);
  EXPECT_LT(sum / count, 1.001);
  EXPECT_GT(given / count, 1.02); // else the orders did not matter
}

} // namespace
} // namespace headrace::simulate
