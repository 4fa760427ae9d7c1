// Checks that several ops of `frame` share.
#include "dialects/frame/FrameVerify.h"

using namespace mlir;
using namespace headrace::frame;

LogicalResult headrace::frame::verifyUnique(Operation *op, ArrayAttr names, StringRef what) {
  llvm::SmallPtrSet<Attribute, 8> seen;
  for (Attribute name : names) {
    if (!seen.insert(name).second) {
      return op->emitOpError("lists a ") << what << " twice: " << name;
    }
  }
  return success();
}

LogicalResult headrace::frame::verifyColumnArguments(Operation *op, Region &region,
                                                     ArrayAttr columns,
                                                     ArrayRef<TableType> tables) {
  if (region.getNumArguments() != columns.size()) {
    return op->emitOpError("needs one block argument per used column, got ")
           << region.getNumArguments() << " for " << columns.size();
  }
  for (auto [argument, name] :
       llvm::zip_equal(region.getArguments(), columns.getAsRange<StringAttr>())) {
    Type type;
    for (TableType table : tables) {
      if (!type) {
        type = table.getColumnType(name);
      }
    }
    if (!type) {
      return op->emitOpError("uses a column that is not in the input: ") << name;
    }
    if (argument.getType() != type) {
      return op->emitOpError("block argument of column ")
             << name << " must be " << type << ", got " << argument.getType();
    }
  }
  return success();
}

LogicalResult headrace::frame::verifyPredicate(Operation *op, Region &region) {
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  if (!yield || yield.getValues().size() != 1 || !isBoolean(yield.getValues().front().getType())) {
    return op->emitOpError("the predicate must yield one i1 or nullable i1");
  }
  return success();
}

void headrace::frame::nameColumnArguments(Region &region, ArrayAttr columns,
                                          OpAsmSetValueNameFn setName) {
  for (auto [argument, name] : llvm::zip(region.getArguments(), columns.getAsRange<StringAttr>())) {
    setName(argument, name.getValue());
  }
}
