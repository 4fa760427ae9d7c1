// Aggregates of which every measure has partial states that combine.
#ifndef HEADRACE_PASSES_OPTIMIZE_AVG_H
#define HEADRACE_PASSES_OPTIMIZE_AVG_H

#include "dialects/frame/FrameOps.h"
#include "mlir/IR/Builders.h"

namespace headrace::optimize {

/// In the aggregates below `op`: avg becomes sum and count, a distinct measure two aggregates,
/// equal measures one.
void makeMeasuresCombine(mlir::Operation *op);

/// Makes avg of a window's frames sum and count of the same frames.
void decomposeWindowAverages(frame::WindowOp window);

/// What an average is made of: of all values, or of the different ones.
struct MeanParts {
  frame::AggregateFunction sum, count;
};
MeanParts partsOfMean(frame::AggregateFunction mean);

/// sum / count as `type`; NULL where the count is 0.
mlir::Value createQuotient(mlir::OpBuilder &builder, mlir::Location location, mlir::Value sum,
                           mlir::Value count, mlir::Type type);
/// A count of type `type` from the sum of the counts of its parts: 0 where that is NULL (no part).
mlir::Value createCountOfParts(mlir::OpBuilder &builder, mlir::Location location, mlir::Value sum,
                               mlir::Type type);
/// The type of the sum behind an average of that type: exact numbers are added up exactly. Null: as
/// `frame` has it.
mlir::Type sumTypeOf(mlir::Type input, mlir::Type average);

} // namespace headrace::optimize

#endif // HEADRACE_PASSES_OPTIMIZE_AVG_H
