// The checks between optimize and shard.
#include "passes/optimize/verify_optimize.h"
#include "dialects/frame/FrameOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::frame;

namespace headrace::optimize {

static LogicalResult verifyOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([](DistinctOp distinct) -> LogicalResult {
        if (distinct.getType().getNumColumns() == 0) {
          return success();
        }
        return distinct.emitOpError("must be an aggregate after optimize");
      })
      .Case([](JoinOp join) -> LogicalResult {
        if (join.getKind() == JoinKind::Right) {
          return join.emitOpError("must be a left join after optimize");
        }
        if (join.getKind() == JoinKind::Single) {
          return join.emitOpError("must be a left join after optimize");
        }
        if (join.hasNullSafe()) {
          return join.emitOpError("must not have null_safe keys after optimize");
        }
        return join.getNullAware()
                   ? LogicalResult(join.emitOpError("must not be null_aware after optimize"))
                   : success();
      })
      .Case([](AggregateOp aggregate) -> LogicalResult {
        for (MeasureAttr measure : aggregate.getMeasureRange()) {
          if (!ruleOf(measure.getFunction()).combine) {
            return aggregate.emitOpError("has a measure that does not combine after optimize: ")
                   << measure;
          }
        }
        return success();
      })
      .Case([](WindowOp window) -> LogicalResult {
        for (WindowFunctionAttr function : window.getFunctionRange()) {
          if (function.getAggregate() &&
              ruleOf(*function.getAggregate()).result == AggregateResult::kMean) {
            return window.emitOpError("has an average after optimize: ") << function;
          }
        }
        return success();
      })
      .Case([](LimitOp limit) -> LogicalResult {
        if (limit.getInput().getDefiningOp<SortOp>()) {
          return limit.emitOpError("of a sort must be a topk after optimize");
        }
        if (limit.getCount() == uint64_t{0}) {
          return limit.emitOpError("of nothing must be a filter after optimize");
        }
        return success();
      })
      .Case([](TopKOp topk) -> LogicalResult {
        return topk.getCount() == 0
                   ? LogicalResult(topk.emitOpError("of nothing must be a filter after optimize"))
                   : success();
      })
      .Case([](ScalarSubqueryOp subquery) -> LogicalResult {
        return subquery.emitOpError("must be a join after optimize");
      })
      .Default([](Operation *) { return success(); });
}

LogicalResult verifyOptimize(ModuleOp module) {
  return failure(module
                     .walk([](Operation *op) {
                       return failed(verifyOp(op)) ? WalkResult::interrupt()
                                                   : WalkResult::advance();
                     })
                     .wasInterrupted());
}

} // namespace headrace::optimize
