// Mixed-radix numbers: a rank's coordinates, and its place in a group of axes.
#include "model/plan/mesh.h"

#include <numeric>

namespace headrace::plan {

const Split *Buffer::splitOf(int32_t dimension) const {
  for (const Split &split : splits) {
    if (split.dimension == dimension) {
      return &split;
    }
  }
  return nullptr;
}

uint32_t MeshPosition::stride(int32_t axis) const {
  uint32_t stride = 1;
  for (size_t faster = static_cast<size_t>(axis) + 1; faster < sizes.size(); ++faster) {
    stride *= sizes[faster];
  }
  return stride;
}

GroupPlace MeshPosition::along(std::span<const int32_t> axes) const {
  GroupPlace place;
  for (int32_t axis : axes) {
    place.index = place.index * sizes[axis] + rank / stride(axis) % sizes[axis];
    place.count *= sizes[axis];
  }
  return place;
}

std::vector<int> MeshPosition::group(std::span<const int32_t> axes) const {
  uint32_t first = rank;
  for (int32_t axis : axes) {
    first -= rank / stride(axis) % sizes[axis] * stride(axis);
  }
  std::vector<int> members = {static_cast<int>(first)};
  for (int32_t axis : axes) {
    std::vector<int> further;
    for (int member : members) {
      for (uint32_t at = 0; at < sizes[axis]; ++at) {
        further.push_back(member + static_cast<int>(at * stride(axis)));
      }
    }
    members = std::move(further);
  }
  return members;
}

std::vector<int32_t> allAxes(const Plan &plan) {
  std::vector<int32_t> axes(plan.mesh.size());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

int64_t rankCount(const Plan &plan) {
  int64_t ranks = 1;
  for (const MeshAxis &axis : plan.mesh) {
    ranks *= axis.size;
  }
  return ranks;
}

Expected<std::vector<uint32_t>> axisSizes(const Plan &plan, uint32_t ranks) {
  if (plan.mesh.size() <= 1) {
    return std::vector<uint32_t>{ranks};
  }
  std::vector<uint32_t> sizes;
  for (const MeshAxis &axis : plan.mesh) {
    sizes.push_back(axis.size);
  }
  if (rankCount(plan) != ranks) {
    return makeError(ErrorKind::kMismatch, "the plan was compiled for a mesh of ", rankCount(plan),
                     " ranks, run it on as many or compile it again; got ", ranks);
  }
  return sizes;
}

double partsAlong(const Plan &plan, std::span<const int32_t> axes, int64_t ranks) {
  if (plan.mesh.size() <= 1) {
    return axes.empty() ? 1 : static_cast<double>(ranks);
  }
  double parts = 1;
  for (int32_t axis : axes) {
    parts *= plan.mesh[axis].size;
  }
  return parts;
}

} // namespace headrace::plan
