// Tensor tasks between devices: each rank has its part of what is divided, as the layout solver
// prices it.
// Sources: model/simulate/plan_tensor_tasks.cpp
#include "model/cost/tensor_work.h"
#include "model/simulate/plan_graph.h"
#include "model/simulate/simulate.h"

#include <gtest/gtest.h>

namespace headrace::simulate {
namespace {

constexpr int64_t kRows = 65536;
constexpr int64_t kInner = 1024;
constexpr double kWidth = 4;

plan::Buffer matrix(int64_t rows, int64_t columns, int32_t splitDimension) {
  plan::Buffer made;
  made.shape = {rows, columns};
  if (splitDimension != plan::kNone) {
    made.splits = {{splitDimension, {0}}};
  }
  made.bytes = static_cast<uint64_t>(rows * columns * 4);
  return made;
}

plan::Plan oneTask(plan::TaskWork work, std::vector<plan::Buffer> buffers) {
  plan::Plan plan;
  plan.buffers = std::move(buffers);
  plan.tasks.resize(1);
  plan.tasks[0].work = std::move(work);
  return plan;
}

double secondsOn(const plan::Plan &plan, int64_t ranks) {
  Workload load;
  load.ranks = ranks;
  Expected<Graph> graph = planGraph(plan, *topology::shippedTopology("p5-2node"), load);
  EXPECT_TRUE(graph.ok()) << graph.status().toString();
  Expected<Outcome> outcome = simulate(*graph);
  EXPECT_TRUE(outcome.ok()) << outcome.status().toString();
  return outcome->seconds;
}

cost::CostModel modelOf(int64_t ranks) {
  return *cost::CostModel::create(*topology::shippedTopology("p5-2node"),
                                  cost::flatMesh("mesh", "ranks", ranks));
}

TEST(TensorTasks, a_product_is_divided) {
  plan::Plan plan = oneTask(
      plan::ComputeTask{plan::ComputeKind::kMatmul, plan::kNone, {0, 1}, {2}, {0, 0, 0}},
      {matrix(kRows, kInner, 0), matrix(kInner, kInner, plan::kNone), matrix(kRows, kInner, 0)});
  for (int64_t ranks : {1, 8, 16}) {
    double rows = static_cast<double>(kRows) / static_cast<double>(ranks);
    double inner = static_cast<double>(kInner);
    cost::ProductShape shape;
    shape.elements = rows * inner;
    shape.inner = inner;
    shape.bytes = kWidth * (2 * rows * inner + inner * inner);
    EXPECT_NEAR(secondsOn(plan, ranks) / cost::secondsOf(modelOf(ranks), shape), 1, 1e-6) << ranks;
  }
}

TEST(TensorTasks, an_elementwise_kernel_is_divided) {
  plan::Plan plan = oneTask(plan::ComputeTask{plan::ComputeKind::kKernel, 0, {0}, {1}, {}},
                            {matrix(kRows, kInner, 0), matrix(kRows, kInner, 0)});
  plan.kernels.resize(1);
  plan.kernels[0].work = {{plan::WorkKind::kElement, 0, 1, plan::kNone},
                          {plan::WorkKind::kElementOp, 0, 300, plan::kNone}};
  for (int64_t ranks : {1, 16}) {
    double points = static_cast<double>(kRows * kInner) / static_cast<double>(ranks);
    cost::ElementShape shape;
    shape.points = points;
    shape.bytes = 2 * kWidth * points;
    shape.ops = 300;
    EXPECT_NEAR(secondsOn(plan, ranks) / cost::secondsOf(modelOf(ranks), shape), 1, 1e-6) << ranks;
  }
}

TEST(TensorTasks, what_the_caller_bound_is_divided) {
  plan::Plan plan = oneTask(plan::InputTask{0, 0}, {matrix(kRows, kInner, 0)});
  plan.slots.resize(1);
  plan.slots[0].kind = plan::SlotKind::kTensor;
  for (int64_t ranks : {1, 16}) {
    double bytes = kWidth * static_cast<double>(kRows * kInner) / static_cast<double>(ranks);
    EXPECT_NEAR(secondsOn(plan, ranks) / cost::tensorLoadSeconds(modelOf(ranks), bytes, true), 1,
                1e-6)
        << ranks;
  }
}

} // namespace
} // namespace headrace::simulate
