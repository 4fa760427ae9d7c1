// Sum, product, minimum and maximum of floats and integers.
#include "passes/lower/code/tensor_combiner.h"

#include <limits>

using namespace mlir;

namespace headrace::lower {

namespace {

using Kind = vector::CombiningKind;

std::optional<Kind> kindOf(Operation *op) {
  if (isa<arith::AddFOp, arith::AddIOp>(op)) {
    return Kind::ADD;
  }
  if (isa<arith::MulFOp, arith::MulIOp>(op)) {
    return Kind::MUL;
  }
  if (isa<arith::MaximumFOp>(op)) {
    return Kind::MAXIMUMF;
  }
  if (isa<arith::MinimumFOp>(op)) {
    return Kind::MINIMUMF;
  }
  if (isa<arith::MaxSIOp>(op)) {
    return Kind::MAXSI;
  }
  if (isa<arith::MinSIOp>(op)) {
    return Kind::MINSI;
  }
  return std::nullopt;
}

TypedAttr identityOf(Kind kind, Type type) {
  Builder builder(type.getContext());
  if (type.isInteger()) {
    int64_t value = 0;
    switch (kind) {
    case Kind::MUL:
      value = 1;
      break;
    case Kind::MAXSI:
      value = std::numeric_limits<int64_t>::min();
      break;
    case Kind::MINSI:
      value = std::numeric_limits<int64_t>::max();
      break;
    default:
      break;
    }
    return builder.getIntegerAttr(type, value);
  }
  double value = 0;
  switch (kind) {
  case Kind::ADD:
    value = -0.0; // so that a sum of -0 stays -0
    break;
  case Kind::MUL:
    value = 1;
    break;
  case Kind::MAXIMUMF:
    value = -std::numeric_limits<double>::infinity();
    break;
  case Kind::MINIMUMF:
    value = std::numeric_limits<double>::infinity();
    break;
  default:
    break;
  }
  return builder.getFloatAttr(type, value);
}

} // namespace

std::optional<Combiner> findCombiner(linalg::GenericOp op, unsigned output) {
  Block *body = op.getBody();
  BlockArgument argument = body->getArgument(op.getNumDpsInputs() + output);
  Operation *last = body->getTerminator()->getOperand(output).getDefiningOp();
  // The argument must have no other use: then partial results over parts of the elements combine to
  // the whole.
  if (!last || last->getBlock() != body || !argument.hasOneUse() ||
      *argument.user_begin() != last || !last->getResult(0).hasOneUse()) {
    return std::nullopt;
  }
  std::optional<Kind> kind = kindOf(last);
  if (!kind) {
    return std::nullopt;
  }
  return Combiner{*kind, identityOf(*kind, argument.getType())};
}

Value Combiner::reduceLanes(CodeBuilder &builder, Value lanes, Value accumulator) const {
  return vector::ReductionOp::create(builder, builder.loc(), kind, lanes, accumulator,
                                     arith::FastMathFlags::reassoc);
}

} // namespace headrace::lower
