// Expression regions by demand.
#include "passes/interpreter/row_expressions.h"

#include "passes/analysis/region_evaluation.h"

using namespace mlir;
using headrace::analysis::Evaluated;

namespace headrace::interpreter {

llvm::Expected<Row> RowExpressions::evaluate(const Row &arguments) const {
  std::string programMistake;
  auto outside = [&](mlir::Value value) -> Evaluated {
    llvm::Expected<Scalar> outer = outer_(value);
    if (outer) {
      return {*outer, {}};
    }
    programMistake = llvm::toString(outer.takeError());
    return {{}, programMistake};
  };
  analysis::RegionValues values(region_, arguments, outside);
  Row result;
  for (mlir::Value value : region_.front().getTerminator()->getOperands()) {
    Evaluated evaluated = values.of(value);
    if (!programMistake.empty()) {
      return programError(programMistake);
    }
    if (evaluated.failed()) {
      return dataError(evaluated.error);
    }
    result.push_back(std::move(evaluated.value));
  }
  return result;
}

} // namespace headrace::interpreter
