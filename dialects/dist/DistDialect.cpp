// Registration of `dist` and the check of its discardable attributes.
#include "dialects/dist/DistDialect.h"
#include "dialects/frame/FrameOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace headrace::dist;

#include "dialects/dist/DistDialect.cpp.inc"

void DistDialect::initialize() {
  registerAttrs();
  addOperations<
#define GET_OP_LIST
#include "dialects/dist/DistOps.cpp.inc"
      >();
}

LogicalResult DistDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == getSplitAttrName() || name == getWithinAttrName()) {
    auto axes = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!axes || axes.empty() || !llvm::all_of(axes, llvm::IsaPred<StringAttr>)) {
      return op->emitOpError() << name << " is an array of axis names, got " // C2, C7
                               << attribute.getValue();
    }
    if (name == getSplitAttrName() && !isa<frame::ScanOp>(op)) {
      return op->emitOpError("dist.split stands on a frame.scan only"); // C2
    }
    auto window = dyn_cast<frame::WindowOp>(op);
    if (name == getWithinAttrName() && (!window || !window.getPartition().empty())) {
      return op->emitOpError("dist.within stands on a frame.window without partition keys"); // C7
    }
    return topo::verifyAxes(op, axes);
  }
  if (name == getChooseAttrName()) {
    auto choice = dyn_cast<DictionaryAttr>(attribute.getValue());
    auto levels = choice ? choice.getAs<DenseBoolArrayAttr>("levels") : DenseBoolArrayAttr();
    if (!levels || levels.size() != 3 || !isa_and_nonnull<IntegerAttr>(choice.get("at_most")) ||
        !isa_and_nonnull<IntegerAttr>(choice.get("cycle")) ||
        op->getName().getStringRef() != "frame.join") {
      return op->emitOpError(
                 "dist.choose is a dictionary with at_most, cycle and three levels on a "
                 "frame.join, got ")
             << attribute.getValue(); // C3
    }
    return success();
  }
  if (name == getLevelsAttrName()) {
    return isa<DenseBoolArrayAttr>(attribute.getValue())
               ? success()
               : op->emitOpError("dist.levels is an array of booleans, got ") // C5
                     << attribute.getValue();
  }
  if (name == getArgumentsAttrName()) {
    auto types = dyn_cast<ArrayAttr>(attribute.getValue());
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function || !types || types.size() != function.getNumArguments() ||
        !llvm::all_of(types, llvm::IsaPred<TypeAttr>)) {
      return op->emitOpError("dist.arguments is the types of a function's arguments, got ")
             << attribute.getValue(); // C4
    }
    auto layouts = op->getAttrOfType<ArrayAttr>(getLayoutsAttrName());
    if (!layouts || layouts.size() != types.size()) {
      return op->emitOpError("dist.arguments stands beside a layout for each of ")
             << types.size() << " arguments"; // C4
    }
    return success();
  }
  if (name != getLayoutsAttrName() && name != getNeedsAttrName()) {
    return op->emitOpError("has an unknown attribute of dialect dist: ") << name;
  }
  auto layouts = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!layouts || !llvm::all_of(layouts, llvm::IsaPred<LayoutAttr>)) {
    return op->emitOpError() << name << " must be an array of #dist.layout"; // C1
  }
  return success();
}

LogicalResult DistDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                    NamedAttribute attribute) {
  if (attribute.getName() != getResidentAttrName()) {
    return op->emitOpError("has an unknown attribute of dialect dist: ") << attribute.getName();
  }
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto layout = dyn_cast<LayoutAttr>(attribute.getValue());
  bool even = layout && !layout.isUnreduced() &&
              llvm::all_of(layout.getDims(),
                           [](DimSplitAttr split) { return split.getKind() == SplitKind::Even; });
  if (!function || !even || !isa<RankedTensorType>(function.getArgumentTypes()[argument])) {
    return op->emitOpError("dist.resident is the layout of a tensor in even parts, got ")
           << attribute.getValue(); // C6
  }
  return verifyLayout(op, layout, function.getArgumentTypes()[argument]); // C6
}
