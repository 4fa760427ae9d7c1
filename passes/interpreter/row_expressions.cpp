// Expression regions by demand.
#include "passes/interpreter/row_expressions.h"

#include "passes/analysis/region_evaluation.h"

using namespace mlir;
using headrace::analysis::Evaluated;

namespace headrace::interpreter {

llvm::Expected<Row> RowExpressions::evaluate(const Row &arguments) {
  arguments_ = &arguments;
  known_.clear();
  Row result;
  for (mlir::Value value : region_.front().getTerminator()->getOperands()) {
    Evaluated evaluated = evaluate(value);
    if (!programError_.empty()) {
      return programError(programError_);
    }
    if (evaluated.failed()) {
      return dataError(evaluated.error);
    }
    result.push_back(std::move(evaluated.value));
  }
  return result;
}

Evaluated RowExpressions::evaluate(mlir::Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner()->getParent() == &region_) {
    return {(*arguments_)[argument.getArgNumber()], {}};
  }
  if (auto known = known_.find(value); known != known_.end()) {
    return known->second;
  }
  Evaluated result;
  Operation *op = value.getDefiningOp();
  if (!op || op->getParentRegion() != &region_) {
    llvm::Expected<Scalar> outer = outer_(value);
    if (outer) {
      result.value = *outer;
    } else {
      programError_ = result.error = llvm::toString(outer.takeError());
    }
  } else if (auto branches = dyn_cast<frame::CaseOp>(op)) {
    result =
        analysis::evaluateCase(branches, [&](mlir::Value operand) { return evaluate(operand); });
  } else {
    std::vector<Scalar> operands;
    for (mlir::Value operand : op->getOperands()) {
      Evaluated evaluated = evaluate(operand);
      if (evaluated.failed()) {
        return evaluated;
      }
      operands.push_back(std::move(evaluated.value));
      if (analysis::decides(op, operands.back())) {
        break;
      }
    }
    result = analysis::evaluateOp(op, operands);
  }
  known_[value] = result;
  return result;
}

} // namespace headrace::interpreter
