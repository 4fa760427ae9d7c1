// The pass verify-shard, the phase's pipeline, and the registration of its passes.
#include "dialects/dist/DistDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/shard/passes.h"

using namespace mlir;
using namespace headrace::dist;

namespace headrace::shard {

#define GEN_PASS_DEF_VERIFYSHARDPASS
#include "passes/shard/Passes.h.inc"

namespace {

struct VerifyShard : impl::VerifyShardPassBase<VerifyShard> {
  void runOnOperation() override {
    if (failed(verifyShard(getOperation()))) {
      signalPassFailure();
    }
  }
};

/// Options of shard-solve, for the pipeline's text form.
struct ShardPipelineOptions : PassPipelineOptions<ShardPipelineOptions> {
  Option<std::string> mesh{*this, "mesh", llvm::cl::desc("as of shard-solve")};
  Option<std::string> topology{*this, "topology", llvm::cl::desc("as of shard-solve")};
  Option<double> memory{*this, "memory", llvm::cl::desc("as of shard-solve"), llvm::cl::init(0)};
  Option<uint64_t> seed{*this, "seed", llvm::cl::desc("as of shard-solve"), llvm::cl::init(0)};
  Option<std::string> explain{*this, "explain", llvm::cl::desc("as of shard-solve")};
};

} // namespace

LogicalResult verifyShard(ModuleOp module) {
  topo::MeshAttr mesh = topo::meshOf(module);
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    if (isa<ReshardOp, ConstrainOp>(op)) {
      return op->emitOpError("must be gone after shard");
    }
    bool annotated = op->hasAttr(DistDialect::getNeedsAttrName()) ||
                     op->hasAttr(DistDialect::getChooseAttrName()) ||
                     (op->hasAttr(DistDialect::getLayoutsAttrName()) && !isa<func::FuncOp>(op));
    if (annotated) {
      return op->emitOpError("must not carry layouts after shard");
    }
    if (isa<DistDialect>(op->getDialect()) && !mesh) {
      return op->emitOpError("needs topo.mesh on the module");
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void addShardLoweringPasses(OpPassManager &manager) {
  manager.addPass(createShardInsertReshardsPass());
  manager.addPass(createShardLowerReshardsPass());
  manager.addPass(createShardExpandChoicesPass());
  manager.addPass(createDistLocalizePass());
  manager.addPass(createVerifyShardPass());
}

void registerShardPasses() {
  registerShardPhasePasses();
  PassPipelineRegistration<ShardPipelineOptions>(
      "shard", "layouts by cost, then one program for every rank",
      [](OpPassManager &manager, const ShardPipelineOptions &options) {
        ShardSolvePassOptions solveOptions;
        solveOptions.mesh = options.mesh;
        solveOptions.topology = options.topology;
        solveOptions.memory = options.memory;
        solveOptions.seed = options.seed;
        solveOptions.explain = options.explain;
        manager.addPass(createShardSolvePass(solveOptions));
        addShardLoweringPasses(manager);
      });
}

} // namespace headrace::shard
