// Shared by the checker's files: how a rule reports, and the two groups of rules.
#pragma once

#include "model/plan/check_options.h"
#include "model/plan/names.h"
#include "model/plan/plan.h"
#include "runtime/base/status.h"

#include <algorithm>
#include <vector>

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

inline bool areDifferent(std::vector<int32_t> ids) {
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) == ids.end();
}

/// Whether these are axes of the mesh, each once.
inline bool areAxes(const Plan &plan, const std::vector<int32_t> &axes) {
  return areDifferent(axes) && std::all_of(axes.begin(), axes.end(), [&](int32_t axis) {
           return inRange(axis, plan.mesh.size());
         });
}

/// Whether tasks of a device use memory of a tier as it is; what is elsewhere is copied first.
constexpr bool reaches(Device device, Tier tier) {
  return tier == Tier::kPinned || tier == (device == Device::kCpu ? Tier::kHost : Tier::kDevice);
}

/// Whether `to` is what offsets, sizes and strides, one after another, take of `from`, and each
/// rank has what its part is taken of.
bool isSlice(const Buffer &from, const Buffer &to, const std::vector<int64_t> &numbers);
/// Whether `to` is the inputs, divided alike, one after another along the dimension.
bool isConcat(const std::vector<const Buffer *> &inputs, const Buffer &to, int64_t dimension);

/// Whether `to` is what there is of `from` along its first dimension at the places.
bool isGather(const Buffer &from, const Buffer &places, const Buffer &to);

/// Rules over single tasks: range, operands, tiers, region. Assumes that the rules over what they
/// refer to hold.
Status checkTasks(const Plan &plan);

/// Rules over order: endpoints, schema, acyclic, deadlock, filled, written, reserved, capacity,
/// collectives. Assumes that the other rules hold.
Status checkGraph(const Plan &plan, const CheckOptions &options);

} // namespace headrace::plan
