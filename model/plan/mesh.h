// The ranks of a run as a mesh: which part along some of its axes a rank has.
#pragma once

#include "model/plan/plan.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace headrace::plan {

/// A part of what is divided over a group of ranks.
struct GroupPlace {
  uint32_t index = 0;
  uint32_t count = 1;
};

/// A rank's place in the mesh of a run. Ranks are numbered row by row: the last axis is the
/// fastest.
struct MeshPosition {
  std::vector<uint32_t> sizes; ///< of the axes
  uint32_t rank = 0;

  /// Over these axes, of which the first is the slowest.
  GroupPlace along(std::span<const int32_t> axes) const;
  /// The ranks that differ from this one along these axes alone, itself among them, by their
  /// places.
  std::vector<int> group(std::span<const int32_t> axes) const;

private:
  /// How many ranks further the next one along an axis is.
  uint32_t stride(int32_t axis) const;
};

/// How many ranks the plan was compiled for.
int64_t rankCount(const Plan &plan);

/// All axes of the plan's mesh, in order.
std::vector<int32_t> allAxes(const Plan &plan);

/// The extents of the axes in a run: one axis takes any number of ranks, several take those that
/// the plan was compiled for. kMismatch otherwise.
Expected<std::vector<uint32_t>> axisSizes(const Plan &plan, uint32_t ranks);

/// Into how many parts these axes divide, as axisSizes has them or, if it is no such number of
/// ranks, as the plan has.
double partsAlong(const Plan &plan, std::span<const int32_t> axes, int64_t ranks);

} // namespace headrace::plan
