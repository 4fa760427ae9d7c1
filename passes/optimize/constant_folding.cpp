// Folding of constant expressions inside an expression region.
#include "passes/optimize/constant_folding.h"
#include "dialects/frame/FrameOps.h"
#include "mlir/IR/Builders.h"
#include "passes/analysis/region_evaluation.h"
#include "passes/optimize/cast_comparisons.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::frame;
using namespace headrace::optimize;
using analysis::Scalar;

namespace {

std::optional<Scalar> constantOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? std::optional(analysis::scalarOf(constant.getValue(), value.getType()))
                  : std::nullopt;
}

Value createConstant(OpBuilder &builder, Location location, const Scalar &value, Type type) {
  Attribute literal = analysis::literalOf(value, type);
  return literal ? ConstantOp::create(builder, location, type, literal).getResult() : Value();
}

/// `value` as `type`, which differs in nullability at most.
Value withType(OpBuilder &builder, Location location, Value value, Type type) {
  if (value.getType() == type) {
    return value;
  }
  return isNullable(type) ? CastOp::create(builder, location, type, value).getResult() : Value();
}

Value foldConstantOperands(OpBuilder &builder, Operation *op) {
  SmallVector<Scalar> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Scalar> constant = constantOf(operand);
    if (!constant) {
      return {};
    }
    operands.push_back(*constant);
  }
  analysis::Evaluated result = analysis::evaluateAny(op, operands);
  return result.failed()
             ? Value()
             : createConstant(builder, op->getLoc(), result.value, op->getResult(0).getType());
}

/// AND without its true operands, OR without its false ones; a decisive operand decides.
template <typename LogicOp> Value foldLogic(OpBuilder &builder, LogicOp op, bool decisive) {
  Type type = op.getResult().getType();
  SmallVector<Value> kept;
  for (Value operand : op.getOperands()) {
    std::optional<Scalar> constant = constantOf(operand);
    if (constant && !constant->isNull()) {
      if (constant->isTrue() == decisive) {
        return createConstant(builder, op.getLoc(), Scalar::boolean(decisive), type);
      }
      continue;
    }
    if (!llvm::is_contained(kept, operand)) {
      kept.push_back(operand);
    }
  }
  if (kept.size() == op.getOperands().size()) {
    return {};
  }
  if (kept.empty()) {
    return createConstant(builder, op.getLoc(), Scalar::boolean(!decisive), type);
  }
  Type keptType = withNullability(builder.getI1Type(), nullabilityOf(ValueRange(kept).getTypes()));
  Value result = kept.size() == 1
                     ? kept.front()
                     : LogicOp::create(builder, op.getLoc(), keptType, kept).getResult();
  return withType(builder, op.getLoc(), result, type);
}

std::optional<CompareKind> negated(CompareKind kind) {
  switch (kind) {
  case CompareKind::Eq:
    return CompareKind::Ne;
  case CompareKind::Ne:
    return CompareKind::Eq;
  case CompareKind::Lt:
    return CompareKind::Ge;
  case CompareKind::Le:
    return CompareKind::Gt;
  case CompareKind::Gt:
    return CompareKind::Le;
  case CompareKind::Ge:
    return CompareKind::Lt;
  case CompareKind::IsNotDistinctFrom:
    return std::nullopt;
  }
  llvm_unreachable("unknown comparison");
}

Value foldNot(OpBuilder &builder, NotOp op) {
  if (auto inner = op.getOperand().getDefiningOp<NotOp>()) {
    return inner.getOperand();
  }
  auto compare = op.getOperand().getDefiningOp<CompareOp>();
  std::optional<CompareKind> kind = compare ? negated(compare.getKind()) : std::nullopt;
  if (!kind) {
    return {};
  }
  return CompareOp::create(builder, op.getLoc(), compare.getResult().getType(), *kind,
                           compare.getLhs(), compare.getRhs());
}

/// Branches behind a true condition and under a false one never count.
Value foldCase(OpBuilder &builder, CaseOp op) {
  SmallVector<Value> conditions;
  SmallVector<Value> values;
  Value otherwise = op.getOtherwise();
  for (auto [condition, value] : llvm::zip_equal(op.getConditions(), op.getValues())) {
    std::optional<Scalar> constant = constantOf(condition);
    if (constant && constant->isTrue()) {
      otherwise = value;
      break;
    }
    if (!constant) {
      conditions.push_back(condition);
      values.push_back(value);
    }
  }
  if (conditions.size() == op.getConditions().size()) {
    return {};
  }
  Type type = op.getResult().getType();
  if (conditions.empty()) {
    return otherwise ? withType(builder, op.getLoc(), otherwise, type)
                     : createConstant(builder, op.getLoc(), Scalar::null(), type);
  }
  SmallVector<Type> types(ValueRange(values).getTypes());
  if (otherwise) {
    types.push_back(otherwise.getType());
  }
  Nullability nullability = otherwise ? nullabilityOf(types) : Nullability::kMaybe;
  Value result = CaseOp::create(builder, op.getLoc(), withNullability(type, nullability),
                                conditions, values, otherwise);
  return withType(builder, op.getLoc(), result, type);
}

Value foldCoalesce(OpBuilder &builder, CoalesceOp op) {
  Value first = op.getOperands().front();
  return isNullable(first.getType())
             ? Value()
             : withType(builder, op.getLoc(), first, op.getResult().getType());
}

/// Two values of which none is NULL are the same if they are equal.
Value foldCompare(OpBuilder &builder, CompareOp op) {
  Type lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  if (op.getKind() == CompareKind::IsNotDistinctFrom && !isNullable(lhs) && !isNullable(rhs)) {
    return CompareOp::create(builder, op.getLoc(), op.getType(), CompareKind::Eq, op.getLhs(),
                             op.getRhs());
  }
  return compareUncast(builder, op);
}

Value foldOp(OpBuilder &builder, Operation *op) {
  if (isa<ConstantOp, YieldOp>(op)) {
    return {};
  }
  if (!isa<CaseOp, RunSeedOp>(op)) {
    if (Value value = foldConstantOperands(builder, op)) {
      return value;
    }
  }
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AndOp conjunction) { return foldLogic(builder, conjunction, false); })
      .Case([&](OrOp disjunction) { return foldLogic(builder, disjunction, true); })
      .Case([&](NotOp negation) { return foldNot(builder, negation); })
      .Case([&](CaseOp conditional) { return foldCase(builder, conditional); })
      .Case([&](CoalesceOp coalesce) { return foldCoalesce(builder, coalesce); })
      .Case([&](CompareOp compare) { return foldCompare(builder, compare); })
      .Case([&](InOp in) { return compareUncast(builder, in); })
      .Case([&](CastOp cast) {
        bool same = cast.getOperand().getType() == cast.getResult().getType();
        return same ? cast.getOperand() : Value();
      })
      .Case([&](FieldOp field) {
        auto made = field.getOperand().getDefiningOp<StructOp>();
        return made ? withType(builder, field.getLoc(), made.getOperands()[field.getIndex()],
                               field.getResult().getType())
                    : Value();
      })
      .Case([&](IsNullOp isNull) {
        return isNullable(isNull.getOperand().getType())
                   ? Value()
                   : createConstant(builder, isNull.getLoc(), Scalar::boolean(false),
                                    isNull.getResult().getType());
      })
      .Default([](Operation *) { return Value(); });
}

} // namespace

void headrace::optimize::foldConstants(Region &region) {
  for (Block &block : region) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isa<FlatMapOp, ReduceOp, TryOp>(op)) {
        foldConstants(op.getRegion(0));
      }
      OpBuilder builder(&op);
      Value folded = foldOp(builder, &op);
      if (folded && folded.getType() == op.getResult(0).getType()) {
        op.getResult(0).replaceAllUsesWith(folded);
      }
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>()) {
        op.erase();
      }
    }
  }
}
