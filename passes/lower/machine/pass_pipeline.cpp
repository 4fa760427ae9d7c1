// Results of analyses are of one module and are dropped after it.
#include "passes/lower/machine/pass_pipeline.h"

namespace headrace::lower {

PassPipeline::PassPipeline(llvm::TargetMachine &machine, llvm::StringRef passes)
    : builder_(&machine) {
  builder_.registerModuleAnalyses(modules_);
  builder_.registerCGSCCAnalyses(components_);
  builder_.registerFunctionAnalyses(functions_);
  builder_.registerLoopAnalyses(loops_);
  builder_.crossRegisterProxies(loops_, functions_, components_, modules_);
  llvm::cantFail(builder_.parsePassPipeline(passes_, passes));
}

void PassPipeline::run(llvm::Module &module) {
  passes_.run(module, modules_);
  loops_.clear();
  functions_.clear();
  components_.clear();
  modules_.clear();
}

} // namespace headrace::lower
