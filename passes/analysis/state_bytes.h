// What states take of a rank's memory, as far as the program says how many rows they will hold, and
// rows on their way.
#pragma once

#include "dialects/pipe/PipeDialect.h"
#include "model/plan/plan.h"

namespace headrace::analysis {

/// Bytes of a state on one rank: `min` with no rows at all, the others for the rows that are
/// estimated. Without its texts.
plan::Cardinality bytesOf(pipe::StateOp state);

/// What it may well take until it is finished, each row with so many bytes of text: of rows as many
/// as the geometric mean of what is expected and the 95th percentile: the 80th, if the logarithms
/// of the errors are normal.
uint64_t likelyBytes(pipe::StateOp state, double textBytes);

/// Bytes of a directory that goes by the key, for the range of the keys: whatever rows come.
uint64_t rangeBytes(const plan::State &state);

/// Bytes of a row of a chunk, without its texts; 1 at least.
uint64_t bytesOf(const plan::Schema &schema);

} // namespace headrace::analysis
