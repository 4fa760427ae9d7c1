// The tasks and tables of a plan as text for people: `headrace explain --tasks` prints it. Not read
// back.
#pragma once

#include "model/plan/plan.h"

#include <string>

namespace headrace::plan {

/// Never fails: an id out of range is printed as it is.
std::string toText(const Plan &plan);

} // namespace headrace::plan
