// Where what can fail does fail: all ops of an expression are evaluated for all rows, and one that
// cannot have a value raises only for rows that ask for it. A CASE asks for a condition where no
// earlier one was true, and for a value where its condition decides; AND, OR and COALESCE ask for
// an operand where the earlier ones do not decide.
//
// What was evaluated of a value that a row does not have is of no matter: only what the row does
// not ask for depends on it.
#include "passes/form/expressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace headrace::form {

void ExpressionTranslator::failWhere(Value condition, pipe::DataError error) {
  if (op_) {
    failures_.push_back({op_, loc_, condition, error});
  } else if (raised_) {
    raised_->push_back({nullptr, loc_, condition, error});
  } else {
    pipe::FailIfOp::create(b_, loc_, condition, error);
  }
}

/// The rows that ask for a value, as an i1: all, if there is none.
struct ExpressionTranslator::Demand {
  bool all = false;
  Value rows; ///< null and not `all`: none
};

void ExpressionTranslator::ask(Demand &demand, Value rows) {
  if (!rows) {
    demand.all = true;
  } else if (!demand.all) {
    demand.rows = demand.rows ? Value(arith::OrIOp::create(b_, loc_, demand.rows, rows)) : rows;
  }
}

void ExpressionTranslator::askOperands(Operation *op, const Demand &demand,
                                       llvm::function_ref<Demand *(Value)> demandOf) {
  // Rows still undecided before the operand.
  Value open = demand.all ? Value() : demand.rows;
  auto askFor = [&](Value operand, Value rows) {
    if (Demand *asked = demandOf(operand)) {
      ask(*asked, rows);
    }
  };
  auto goOnWhere = [&](Value undecided) { open = andValues(open, undecided); };
  if (auto choice = dyn_cast<frame::CaseOp>(op)) {
    for (auto [condition, value] : llvm::zip_equal(choice.getConditions(), choice.getValues())) {
      askFor(condition, open);
      Value holds = isTrue(scalars_.lookup(condition));
      askFor(value, andValues(open, holds));
      goOnWhere(notValue(holds));
    }
    if (choice.getOtherwise()) {
      askFor(choice.getOtherwise(), open);
    }
    return;
  }
  for (Value operand : op->getOperands()) {
    askFor(operand, open);
    Scalar scalar = scalars_.lookup(operand);
    if (isa<frame::AndOp>(op)) {
      goOnWhere(notValue(andValues(notValue(scalar.value), scalar.valid)));
    } else if (isa<frame::OrOp>(op)) {
      goOnWhere(notValue(isTrue(scalar)));
    } else if (isa<frame::CoalesceOp>(op)) {
      goOnWhere(scalar.valid ? notValue(scalar.valid) : i1(false));
    }
  }
}

void ExpressionTranslator::raiseFailures(Block &block) {
  if (failures_.empty()) {
    return;
  }
  // The ops that can fail, and what is made of them: whose demand matters.
  DenseMap<Operation *, Demand> demands;
  for (const Failure &failure : failures_) {
    demands.try_emplace(failure.op);
  }
  auto matters = [&](Value value) {
    Operation *producer = value.getDefiningOp();
    return producer && demands.contains(producer);
  };
  for (Operation &op : block.without_terminator()) {
    if (llvm::any_of(op.getOperands(), matters)) {
      demands.try_emplace(&op);
    }
  }
  auto demandOf = [&](Value value) -> Demand * {
    return matters(value) ? &demands.find(value.getDefiningOp())->second : nullptr;
  };
  for (Value value : block.getTerminator()->getOperands()) {
    if (Demand *asked = demandOf(value)) {
      asked->all = true;
    }
  }
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    auto found = demands.find(&op);
    if (found != demands.end() && (found->second.all || found->second.rows)) {
      loc_ = op.getLoc();
      askOperands(&op, found->second, demandOf);
    }
  }
  for (const Failure &failure : failures_) {
    const Demand &demand = demands.find(failure.op)->second;
    if (demand.all || demand.rows) {
      loc_ = failure.location;
      failWhere(demand.all ? failure.condition : andValues(failure.condition, demand.rows),
                failure.error);
    }
  }
  failures_.clear();
}

} // namespace headrace::form
