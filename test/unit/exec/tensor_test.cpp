// Tensor tasks: matmul, kernels, collectives, bound inputs and results, on one to four ranks.
// Sources: runtime/exec/task/collective_task.cpp, runtime/exec/task/compute_task.cpp,
//   runtime/exec/task/tensor_buffer.cpp, runtime/exec/task/matmul_job.cpp,
//   runtime/exec/task/to_tensor_task.cpp, runtime/exec/task/box_copy.cpp
#include "runtime/base/strided_range.h"
#include "test/unit/exec/test_plans.h"

#include <gtest/gtest.h>
#include <numeric>

namespace headrace::exec {
namespace {

plan::Task task(plan::TaskWork work, std::vector<int32_t> after) {
  plan::Task task;
  task.name = "tensors";
  task.work = std::move(work);
  task.after = std::move(after);
  return task;
}

plan::Task compute(plan::ComputeKind operation, std::vector<int32_t> inputs, int32_t output,
                   std::vector<int64_t> parameters) {
  std::vector<int32_t> after = inputs; // buffers have the numbers of their tasks
  return task(plan::ComputeTask{operation,
                                operation == plan::ComputeKind::kKernel ? 0 : plan::kNone,
                                std::move(inputs),
                                {output},
                                std::move(parameters)},
              std::move(after));
}

plan::Task collective(plan::CollectiveKind operation, int32_t input, int32_t output) {
  return task(plan::CollectiveTask{operation, plan::Reduction::kSum, {0}, input, output}, {input});
}

plan::Buffer buffer(const char *name, std::vector<int64_t> shape, int32_t split = plan::kNone) {
  plan::Buffer made;
  made.name = name;
  made.element = plan::Element::kF64;
  made.shape = std::move(shape);
  if (split != plan::kNone) {
    made.splits = {{split, {0}}};
  }
  return made;
}

struct Matrices {
  std::vector<double> a, b, c;
};

Matrices makeMatrices(int m, int k, int n) {
  Matrices x{std::vector<double>(m * k), std::vector<double>(k * n), std::vector<double>(m * n)};
  for (size_t i = 0; i < x.a.size(); ++i) {
    x.a[i] = static_cast<double>(i % 7) - 3;
  }
  for (size_t i = 0; i < x.b.size(); ++i) {
    x.b[i] = static_cast<double>(i % 5) - 2;
  }
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int l = 0; l < k; ++l) {
        x.c[i * n + j] += x.a[i * k + l] * x.b[l * n + j];
      }
    }
  }
  return x;
}

std::vector<double> runTensors(const plan::Plan &plan, const Bindings &bindings, uint32_t ranks) {
  auto program = Program::load(plan, testKernels());
  EXPECT_TRUE(program.ok()) << program.status().toString();
  Session session({.threads = 2});
  RunOptions options;
  options.ranks = ranks;
  auto result = (*program)->run(session, bindings, options);
  EXPECT_TRUE(result.ok()) << result.status().toString();
  if (!result.ok() || result->tensors.size() != 1) {
    return {};
  }
  const TensorResult &tensor = result->tensors[0];
  int64_t count = 1;
  for (int64_t extent : tensor.shape) {
    count *= extent;
  }
  const auto *data = static_cast<const double *>(tensor.data);
  return std::vector<double>(data, data + count);
}

plan::Plan loadTwo(int m, int k, int n, int32_t splitA, int32_t splitB) {
  PlanBuilder builder;
  plan::Plan plan = builder.plan;
  for (const char *name : {"a", "b"}) {
    plan::Slot slot;
    slot.name = name;
    slot.kind = plan::SlotKind::kTensor;
    plan.slots.push_back(slot);
  }
  plan.buffers.push_back(buffer("a", {m, k}, splitA));
  plan.buffers.push_back(buffer("b", {k, n}, splitB));
  for (int32_t i : {0, 1}) {
    plan.tasks.push_back(task(plan::InputTask{i, i}, {}));
  }
  return plan;
}

Bindings bind(const Matrices &x, int m, int k, int n) {
  Bindings bindings;
  bindings.tensors["a"] = TensorView{x.a.data(), plan::Element::kF64, {m, k}, {}};
  bindings.tensors["b"] = TensorView{x.b.data(), plan::Element::kF64, {k, n}, {}};
  return bindings;
}

plan::Task resultOf(int32_t buffer, std::vector<int32_t> after) {
  return task(plan::TensorResultTask{buffer}, std::move(after));
}

TEST(Tensor, MatmulWithInnerDimensionSplitIsAllReduced) {
  constexpr int m = 150, k = 37, n = 11;
  Matrices x = makeMatrices(m, k, n);
  plan::Plan plan = loadTwo(m, k, n, 1, 0);
  plan.buffers.push_back(buffer("partial", {m, n}));
  plan.buffers.push_back(buffer("c", {m, n}));
  plan.tasks.push_back(compute(plan::ComputeKind::kMatmul, {0, 1}, 2, {0, 0, 0}));
  plan.tasks.push_back(collective(plan::CollectiveKind::kAllReduce, 2, 3));
  plan.tasks.push_back(resultOf(3, {3}));
  for (uint32_t ranks : {1u, 2u, 3u, 4u}) {
    EXPECT_EQ(runTensors(plan, bind(x, m, k, n), ranks), x.c);
  }
}

TEST(Tensor, MatmulWithRowsOrColumnsSplitIsGathered) {
  constexpr int m = 70, k = 20, n = 33;
  Matrices x = makeMatrices(m, k, n);
  for (int32_t split : {0, 1}) {
    plan::Plan plan = loadTwo(m, k, n, split == 0 ? 0 : plan::kNone, split == 1 ? 1 : plan::kNone);
    plan.buffers.push_back(buffer("part", {m, n}, split));
    plan.buffers.push_back(buffer("c", {m, n}));
    plan.tasks.push_back(compute(plan::ComputeKind::kMatmul, {0, 1}, 2, {0, 0, 0}));
    plan.tasks.push_back(collective(plan::CollectiveKind::kAllGather, 2, 3));
    plan.tasks.push_back(resultOf(3, {3}));
    for (uint32_t ranks : {1u, 2u, 3u, 4u}) {
      EXPECT_EQ(runTensors(plan, bind(x, m, k, n), ranks), x.c);
    }
  }
}

TEST(Tensor, ReduceScatterThenGather) {
  constexpr int m = 31, k = 16, n = 9;
  Matrices x = makeMatrices(m, k, n);
  for (int32_t split : {0, 1}) {
    plan::Plan plan = loadTwo(m, k, n, 1, 0);
    plan.buffers.push_back(buffer("partial", {m, n}));
    plan.buffers.push_back(buffer("part", {m, n}, split));
    plan.buffers.push_back(buffer("c", {m, n}));
    plan.tasks.push_back(compute(plan::ComputeKind::kMatmul, {0, 1}, 2, {0, 0, 0}));
    plan.tasks.push_back(collective(plan::CollectiveKind::kReduceScatter, 2, 3));
    plan.tasks.push_back(collective(plan::CollectiveKind::kAllGather, 3, 4));
    plan.tasks.push_back(resultOf(4, {4}));
    for (uint32_t ranks : {1u, 2u, 3u, 4u}) {
      EXPECT_EQ(runTensors(plan, bind(x, m, k, n), ranks), x.c);
    }
  }
}

TEST(Tensor, KernelsSeeBuffersAsColumns) {
  constexpr int m = 300, k = 500;
  Matrices x = makeMatrices(m, k, 1);
  plan::Plan plan = loadTwo(m, k, 1, plan::kNone, plan::kNone);
  plan.buffers.push_back(buffer("twice", {m, k}));
  plan.kernels.resize(1);
  plan.kernels[0].symbol = "twice";
  plan.tasks.push_back(compute(plan::ComputeKind::kKernel, {0}, 2, {0, 0}));
  plan.tasks.push_back(resultOf(2, {2}));
  std::vector<double> expected = x.a;
  for (double &value : expected) {
    value *= 2;
  }
  EXPECT_EQ(runTensors(plan, bind(x, m, k, 1), 1), expected);
}

TEST(Tensor, KernelWithoutRowLoopIsCalledOnce) {
  constexpr int m = 3, k = 5;
  Matrices x = makeMatrices(m, k, 1);
  plan::Plan plan = loadTwo(m, k, 1, plan::kNone, plan::kNone);
  plan.buffers.push_back(buffer("twice", {m, k}));
  plan.kernels.resize(1);
  plan.kernels[0].symbol = "twice";
  plan.tasks.push_back(compute(plan::ComputeKind::kKernel, {0}, 2, {}));
  plan.tasks.push_back(resultOf(2, {2}));
  std::vector<double> found = runTensors(plan, bind(x, m, k, 1), 1);
  ASSERT_EQ(found.size(), static_cast<size_t>(m * k));
  for (int i = 0; i < k; ++i) {
    EXPECT_EQ(found[i], 2 * x.a[i]); // the other rows nothing has written
  }
}

/// What only the run knows: whether shapes fit, and what is bound.
TEST(Tensor, TasksThatCannotRun) {
  constexpr int m = 7, k = 10;
  Matrices x = makeMatrices(m, k, 1);
  auto messageOf = [&](const plan::Task &broken, const plan::Buffer &output, Bindings bindings) {
    plan::Plan plan = loadTwo(m, k, 1, plan::kNone, plan::kNone);
    plan.buffers.push_back(output);
    plan.tasks.push_back(broken);
    plan.tasks.push_back(resultOf(2, {2}));
    auto program = Program::load(plan, testKernels());
    EXPECT_TRUE(program.ok()) << program.status().toString();
    Session session({.threads = 1});
    RunOptions options;
    options.ranks = 2;
    return (*program)->run(session, bindings, options).status().message();
  };
  EXPECT_EQ(messageOf(compute(plan::ComputeKind::kReshape, {0}, 2, {}), buffer("c", {m, k + 1}),
                      bind(x, m, k, 1)),
            "a reshape changes the number of elements: c");
  EXPECT_EQ(messageOf(collective(plan::CollectiveKind::kAllReduce, 0, 2), buffer("c", {m, k}), {}),
            "no input is bound to tensor: a");
}

TEST(Tensor, SplitMovesBetweenDimensions) {
  constexpr int m = 7, k = 10;
  Matrices x = makeMatrices(m, k, 1);
  for (int32_t split : {0, 1}) {
    plan::Plan plan = loadTwo(m, k, 1, split, plan::kNone);
    plan.buffers.push_back(buffer("moved", {m, k}, 1 - split));
    plan.buffers.push_back(buffer("whole", {m, k}));
    plan.tasks.push_back(collective(plan::CollectiveKind::kAllToAll, 0, 2));
    plan.tasks.push_back(collective(plan::CollectiveKind::kAllGather, 2, 3));
    plan.tasks.push_back(resultOf(3, {3}));
    for (uint32_t ranks : {1u, 2u, 3u, 4u}) {
      EXPECT_EQ(runTensors(plan, bind(x, m, k, 1), ranks), x.a);
    }
  }
}

TEST(Tensor, SlicesAreGatheredAgain) {
  constexpr int m = 7, k = 10;
  Matrices x = makeMatrices(m, k, 1);
  for (int32_t split : {0, 1}) {
    plan::Plan plan = loadTwo(m, k, 1, plan::kNone, plan::kNone);
    plan.buffers.push_back(buffer("part", {m, k}, split));
    plan.buffers.push_back(buffer("whole", {m, k}));
    plan.tasks.push_back(compute(plan::ComputeKind::kSlice, {0}, 2, {0, 0, m, k, 1, 1}));
    plan.tasks.push_back(collective(plan::CollectiveKind::kAllGather, 2, 3));
    plan.tasks.push_back(resultOf(3, {3}));
    for (uint32_t ranks : {1u, 2u, 3u, 4u}) {
      EXPECT_EQ(runTensors(plan, bind(x, m, k, 1), ranks), x.a);
    }
  }
}

/// Elements of a row-major matrix, rows and columns by first, count and step.
std::vector<double> elementsOf(const std::vector<double> &matrix, int64_t columns,
                               StridedRange rows, StridedRange inRow) {
  std::vector<double> found;
  for (int64_t i = 0; i < rows.size; ++i) {
    for (int64_t j = 0; j < inRow.size; ++j) {
      found.push_back(
          matrix[(rows.offset + i * rows.stride) * columns + inRow.offset + j * inRow.stride]);
    }
  }
  return found;
}

/// Parts of the result where the input is whole, and of both where all is taken.
TEST(Tensor, SlicesTakeWhatTheirNumbersSay) {
  constexpr int m = 7, k = 10;
  Matrices x = makeMatrices(m, k, 1);
  const StridedRange all{0, m, 1};
  for (StridedRange columns :
       {StridedRange{0, 10, 1}, StridedRange{3, 4, 1}, StridedRange{1, 3, 3},
        StridedRange{9, 5, -2}, StridedRange{4, 5, 0}, StridedRange{2, 0, 1}}) {
    for (StridedRange rows : {all, StridedRange{6, 7, -1}, StridedRange{1, 3, 2}}) {
      for (int32_t split : {plan::kNone, 0, 1}) {
        bool alike = split == 0 && rows.stride == 1 && rows.size == m;
        plan::Plan plan = loadTwo(m, k, 1, alike ? 0 : plan::kNone, plan::kNone);
        plan.buffers.push_back(buffer("some", {rows.size, columns.size}, split));
        plan.tasks.push_back(compute(
            plan::ComputeKind::kSlice, {0}, 2,
            {rows.offset, columns.offset, rows.size, columns.size, rows.stride, columns.stride}));
        if (split != plan::kNone) {
          plan.buffers.push_back(buffer("whole", {rows.size, columns.size}));
          plan.tasks.push_back(collective(plan::CollectiveKind::kAllGather, 2, 3));
        }
        auto last = static_cast<int32_t>(plan.buffers.size()) - 1;
        plan.tasks.push_back(resultOf(last, {last}));
        for (uint32_t ranks : {1u, 2u, 3u}) {
          EXPECT_EQ(runTensors(plan, bind(x, m, k, 1), ranks), elementsOf(x.a, k, rows, columns));
        }
      }
    }
  }
}

/// A row and a column, of which the result has no second dimension; and an element.
TEST(Tensor, SlicesDropDimensionsOfOneElement) {
  constexpr int m = 7, k = 10;
  Matrices x = makeMatrices(m, k, 1);
  auto taken = [&](std::vector<int64_t> shape, std::vector<int64_t> numbers) {
    plan::Plan plan = loadTwo(m, k, 1, plan::kNone, plan::kNone);
    plan.buffers.push_back(buffer("some", std::move(shape)));
    plan.tasks.push_back(compute(plan::ComputeKind::kSlice, {0}, 2, std::move(numbers)));
    plan.tasks.push_back(resultOf(2, {2}));
    return runTensors(plan, bind(x, m, k, 1), 2);
  };
  EXPECT_EQ(taken({k}, {4, 0, 1, k, 1, 1}), elementsOf(x.a, k, {4, 1, 1}, {0, k, 1}));
  EXPECT_EQ(taken({m}, {0, 9, m, 1, 1, 1}), elementsOf(x.a, k, {0, m, 1}, {9, 1, 1}));
  EXPECT_EQ(taken({}, {6, 2, 1, 1, 1, 1}), elementsOf(x.a, k, {6, 1, 1}, {2, 1, 1}));
}

/// Long and short runs, more than a morsel of both.
TEST(Tensor, ConcatenationsOfManyMorsels) {
  constexpr int m = 300, k = 500;
  Matrices x = makeMatrices(m, k, 1);
  for (int32_t dimension : {0, 1}) {
    for (int32_t split : {plan::kNone, 1 - dimension}) {
      plan::Plan plan = loadTwo(m, k, 1, split, plan::kNone);
      std::vector<int64_t> shape{m, k};
      shape[dimension] *= 2;
      plan.buffers.push_back(buffer("both", shape, split));
      plan.tasks.push_back(compute(plan::ComputeKind::kConcat, {0, 0}, 2, {dimension}));
      if (split != plan::kNone) {
        plan.buffers.push_back(buffer("whole", shape));
        plan.tasks.push_back(collective(plan::CollectiveKind::kAllGather, 2, 3));
      }
      auto last = static_cast<int32_t>(plan.buffers.size()) - 1;
      plan.tasks.push_back(resultOf(last, {last}));
      std::vector<double> expected;
      for (int i = 0; i < shape[0]; ++i) {
        for (int j = 0; j < shape[1]; ++j) {
          expected.push_back(x.a[i % m * k + j % k]);
        }
      }
      for (uint32_t ranks : {1u, 3u}) {
        EXPECT_EQ(runTensors(plan, bind(x, m, k, 1), ranks), expected);
      }
    }
  }
}

TEST(Tensor, BatchesOfStoredTransposes) {
  constexpr int batch = 5, m = 70, k = 3, n = 4;
  std::vector<double> a(batch * k * m), b(batch * n * k), expected(batch * m * n);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<double>(i % 7) - 3;
  }
  for (size_t i = 0; i < b.size(); ++i) {
    b[i] = static_cast<double>(i % 5) - 2;
  }
  for (int s = 0; s < batch; ++s) {
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        for (int l = 0; l < k; ++l) {
          expected[(s * m + i) * n + j] += a[(s * k + l) * m + i] * b[(s * n + j) * k + l];
        }
      }
    }
  }
  plan::Plan plan = loadTwo(m, k, n, plan::kNone, plan::kNone);
  plan.buffers[0].shape = {batch, k, m};
  plan.buffers[1].shape = {batch, n, k};
  plan.buffers.push_back(buffer("c", {batch, m, n}));
  plan.tasks.push_back(compute(plan::ComputeKind::kMatmul, {0, 1}, 2, {1, 1, 1}));
  plan.tasks.push_back(resultOf(2, {2}));
  Bindings bindings;
  bindings.tensors["a"] = TensorView{a.data(), plan::Element::kF64, {batch, k, m}, {}};
  bindings.tensors["b"] = TensorView{b.data(), plan::Element::kF64, {batch, n, k}, {}};
  EXPECT_EQ(runTensors(plan, bindings, 1), expected);
}

TEST(Tensor, ResultsHaveTheOrderOfThePlanAndMayRepeat) {
  constexpr int m = 300, k = 200, n = 100;
  Matrices x = makeMatrices(m, k, n);
  plan::Plan plan = loadTwo(m, k, n, plan::kNone, plan::kNone);
  plan.buffers.push_back(buffer("c", {m, n}));
  plan.tasks.push_back(compute(plan::ComputeKind::kMatmul, {0, 1}, 2, {0, 0, 0}));
  for (int32_t buffer : {2, 0, 2}) { // the last to be ready comes first
    plan.tasks.push_back(resultOf(buffer, {buffer == 2 ? 2 : 0}));
  }
  auto program = Program::load(plan, testKernels());
  ASSERT_TRUE(program.ok()) << program.status().toString();
  Session session({.threads = 2});
  auto result = (*program)->run(session, bind(x, m, k, n), {});
  ASSERT_TRUE(result.ok()) << result.status().toString();
  ASSERT_EQ(result->tensors.size(), 3u);
  EXPECT_EQ(result->tensors[0].shape, (std::vector<int64_t>{m, n}));
  EXPECT_EQ(result->tensors[1].shape, (std::vector<int64_t>{m, k}));
  EXPECT_EQ(result->tensors[2].data, result->tensors[0].data);
}

/// Parts that stay on the ranks: of a plan, for another that reads them in place.
TEST(Tensor, PartsStayOnTheRanks) {
  constexpr int m = 7, k = 5;
  Matrices x = makeMatrices(m, k, 1);
  plan::Plan keeping = loadTwo(m, k, 1, 0, plan::kNone);
  keeping.tasks.push_back(resultOf(0, {0}));
  keeping.resident = true;
  plan::Plan reading = loadTwo(m, k, 1, 0, plan::kNone);
  reading.slots[0].resident = true;
  reading.slots[0].shape = {m, k};
  reading.slots[0].element = plan::Element::kF64;
  plan::Plan passing = reading;
  passing.tasks.push_back(resultOf(0, {0}));
  passing.resident = true;
  reading.buffers.push_back(buffer("whole", {m, k}));
  reading.tasks.push_back(collective(plan::CollectiveKind::kAllGather, 0, 2));
  reading.tasks.push_back(resultOf(2, {2}));

  Session session({.threads = 2, .retainedBytes = 0});
  RunOptions options;
  options.ranks = 3;
  auto run = [&](const plan::Plan &plan, const Bindings &bindings) {
    auto program = Program::load(plan, testKernels());
    EXPECT_TRUE(program.ok()) << program.status().toString();
    return (*program)->run(session, bindings, options);
  };
  Bindings bindings = bind(x, m, k, 1);
  const int64_t before = session.hostTier()->usedBytes();
  {
    auto kept = run(keeping, bindings);
    ASSERT_TRUE(kept.ok()) << kept.status().toString();
    EXPECT_EQ(kept->tensors.front().shape, (std::vector<int64_t>{m, k}));
    EXPECT_EQ(kept->tensors.front().data, nullptr);
    std::vector<int64_t> rows;
    for (const TensorPart &part : kept->tensors.front().parts) {
      rows.push_back(part.shape.front());
    }
    EXPECT_EQ(rows, (std::vector<int64_t>{2, 2, 3}));
    EXPECT_GE(session.hostTier()->usedBytes(), before + 8 * m * k); // counted while it is kept

    EXPECT_EQ(run(reading, bindings).status().message(),
              "no part of this rank is bound to tensor: a");
    bindings.parts["a"] = kept->tensors.front().parts;
    auto read = run(reading, bindings);
    ASSERT_TRUE(read.ok()) << read.status().toString();
    const auto *data = static_cast<const double *>(read->tensors.front().data);
    EXPECT_EQ(std::vector<double>(data, data + m * k), x.a);
    auto passed = run(passing, bindings);
    ASSERT_TRUE(passed.ok()) << passed.status().toString();
    for (size_t rank = 0; rank < 3; ++rank) { // no copy
      EXPECT_EQ(passed->tensors.front().parts[rank].memory, bindings.parts["a"][rank].memory);
    }
    std::swap(bindings.parts["a"][0], bindings.parts["a"][2]);
    EXPECT_EQ(run(reading, bindings).status().message(),
              "the rank's part of 'a' has another shape or element than the program was compiled "
              "for, got f64");
    bindings.parts.clear();
  }
  EXPECT_EQ(session.hostTier()->usedBytes(), before);
}

TEST(Tensor, StridedInputsAreRead) {
  constexpr int m = 4, k = 6;
  Matrices x = makeMatrices(m, k, 1);
  // The transpose of a row-major k x m block.
  std::vector<double> transposed(m * k);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < k; ++j) {
      transposed[j * m + i] = x.a[i * k + j];
    }
  }
  plan::Plan plan = loadTwo(m, k, 1, plan::kNone, plan::kNone);
  plan.tasks.push_back(resultOf(0, {0}));
  Bindings bindings = bind(x, m, k, 1);
  bindings.tensors["a"] = TensorView{transposed.data(), plan::Element::kF64, {m, k}, {8, 8 * m}};
  EXPECT_EQ(runTensors(plan, bindings, 1), x.a);
}

TEST(Tensor, PartsOfTwoAxesAreBlocks) {
  auto memory = std::make_shared<RankMemory>(
      std::make_shared<BlockPool>(BlockPool::Options{64 << 20, 64 << 20, "--memory"}),
      Budget::Options{Tier::kHost, 64 << 20, "--memory"});
  std::vector<double> whole(4 * 6);
  std::iota(whole.begin(), whole.end(), 0);
  plan::Buffer split = buffer("a", {4, 6});
  split.splits = {{0, {1}}, {1, {0}}}; // rows over the second axis, columns over the first
  std::vector<std::vector<double>> firsts;
  for (uint32_t rank = 0; rank < 4; ++rank) {
    auto part = TensorBuffer::create(split, plan::MeshPosition{{2, 2}, rank}, memory);
    ASSERT_TRUE(part.ok()) << part.status().toString();
    EXPECT_EQ((*part)->localShape(), (std::vector<int64_t>{2, 3}));
    ASSERT_TRUE((*part)->copyFrom(TensorView{whole.data(), plan::Element::kF64, {4, 6}, {}}).ok());
    const auto *data = reinterpret_cast<const double *>((*part)->data());
    firsts.push_back({data[0], data[5]});
  }
  EXPECT_EQ(firsts, (std::vector<std::vector<double>>{{0, 8}, {12, 20}, {3, 11}, {15, 23}}));
}

/// Ranks of 2 nodes of 4, between which links are slow: what an all_reduce takes, in virtual
/// seconds, at once or in levels.
double allReduceSeconds(bool inLevels, std::vector<double> &answer) {
  constexpr int64_t m = 256, n = 64;
  plan::Plan plan;
  plan.mesh = {{"node", 2}, {"device", 4}};
  plan.slots.resize(1);
  plan.slots[0].name = "a";
  plan.slots[0].kind = plan::SlotKind::kTensor;
  plan.buffers = {buffer("a", {m, n}), buffer("sum", {m, n})};
  plan.tasks = {task(plan::InputTask{0, 0}, {})};
  auto reduce = [&](plan::CollectiveKind kind, std::vector<int32_t> axes, int32_t from,
                    int32_t to) {
    plan.tasks.push_back(task(plan::CollectiveTask{kind, plan::Reduction::kSum, axes, from, to},
                              {static_cast<int32_t>(plan.tasks.size()) - 1}));
  };
  if (inLevels) {
    plan.buffers.push_back(buffer("part", {m, n}));
    plan.buffers.push_back(buffer("part of the sum", {m, n}));
    plan.buffers[2].splits = plan.buffers[3].splits = {{0, {1}}};
    reduce(plan::CollectiveKind::kReduceScatter, {1}, 0, 2);
    reduce(plan::CollectiveKind::kAllReduce, {0}, 2, 3);
    reduce(plan::CollectiveKind::kAllGather, {1}, 3, 1);
  } else {
    reduce(plan::CollectiveKind::kAllReduce, {0, 1}, 0, 1);
  }
  plan.tasks.push_back(resultOf(1, {static_cast<int32_t>(plan.tasks.size()) - 1}));
  std::vector<double> a(m * n);
  std::iota(a.begin(), a.end(), 0);
  Bindings bindings;
  bindings.tensors["a"] = TensorView{a.data(), plan::Element::kF64, {m, n}, {}};
  auto program = Program::load(plan, testKernels());
  EXPECT_TRUE(program.ok()) << program.status().toString();
  Session session({.threads = 0});
  RunOptions options;
  options.ranks = 8;
  options.simulation = SimOptions{.seed = 1,
                                  .latencyNanosecondsMin = 1'000,
                                  .latencyNanosecondsMax = 2'000,
                                  .bytesPerSecond = 100e9,
                                  .nodeRanks = 4,
                                  .nodeBytesPerSecond = 1e9};
  auto result = (*program)->run(session, bindings, options);
  EXPECT_TRUE(result.ok()) << result.status().toString();
  const auto *data = static_cast<const double *>(result->tensors[0].data);
  answer.assign(data, data + m * n);
  return result->profile.wallSeconds;
}

TEST(Tensor, AllReduceInLevelsSendsLessBetweenNodes) {
  std::vector<double> atOnce, inLevels;
  double flat = allReduceSeconds(false, atOnce);
  double levels = allReduceSeconds(true, inLevels);
  EXPECT_EQ(inLevels, atOnce);
  EXPECT_EQ(atOnce[5], 40);
  EXPECT_LT(levels, 0.7 * flat) << levels << " " << flat;
}

TEST(Tensor, ColumnsBecomeTensorsUnlessTheyAreNoNumbers) {
  auto run = [](int32_t column) {
    PlanBuilder b;
    int32_t described = b.stream(plan::Schema{{{"key", HR_I64, {LogicalKind::kI64}, false},
                                               {"text", HR_STRING, {LogicalKind::kString}, true},
                                               {"odd", HR_BOOL, {LogicalKind::kBool}, false}}});
    b.run("describe", b.load("t"), {}, described);
    plan::Buffer rows = buffer("rows", {plan::kUnknownExtent});
    rows.sizedBy = 0;
    rows.splits = {{.dimension = 0, .axes = {0}, .ragged = true}};
    b.plan.buffers.push_back(rows);
    b.plan.buffers.push_back(rows);
    b.plan.buffers.back().splits.clear();
    const auto made = static_cast<int32_t>(b.plan.tasks.size());
    b.plan.tasks.push_back(task(plan::ToTensorTask{described, {column}, {0}}, {}));
    b.plan.tasks.push_back(task(
        plan::CollectiveTask{plan::CollectiveKind::kAllGather, plan::Reduction::kSum, {0}, 0, 1},
        {made}));
    b.plan.tasks.push_back(resultOf(1, {made + 1}));
    return runPlan(b, {{{"t", {{4, 5, 7}, {0, 0, 0}}}}, 100});
  };
  auto numbers = run(0);
  ASSERT_TRUE(numbers.ok()) << numbers.status().toString();
  ASSERT_EQ(numbers->tensors.size(), 1u);
  const auto *elements = static_cast<const double *>(numbers->tensors[0].data);
  EXPECT_EQ(std::vector<double>(elements, elements + 3), std::vector<double>({4, 5, 7}));
  EXPECT_EQ(run(2).status().message(), "column cannot become a tensor: odd");
  EXPECT_EQ(run(1).status().message(), "column cannot become a tensor: text");
}

TEST(Tensor, BuffersThatCannotBeMade) {
  auto memory = std::make_shared<RankMemory>(
      std::make_shared<BlockPool>(BlockPool::Options{1 << 20, 1 << 20, "--memory"}),
      Budget::Options{Tier::kHost, 1 << 20, "--memory"});
  auto messageOf = [&](std::vector<int64_t> shape) {
    plan::Buffer made = buffer("c", {});
    made.shape = std::move(shape);
    return TensorBuffer::create(made, {{1}, 0}, memory).status().message();
  };
  EXPECT_EQ(messageOf({plan::kUnknownExtent, 2}), "rows are not counted yet that size tensor: c");
  EXPECT_EQ(messageOf({int64_t{1} << 40, 1 << 20}), "tensor is too large: c");
  EXPECT_EQ(messageOf({1 << 30, 1 << 30, 1 << 30}), "tensor is too large: c");
}

TEST(Tensor, MismatchedInputIsAUserError) {
  plan::Plan plan = loadTwo(4, 6, 1, plan::kNone, plan::kNone);
  plan.tasks.push_back(resultOf(0, {0}));
  Matrices x = makeMatrices(4, 6, 1);
  auto program = Program::load(plan, testKernels());
  ASSERT_TRUE(program.ok());
  Session session({.threads = 1});
  auto result = (*program)->run(session, bind(x, 6, 4, 1), {});
  EXPECT_EQ(result.status().kind(), ErrorKind::kUser);
}

} // namespace
} // namespace headrace::exec
