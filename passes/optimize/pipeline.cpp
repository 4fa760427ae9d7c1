// The optimize phase as one pipeline.
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/optimize/Passes.h"

namespace headrace::optimize {
#define GEN_PASS_REGISTRATION
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace::optimize;

void headrace::optimize::buildOptimizePipeline(OpPassManager &manager) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  // What the plans of subqueries are made of.
  functions.addPass(createOptimizeSimplify());
  functions.addPass(createOptimizeLaterals());
  functions.addPass(createOptimizeDomains());
  functions.addPass(createOptimizeRollUp());
  functions.addPass(createOptimizeInline());
  functions.addPass(createOptimizeRenames());
  functions.addPass(createOptimizeNullSafe());
  functions.addPass(createOptimizeOrFactoring());
  functions.addPass(createOptimizePushdown());
  functions.addPass(createOptimizeComputedKeys());
  functions.addPass(createOptimizePruneColumns());
  functions.addPass(createOptimizeLongLists());
  functions.addPass(createOptimizeMarks());
  functions.addPass(createOptimizeSingleJoins());
  functions.addPass(createOptimizeScalarSubqueries());
  // Then ordinary tables.
  functions.addPass(createOptimizeSimplify());
  functions.addPass(createOptimizeWindows());
  functions.addPass(createOptimizeAvg());
  functions.addPass(createOptimizeNullSafe());
  functions.addPass(createOptimizePushdown());
  functions.addPass(createOptimizePruneColumns());
  functions.addPass(createOptimizeJoinOrder());
  functions.addPass(createOptimizeReduceGroups());
  functions.addPass(createOptimizeInline());
  functions.addPass(createOptimizeNullSafe(OptimizeNullSafeOptions{/*asTwoKeys=*/true}));
  functions.addPass(createOptimizePruneColumns());
  functions.addPass(createOptimizeSimplify());
  functions.addPass(createOptimizeSplitFilters());
}

void headrace::optimize::registerOptimizePasses() {
  registerOptimizePhasePasses();
  PassPipelineRegistration<>("optimize", "the optimize phase", buildOptimizePipeline);
}
