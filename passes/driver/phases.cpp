// Pass managers of the phases.
#include "passes/driver/phases.h"

#include "passes/driver/compile.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace headrace::driver {

LogicalResult runOptimize(ModuleOp module) { return success(); }

LogicalResult runShard(ModuleOp module, const CompileOptions &options) { return success(); }

} // namespace headrace::driver
