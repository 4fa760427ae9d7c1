// The kind of a diagnostic is its metadata, a number.
#include "dialects/interfaces/DiagnosticKind.h"

using namespace mlir;

InFlightDiagnostic headrace::withKind(InFlightDiagnostic diagnostic, ErrorKind kind) {
  if (Diagnostic *underlying = diagnostic.getUnderlyingDiagnostic()) {
    underlying->getMetadata().push_back(DiagnosticArgument(static_cast<int64_t>(kind)));
  }
  return diagnostic;
}

InFlightDiagnostic headrace::unsupported(InFlightDiagnostic diagnostic) {
  return withKind(std::move(diagnostic), ErrorKind::kUnsupported);
}

headrace::ErrorKind headrace::kindOf(Diagnostic &diagnostic) {
  ArrayRef<DiagnosticArgument> metadata = diagnostic.getMetadata();
  return metadata.empty() ? ErrorKind::kInternal
                          : static_cast<ErrorKind>(metadata.front().getAsInteger());
}
