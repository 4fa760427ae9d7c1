// DiagnosticText: what MLIR reports, as the text of an error.
#pragma once

#include "dialects/interfaces/DiagnosticKind.h"
#include "dialects/interfaces/SourcePlace.h"
#include "passes/analysis/operator_location.h"
#include "passes/driver/compile_options.h"

#include "mlir/IR/Diagnostics.h"

namespace headrace::driver {

/// Collects errors with their places while it lives; the first one says of which kind they are.
class DiagnosticText {
public:
  DiagnosticText(mlir::MLIRContext *context, CompileError &error)
      : handler_(context, [&error](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
            std::string &text = error.message;
            if (text.empty()) {
              error.kind = kindOf(diagnostic);
            } else {
              text += "\n";
            }
            text += diagnostic.str();
            if (std::string place =
                    sourcePlace(analysis::withoutOperator(diagnostic.getLocation()));
                !place.empty()) {
              text += " (at " + place + ")";
            }
          }
          return mlir::success();
        }) {}

private:
  mlir::ScopedDiagnosticHandler handler_;
};

} // namespace headrace::driver
