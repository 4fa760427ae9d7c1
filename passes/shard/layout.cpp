// Conversions between plain layouts, attributes and text.
#include "passes/shard/layout.h"
#include "dialects/frame/ExpressionText.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace headrace::dist;

namespace headrace::shard {

bool Layout::operator==(const Layout &other) const {
  return form == other.form && dims == other.dims && raggedDim == other.raggedDim &&
         raggedOrigin == other.raggedOrigin && rowAxes == other.rowAxes &&
         (rowAxes == 0 || (rowKind == other.rowKind && keys == other.keys && order == other.order &&
                           cycle == other.cycle)) &&
         unreduced == other.unreduced && combine == other.combine && groupKeys == other.groupKeys;
}

bool Layout::isReplicated() const { return usedAxes() == 0; }

AxisSet Layout::usedAxes() const {
  AxisSet axes = rowAxes | unreduced;
  for (AxisSet dim : dims) {
    axes |= dim;
  }
  return axes;
}

Layout replicatedTable() { return {}; }

Layout replicatedTensor(int64_t rank) {
  Layout layout;
  layout.form = Form::kTensor;
  layout.dims.assign(static_cast<size_t>(rank), 0);
  return layout;
}

Layout replicatedLayout(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    return replicatedTensor(tensor.getRank());
  }
  return replicatedTable();
}

Layout splitRows(RowKind kind, AxisSet axes, ArrayRef<StringAttr> keys) {
  Layout layout;
  layout.rowKind = kind;
  layout.rowAxes = axes;
  layout.keys.assign(keys.begin(), keys.end());
  return layout;
}

Layout cycledRows(AxisSet axes, StringAttr key, int64_t cycle) {
  Layout layout = splitRows(RowKind::Hash, axes, {key});
  layout.cycle = cycle;
  return layout;
}

Layout rangedRows(AxisSet axes, ArrayAttr order) {
  Layout layout = splitRows(RowKind::Range, axes);
  layout.order = order;
  return layout;
}

bool hasLayout(Type type) { return isa<frame::TableType, RankedTensorType>(type); }

namespace {

SmallVector<StringAttr> axisNames(AxisSet axes, topo::MeshAttr mesh) {
  SmallVector<StringAttr> names;
  for (auto [index, name] : llvm::enumerate(mesh.getAxisNames())) {
    if (axes >> index & 1) {
      names.push_back(name);
    }
  }
  return names;
}

AxisSet axisSet(ArrayRef<StringAttr> names, topo::MeshAttr mesh) {
  AxisSet axes = 0;
  for (StringAttr name : names) {
    axes |= AxisSet{1} << mesh.findAxis(name);
  }
  return axes;
}

} // namespace

LayoutAttr toAttr(const Layout &layout, topo::MeshAttr mesh) {
  MLIRContext *context = mesh.getContext();
  SmallVector<DimSplitAttr> dims;
  for (auto [dim, axes] : llvm::enumerate(layout.dims)) {
    SplitKind kind =
        static_cast<int32_t>(dim) == layout.raggedDim ? SplitKind::Ragged : SplitKind::Even;
    dims.push_back(DimSplitAttr::get(context, axisNames(axes, mesh), kind));
  }
  RowsAttr rows;
  if (layout.rowAxes) {
    rows = RowsAttr::get(context, layout.rowKind, layout.keys, axisNames(layout.rowAxes, mesh),
                         layout.order, layout.cycle);
  }
  SmallVector<StringAttr> unreduced = axisNames(layout.unreduced, mesh);
  SmallVector<Attribute> combines(unreduced.size(), layout.combine);
  return LayoutAttr::get(context, mesh.getName(), dims, rows, unreduced, combines);
}

Layout fromAttr(LayoutAttr attr, topo::MeshAttr mesh) {
  Layout layout;
  for (auto [dim, split] : llvm::enumerate(attr.getDims())) {
    layout.form = Form::kTensor;
    layout.dims.push_back(axisSet(split.getAxes(), mesh));
    if (split.getKind() == SplitKind::Ragged) {
      layout.raggedDim = static_cast<int32_t>(dim);
    }
  }
  if (RowsAttr rows = attr.getRows()) {
    layout.rowKind = rows.getKind();
    layout.keys.assign(rows.getKeys().begin(), rows.getKeys().end());
    layout.order = rows.getOrder();
    layout.cycle = rows.getCycle();
    layout.rowAxes = axisSet(rows.getAxes(), mesh);
  }
  layout.unreduced = axisSet(attr.getUnreducedAxes(), mesh);
  if (!attr.getCombines().empty()) {
    layout.combine = attr.getCombines().front();
  }
  return layout;
}

ArrayAttr axesAttr(AxisSet axes, topo::MeshAttr mesh) {
  SmallVector<StringAttr> names = axisNames(axes, mesh);
  return ArrayAttr::get(mesh.getContext(), SmallVector<Attribute>(names.begin(), names.end()));
}

std::string describe(const Layout &layout, topo::MeshAttr mesh) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto over = [&](AxisSet axes) {
    llvm::interleave(
        axisNames(axes, mesh), stream, [&](StringAttr axis) { stream << axis.getValue(); }, ",");
  };
  if (layout.isReplicated()) {
    return "replicated";
  }
  for (auto [dim, axes] : llvm::enumerate(layout.dims)) {
    if (axes) {
      stream << (text.empty() ? "" : ", ") << "dim " << dim << " over ";
      over(axes);
      stream << (static_cast<int32_t>(dim) == layout.raggedDim ? " (ragged)" : "");
    }
  }
  if (layout.rowAxes) {
    stream << stringifyRowKind(layout.rowKind);
    if (!layout.keys.empty()) {
      stream << "<";
      llvm::interleave(layout.keys, stream, [&](StringAttr key) { stream << key.getValue(); }, ",");
      stream << (layout.cycle ? " in stretches>" : ">");
    }
    if (layout.order) {
      stream << "<" << frame::orderText(layout.order) << ">";
    }
    stream << " over ";
    over(layout.rowAxes);
  }
  if (layout.unreduced) {
    stream << (text.empty() ? "" : ", ") << "unreduced over ";
    over(layout.unreduced);
  }
  return text;
}

cost::Mesh toMesh(topo::MeshAttr mesh) {
  cost::Mesh result;
  result.name = mesh.getName().getValue().str();
  for (auto [name, size] : llvm::zip_equal(mesh.getAxisNames(), mesh.getAxisSizes())) {
    result.axes.push_back({name.getValue().str(), size});
  }
  return result;
}

} // namespace headrace::shard
