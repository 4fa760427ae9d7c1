// Frames of windows for tests.
#pragma once

#include "model/plan/plan.h"

#include <random>

namespace headrace::exec {

/// Any bound by rows, at a distance below `distances`.
inline plan::FrameBound boundOf(std::mt19937_64 &random, uint64_t distances, bool isStart) {
  using plan::FrameEdge;
  switch (random() % 4) {
  case 0:
    return {isStart ? FrameEdge::kUnboundedPreceding : FrameEdge::kUnboundedFollowing, {}};
  case 1:
    return {FrameEdge::kCurrentRow, {}};
  case 2:
    return {FrameEdge::kPreceding, {.number = static_cast<int64_t>(random() % distances)}};
  default:
    return {FrameEdge::kFollowing, {.number = static_cast<int64_t>(random() % distances)}};
  }
}

} // namespace headrace::exec
