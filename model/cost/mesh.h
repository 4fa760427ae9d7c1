// A mesh: the ranks of a program arranged along named axes, numbered row by row (the last axis
// fastest).
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::cost {

struct MeshAxis {
  std::string name;
  int64_t size = 1;
};

/// A set of mesh axes: bit a stands for axis a.
using AxisSet = uint32_t;
inline constexpr int kAxisCountMax = 8;
inline constexpr int64_t kRanksMax = int64_t{1} << 20;

struct Mesh {
  std::string name;
  std::vector<MeshAxis> axes;

  int64_t rankCount() const;
  AxisSet allAxes() const { return (AxisSet{1} << axes.size()) - 1; }
  /// Product of the sizes of the axes in the set; 1 for the empty set.
  int64_t sizeOf(AxisSet set) const;
  /// A rank of the group of those that differ only along `set`: all its coordinates there are 0.
  int64_t firstOf(AxisSet set, int64_t rank) const;
  /// The members of such a group, as distances from that rank, ascending.
  std::vector<int64_t> offsetsOf(AxisSet set) const;
  /// Names unique and not empty, sizes at least 1, at most kAxisCountMax axes.
  Status check() const;
};

/// The mesh of N ranks on one axis.
Mesh flatMesh(std::string name, std::string axis, int64_t ranks);

} // namespace headrace::cost
