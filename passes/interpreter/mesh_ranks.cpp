// Ranks as coordinates along the axes of a mesh.
#include "passes/interpreter/mesh_ranks.h"

using namespace mlir;

namespace headrace::interpreter {

MeshRanks::MeshRanks(topo::MeshAttr mesh)
    : names_(mesh.getAxisNames().begin(), mesh.getAxisNames().end()),
      extents_(mesh.getAxisSizes().begin(), mesh.getAxisSizes().end()) {
  for (int64_t extent : extents_) {
    size_ *= extent;
  }
}

MeshRanks::Axis MeshRanks::axisOf(int64_t rank, StringAttr name) const {
  for (size_t index = names_.size(); index-- > 0;) {
    if (names_[index] == name) {
      return {extents_[index], rank % extents_[index]};
    }
    rank /= extents_[index];
  }
  return {};
}

int64_t MeshRanks::parts(ArrayRef<StringAttr> axes) const {
  int64_t parts = 1;
  for (StringAttr axis : axes) {
    parts *= axisOf(0, axis).extent;
  }
  return parts;
}

int64_t MeshRanks::position(int64_t rank, ArrayRef<StringAttr> axes) const {
  int64_t position = 0;
  for (StringAttr name : axes) {
    Axis axis = axisOf(rank, name);
    position = position * axis.extent + axis.coordinate;
  }
  return position;
}

SmallVector<StringAttr> MeshRanks::otherAxes(ArrayRef<StringAttr> axes) const {
  SmallVector<StringAttr> others;
  for (StringAttr name : names_) {
    if (!llvm::is_contained(axes, name)) {
      others.push_back(name);
    }
  }
  return others;
}

SmallVector<int64_t> MeshRanks::group(int64_t rank, ArrayRef<StringAttr> axes) const {
  SmallVector<StringAttr> others = otherAxes(axes);
  SmallVector<int64_t> members(static_cast<size_t>(parts(axes)), -1);
  for (int64_t other = 0; other < size_; ++other) {
    if (position(other, others) == position(rank, others)) {
      members[static_cast<size_t>(position(other, axes))] = other;
    }
  }
  return members;
}

EvenPart evenPart(int64_t extent, int64_t parts, int64_t part) {
  int64_t small = extent / parts;
  int64_t large = extent % parts;
  return {part * small + std::min(part, large), small + (part < large ? 1 : 0)};
}

} // namespace headrace::interpreter
