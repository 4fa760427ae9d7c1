// What each aggregate function is: its result, how partial results combine, what it is of distinct
// values. All phases ask here.
#ifndef HEADRACE_DIALECTS_FRAME_AGGREGATEFUNCTIONS_H
#define HEADRACE_DIALECTS_FRAME_AGGREGATEFUNCTIONS_H

#include "dialects/frame/FrameEnums.h"

namespace headrace::frame {

/// What a result is, by the values that it is made of. Of no values all but counts are NULL.
enum class AggregateResult : uint8_t {
  kCount,   ///< how many there are: an i64, never NULL
  kOne,     ///< one of them
  kSum,     ///< of a wider type; `avg` divides it
  kMean,    ///< of a sum and a count
  kBits,    ///< of the bits of integers
  kProduct, ///< of doubles
};

struct AggregateRule {
  AggregateFunction function;
  AggregateResult result;
  /// The function that combines partial results; nothing if they do not combine: then others stand
  /// for it before there are partial results.
  std::optional<AggregateFunction> combine;
  /// The function that it is of different values; itself if it takes every value.
  AggregateFunction ofAll;

  bool isDistinct() const { return ofAll != function; }
};

const AggregateRule &ruleOf(AggregateFunction function);

enum class Grouping { kGlobal, kByKeys };

/// The type of a measure as SQL gives it (see `frame.aggregate`); `input` is null for count_star.
/// Null if the function does not apply to the type.
mlir::Type measureType(AggregateFunction function, mlir::Type input, Grouping grouping,
                       mlir::MLIRContext *context);

} // namespace headrace::frame

#endif // HEADRACE_DIALECTS_FRAME_AGGREGATEFUNCTIONS_H
