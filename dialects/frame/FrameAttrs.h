// The attributes of `frame`: measures, sort keys, contracts, and the enums behind them.
#ifndef HEADRACE_DIALECTS_FRAME_FRAMEATTRS_H
#define HEADRACE_DIALECTS_FRAME_FRAMEATTRS_H

#include "dialects/frame/FrameTypes.h"
#include "mlir/IR/BuiltinAttributes.h"

#include "dialects/frame/FrameEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/frame/FrameAttrs.h.inc"

namespace headrace::frame {

enum class Grouping { kGlobal, kByKeys };

/// The type of a measure as SQL gives it (see `frame.aggregate`); `input` is null for count_star.
/// Null if the function does not apply to the type.
mlir::Type measureType(AggregateFunction function, mlir::Type input, Grouping grouping,
                       mlir::MLIRContext *context);

/// The function that combines two partial states of `function`: addition for counts, the function
/// itself for sum, min, max. Nothing for avg and count_distinct, whose results do not combine.
std::optional<AggregateFunction> combineFunction(AggregateFunction function);

} // namespace headrace::frame

#endif // HEADRACE_DIALECTS_FRAME_FRAMEATTRS_H
