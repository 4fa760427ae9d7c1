// How far the functions of a window state look from a row: whether a partition that memory has no
// room for can be gone through with some of its rows in memory.
#pragma once

#include "model/plan/plan.h"

#include <cstdint>

namespace headrace::exec {

/// What must be in memory to compute the fields of a row, besides folds from the first row on.
struct FrameReach {
  uint64_t behind = 0; ///< rows before it
  uint64_t ahead = 0;  ///< rows after it
  uint64_t first = 0;  ///< the first rows of the partition
  bool peers = false;  ///< the last of its peers
  bool any = false;    ///< nothing less than the whole partition will do
};

FrameReach reachOf(const plan::State &state);

} // namespace headrace::exec
