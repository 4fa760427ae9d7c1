// A trait of ops whose meaning is in attributes: an attribute that the op does not declare is a
// mistake, not a remark.
#ifndef HEADRACE_DIALECTS_INTERFACES_KNOWNATTRIBUTES_H
#define HEADRACE_DIALECTS_INTERFACES_KNOWNATTRIBUTES_H

#include "mlir/IR/OpDefinition.h"

namespace headrace {

/// Fails on a discardable attribute of no dialect. One that carries a dialect's name is verified by
/// that dialect.
mlir::LogicalResult verifyKnownAttributes(mlir::Operation *op);

template <typename ConcreteOp>
class KnownAttributes : public mlir::OpTrait::TraitBase<ConcreteOp, KnownAttributes> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyKnownAttributes(op); }
};

} // namespace headrace

#endif // HEADRACE_DIALECTS_INTERFACES_KNOWNATTRIBUTES_H
