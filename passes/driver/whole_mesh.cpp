// Looks at the axes of layouts, of scans and of what moves.
#include "passes/driver/whole_mesh.h"

#include "dialects/dist/DistDialect.h"
#include "dialects/interfaces/DiagnosticKind.h"

#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;

namespace headrace::driver {

namespace {

SmallVector<StringAttr> axesOf(Attribute attribute) {
  SmallVector<StringAttr> axes;
  if (auto array = dyn_cast_or_null<ArrayAttr>(attribute)) {
    for (Attribute axis : array) {
      if (auto name = dyn_cast<StringAttr>(axis)) {
        axes.push_back(name);
      }
    }
  }
  return axes;
}

/// The axes that an op uses without the others; empty if there are none.
class PartialAxes {
public:
  explicit PartialAxes(topo::MeshAttr mesh) {
    for (auto [name, size] : llvm::zip_equal(mesh.getAxisNames(), mesh.getAxisSizes())) {
      if (size > 1) {
        needed_.push_back(name);
      }
    }
    walker_.addWalk([this](dist::DimSplitAttr split) { see(split.getAxes()); });
    walker_.addWalk([this](dist::RowsAttr rows) { see(rows.getAxes()); });
    walker_.addWalk([this](dist::LayoutAttr layout) { see(layout.getUnreducedAxes()); });
  }

  SmallVector<StringAttr> of(Operation *op) {
    found_.clear();
    for (NamedAttribute attribute : op->getAttrs()) {
      walker_.walk(attribute.getValue());
    }
    see(axesOf(op->getAttr(dist::DistDialect::getSplitAttrName())));
    if (isa_and_present<dist::DistDialect>(op->getDialect())) {
      see(axesOf(op->getAttr("axes")));
    }
    return found_;
  }

private:
  void see(ArrayRef<StringAttr> axes) {
    bool whole =
        llvm::all_of(needed_, [&](StringAttr axis) { return llvm::is_contained(axes, axis); });
    if (!axes.empty() && !whole && found_.empty()) {
      found_.assign(axes.begin(), axes.end());
    }
  }

  AttrTypeWalker walker_;
  SmallVector<StringAttr> needed_;
  SmallVector<StringAttr> found_;
};

} // namespace

std::string meshText(topo::MeshAttr mesh) {
  std::string text;
  for (auto [name, size] : llvm::zip_equal(mesh.getAxisNames(), mesh.getAxisSizes())) {
    text += (text.empty() ? "" : ",") + name.str() + ":" + std::to_string(size);
  }
  return text;
}

LogicalResult requireWholeMesh(ModuleOp module) {
  topo::MeshAttr mesh = topo::meshOf(module);
  if (!mesh || mesh.getAxisNames().size() < 2) {
    return success();
  }
  PartialAxes partial(mesh);
  WalkResult walked = module.walk([&](Operation *op) {
    SmallVector<StringAttr> axes = partial.of(op);
    if (axes.empty()) {
      return WalkResult::advance();
    }
    InFlightDiagnostic error = unsupported(op->emitError(
        "a mesh of several axes is not supported where something is over one alone: "));
    llvm::interleaveComma(axes, error, [&](StringAttr axis) { error << axis.getValue(); });
    error << " of " << meshText(mesh);
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

} // namespace headrace::driver
