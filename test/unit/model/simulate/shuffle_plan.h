// A plan with one exchange, which tests of graphs of plans share.
#pragma once

#include "model/plan/plan.h"

namespace headrace::simulate {

/// load -> kernel that divides by hash -> exchange -> kernel into a group table.
inline plan::Plan shufflePlan() {
  plan::Plan plan;
  plan.places = {{"group by k", "aggregate"}};
  plan.slots.resize(1);
  plan.slots[0].name = "t";
  plan.slots[0].columns = {{"k", {LogicalKind::kI64}, HR_I64, false, false, 0, 0},
                           {"v", {LogicalKind::kI64}, HR_I64, false, false, 0, 0}};
  plan::Schema schema{
      {{"k", HR_I64, {LogicalKind::kI64}, false}, {"v", HR_I64, {LogicalKind::kI64}, false}}};
  plan.streams = {
      {"rows", schema, 4, 65536}, {"divided", schema, 4, 65536}, {"mine", schema, 4, 65536}};
  plan.states.resize(1);
  plan.states[0].kind = plan::StateKind::kGroupTable;
  plan.states[0].rowBytes = 32;
  plan.states[0].rows.expected = 1000;
  plan.kernels.resize(2);
  plan.tasks.resize(4);
  plan.tasks[0].name = "load t";
  plan.tasks[0].work = plan::LoadTask{.slot = 0, .split = {0}, .outputStream = 0};
  plan.tasks[1].name = "divide";
  plan.tasks[1].work = plan::RunTask{.kernel = 0, .inputStream = 0, .outputStream = 1};
  plan.tasks[2].name = "shuffle";
  plan.tasks[2].place = 0;
  plan.tasks[2].work = plan::ExchangeTask{plan::ExchangeKind::kHash, 0, {0}, 1, 2};
  plan.tasks[3].name = "aggregate";
  plan.tasks[3].work =
      plan::RunTask{.kernel = 1, .inputStream = 2, .states = {{0, plan::StateUse::kPerWorker}}};
  return plan;
}

} // namespace headrace::simulate
