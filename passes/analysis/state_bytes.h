// What states take of a rank's memory, as far as the program says how many rows they will hold, and
// rows on their way.
#pragma once

#include "dialects/pipe/PipeDialect.h"
#include "model/plan/plan.h"

namespace headrace::analysis {

/// Bytes of a state on one rank: `min` with no rows at all, the others for the rows that are
/// estimated. Without its texts.
plan::Cardinality bytesOf(pipe::StateOp state);

/// What is expected until it is finished, on the safe side: the 95th percentile, each row with so
/// many bytes of text.
uint64_t likelyBytes(pipe::StateOp state, double textBytes);

/// Bytes of a directory that goes by the key, for the range of the keys: whatever rows come.
uint64_t rangeBytes(const plan::State &state);

/// Bytes of a row of a chunk, without its texts; 1 at least.
uint64_t bytesOf(const plan::Schema &schema);

} // namespace headrace::analysis
