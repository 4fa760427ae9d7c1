// The attributes of `frame`: measures, sort keys, contracts, and the enums behind them.
#ifndef HEADRACE_DIALECTS_FRAME_FRAMEATTRS_H
#define HEADRACE_DIALECTS_FRAME_FRAMEATTRS_H

#include "dialects/frame/FrameEnums.h"
#include "dialects/frame/FrameTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "runtime/base/quantile.h"

#define GET_ATTRDEF_CLASSES
#include "dialects/frame/FrameAttrs.h.inc"

#endif // HEADRACE_DIALECTS_FRAME_FRAMEATTRS_H
