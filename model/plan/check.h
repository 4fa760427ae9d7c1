// The static checker of plans: one set of rules for the compiler (before it writes) and the loader
// (before it runs).
#pragma once

#include "model/plan/check_options.h"
#include "model/plan/plan.h"
#include "runtime/base/status.h"

namespace headrace::plan {

/// Most tasks, states, streams, … a plan may have: keeps the checker's own time and memory bounded.
inline constexpr size_t kElementsMax = 4096;

/// The first rule that the plan breaks, as "rule NAME: task 3 'probe' (run): …"; the status carries
/// the place in the user's program. kMismatch for versions, ABI and imports; kCorrupt otherwise.
///
/// version      schema, ABI, ISA name and the catalogue of imports are this build's
/// range        every id, offset and count lies where it may
/// layout       fields, literals and headers fit their rows and blocks and do not overlap
/// operands     a task has exactly what its kind needs
/// tiers        a task's device reaches the memory of its streams, states and buffers
/// region       a task is in at most one body; a choose reads a hole that is known
/// endpoints    a stream has one producer, one consumer (one in each branch of a choose) and
///              capacity
/// schema       both ends of an edge agree on types
/// acyclic      no task waits for itself
/// deadlock     no consumer waits for the end of its producer, directly or through other full
///              streams
/// filled       a state is filled by tasks that end before it is read
/// written      so is a buffer
/// reserved     where a plan reserves, nothing is used without a live reservation
/// capacity     minimum reservations that can be live together fit their tier
/// sharing      morsels of a load are shared between ranks only where any rank may read any
/// pairs        exchanges that agree on heavy keys are two, over the same ranks, not in rounds
/// collectives  are totally ordered; exchanges have channels of their own; ranks choose alike
Status check(const Plan &plan, const CheckOptions &options = {});

} // namespace headrace::plan
