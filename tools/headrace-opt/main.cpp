// headrace-opt: parses, verifies, transforms and prints programs of every level.
#include "dialects/AllDialects.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/analysis/print_estimates.h"
#include "passes/shard/passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  headrace::registerAllDialects(registry);
  mlir::registerTransformsPasses();
  headrace::analysis::registerAnalysisPasses();
  headrace::shard::registerShardPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "headrace compiler driver\n", registry));
}
