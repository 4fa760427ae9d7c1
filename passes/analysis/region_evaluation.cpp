// See region_evaluation.h.
#include "passes/analysis/region_evaluation.h"

#include "runtime/base/list_values.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::analysis;
using namespace headrace::frame;

namespace {

/// Whether the operands after this one of AND, OR and COALESCE are not asked for.
bool decides(Operation *op, const Scalar &operand) {
  if (isa<CoalesceOp>(op)) {
    return !operand.isNull();
  }
  return (isa<AndOp>(op) && !operand.isNull() && !operand.isTrue()) ||
         (isa<OrOp>(op) && operand.isTrue());
}

/// What the region yields.
Evaluated evaluateBody(Region &body, ArrayRef<Scalar> arguments) {
  return RegionValues(body, arguments).of(body.front().getTerminator()->getOperand(0));
}

/// An element, its place and the captures.
SmallVector<Scalar> argumentsAt(const Scalar &list, Type type, uint32_t place,
                                ArrayRef<Scalar> captures) {
  Type element = cast<ListType>(dropNullable(type)).getElementType();
  SmallVector<Scalar> arguments{elementOf(list, place, element), Scalar{Int128(place)}};
  llvm::append_range(arguments, captures);
  return arguments;
}

/// Of `frame.flat_map` or `frame.reduce`.
Evaluated evaluateLambda(Operation *op, ArrayRef<Scalar> operands) {
  const Scalar &list = operands.front();
  if (list.isNull()) {
    return {Scalar::null(), {}};
  }
  Type type = op->getOperand(0).getType();
  const uint32_t size = ListView(list.text()).size();
  auto reduce = dyn_cast<ReduceOp>(op);
  SmallVector<Scalar> lists;
  Evaluated result{reduce ? operands[1] : Scalar::null(), {}};
  for (auto place = static_cast<uint64_t>(reduce ? reduce.getFirst() : 1); place <= size; ++place) {
    SmallVector<Scalar> arguments =
        argumentsAt(list, type, static_cast<uint32_t>(place), operands.drop_front(reduce ? 2 : 1));
    if (reduce) {
      arguments.insert(arguments.begin(), result.value);
    }
    result = evaluateBody(op->getRegion(0), arguments);
    if (result.failed()) {
      return result;
    }
    if (!reduce) {
      lists.push_back(result.value);
    }
  }
  return reduce ? result : Evaluated{joinedLists(lists), {}};
}

Evaluated evaluateTry(TryOp op, ArrayRef<Scalar> captures) {
  Evaluated value = evaluateBody(op.getBody(), captures);
  return value.failed() && !value.isTooLarge ? Evaluated{Scalar::null(), {}} : value;
}

} // namespace

Evaluated RegionValues::of(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner()->getParent() == &region_) {
    return {arguments_[argument.getArgNumber()], {}};
  }
  if (auto known = known_.find(value); known != known_.end()) {
    return known->second;
  }
  Operation *op = value.getDefiningOp();
  Evaluated result = op && op->getParentRegion() == &region_ ? compute(op) : outer_(value);
  known_[value] = result;
  return result;
}

Evaluated RegionValues::compute(Operation *op) {
  if (auto branches = dyn_cast<CaseOp>(op)) {
    return evaluateCase(branches, [&](Value operand) { return of(operand); });
  }
  SmallVector<Scalar> operands;
  for (Value operand : op->getOperands()) {
    Evaluated evaluated = of(operand);
    if (evaluated.failed()) {
      return evaluated;
    }
    operands.push_back(std::move(evaluated.value));
    if (decides(op, operands.back())) {
      break;
    }
  }
  return evaluateAny(op, operands);
}

Evaluated headrace::analysis::evaluateAny(Operation *op, ArrayRef<Scalar> operands) {
  if (isa<FlatMapOp, ReduceOp>(op)) {
    return evaluateLambda(op, operands);
  }
  if (auto tried = dyn_cast<TryOp>(op)) {
    return evaluateTry(tried, operands);
  }
  return evaluateOp(op, operands);
}
