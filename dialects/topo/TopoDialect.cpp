// Registration of `topo` and the check of its module attributes.
#include "dialects/topo/TopoDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace headrace::topo;

#include "dialects/topo/TopoDialect.cpp.inc"

void TopoDialect::initialize() { registerAttrs(); }

LogicalResult TopoDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  bool isMesh = name == getMeshAttrName();
  if (!isMesh && name != getTopologyAttrName()) {
    return op->emitOpError("has an unknown attribute of dialect topo: ") << name;
  }
  if (isMesh ? !isa<MeshAttr>(attribute.getValue()) : !isa<TopologyAttr>(attribute.getValue())) {
    return op->emitOpError() << name << " must be a #" << name << ", got " << attribute.getValue();
  }
  if (!isa<ModuleOp>(op)) {
    return op->emitOpError() << name << " belongs on a module";
  }
  return success();
}

MeshAttr headrace::topo::meshOf(Operation *op) {
  for (; op; op = op->getParentOp()) {
    if (auto mesh = op->getAttrOfType<MeshAttr>(TopoDialect::getMeshAttrName())) {
      return mesh;
    }
  }
  return {};
}

LogicalResult headrace::topo::verifyAxes(Operation *op, ArrayAttr axes) {
  if (axes.empty()) {
    return op->emitOpError("needs at least one axis");
  }
  MeshAttr mesh = meshOf(op);
  llvm::SmallPtrSet<Attribute, 8> seen;
  for (Attribute axis : axes) {
    if (!seen.insert(axis).second) {
      return op->emitOpError("names an axis twice: ") << axis;
    }
    if (mesh && mesh.findAxis(cast<StringAttr>(axis).getValue()) < 0) {
      return op->emitOpError("names an axis that the mesh does not have: ") << axis;
    }
  }
  return success();
}

LogicalResult headrace::topo::verifyToward(Operation *op, ArrayAttr over, ArrayAttr toward) {
  if (failed(verifyAxes(op, toward))) {
    return failure();
  }
  bool more = toward.size() > over.size() &&
              llvm::all_of(over, [&](Attribute axis) { return llvm::is_contained(toward, axis); });
  MeshAttr mesh = meshOf(op);
  auto place = [&](Attribute axis) { return mesh.findAxis(cast<StringAttr>(axis)); };
  if (!more || (mesh && !llvm::is_sorted(llvm::map_range(toward, place)))) {
    return op->emitOpError("goes toward ranks along its own axes and others, in the order of the "
                           "mesh, got ")
           << toward << " over " << over;
  }
  return success();
}

int64_t headrace::topo::ranksAlong(Operation *op, ArrayAttr axes) {
  MeshAttr mesh = meshOf(op);
  int64_t ranks = 1;
  if (mesh && axes) {
    for (auto axis : axes.getAsRange<StringAttr>()) {
      ranks *= mesh.getAxisSizes()[mesh.findAxis(axis)];
    }
  }
  return ranks;
}
