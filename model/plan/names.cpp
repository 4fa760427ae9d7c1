// Widths, version strings and the way messages name a task.
#include "model/plan/names.h"

#include "runtime/abi/imports.h"

#include <cstdio>

namespace headrace::plan {

std::string importsHashText() {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(abi::importsHash()));
  return text;
}

std::string describeTask(const Plan &plan, int32_t task) {
  std::string text = "task " + std::to_string(task);
  if (task < 0 || static_cast<size_t>(task) >= plan.tasks.size()) {
    return text;
  }
  const Task &value = plan.tasks[task];
  if (!value.name.empty()) {
    text += " '" + value.name + "'";
  }
  return text + " (" + nameOf(value.kind()) + ")";
}

} // namespace headrace::plan
