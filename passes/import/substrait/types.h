// Substrait types and literals as frame types and constants.
#ifndef HEADRACE_PASSES_IMPORT_SUBSTRAIT_TYPES_H
#define HEADRACE_PASSES_IMPORT_SUBSTRAIT_TYPES_H

#include "dialects/frame/FrameTypes.h"
#include "passes/import/Json.h"

namespace headrace::import::substrait {

/// The frame type of a Substrait type, nullable as that one says; null (and an error) if there is
/// none.
mlir::Type importType(mlir::MLIRContext *context, Node type);

/// A literal as the value of a `frame.constant`.
struct ConstantValue {
  mlir::Attribute value;
  mlir::Type type;
};

/// Fails (with an error) for literals without a frame type.
mlir::FailureOr<ConstantValue> importLiteral(mlir::MLIRContext *context, Node literal);

} // namespace headrace::import::substrait

#endif // HEADRACE_PASSES_IMPORT_SUBSTRAIT_TYPES_H
