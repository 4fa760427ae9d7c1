// The dialect `frame`: logical tables in the global view (L1).
#ifndef HEADRACE_DIALECTS_FRAME_FRAMEDIALECT_H
#define HEADRACE_DIALECTS_FRAME_FRAMEDIALECT_H

#include "mlir/IR/Dialect.h"

#include "dialects/frame/FrameDialect.h.inc"

namespace headrace::frame {

/// Makes `frame` known to the registry.
void registerFrameDialect(mlir::DialectRegistry &registry);

} // namespace headrace::frame

#endif // HEADRACE_DIALECTS_FRAME_FRAMEDIALECT_H
