// The sample plan, made with the plan structs directly.
#include "test/unit/model/plan/sample_plan.h"

#include "model/plan/names.h"

namespace headrace::plan {

Plan samplePlan() {
  Plan plan;
  plan.importsHash = importsHashText();
  plan.program = "select sum(a) from t join u";
  plan.mesh = {{"ranks", 2}};
  plan.places = {{"sum(a)", "aggregate"}, {"t join u", "join"}};
  plan.slots.resize(2);
  plan.slots[0].name = "u";
  plan.slots[1].name = "t";
  for (Slot &slot : plan.slots) {
    slot.kind = SlotKind::kTable;
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
  auto add = [&](const char *name, TaskWork work, std::vector<int32_t> after = {}) {
    plan.tasks.emplace_back();
    plan.tasks.back().name = name;
    plan.tasks.back().work = std::move(work);
    plan.tasks.back().place = 1;
    plan.tasks.back().after = std::move(after);
  };
  StateArgument build{0, StateUse::kPerWorker};
  StateArgument probe{0, StateUse::kShared};
  StateArgument sums{1, StateUse::kPerWorker};
  add("load u", LoadTask{.slot = 0, .outputStream = 0});
  add("build u", RunTask{.kernel = 0, .inputStream = 0, .states = {build}});
  add("load t", LoadTask{.slot = 1, .outputStream = 1});
  add("probe", RunTask{.kernel = 1, .inputStream = 1, .states = {probe}, .outputStream = 2}, {1});
  add("gather", ExchangeTask{ExchangeKind::kGather, 0, {0}, 2, 3});
  add("sum", RunTask{.kernel = 2, .inputStream = 3, .states = {sums}});
  add("emit", RunTask{.kernel = 4, .sourceState = 1, .outputStream = 4}, {5});
  add("result", ResultTask{4});
  return plan;
}

} // namespace headrace::plan
