// Commit points: where a program that runs for long is cut, so that the loss of a rank costs the
// time since the last cut and not all of it.
#ifndef HEADRACE_PASSES_DRIVER_COMMIT_POINTS_H
#define HEADRACE_PASSES_DRIVER_COMMIT_POINTS_H

#include "passes/driver/compile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace headrace::driver {

/// One of the programs that a program is cut into. Behind `optimize`, as the program was.
struct CommittedPart {
  /// What the parts behind it call its rows, which they scan. Empty: the last, whose rows are the
  /// program's.
  std::string table;
  mlir::OwningOpRef<mlir::ModuleOp> program;
};

/// The parts of a query behind `optimize`, in the order in which they run. A cut is made where the
/// rows that are kept are few enough: for as long as the time that losses are expected to cost is
/// more with one part than with two and the writing between them.
///
/// One part, if no cut is worth it, or if the query draws random numbers (no two runs have the
/// same). `lossesPerSecond`: of all ranks together. Emits errors on the module and fails where
/// layouts cannot be chosen.
mlir::FailureOr<std::vector<CommittedPart>>
cutAtCommitPoints(mlir::ModuleOp module, const CompileOptions &options, double lossesPerSecond);

} // namespace headrace::driver

#endif // HEADRACE_PASSES_DRIVER_COMMIT_POINTS_H
