// Expressions and keys as a user would write them, as far as they are short.
#ifndef HEADRACE_DIALECTS_FRAME_EXPRESSIONTEXT_H
#define HEADRACE_DIALECTS_FRAME_EXPRESSIONTEXT_H

#include "dialects/frame/FrameOps.h"

#include <string>

namespace headrace::frame {

/// Letters of an expression, about; more than a line has.
inline constexpr size_t kExpressionLettersMax = 240;

/// The values that a region yields; its arguments are `columns`.
std::string expressionText(mlir::Region &region, mlir::ArrayAttr columns);
/// Names with commas between them.
std::string namesText(mlir::ArrayAttr names);
/// Keys of an order.
std::string orderText(mlir::ArrayAttr keys);
/// The rows [offset, offset + count).
std::string rowRangeText(uint64_t offset, std::optional<uint64_t> count);

} // namespace headrace::frame

#endif // HEADRACE_DIALECTS_FRAME_EXPRESSIONTEXT_H
