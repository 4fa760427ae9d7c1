// The check of the trait KnownAttributes.
#include "dialects/interfaces/KnownAttributes.h"

using namespace mlir;

LogicalResult headrace::verifyKnownAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    if (!attribute.getName().getValue().contains('.')) {
      return op->emitOpError("has an unknown attribute: ") << attribute.getName();
    }
  }
  return success();
}
