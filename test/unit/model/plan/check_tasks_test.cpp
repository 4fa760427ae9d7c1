// Rules over single tasks: each kind has the operands that it needs, in memory that its device
// reaches.
#include "test/unit/model/plan/changed_plan.h"

#include <gtest/gtest.h>

namespace headrace::plan {
namespace {

TEST(PlanCheckTasks, OperandsOfEveryKind) {
  auto added = [](TaskWork work) { return checked([&](Plan &p) { addTask(p, std::move(work)); }); };
  EXPECT_EQ(added(LoadTask{}), "rule operands: task 8 (load): needs a slot");
  EXPECT_EQ(added(LoadTask{.slot = 0}), "rule operands: task 8 (load): needs an output stream");
  EXPECT_EQ(added(InputTask{}), "rule operands: task 8 (input): needs a slot of a tensor");
  EXPECT_EQ(added(InputTask{.slot = 0}), "rule operands: task 8 (input): needs a slot of a tensor");
  EXPECT_EQ(added(RunTask{.kernel = 0, .sourceState = 0}),
            "rule operands: task 8 (run): needs a state or an output stream");
  EXPECT_EQ(added(CollectiveTask{}),
            "rule operands: task 8 (collective): needs an input and an output buffer");
  EXPECT_EQ(added(ComputeTask{}), "rule operands: task 8 (compute): needs an output buffer");
  EXPECT_EQ(added(ToTensorTask{}), "rule operands: task 8 (to_tensor): needs an input stream");
  EXPECT_EQ(added(ToTensorTask{.inputStream = 4}),
            "rule operands: task 8 (to_tensor): needs an output buffer");
  EXPECT_EQ(added(ReserveTask{}), "rule operands: task 8 (reserve): needs a state");
  EXPECT_EQ(added(ReleaseTask{}),
            "rule operands: task 8 (release): needs the reserve task that it ends");
  EXPECT_EQ(added(ChooseTask{}), "rule operands: task 8 (choose): needs a hole");
  EXPECT_EQ(added(RepeatTask{}), "rule operands: task 8 (repeat): needs tasks");
  EXPECT_EQ(added(RepeatTask{{0}}),
            "rule operands: task 8 (repeat): needs runs and reservations only");
  EXPECT_EQ(added(ResultTask{}), "rule operands: task 8 (result): needs an input stream");
  EXPECT_EQ(added(TensorResultTask{}), "rule operands: task 8 (tensor_result): needs a buffer");
  // And ids in fields of one kind alone.
  EXPECT_EQ(added(ReserveTask{7, {}}), "rule range: task 8 (reserve): no such state: 7");
  EXPECT_EQ(added(ReleaseTask{70}), "rule range: task 8 (release): no such task: 70");
  EXPECT_EQ(added(ChooseTask{7, 0, {}, {}}), "rule range: task 8 (choose): no such hole: 7");
  EXPECT_EQ(added(ChooseTask{kNone, 0, {70}, {}}), "rule range: task 8 (choose): no such task: 70");
  EXPECT_EQ(added(TensorResultTask{7}), "rule range: task 8 (tensor_result): no such buffer: 7");
  EXPECT_EQ(added(ComputeTask{ComputeKind::kReshape, kNone, {kNone}, {0}, {}}),
            "rule range: task 8 (compute): no such buffer: -1");
}

TEST(PlanCheckTasks, StretchesOfAKey) {
  auto of = [](Stretches stretches) {
    return checked([&](Plan &p) { p.slots[0].stretches = std::move(stretches); });
  };
  EXPECT_EQ(of({"k", 100, {0}}), "ok");
  for (const Stretches &wrong : {Stretches{"k", 0, {0}}, Stretches{"k", 100, {}},
                                 Stretches{"k", 100, {7}}, Stretches{"", 100, {}}}) {
    EXPECT_EQ(of(wrong), "rule operands: task 0 'load u' (load): needs stretches of a key in a "
                         "cycle, over axes of the mesh");
  }
}

TEST(PlanCheckTasks, PiecesOfRowGroups) {
  auto of = [](uint32_t rows) { return checked([&](Plan &p) { p.slots[0].pieceRows = rows; }); };
  EXPECT_EQ(of(1024), "ok");
  EXPECT_EQ(of(0), "rule operands: task 0 'load u' (load): needs pieces of at least 1024 rows");
}

TEST(PlanCheckTasks, TensorsThatStay) {
  auto plan = [](const std::function<void(Plan &)> &change) {
    return checkedTensors([&](Plan &p) {
      int32_t input = addInput(p, {4});
      p.mesh = {{"ranks", 2}};
      p.slots[0].shape = {4};
      p.slots[0].resident = true;
      p.buffers[input].splits = {{0, {0}}};
      p.resident = true;
      addTask(p, TensorResultTask{input}, {0});
      change(p);
    });
  };
  EXPECT_EQ(plan([](Plan &) {}), "ok");
  EXPECT_EQ(
      plan([](Plan &p) { p.resident = false; }),
      "rule operands: task 1 (tensor_result): needs a buffer that is whole on each rank, or in "
      "even parts if the result stays there");
  EXPECT_EQ(plan([](Plan &p) { p.slots[0].shape = {5}; }),
            "rule operands: task 0 (input): needs a buffer that is what each rank has of its slot");
  EXPECT_EQ(plan([](Plan &p) { p.slots[0].element = Element::kI64; }),
            "rule operands: task 0 (input): needs a buffer that is what each rank has of its slot");
}

TEST(PlanCheckTasks, OperandsOfToTensor) {
  auto rows = [](std::vector<int64_t> shape, std::vector<int32_t> columns) {
    return checked([&](Plan &p) {
      int32_t output = addTensor(p, shape);
      p.tasks[7].work = ToTensorTask{4, columns, {output}};
    });
  };
  EXPECT_EQ(rows({8}, {0}), "ok");
  EXPECT_EQ(rows({8, 1}, {0}), "ok");
  EXPECT_EQ(rows({8}, {1}),
            "rule operands: task 7 'result' (to_tensor): needs columns of its stream");
  EXPECT_EQ(
      rows({8, 2}, {0}),
      "rule operands: task 7 'result' (to_tensor): needs as many columns as its buffers have");
  EXPECT_EQ(rows({8, 1, 1}, {0}), "rule operands: task 7 'result' (to_tensor): needs buffers of "
                                  "rows, and of columns that are known");
}

TEST(PlanCheckTasks, OperandsOfCompute) {
  auto compute = [](ComputeKind operation, std::vector<std::vector<int64_t>> inputs,
                    std::vector<int64_t> output, std::vector<int64_t> parameters,
                    int32_t kernel = kNone) {
    return checkedTensors([&](Plan &p) {
      p.kernels.resize(1);
      p.kernels[0].symbol = "kernel";
      ComputeTask task{operation, kernel, {}, {}, parameters};
      std::vector<int32_t> after;
      for (const std::vector<int64_t> &shape : inputs) {
        after.push_back(addInput(p, shape));
      }
      task.inputs = after;
      task.outputs = {addTensor(p, output)};
      addTask(p, task, after);
    });
  };
  auto needs = [](const char *what, int task = 1) {
    return "rule operands: task " + std::to_string(task) + " (compute): needs " + what;
  };
  EXPECT_EQ(compute(ComputeKind::kMatmul, {{2, 3}, {3, 4}}, {2, 4}, {0, 0, 0}), "ok");
  EXPECT_EQ(compute(ComputeKind::kMatmul, {{5, 2, 3}, {3, 4}}, {5, 2, 4}, {0, 0, 0}), "ok");
  EXPECT_EQ(compute(ComputeKind::kMatmul, {{6, 5, 2, 3}, {6, 5, 3, 4}}, {6, 5, 2, 4}, {0, 0, 2}),
            "ok");
  EXPECT_EQ(compute(ComputeKind::kMatmul, {{2, 3}}, {2, 4}, {0, 0, 0}),
            needs("two input buffers and one output buffer"));
  EXPECT_EQ(compute(ComputeKind::kMatmul, {{2, 3}, {3, 4}}, {2, 4}, {0, 0}),
            needs("to know of each input whether it is transposed, and its batch", 2));
  EXPECT_EQ(compute(ComputeKind::kMatmul, {{2, 3}, {3}}, {2}, {0, 0, 0}),
            needs("matrices behind the dimensions of the batch", 2));
  EXPECT_EQ(compute(ComputeKind::kMatmul, {{2, 3}, {3, 4}}, {2, 4}, {0, 0, 1}),
            needs("matrices behind the dimensions of the batch", 2));
  EXPECT_EQ(compute(ComputeKind::kMatmul, {{5, 3, 2}, {3, 4}}, {5, 2, 4}, {1, 0, 0}),
            needs("matrices behind the dimensions of the batch", 2));
  EXPECT_EQ(compute(ComputeKind::kReshape, {{2, 3}}, {6}, {}), "ok");
  EXPECT_EQ(compute(ComputeKind::kReshape, {{2, 3}}, {6}, {0}),
            needs("one input and one output buffer"));
  EXPECT_EQ(compute(ComputeKind::kReshape, {{2, 3}}, {6}, {}, 0),
            needs("a kernel if it is kernel, and only then"));
  EXPECT_EQ(compute(ComputeKind::kKernel, {{2, 3}}, {2}, {0, 1}, 0), "ok");
  EXPECT_EQ(compute(ComputeKind::kKernel, {{2, 3}}, {2}, {}, 0), "ok");
  EXPECT_EQ(compute(ComputeKind::kKernel, {{2, 3}}, {3}, {0, 0, 1}, 0), "ok");
  EXPECT_EQ(compute(ComputeKind::kKernel, {{2, 3}}, {2}, {}),
            needs("a kernel if it is kernel, and only then"));
  for (std::vector<int64_t> bad : {std::vector<int64_t>{2, 0},
                                   {1, 1},
                                   {-1, 0},
                                   {0, -1},
                                   {0},
                                   {0, 0, 3},
                                   {0, 0, -1},
                                   {0, 0, 0, 0}}) {
    EXPECT_EQ(compute(ComputeKind::kKernel, {{2, 3}}, {2}, bad, 0),
              needs("an operand and its dimension to cut into morsels"));
  }
}

TEST(PlanCheckTasks, OperandsOfCollectives) {
  auto collective = [](CollectiveKind operation, int32_t from, int32_t to,
                       std::vector<int64_t> shape = {4, 6}) {
    return checkedTensors([&](Plan &p) {
      int32_t input = addInput(p, {4, 6}, from);
      int32_t output = addTensor(p, shape, to);
      addTask(p, CollectiveTask{operation, Reduction::kSum, {0}, input, output}, {input});
    });
  };
  auto needs = [](const char *what) {
    return std::string("rule operands: task 1 (collective): needs ") + what;
  };
  EXPECT_EQ(collective(CollectiveKind::kAllReduce, kNone, kNone), "ok");
  EXPECT_EQ(collective(CollectiveKind::kAllReduce, 0, 0), "ok");
  EXPECT_EQ(collective(CollectiveKind::kAllReduce, 0, 1), needs("buffers that are split alike"));
  EXPECT_EQ(collective(CollectiveKind::kAllReduce, kNone, kNone, {4, 7}),
            needs("buffers of the same shape and element"));
  EXPECT_EQ(collective(CollectiveKind::kAllGather, 1, kNone), "ok");
  EXPECT_EQ(collective(CollectiveKind::kAllGather, 1, 0),
            needs("a dimension to gather, and no more"));
  EXPECT_EQ(collective(CollectiveKind::kReduceScatter, kNone, 1), "ok");
  EXPECT_EQ(collective(CollectiveKind::kReduceScatter, 0, 1),
            needs("a dimension to scatter, and no more"));
  EXPECT_EQ(collective(CollectiveKind::kAllToAll, 0, 1), "ok");
  EXPECT_EQ(collective(CollectiveKind::kAllToAll, 1, 1),
            needs("a dimension to gather and one to scatter"));
}

TEST(PlanCheckTasks, GroupsOfAMeshOfTwoAxes) {
  auto collective = [](CollectiveKind operation, std::vector<int32_t> axes, std::vector<Split> from,
                       std::vector<Split> to) {
    return checkedTensors([&](Plan &p) {
      p.mesh = {{"node", 2}, {"device", 4}};
      int32_t input = addInput(p, {4, 6});
      int32_t output = addTensor(p, {4, 6});
      p.buffers[input].splits = std::move(from);
      p.buffers[output].splits = std::move(to);
      addTask(p, CollectiveTask{operation, Reduction::kSum, axes, input, output}, {input});
    });
  };
  auto needs = [](const char *what) {
    return std::string("rule operands: task 1 (collective): needs ") + what;
  };
  using Kind = CollectiveKind;
  EXPECT_EQ(collective(Kind::kAllReduce, {1}, {{0, {0}}}, {{0, {0}}}), "ok");
  EXPECT_EQ(collective(Kind::kAllGather, {1}, {{0, {0}}, {1, {1}}}, {{0, {0}}}), "ok");
  EXPECT_EQ(collective(Kind::kAllGather, {1}, {{0, {0, 1}}}, {{0, {0}}}), "ok");
  EXPECT_EQ(collective(Kind::kAllGather, {0}, {{0, {0, 1}}}, {{0, {1}}}),
            needs("dimensions whose split differs by the axes of its group"));
  EXPECT_EQ(collective(Kind::kReduceScatter, {1}, {{0, {0}}}, {{0, {0}}, {1, {1}}}), "ok");
  EXPECT_EQ(collective(Kind::kAllToAll, {0, 1}, {{0, {0, 1}}}, {{1, {0, 1}}}), "ok");
  for (std::vector<int32_t> bad : {std::vector<int32_t>{}, {2}, {0, 0}, {-1}}) {
    EXPECT_EQ(collective(Kind::kAllReduce, bad, {}, {}),
              needs("axes of the mesh that it goes over, in their order"));
  }
  EXPECT_EQ(checked([](Plan &p) { p.tasks[4].as<ExchangeTask>()->axes = {}; }),
            "rule operands: task 4 'gather' (exchange): needs axes of the mesh that it goes over, "
            "in their order");
}

TEST(PlanCheckTasks, Tiers) {
  EXPECT_EQ(checked([](Plan &p) { p.states[0].tier = Tier::kDevice; }),
            "rule tiers: task 1 'build u' (run): is a task of a device of kind cpu, which does not "
            "reach the memory of state 'u table': device");
  EXPECT_EQ(checked([](Plan &p) { p.streams[3].tier = Tier::kFile; }),
            "rule tiers: task 4 'gather' (exchange): is a task of a device of kind cpu, which does "
            "not reach the memory of stream 'gathered': file");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[7].device = Device::kGpu; }),
            "rule tiers: task 7 'result' (result): is a task of a device of kind gpu, which does "
            "not reach the memory of stream 'sums': host");
  EXPECT_EQ(checkedTensors([](Plan &p) {
              addInput(p, {4});
              p.buffers[0].tier = Tier::kDevice;
            }),
            "rule tiers: task 0 (input): is a task of a device of kind cpu, which does not reach "
            "the memory of buffer 'a': device");
  // What is pinned is reached by both.
  EXPECT_EQ(checked([](Plan &p) {
              p.streams[4].tier = Tier::kPinned;
              p.tasks[7].device = Device::kGpu;
            }),
            "ok");
}

/// A GPU fills the first state of the plan.
void buildOnGpu(Plan &p) {
  p.kernels.push_back({.symbol = "build u", .threads = 128});
  p.tasks[1].device = Device::kGpu;
  p.tasks[1].as<RunTask>()->deviceKernel = static_cast<int32_t>(p.kernels.size()) - 1;
}

TEST(PlanCheckTasks, RunsOfGpus) {
  // What it fills for the host is copied there.
  EXPECT_EQ(checked(buildOnGpu), "ok");
  EXPECT_EQ(
      checked([](Plan &p) {
        buildOnGpu(p);
        p.tasks[1].as<RunTask>()->deviceKernel = 0;
      }),
      "rule operands: task 1 'build u' (run): needs a kernel for GPUs if it is a task of one, "
      "and only then");
  EXPECT_EQ(
      checked([](Plan &p) {
        buildOnGpu(p);
        p.tasks[1].device = Device::kCpu;
      }),
      "rule operands: task 1 'build u' (run): needs a kernel for GPUs if it is a task of one, "
      "and only then");
  EXPECT_EQ(checked([](Plan &p) {
              buildOnGpu(p);
              p.states[0].tier = Tier::kDevice;
            }),
            "rule operands: task 1 'build u' (run): needs a kernel that links the rows of its "
            "joins");
  // What it reads is there.
  EXPECT_EQ(checked([](Plan &p) {
              p.kernels.push_back({.symbol = "probe", .threads = 128});
              for (Task &task : p.tasks) {
                RunTask *run = task.as<RunTask>();
                if (run && !run->states.empty() && run->states[0].use == StateUse::kShared) {
                  task.device = Device::kGpu;
                  run->deviceKernel = static_cast<int32_t>(p.kernels.size()) - 1;
                }
              }
            }),
            "rule tiers: task 3 'probe' (run): is a task of a device of kind gpu, which does not "
            "reach the memory of state 'u table': host");
}

} // namespace
} // namespace headrace::plan
