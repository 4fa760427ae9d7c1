// Slices, concatenations and gathers: the output is what the parameters say of the inputs, on every rank.
#include "test/unit/model/plan/changed_plan.h"

#include <gtest/gtest.h>

namespace headrace::plan {
namespace {

struct Operand {
  std::vector<int64_t> shape;
  int32_t split = kNone;
  bool ragged = false;
  Element element = Element::kF32;
};

void describe(Plan &plan, int32_t buffer, const Operand &operand) {
  Buffer &made = plan.buffers[buffer];
  made.element = operand.element;
  for (Split &split : made.splits) {
    split.ragged = operand.ragged;
  }
}

std::string box(ComputeKind kind, const std::vector<Operand> &inputs, const Operand &output,
                std::vector<int64_t> parameters) {
  return checkedTensors([&](Plan &plan) {
    ComputeTask task{kind, kNone, {}, {}, std::move(parameters)};
    for (const Operand &input : inputs) {
      task.inputs.push_back(addInput(plan, input.shape, input.split));
      describe(plan, task.inputs.back(), input);
    }
    task.outputs = {addTensor(plan, output.shape, output.split)};
    describe(plan, task.outputs.front(), output);
    addTask(plan, task, task.inputs);
  });
}

std::string slice(const Operand &input, const Operand &output, std::vector<int64_t> numbers) {
  return box(ComputeKind::kSlice, {input}, output, std::move(numbers));
}

std::string concat(const std::vector<Operand> &inputs, const Operand &output, int64_t dimension) {
  return box(ComputeKind::kConcat, inputs, output, {dimension});
}

std::string gather(const Operand &source, Operand places, const Operand &output) {
  places.element = places.element == Element::kF32 ? Element::kI64 : places.element;
  return box(ComputeKind::kGather, {source, places}, output, {});
}

std::string needs(const char *what, size_t task) {
  return "rule operands: task " + std::to_string(task) + " (compute): needs " + what;
}

const std::string kNoSlice =
    needs("an output that is what its offsets, sizes and strides take of the input", 1);
const std::string kNoConcat =
    needs("an output that is its inputs, one after another along its dimension", 2);

TEST(PlanCheckBoxes, Slices) {
  EXPECT_EQ(slice({{4, 9}}, {{4, 3}}, {0, 2, 4, 3, 1, 3}), "ok");
  EXPECT_EQ(slice({{4, 9}}, {{4, 3}}, {3, 8, 4, 3, -1, -4}), "ok");
  EXPECT_EQ(slice({{4, 9}}, {{9}}, {3, 0, 1, 9, 1, 1}), "ok");
  EXPECT_EQ(slice({{4, 9}}, {{4, 0}}, {0, 9, 4, 0, 1, 1}), "ok");
  EXPECT_EQ(slice({{4, 1}}, {{4, 1}}, {0, 0, 4, 1, 1, 1}), "ok");
  EXPECT_EQ(slice({{4, 9}}, {{4, 3}}, {0, 2, 4, 3, 1}), kNoSlice);
  EXPECT_EQ(slice({{4, 9}}, {{4, 2}}, {0, 2, 4, 3, 1, 1}), kNoSlice);
  EXPECT_EQ(slice({{4, 9}}, {{4, 3, 1}}, {0, 2, 4, 3, 1, 1}), kNoSlice);
  EXPECT_EQ(slice({{4, 9}}, {{3}}, {0, 2, 4, 3, 1, 1}), kNoSlice);
  EXPECT_EQ(slice({{4, 9}}, {{4, 3}, kNone, false, Element::kF64}, {0, 2, 4, 3, 1, 1}), kNoSlice);
}

TEST(PlanCheckBoxes, SlicesStayWithinTheirInput) {
  constexpr int64_t kFar = INT64_MAX;
  for (std::vector<int64_t> bad : {std::vector<int64_t>{7, 3, 1},
                                   {-1, 3, 1},
                                   {1, 3, 4},
                                   {1, 3, -1},
                                   {9, 3, 0},
                                   {0, 3, kFar},
                                   {kFar, 3, 1},
                                   {2, 3, INT64_MIN}}) {
    EXPECT_EQ(slice({{4, 9}}, {{4, 3}}, {0, bad[0], 4, bad[1], 1, bad[2]}), kNoSlice) << bad[0];
  }
  EXPECT_EQ(slice({{9}}, {{0}}, {10, 0, 1}), kNoSlice);
}

TEST(PlanCheckBoxes, SlicesOfDividedDimensionsTakeThemWhole) {
  EXPECT_EQ(slice({{4, 9}, 0}, {{4, 3}, 0}, {0, 2, 4, 3, 1, 1}), "ok");
  EXPECT_EQ(slice({{1, 4, 9}, 1}, {{4, 3}, 0}, {0, 0, 2, 1, 4, 3, 1, 1, 1}), "ok");
  // Every rank has what its part is taken of.
  EXPECT_EQ(slice({{4, 9}}, {{4, 9}, 0}, {0, 0, 4, 9, 1, 1}), "ok");
  EXPECT_EQ(slice({{4, 9}}, {{4, 3}, 1}, {0, 2, 4, 3, 1, 2}), "ok");
  EXPECT_EQ(slice({{4, 9}, 1}, {{4, 3}}, {0, 2, 4, 3, 1, 1}), kNoSlice);
  EXPECT_EQ(slice({{4, 9}, 1}, {{4, 3}, 1}, {0, 2, 4, 3, 1, 1}), kNoSlice);
  EXPECT_EQ(slice({{4, 9}, 0}, {{4, 3}}, {0, 2, 4, 3, 1, 1}), kNoSlice);
  EXPECT_EQ(slice({{4, 9}, 0}, {{4, 9}, 1}, {0, 0, 4, 9, 1, 1}), kNoSlice);
  EXPECT_EQ(slice({{4, 9}, 0}, {{4, 9}, 0}, {3, 0, 4, 9, -1, 1}), kNoSlice);
  EXPECT_EQ(slice({{1, 9}, 0}, {{9}}, {0, 0, 1, 9, 1, 1}), kNoSlice);
}

TEST(PlanCheckBoxes, Concatenations) {
  EXPECT_EQ(concat({{{4, 9}}, {{2, 9}}}, {{6, 9}}, 0), "ok");
  EXPECT_EQ(concat({{{4, 9}, 0}, {{4, 2}, 0}}, {{4, 11}, 0}, 1), "ok");
  EXPECT_EQ(concat({{{4, 9}}, {{0, 9}}}, {{4, 9}}, 0), "ok");
  EXPECT_EQ(concat({{{4, 9}}, {{2, 9}}}, {{7, 9}}, 0), kNoConcat);
  EXPECT_EQ(concat({{{4, 9}}, {{2, 9}}}, {{6, 9}}, 1), kNoConcat);
  EXPECT_EQ(concat({{{4, 9}}, {{2, 9}}}, {{6, 9}}, 2), kNoConcat);
  EXPECT_EQ(concat({{{4, 9}}, {{2, 9}}}, {{6, 9}}, -1), kNoConcat);
  EXPECT_EQ(concat({{{4, 9}}, {{2, 8}}}, {{6, 9}}, 0), kNoConcat);
  EXPECT_EQ(concat({{{4}}, {{2, 9}}}, {{6, 9}}, 0), kNoConcat);
  EXPECT_EQ(concat({{{4, 9}}, {{2, 9}, kNone, false, Element::kI64}}, {{6, 9}}, 0), kNoConcat);
  EXPECT_EQ(concat({{{4, 9}, 0}, {{2, 9}, 0}}, {{6, 9}, 0}, 0), kNoConcat);
  EXPECT_EQ(concat({{{4, 9}, 1}, {{2, 9}}}, {{6, 9}, 1}, 0), kNoConcat);
  EXPECT_EQ(concat({{{4, 9}}, {{2, 9}}}, {{6, 9}, 1}, 0), kNoConcat);
  EXPECT_EQ(box(ComputeKind::kConcat, {{{4, 9}}, {{2, 9}}}, {{6, 9}}, {0, 0}), kNoConcat);
  EXPECT_EQ(box(ComputeKind::kConcat, {}, {{6, 9}}, {0}),
            needs("an output that is its inputs, one after another along its dimension", 0));
}

TEST(PlanCheckBoxes, Gathers) {
  const std::string wrong =
      needs("an output that has for each of its places what its source has there", 2);
  EXPECT_EQ(gather({{4, 9}}, {{7, 1}}, {{7, 9}}), "ok");
  EXPECT_EQ(gather({{4, 9}}, {{1}}, {{9}}), "ok");
  EXPECT_EQ(gather({{4}}, {{2, 3, 1}}, {{2, 3}}), "ok");
  EXPECT_EQ(gather({{4, 9}, 1}, {{2, 3, 1}}, {{2, 3, 9}, 2}), "ok");
  EXPECT_EQ(gather({{4, 9}}, {{2, 3, 1}, 1}, {{2, 3, 9}, 1}), "ok");
  EXPECT_EQ(gather({{4, 9}, 0}, {{7, 1}}, {{7, 9}}), wrong);
  EXPECT_EQ(gather({{4, 9}, 1}, {{7, 1}}, {{7, 9}}), wrong);
  EXPECT_EQ(gather({{4, 9}}, {{7, 1}, 0}, {{7, 9}}), wrong);
  EXPECT_EQ(gather({{4, 9}}, {{7, 1}, 1}, {{7, 9}}), wrong);
  EXPECT_EQ(gather({{4, 9}}, {{7, 1}}, {{7, 9}, 0}), wrong);
  EXPECT_EQ(gather({{4, 9}}, {{7}}, {{7, 9}}), wrong);
  EXPECT_EQ(gather({{4, 9}}, {{7, 1}}, {{7, 1, 9}}), wrong);
  EXPECT_EQ(gather({{4, 9}}, {{7, 1}}, {{7, 4}}), wrong);
  EXPECT_EQ(gather({{4, 9}}, {{7, 1}, kNone, false, Element::kF64}, {{7, 9}}), wrong);
  EXPECT_EQ(gather({{4, 9}}, {{7, 1}}, {{7, 9}, kNone, false, Element::kF64}), wrong);
  EXPECT_EQ(gather({{}}, {{7, 1}}, {{7}}), wrong);
  EXPECT_EQ(gather({{4, 9}}, {{}}, {{9}}), wrong);
}

/// Rows that a stream becomes: all of them are taken, into a buffer with as many, or even parts of
/// what every rank has.
TEST(PlanCheckBoxes, RowsAreTakenWhole) {
  auto rows = [](std::vector<int64_t> numbers, std::vector<Split> before, std::vector<Split> after,
                 bool same = true) {
    return checked([&](Plan &plan) {
      int32_t from = addTensor(plan, {kUnknownExtent, 1}), to = addTensor(plan, {kUnknownExtent});
      plan.buffers[from].sizedBy = from;
      plan.buffers[from].splits = before;
      plan.buffers[to].sizedBy = same ? from : to;
      plan.buffers[to].splits = after;
      plan.tasks[7].work = ToTensorTask{4, {0}, {from}};
      addTask(plan, ComputeTask{ComputeKind::kSlice, kNone, {from}, {to}, std::move(numbers)}, {7});
    });
  };
  const std::string wrong =
      needs("an output that is what its offsets, sizes and strides take of the input", 8);
  const std::vector<Split> whole, even = {{0, {0}}}, ragged = {{0, {0}, true}};
  const std::vector<int64_t> all = {0, 0, -1, 1, 1, 1};
  EXPECT_EQ(rows(all, ragged, ragged), "ok");
  EXPECT_EQ(rows(all, whole, whole), "ok");
  EXPECT_EQ(rows(all, whole, even), "ok");
  EXPECT_EQ(rows(all, whole, ragged), wrong);
  EXPECT_EQ(rows(all, ragged, even), wrong);
  EXPECT_EQ(rows(all, ragged, whole), wrong);
  EXPECT_EQ(rows(all, ragged, ragged, false), wrong);
  EXPECT_EQ(rows({1, 0, -1, 1, 1, 1}, ragged, ragged), wrong);
  EXPECT_EQ(rows({0, 0, 5, 1, 1, 1}, ragged, ragged), wrong);
  EXPECT_EQ(rows({0, 0, -1, 1, -1, 1}, ragged, ragged), wrong);
}

} // namespace
} // namespace headrace::plan
