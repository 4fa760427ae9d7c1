// Rows of the morsels of scans: fewer where memory has no room for many.
#pragma once

#include "dialects/sched/SchedDialect.h"

namespace headrace::schedule {

/// Gives the loads whose morsels would be too large for a rank with so much memory pieces of fewer
/// rows. All ranks cut a table alike, since they have one plan.
void cutScans(sched::ProgramOp program, double memoryBytes);

} // namespace headrace::schedule
