// Layouts that are nearly the cheapest, found by ruling out what was found before.
#ifndef HEADRACE_PASSES_SHARD_NEAR_LAYOUTS_H
#define HEADRACE_PASSES_SHARD_NEAR_LAYOUTS_H

#include "passes/shard/shard_program.h"

namespace headrace::shard {

/// The `number`-th of the layouts next to the cheapest (1: the first), by the model's cost among
/// those that come out when the strategies of ops (all with the label chosen) are ruled out one
/// after the other, from the cheapest on. The last one found if there are fewer. Fails (kUser) as
/// solve::solve.
Expected<solve::Choice> nearLayout(const ShardProgram &program, uint64_t number,
                                   solve::SolveOptions options);

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_NEAR_LAYOUTS_H
