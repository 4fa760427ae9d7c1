// The checker's answer to changes of the sample plan, and to small plans of tensors.
#pragma once

#include "model/plan/check.h"
#include "test/unit/model/plan/sample_plan.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace headrace::plan {

/// The message for the sample plan after `change`, or "ok".
inline std::string checked(const std::function<void(Plan &)> &change,
                           const CheckOptions &options = {}) {
  Plan plan = samplePlan();
  change(plan);
  Status status = check(plan, options);
  return status.ok() ? "ok" : status.message();
}

inline void addTask(Plan &plan, TaskWork work, std::vector<int32_t> after = {}) {
  Task task;
  task.work = std::move(work);
  task.after = std::move(after);
  plan.tasks.push_back(task);
}

inline RunTask &run(Plan &plan, size_t task) { return *plan.tasks[task].as<RunTask>(); }

/// A tensor that nothing writes yet; its number.
inline int32_t addTensor(Plan &plan, std::vector<int64_t> shape, int32_t split = kNone) {
  auto index = static_cast<int32_t>(plan.buffers.size());
  Buffer made;
  made.name = std::string(1, static_cast<char>('a' + index));
  made.shape = std::move(shape);
  if (split != kNone) {
    made.splits = {{split, {0}}};
  }
  plan.buffers.push_back(made);
  return index;
}

/// The same, with the task that writes it; without other tasks both have the same number.
inline int32_t addInput(Plan &plan, std::vector<int64_t> shape, int32_t split = kNone) {
  int32_t output = addTensor(plan, std::move(shape), split);
  Slot slot;
  slot.kind = SlotKind::kTensor;
  plan.slots.push_back(slot);
  addTask(plan, InputTask{static_cast<int32_t>(plan.slots.size()) - 1, output});
  return output;
}

/// A plan of tensors alone.
inline std::string checkedTensors(const std::function<void(Plan &)> &make) {
  return checked([&](Plan &p) {
    Plan fresh;
    fresh.importsHash = p.importsHash;
    fresh.mesh = p.mesh;
    make(fresh);
    p = fresh;
  });
}

} // namespace headrace::plan
