// Registration of `topo` and the check of its module attributes.
#include "dialects/topo/TopoDialect.h"
#include "mlir/IR/DialectImplementation.h"

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
