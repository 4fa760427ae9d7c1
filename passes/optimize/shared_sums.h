// Sums of one column plus constants, which share its sum and its count.
#ifndef HEADRACE_PASSES_OPTIMIZE_SHARED_SUMS_H
#define HEADRACE_PASSES_OPTIMIZE_SHARED_SUMS_H

#include "dialects/frame/FrameOps.h"
#include "mlir/IR/Builders.h"

#include <map>
#include <string>

namespace headrace::optimize {

/// A column of integers that a project has or makes of one: `column`, of its input, plus `plus`.
struct ShiftedColumn {
  mlir::StringAttr column;
  int64_t plus;
};

/// Of the sums of an aggregate those, by the column that they are of, which are of one column plus
/// different constants. Sums that could overflow before they are added up are not among them.
std::map<std::string, ShiftedColumn> findSharedSums(frame::AggregateOp aggregate);

/// Has the aggregate's project pass these columns on, which may be there already.
void passColumns(mlir::OpBuilder &builder, frame::AggregateOp aggregate,
                 const std::map<std::string, ShiftedColumn> &sums);

/// sum + times * count, of which none overflows where the sum of the parts does not.
mlir::Value createShiftedSum(mlir::OpBuilder &builder, mlir::Location location, mlir::Value sum,
                             mlir::Value count, int64_t times);

} // namespace headrace::optimize

#endif // HEADRACE_PASSES_OPTIMIZE_SHARED_SUMS_H
