// What a plan says of the order and the functions of a state.
#pragma once

#include "dialects/pipe/PipeDialect.h"
#include "model/plan/plan.h"

namespace headrace {

/// Fills in the order and the windows of a state whose fields are there.
void addWindows(pipe::StateOp op, plan::State &state);

} // namespace headrace
