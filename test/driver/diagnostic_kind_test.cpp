// The kind of an error: as it was given, and a broken assumption where none was.
#include "dialects/interfaces/DiagnosticKind.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>
#include <vector>

namespace headrace {
namespace {

TEST(DiagnosticKind, is_that_which_was_given) {
  mlir::MLIRContext context;
  std::vector<ErrorKind> kinds;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) { kinds.push_back(kindOf(diagnostic)); });
  mlir::Location place = mlir::UnknownLoc::get(&context);
  (void)(unsupported(mlir::emitError(place, "no code for: ")) << 7);
  withKind(mlir::emitError(place, "no such mesh"), ErrorKind::kUser).report();
  mlir::emitError(place, "'pipe.state' op C1: duplicate field").report();
  EXPECT_EQ(kinds, (std::vector<ErrorKind>{ErrorKind::kUnsupported, ErrorKind::kUser,
                                           ErrorKind::kInternal}));
}

} // namespace
} // namespace headrace
