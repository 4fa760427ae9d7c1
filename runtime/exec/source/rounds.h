// Which parts are read in one round, by the memory that they need.
#pragma once

#include "model/plan/plan.h"
#include "runtime/exec/source/parted_stream.h"

#include <span>
#include <vector>

namespace headrace::exec {

/// The most that a state of so many rows takes until it is finished, without its texts, if `lanes`
/// workers fill it.
uint64_t rowsBytes(const plan::State &state, uint64_t rows, size_t lanes);

/// Parts side by side as long as the sum of their bytes is at most `room`; one at least in each
/// round, and at least one round.
std::vector<PartRange> roundsOf(std::span<const uint64_t> bytes, uint64_t room);

} // namespace headrace::exec
