// Layouts as plain values for enumeration and costs: mesh axes are bits, nothing is uniqued in a
// context.
#ifndef HEADRACE_PASSES_SHARD_LAYOUT_H
#define HEADRACE_PASSES_SHARD_LAYOUT_H

#include "dialects/dist/DistDialect.h"
#include "model/cost/mesh.h"

#include <optional>
#include <string>

namespace headrace::shard {

using cost::AxisSet;

enum class Form : uint8_t { kTable, kTensor };

/// As #dist.layout; the axes of one dimension are in mesh order, the outermost first.
struct Layout {
  Form form = Form::kTable;
  llvm::SmallVector<AxisSet, 4> dims;
  /// The dimension whose parts have sizes known only at run time, or -1, and the op that fixed
  /// them: two ragged splits match only if they come from the same op.
  int32_t raggedDim = -1;
  mlir::Operation *raggedOrigin = nullptr;

  /// Meaningful if rowAxes is not empty.
  dist::RowKind rowKind = dist::RowKind::Block;
  llvm::SmallVector<mlir::StringAttr, 2> keys;
  mlir::ArrayAttr order; ///< of rows by range
  int64_t cycle = 0;     ///< of the key, if rows go by its place in one and not by its hash
  AxisSet rowAxes = 0;

  AxisSet unreduced = 0;
  mlir::Attribute combine;
  /// For tables that are unreduced: the columns by which parts may be brought together.
  llvm::SmallVector<mlir::StringAttr, 2> groupKeys;

  bool operator==(const Layout &other) const;
  bool isReplicated() const;
  bool isRoot() const { return rowAxes && rowKind == dist::RowKind::Root; }
  /// Axes that split or are unreduced.
  AxisSet usedAxes() const;
};

Layout replicatedTable();
Layout replicatedTensor(int64_t rank);
/// The replicated layout for values of `type`, a table or ranked tensor.
Layout replicatedLayout(mlir::Type type);
Layout splitRows(dist::RowKind kind, AxisSet axes, llvm::ArrayRef<mlir::StringAttr> keys = {});
/// By the place of a key in a cycle.
Layout cycledRows(AxisSet axes, mlir::StringAttr key, int64_t cycle);
/// Peers of the order together, and ranks in its order.
Layout rangedRows(AxisSet axes, mlir::ArrayAttr order);

/// Whether values of the type have layouts: tables and ranked tensors.
bool hasLayout(mlir::Type type);

dist::LayoutAttr toAttr(const Layout &layout, topo::MeshAttr mesh);
/// Loses raggedOrigin and groupKeys, which attributes do not carry.
Layout fromAttr(dist::LayoutAttr layout, topo::MeshAttr mesh);

/// The axes' names as an array attribute, in mesh order.
mlir::ArrayAttr axesAttr(AxisSet axes, topo::MeshAttr mesh);

/// Short text for reports: "hash<l_orderkey> over r".
std::string describe(const Layout &layout, topo::MeshAttr mesh);

/// The mesh of the attribute for the cost model.
cost::Mesh toMesh(topo::MeshAttr mesh);

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_LAYOUT_H
