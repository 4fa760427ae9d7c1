// The sample plan, made with the plan structs directly.
#include "test/unit/model/plan/sample_plan.h"

#include "model/plan/names.h"

namespace headrace::plan {

Plan samplePlan() {
  Plan plan;
  plan.importsHash = importsHashText();
  plan.program = "select sum(a) from t join u";
  plan.places = {{"sum(a)", "aggregate"}, {"t join u", "join"}};
  plan.slots.resize(2);
  plan.slots[0].name = "u";
  plan.slots[1].name = "t";
  for (Slot &slot : plan.slots) {
    slot.kind = "table";
    slot.columns = {{"a", {LogicalKind::kI64}, HR_I64, false, true, -5, 5}};
  }
  Schema schema{{{"a", HR_I64, {LogicalKind::kI64}, false}}};
  plan.result = schema;
  plan.streams = {{"u rows", schema, 4, 65536},
                  {"t rows", schema, 4, 65536},
                  {"joined", schema, 4, 65536},
                  {"gathered", schema, 4, 65536},
                  {"sums", schema, 4, 65536}};
  State join;
  join.name = "u table";
  join.kind = StateKind::kJoinTable;
  join.rowBytes = 24;
  join.fields = {{"a", HR_I64, 16, false, 0, Combine::kKey}};
  State sum;
  sum.name = "sum";
  sum.kind = StateKind::kScalar;
  sum.rowBytes = 16;
  sum.fields = {{"a", HR_I64, 0, true, 8, Combine::kSum}};
  sum.identity.assign(16, 0);
  sum.mergeKernel = 3;
  plan.states = {join, sum};
  for (const char *symbol : {"build", "probe", "sum", "merge", "emit"}) {
    Kernel kernel;
    kernel.symbol = symbol;
    kernel.places = {0, 1};
    plan.kernels.push_back(kernel);
  }
  plan.kernels[1].literalBytes = 32;
  plan.kernels[1].literals = {{LiteralKind::kInteger, 0, INT64_MIN, 0, 0, ""},
                              {LiteralKind::kString, 16, 0, 0, 0, "x"}};
  auto add = [&](TaskKind kind, const char *name) -> Task & {
    plan.tasks.emplace_back();
    plan.tasks.back().kind = kind;
    plan.tasks.back().name = name;
    plan.tasks.back().place = 1;
    return plan.tasks.back();
  };
  Task *task = &add(TaskKind::kLoad, "load u");
  task->slot = 0;
  task->outputStream = 0;
  task = &add(TaskKind::kRun, "build u");
  task->kernel = 0;
  task->inputStream = 0;
  task->states = {{0, StateUse::kPerWorker}};
  task = &add(TaskKind::kLoad, "load t");
  task->slot = 1;
  task->outputStream = 1;
  task = &add(TaskKind::kRun, "probe");
  task->kernel = 1;
  task->inputStream = 1;
  task->outputStream = 2;
  task->after = {1};
  task->states = {{0, StateUse::kShared}};
  task = &add(TaskKind::kExchange, "gather");
  task->exchange = ExchangeKind::kGather;
  task->channel = 0;
  task->inputStream = 2;
  task->outputStream = 3;
  task = &add(TaskKind::kRun, "sum");
  task->kernel = 2;
  task->inputStream = 3;
  task->states = {{1, StateUse::kPerWorker}};
  task = &add(TaskKind::kRun, "emit");
  task->kernel = 4;
  task->sourceState = 1;
  task->outputStream = 4;
  task->after = {5};
  task = &add(TaskKind::kResult, "result");
  task->inputStream = 4;
  return plan;
}

} // namespace headrace::plan
