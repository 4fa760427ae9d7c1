// What was decided for a plan, as a tree of operators for people; after a run with what it took.
#pragma once

#include "model/plan/plan.h"
#include "model/plan/profile.h"

#include <string>

namespace headrace::plan {

struct ExplainOptions {
  enum class RunnersUp : uint8_t { kLeftOut, kShown } runnersUp = RunnersUp::kLeftOut;
  /// Of a run of the plan: its rows, seconds and bytes stand beside those estimated. May be null.
  const Profile *measured = nullptr;
};

/// Lines of at most 120 columns. Rows flow upwards: an operator's first input is the line below it,
/// the others (a join's right side) are branches in between.
std::string explain(const Plan &plan, const ExplainOptions &options);

} // namespace headrace::plan
