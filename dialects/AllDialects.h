// The dialects that a headrace tool must know: our own and those of upstream that programs contain.
#ifndef HEADRACE_DIALECTS_ALLDIALECTS_H
#define HEADRACE_DIALECTS_ALLDIALECTS_H

#include "mlir/IR/DialectRegistry.h"

namespace headrace {

/// Adds every dialect and external model that text of any level may contain to `registry`.
void registerAllDialects(mlir::DialectRegistry &registry);

} // namespace headrace

#endif // HEADRACE_DIALECTS_ALLDIALECTS_H
