// Memory of states in the schedule: granted before they are filled, given back when the last reader
// has ended.
#pragma once

#include "dialects/pipe/PipeDialect.h"

#include "dialects/sched/SchedDialect.h"
#include "model/plan/plan.h"
#include "llvm/ADT/StringMap.h"

namespace headrace::schedule {

/// Puts a `sched.reserve` in front of every run that fills a state, and a `sched.release` behind
/// all that use it.
void addReservations(mlir::ModuleOp module, sched::ProgramOp program);

} // namespace headrace::schedule
