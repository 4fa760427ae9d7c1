// Between two steps of rows to their ranks there may be groups that are combined, and nothing else.
#include "passes/shard/on_their_way.h"

#include "dialects/frame/FrameOps.h"

using namespace mlir;
using namespace headrace::dist;

namespace headrace::shard {
namespace {

bool combinesGroups(Operation *op) {
  auto relation = dyn_cast_or_null<frame::RelationalOpInterface>(op);
  return relation && relation.getState().kind == frame::RowState::Kind::kGroups;
}

bool isNextStep(ExchangeOp exchange, ExchangeOp next) {
  bool apart = llvm::none_of(
      next.getAxes(), [&](Attribute axis) { return llvm::is_contained(exchange.getAxes(), axis); });
  return apart && exchange.getTowardAttr() == next.getTowardAttr() &&
         exchange.getKeysAttr() == next.getKeysAttr() &&
         exchange.getCycleAttr() == next.getCycleAttr();
}

ExchangeOp stepBefore(ExchangeOp exchange) {
  Operation *op = exchange.getInput().getDefiningOp();
  if (combinesGroups(op)) {
    op = op->getOperand(0).getDefiningOp();
  }
  auto before = dyn_cast_or_null<ExchangeOp>(op);
  return before && before.getToward() && isNextStep(before, exchange) ? before : ExchangeOp();
}

} // namespace

bool haveArrived(ExchangeOp exchange) {
  if (!exchange.getToward()) {
    return true;
  }
  size_t axes = 0;
  for (ExchangeOp step = exchange; step; step = stepBefore(step)) {
    axes += step.getAxes().size();
  }
  return axes == exchange.getToward()->size();
}

bool goOn(ExchangeOp exchange) {
  auto goesOn = [&](Operation *user) {
    auto next = dyn_cast<ExchangeOp>(user);
    return next && next.getToward() && isNextStep(exchange, next);
  };
  return llvm::all_of(exchange->getUsers(), [&](Operation *user) {
    return goesOn(user) || (combinesGroups(user) && llvm::all_of(user->getUsers(), goesOn));
  });
}

} // namespace headrace::shard
