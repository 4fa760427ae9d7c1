// Pass managers of the phases between import and schedule.
#include "passes/driver/phases.h"

#include "dialects/frame/FrameDialect.h"
#include "dialects/interfaces/DiagnosticKind.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/topo/TopoDialect.h"
#include "model/plan/json.h"
#include "passes/analysis/explanation.h"
#include "passes/driver/compile_options.h"
#include "passes/driver/default_mesh.h"
#include "passes/form/passes.h"
#include "passes/form/verify_form.h"
#include "passes/import/verify_import.h"
#include "passes/optimize/Passes.h"
#include "passes/optimize/verify_optimize.h"
#include "passes/schedule/schedule.h"
#include "passes/schedule/verify_schedule.h"
#include "passes/shard/passes.h"
#include "passes/shard/record_operators.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace headrace::driver {

func::FuncOp programFunction(ModuleOp module) {
  if (auto main = module.lookupSymbol<func::FuncOp>("main")) {
    return main;
  }
  auto functions = module.getOps<func::FuncOp>();
  return llvm::hasSingleElement(functions) ? *functions.begin() : func::FuncOp();
}

LogicalResult runOptimize(ModuleOp module) {
  PassManager manager(module.getContext());
  optimize::buildOptimizePipeline(manager);
  return failure(failed(import::verifyImport(module)) || failed(manager.run(module)) ||
                 failed(optimize::verifyOptimize(module)));
}

/// The mesh that the layouts are over is that of the ranks which run the program.
static LogicalResult verifyRanks(ModuleOp module, const CompileOptions &options) {
  topo::MeshAttr mesh = topo::meshOf(module);
  if (!mesh) {
    return withKind(module.emitError("needs topo.mesh behind the phase shard"), ErrorKind::kUser);
  }
  if (int64_t ranks = mesh.getRankCount(); ranks != options.ranks) {
    return withKind(module.emitError("the mesh "), ErrorKind::kUser)
           << mesh.toText() << " has " << ranks << " ranks, the program has " << options.ranks;
  }
  return success();
}

static FailureOr<shard::ShardOptions> shardingOf(ModuleOp module, const CompileOptions &options) {
  shard::ShardOptions sharding;
  Expected<std::string> axes = options.mesh.empty() ? defaultMesh(programFunction(module), options)
                                                    : Expected<std::string>(options.mesh);
  if (!axes.ok()) {
    return withKind(module.emitError(axes.status().toString()), axes.status().kind());
  }
  sharding.mesh = *axes;
  sharding.topology = options.topology;
  sharding.memoryBytes =
      static_cast<double>(options.memoryBytes) * static_cast<double>(options.ranks);
  sharding.seed = options.layoutSeed < 0 ? 0 : static_cast<uint64_t>(options.layoutSeed) + 1;
  sharding.alternative = options.layoutAlternative;
  return sharding;
}

FailureOr<double> predictedSeconds(ModuleOp module, const CompileOptions &options) {
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<shard::ShardOptions> sharding = shardingOf(*copy, options);
  shard::ShardReport report;
  if (failed(sharding) || failed(shard::solveLayouts(*copy, *sharding, &report))) {
    return failure();
  }
  return report.totalSeconds;
}

LogicalResult runShard(ModuleOp module, const CompileOptions &options) {
  FailureOr<shard::ShardOptions> found = shardingOf(module, options);
  if (failed(found)) {
    return failure();
  }
  shard::ShardOptions &sharding = *found;
  sharding.explain = shard::ShardOptions::Explain::kYes;
  shard::ShardReport report;
  if (failed(shard::solveLayouts(module, sharding, &report))) {
    return failure();
  }
  if (failed(verifyRanks(module, options))) {
    return failure();
  }
  MLIRContext *context = module.getContext();
  PassManager manager(context);
  shard::addShardLoweringPasses(manager);
  if (failed(manager.run(module))) {
    return failure();
  }
  plan::Explanation explanation = shard::recordOperators(module, report);
  explanation.note = options.note;
  module->setAttr(analysis::kExplanationAttr,
                  StringAttr::get(context, plan::explanationJson(explanation)));
  return success();
}

LogicalResult runForm(ModuleOp module, const CompileOptions &options) {
  PassManager manager(module.getContext());
  manager.addPass(form::createFormProgram());
  manager.addPass(form::createHoistInvariants());
  form::DivideStatesOptions dividing;
  dividing.memoryBytes = options.memoryBytes;
  manager.addPass(form::createDivideStates(dividing));
  return failure(failed(manager.run(module)) || failed(form::verifyForm(module)));
}

LogicalResult runSchedule(ModuleOp module, const CompileOptions &options) {
  PassManager manager(module.getContext());
  schedule::ScheduleTasksOptions scheduling;
  scheduling.chunkRows = options.chunkRows;
  scheduling.memoryBytes = options.memoryBytes;
  manager.addPass(schedule::createScheduleTasks(scheduling));
  schedule::OrderTasksOptions ordering;
  ordering.topology = options.topology;
  ordering.seed = options.layoutSeed < 0 ? 0 : static_cast<uint64_t>(options.layoutSeed) + 1;
  manager.addPass(schedule::createOrderTasks(ordering));
  manager.addPass(schedule::createPlaceTasks());
  return failure(failed(manager.run(module)) || failed(schedule::verifySchedule(module)));
}

LogicalResult verifyAfter(Phase phase, ModuleOp module, const CompileOptions &options) {
  switch (phase) {
  case Phase::kImport:
    return import::verifyImport(module);
  case Phase::kOptimize:
    return failure(failed(import::verifyImport(module)) ||
                   failed(optimize::verifyOptimize(module)));
  case Phase::kShard:
    return failure(failed(verifyRanks(module, options)) || failed(shard::verifyShard(module)));
  case Phase::kForm: // which leaves the collectives of tensors as they are
    return failure(failed(verifyAfter(Phase::kShard, module, options)) ||
                   failed(form::verifyForm(module)));
  case Phase::kSchedule:
    return failure(failed(verifyAfter(Phase::kForm, module, options)) ||
                   failed(schedule::verifySchedule(module)));
  case Phase::kLower:
    break;
  }
  return withKind(module.emitError("the program of this phase cannot be compiled further: "),
                  ErrorKind::kUser)
         << phaseName(phase);
}

} // namespace headrace::driver
