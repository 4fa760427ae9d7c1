// Shared by the checker's files: how a rule reports, and the two groups of rules.
#pragma once

#include "runtime/base/status.h"
#include "model/plan/check.h"
#include "model/plan/names.h"

namespace headrace::plan {

/// "rule NAME: task 3 'x' (run): parts…", with the place of the task.
template <typename... Parts>
Status ruleBroken(const Plan &plan, const char *rule, int32_t task, const Parts &...parts) {
  std::string subject = task == kNone ? "" : describeTask(plan, task) + ": ";
  std::string place;
  if (task != kNone) {
    int32_t index = plan.tasks[task].place;
    if (index >= 0 && static_cast<size_t>(index) < plan.places.size()) {
      place = plan.places[index].text;
    }
  }
  return Status(ErrorKind::kCorrupt, detail::joinText("rule ", rule, ": ", subject, parts...),
                std::move(place));
}

/// Whether `id` indexes a table of `count` entries.
inline bool inRange(int32_t id, size_t count) { return id >= 0 && static_cast<size_t>(id) < count; }

/// Rules over order: endpoints, schema, acyclic, deadlock, filled, reserved, capacity, collectives.
/// Assumes that the rules of check.cpp hold.
Status checkGraph(const Plan &plan, const CheckOptions &options);

} // namespace headrace::plan
