// The ranks of a mesh: which of them are together along some axes, and in what order.
#pragma once

#include "dialects/topo/TopoDialect.h"

namespace headrace::interpreter {

/// Ranks are numbered with the mesh's last axis innermost.
class MeshRanks {
public:
  /// One rank, on which every axis has one part.
  MeshRanks() = default;
  explicit MeshRanks(topo::MeshAttr mesh);

  int64_t size() const { return size_; }
  bool isSingle() const { return size_ == 1; }
  /// How many parts a value that is split over the axes has.
  int64_t parts(llvm::ArrayRef<mlir::StringAttr> axes) const;
  /// Which of those parts a rank has; the first axis is outermost.
  int64_t position(int64_t rank, llvm::ArrayRef<mlir::StringAttr> axes) const;
  /// The ranks that differ from `rank` along the axes only, ordered by position; `rank` is among
  /// them.
  llvm::SmallVector<int64_t> group(int64_t rank, llvm::ArrayRef<mlir::StringAttr> axes) const;
  /// All axes but these.
  llvm::SmallVector<mlir::StringAttr> otherAxes(llvm::ArrayRef<mlir::StringAttr> axes) const;
  llvm::ArrayRef<mlir::StringAttr> axes() const { return names_; }

private:
  struct Axis {
    int64_t extent = 1;
    int64_t coordinate = 0;
  };
  Axis axisOf(int64_t rank, mlir::StringAttr name) const;

  llvm::SmallVector<mlir::StringAttr> names_;
  llvm::SmallVector<int64_t> extents_;
  int64_t size_ = 1;
};

/// An even split: the offset and extent of part `part` of `parts`.
struct EvenPart {
  int64_t offset;
  int64_t extent;
};
EvenPart evenPart(int64_t extent, int64_t parts, int64_t part);

} // namespace headrace::interpreter
