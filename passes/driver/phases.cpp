// Pass managers of the phases.
#include "passes/driver/phases.h"

#include "passes/driver/compile.h"
#include "passes/optimize/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace headrace::driver {

LogicalResult runOptimize(ModuleOp module) {
  PassManager manager(module.getContext());
  optimize::buildOptimizePipeline(manager);
  return manager.run(module);
}

LogicalResult runShard(ModuleOp module, const CompileOptions &options) { return success(); }

} // namespace headrace::driver
