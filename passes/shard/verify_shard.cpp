// The pass verify-shard, the phase's pipeline, and the registration of its passes.
#include "dialects/dist/DistDialect.h"
#include "dialects/frame/FrameOps.h"
#include "dialects/interfaces/TensorGather.h"
#include "dialects/interfaces/TensorSlice.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/shard/on_their_way.h"
#include "passes/shard/passes.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

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

LogicalResult verifyDivided(Operation *op, Value tensor, uint64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.isDynamicDim(static_cast<unsigned>(dim))) {
    return success();
  }
  return op->emitOpError("divides a dimension that is not ? after shard: ")
         << dim << " of " << type;
}

/// One rank's part of a dimension has a size that only the rank knows.
LogicalResult verifyParts(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<SliceOp, ReduceScatterOp>(
          [](auto part) { return verifyDivided(part, part.getResult(), part.getDim()); })
      .Case(
          [](AllGatherOp whole) { return verifyDivided(whole, whole.getInput(), whole.getDim()); })
      .Case([](AllToAllOp both) {
        return failure(failed(verifyDivided(both, both.getResult(), both.getSplit())) ||
                       failed(verifyDivided(both, both.getInput(), both.getConcat())));
      })
      .Case([](tensor::ExtractSliceOp slice) { return verifyTensorSlice(slice); })
      .Case([](tensor::GatherOp gather) { return verifyTensorGather(gather); })
      .Default([](Operation *) { return success(); });
}

/// Walks from final aggregates through what moves rows to the partial ones that they finish.
class StageVerifier {
public:
  LogicalResult run(ModuleOp module) {
    WalkResult finals = module.walk([&](frame::AggregateOp op) {
      return op.getStage() == frame::AggregateStage::Final &&
                     failed(verifySource(op, op.getInput()))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (finals.wasInterrupted()) {
      return failure();
    }
    WalkResult partials = module.walk([&](frame::AggregateOp op) -> WalkResult {
      if (op.getStage() == frame::AggregateStage::Partial && !finished_.contains(op)) {
        return op.emitOpError("of stage partial is finished by no aggregate of stage final");
      }
      return WalkResult::advance();
    });
    return failure(partials.wasInterrupted());
  }

private:
  LogicalResult verifySource(frame::AggregateOp final, Value rows) {
    Operation *op = rows.getDefiningOp();
    if (isa_and_present<ExchangeOp, KeepOp>(op)) {
      return verifySource(final, op->getOperand(0));
    }
    if (auto choose = dyn_cast_or_null<ChooseOp>(op)) {
      for (Region &way : choose->getRegions()) {
        if (failed(verifySource(final, way.front().getTerminator()->getOperand(0)))) {
          return failure();
        }
      }
      return success();
    }
    auto partial = dyn_cast_or_null<frame::AggregateOp>(op);
    if (partial && partial.getStage() == frame::AggregateStage::Final &&
        finishes(final, partial)) { // of some of the parts, on their way
      return verifySource(final, partial.getInput());
    }
    if (!partial || partial.getStage() != frame::AggregateStage::Partial ||
        !finishes(final, partial)) {
      return final.emitOpError("of stage final needs the rows of one of stage partial with the "
                               "same keys and measures");
    }
    finished_.insert(partial);
    return success();
  }

  /// Whether the measures are those of the partial one, each on its own column; counts of rows are
  /// counts by then.
  static bool finishes(frame::AggregateOp final, frame::AggregateOp partial) {
    if (final.getKeys() != partial.getKeys() ||
        final.getMeasures().size() != partial.getMeasures().size()) {
      return false;
    }
    for (auto [last, first] : llvm::zip_equal(final.getMeasureRange(), partial.getMeasureRange())) {
      bool countsRows = first.getFunction() == frame::AggregateFunction::CountStar;
      auto function = countsRows ? frame::AggregateFunction::Count : first.getFunction();
      if (last.getFunction() != function || last.getInput() != first.getName()) {
        return false;
      }
    }
    return true;
  }

  llvm::SmallPtrSet<Operation *, 8> finished_;
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
                     op->hasAttr(DistDialect::getLevelsAttrName()) ||
                     op->hasAttr(DistDialect::getChooseAttrName()) ||
                     (op->hasAttr(DistDialect::getLayoutsAttrName()) && !isa<func::FuncOp>(op));
    if (annotated) {
      return op->emitOpError("must not carry layouts after shard");
    }
    if (auto exchange = dyn_cast<ExchangeOp>(op);
        exchange && !haveArrived(exchange) && !goOn(exchange)) {
      return exchange.emitOpError("leaves rows on their way: no exchange brings them further");
    }
    if (isa<DistDialect>(op->getDialect()) && !mesh) {
      return op->emitOpError("needs topo.mesh on the module");
    }
    return verifyParts(op);
  });
  return failure(result.wasInterrupted() || failed(StageVerifier().run(module)));
}

void addShardLoweringPasses(OpPassManager &manager) {
  manager.addPass(createShardInsertReshardsPass());
  manager.addPass(createShardExpandChoicesPass());
  manager.addPass(createShardLowerReshardsPass());
  manager.addPass(createShardCarryWindowsPass());
  manager.addPass(createShardPairExchangesPass());
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
