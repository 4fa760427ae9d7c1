// What kind of error a diagnostic is: who has to do something about it.
#ifndef HEADRACE_DIALECTS_INTERFACES_DIAGNOSTICKIND_H
#define HEADRACE_DIALECTS_INTERFACES_DIAGNOSTICKIND_H

#include "mlir/IR/Diagnostics.h"
#include "runtime/base/status.h"

namespace headrace {

/// The diagnostic with a kind, for `return withKind(op.emitError("…"), kind) << …`.
mlir::InFlightDiagnostic withKind(mlir::InFlightDiagnostic diagnostic, ErrorKind kind);

/// Of a valid program that headrace cannot run.
mlir::InFlightDiagnostic unsupported(mlir::InFlightDiagnostic diagnostic);

/// The kind that a diagnostic was given; without one it is a broken assumption (kInternal).
ErrorKind kindOf(mlir::Diagnostic &diagnostic);

} // namespace headrace

#endif // HEADRACE_DIALECTS_INTERFACES_DIAGNOSTICKIND_H
