// Rows that wait for a repeat, and what of them has no room.
#include "model/plan/waiting_rows.h"

#include <gtest/gtest.h>

using namespace headrace;
using namespace headrace::plan;

TEST(WaitingRows, AreThoseOfStreamsInPartsAgainstTheMemory) {
  Plan plan;
  Stream parted;
  parted.parts = 16;
  parted.rows = {0, 1000, 2000, 4000};
  parted.textBytes = 20;
  parted.schema.columns = {{"k", HR_I64, {LogicalKind::kI64}, false},
                           {"t", HR_STRING, {LogicalKind::kString}, false}};
  Stream plain = parted;
  plain.parts = 0;
  plan.streams = {parted, plain};
  for (int32_t input : {0, 1}) {
    Task task;
    task.work = RunTask{.inputStream = input};
    plan.tasks.push_back(task);
  }
  Task writer;
  writer.work = RunTask{.outputStream = 0};
  plan.tasks.push_back(writer);
  const RepeatTask repeat{.tasks = {0, 1}, .roomBytes = 1000};
  EXPECT_EQ(waitingRows(plan, repeat).bytes, 1000 * (8 + 4 + 20));
  EXPECT_EQ(waitingRows(plan, repeat).onDiskBytes, 0); // of a memory that is not known
  plan.explanation.memoryBytesMax = 20'000;
  EXPECT_EQ(waitingRows(plan, repeat).onDiskBytes, 32'000 - 15'000);
  plan.explanation.memoryBytesMax = 100'000;
  EXPECT_EQ(waitingRows(plan, repeat).onDiskBytes, 0);
  // A group of 1,000 rows waits for the 6,000 that it is made of, a half on each rank.
  plan.explanation.ranks = 2;
  plan.explanation.operators.resize(2);
  plan.explanation.operators[0].rows = 6000;
  plan.explanation.operators[1].rows = 1000;
  plan.tasks[2].steps = {{0, kStepSource}, {1, 0}, {1, kStepSink}};
  EXPECT_EQ(waitingRows(plan, repeat).bytes, 3000 * (8 + 4 + 20));
}

TEST(WaitingRows, AreThoseThatAreKeptForSeveralReaders) {
  Plan plan;
  State state;
  state.kind = StateKind::kRowBuffer;
  state.rowBytes = 24;
  state.rows = {0, 1000, 2000, 4000};
  plan.states = {state};
  Task filler;
  filler.work = RunTask{.states = {{0, StateUse::kPerWorker}}};
  filler.steps = {{0, kStepSource}, {0, kStepSink}};
  plan.tasks = {filler};
  EXPECT_EQ(keptRows(plan, 0).bytes, 24'000);
  EXPECT_EQ(keptRows(plan, 0).onDiskBytes, 0);
  plan.explanation.memoryBytesMax = 20'000;
  EXPECT_EQ(keptRows(plan, 0).onDiskBytes, 24'000 - 15'000);
  // With texts, of which a state does not say how long they are: as much as the operator gives.
  plan.explanation.ranks = 2;
  plan.explanation.operators.resize(1);
  plan.explanation.operators[0].bytes = 100'000;
  EXPECT_EQ(keptRows(plan, 0).bytes, 24'000);
  plan.states[0].fields.resize(1);
  plan.states[0].fields[0].type = HR_STRING;
  EXPECT_EQ(keptRows(plan, 0).bytes, 50'000);
  plan.explanation.operators[0].replicated = true;
  EXPECT_EQ(keptRows(plan, 0).bytes, 100'000);
}
