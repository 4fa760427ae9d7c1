// Builds tasks and streams, and runs a plan in a session of its own.
#include "test/unit/exec/test_plans.h"

#include "model/plan/names.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace headrace::exec {

PlanBuilder::PlanBuilder() {
  plan.importsHash = plan::importsHashText();
  plan.mesh = {{"ranks", 1}}; // one axis runs on any number of ranks
  plan.places = {{"t", "scan"}, {"a / b", "project"}};
}

int32_t PlanBuilder::kernel(const std::string &symbol) {
  plan::Kernel kernel;
  kernel.symbol = symbol;
  kernel.scratchBytes = 64;
  kernel.places = {0, 1};
  plan.kernels.push_back(kernel);
  return static_cast<int32_t>(plan.kernels.size() - 1);
}

plan::Schema integers(size_t columns) {
  plan::Schema schema;
  for (size_t c = 0; c < columns; ++c) {
    schema.columns.push_back({"c" + std::to_string(c), HR_I64, {LogicalKind::kI64}, false});
  }
  return schema;
}

int32_t PlanBuilder::stream(size_t columns) { return stream(integers(columns)); }

int32_t PlanBuilder::stream(plan::Schema schema) {
  auto index = static_cast<int32_t>(plan.streams.size());
  plan.streams.push_back({"stream", std::move(schema), capacityChunks, chunkRows});
  return index;
}

plan::Task &PlanBuilder::task(const std::string &name, plan::TaskWork work) {
  plan.tasks.emplace_back();
  plan.tasks.back().name = name;
  plan.tasks.back().work = std::move(work);
  return plan.tasks.back();
}

int32_t PlanBuilder::load(const std::string &table, size_t columns) {
  plan::Slot slot;
  slot.name = table;
  slot.kind = plan::SlotKind::kTable;
  for (size_t c = 0; c < columns; ++c) {
    slot.columns.push_back(
        {"c" + std::to_string(c), {LogicalKind::kI64}, HR_I64, false, false, 0, 0});
  }
  plan.slots.push_back(slot);
  int32_t out = stream(columns);
  task("load " + table, plan::LoadTask{static_cast<int32_t>(plan.slots.size() - 1), {0}, out});
  return out;
}

int32_t PlanBuilder::state(plan::StateKind kind, uint32_t rowBytes, const std::string &merge) {
  plan::State state;
  state.name = "state";
  state.kind = kind;
  state.rowBytes = rowBytes;
  state.place = 0;
  state.mergeKernel = merge.empty() ? plan::kNone : kernel(merge);
  if (kind == plan::StateKind::kSortBuffer) {
    plan::StateField key;
    state.fields.push_back(key);
    state.order.push_back({0, false, false});
  }
  plan.states.push_back(state);
  return static_cast<int32_t>(plan.states.size() - 1);
}

int32_t PlanBuilder::run(const std::string &symbol, int32_t inputStream,
                         std::vector<plan::StateArgument> states, int32_t outputStream,
                         std::vector<int32_t> after) {
  plan::RunTask run;
  run.kernel = kernel(symbol);
  run.inputStream = inputStream;
  run.states = std::move(states);
  run.outputStream = outputStream;
  run.partitioned = symbol == "partition";
  plan::Task &made = task(symbol, std::move(run));
  made.after = std::move(after);
  made.place = 1;
  return static_cast<int32_t>(plan.tasks.size() - 1);
}

int32_t PlanBuilder::runState(const std::string &symbol, int32_t sourceState, int32_t outputStream,
                              std::vector<int32_t> after) {
  int32_t index = run(symbol, plan::kNone, {}, outputStream, std::move(after));
  plan.tasks[index].as<plan::RunTask>()->sourceState = sourceState;
  return index;
}

int32_t PlanBuilder::exchange(plan::ExchangeKind kind, int32_t inputStream,
                              std::vector<plan::OrderKey> order) {
  int32_t out = stream(plan.streams[inputStream].schema);
  task("exchange",
       plan::ExchangeTask{kind, nextChannel_++, {0}, inputStream, out, std::move(order)});
  return out;
}

int32_t PlanBuilder::parted(uint32_t parts) {
  const int32_t kept = stream();
  plan.streams[kept].parts = parts;
  plan.streams[kept].chunkRows = 2000; // a block of 64 KiB
  return kept;
}

int32_t PlanBuilder::repeat(std::vector<int32_t> tasks, std::vector<int32_t> after) {
  task("rounds", plan::RepeatTask{std::move(tasks)}).after = std::move(after);
  return static_cast<int32_t>(plan.tasks.size() - 1);
}

PlanBuilder groupsInRounds() {
  PlanBuilder b;
  const int32_t kept = b.parted(16);
  const int32_t written = b.run("partition", b.load("t"), {}, kept);
  const int32_t state = b.state(plan::StateKind::kGroupTable, 24, "merge_group");
  const int32_t filled = b.run("group", kept, {{state, plan::StateUse::kPerWorker}});
  const int32_t out = b.stream();
  const int32_t read = b.runState("emit_group", state, out, {filled});
  b.repeat({filled, read}, {written});
  const int32_t sum = b.state(plan::StateKind::kScalar, 16, "merge_sum");
  const int32_t summed = b.run("sum", out, {{sum, plan::StateUse::kPerWorker}});
  const int32_t all = b.stream();
  b.runState("emit_sum", sum, all, {summed});
  b.result(all);
  return b;
}

void PlanBuilder::result(int32_t stream) {
  plan.result = plan.streams[stream].schema;
  task("result", plan::ResultTask{stream});
}

Rows rowsOf(const ResultRows &table) {
  Rows rows;
  for (size_t index = 0; index < table.chunkCount(); ++index) {
    const ChunkHandle chunk = *table.chunk(index);
    const auto *a = static_cast<const int64_t *>(chunk->segments[0].data);
    const auto *b = static_cast<const int64_t *>(chunk->segments[1].data);
    for (uint32_t i = 0; i < chunk->rows; ++i) {
      rows.emplace_back(a[i], b[i]);
    }
  }
  return rows;
}

Rows sorted(Rows rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

Expected<RunResult> runPlan(const PlanBuilder &builder, const Tables &tables,
                            const RunShape &shape) {
  HR_ASSIGN_OR_RETURN(auto program, Program::load(builder.plan, testKernels()));
  Session session({.threads = shape.threads, .memoryBytes = shape.memoryBytes});
  Bindings bindings;
  for (const auto &[name, table] : tables.tables) {
    bindings.tables[name] = openTable(table, tables.morselRows);
  }
  RunOptions options;
  options.ranks = shape.ranks;
  options.exchange.bufferBytes = shape.bufferBytes;
  options.simulation = shape.simulation;
  options.spill = shape.spill;
  options.keyShares = shape.keyShares;
  return program->run(session, bindings, options);
}

Rows runRows(const PlanBuilder &builder, const Tables &tables, const RunShape &shape) {
  Expected<RunResult> result = runPlan(builder, tables, shape);
  EXPECT_TRUE(result.ok()) << result.status().toString();
  return result.ok() ? rowsOf(*result->table) : Rows{};
}

} // namespace headrace::exec
