// The pass order-tasks: what the simulator decides about a program's plan, done to the program.
#include "passes/schedule/schedule.h"

#include "dialects/interfaces/DiagnosticKind.h"
#include "dialects/topo/TopoDialect.h"
#include "model/plan/json.h"
#include "model/simulate/task_order.h"
#include "passes/analysis/explanation.h"
#include "runtime/base/log.h"
#include "runtime/base/readable.h"

#include <limits>

using namespace mlir;

namespace headrace::schedule {

#define GEN_PASS_DEF_ORDERTASKS
#include "passes/schedule/Passes.h.inc"

namespace {

/// The search may take this part of the time that the run is expected to take.
constexpr double kSearchShare = 0.01;
/// What a simulated task takes, of a plan as large as those of TPC-H: measured, and rounded up. A
/// constant, so that the same program is always compiled to the same plan.
constexpr double kSecondsPerTask = 40e-6;
constexpr int64_t kOrdersMax = 200;
/// However short the run: of a plan for other devices than this machine's, which is compiled once
/// for many runs; and of states that do not fit together, which may have to follow each other.
constexpr int64_t kOrdersAlways = 16;
/// Of fewer nothing can be said that is worth a simulation.
constexpr int64_t kOrdersMin = 3;

class TaskOrderer {
public:
  explicit TaskOrderer(sched::ProgramOp program)
      : program_(program), module_(program->getParentOfType<ModuleOp>()) {}

  LogicalResult run(StringRef topologyText, int64_t ordersMax, uint64_t seed) {
    FailureOr<plan::Plan> plan = emitPlan(program_, &ops_);
    if (failed(plan)) {
      return failure();
    }
    if (seed != 0) {
      apply({.tasks = simulate::randomOrder(*plan, seed)});
      return success();
    }
    simulate::OrderSearch search;
    search.ordersMax = ordersMax > 0 ? ordersMax : worthwhile(*plan, topologyText);
    if (search.ordersMax < kOrdersMin || !simulate::hasOrders(*plan)) {
      return success();
    }
    simulate::Workload workload;
    workload.ranks = topo::meshOf(module_).getRankCount();
    Expected<topology::Topology> topology =
        topology::openTopology(topologyText.str(), workload.ranks, 0);
    if (!topology.ok()) {
      return withKind(module_.emitError(topology.status().toString()), topology.status().kind());
    }
    // As `shard` has it: the built-in topology divides this machine's cores.
    workload.threads = topologyText.empty() ? topology::thisMachine().cores : 0;
    Expected<simulate::TaskOrder> found = simulate::findOrder(*plan, *topology, workload, search);
    if (!found.ok()) {
      return success(); // rows that nobody knows, or no room in any order: the run will tell
    }
    log(LogLevel::kInfo, "orders of tasks simulated: ", found->compared);
    if (found->seconds < found->secondsGiven || !found->waits.empty()) {
      apply(*found);
      record(plan->explanation, *found);
    }
    return success();
  }

private:
  static int64_t worthwhile(const plan::Plan &plan, StringRef topologyText) {
    double each = kSecondsPerTask * static_cast<double>(plan.tasks.size());
    double orders = plan.explanation.totalSeconds * kSearchShare / std::max(each, kSecondsPerTask);
    double held = 0;
    for (const plan::Task &task : plan.tasks) {
      const auto *reserve = task.as<plan::ReserveTask>();
      held += reserve ? static_cast<double>(reserve->bytes.expected) : 0;
    }
    if (!topologyText.empty() || held > plan.explanation.memoryBytesMax) {
      orders = std::max<double>(orders, kOrdersAlways);
    }
    return static_cast<int64_t>(std::min<double>(orders, kOrdersMax));
  }

  void apply(const simulate::TaskOrder &order) {
    Block &block = program_.getBody().front();
    for (auto [release, reserve] : order.waits) {
      cast<sched::ReserveOp>(ops_[reserve])
          .getAfterMutable()
          .append(cast<sched::ReleaseOp>(ops_[release]).getDone());
    }
    for (int32_t task : order.tasks) {
      if (Operation *op = ops_[task]; op->getBlock() == &block) {
        op->moveBefore(&block, block.end());
      }
    }
    // What is no task stands in front of the one that reads it.
    for (auto unite : llvm::make_early_inc_range(block.getOps<sched::UniteOp>())) {
      unite->moveBefore(block.findAncestorOpInBlock(**unite.getRows().user_begin()));
    }
    Value last;
    for (auto collective : block.getOps<sched::CollectiveOp>()) {
      collective.getAfterMutable().assign(last ? ValueRange(last) : ValueRange());
      last = collective.getDone();
    }
  }

  void record(plan::Explanation explanation, const simulate::TaskOrder &order) {
    bool hadRoom = order.secondsGiven <= std::numeric_limits<double>::max();
    explanation.order =
        formatSeconds(order.seconds) + " instead of " +
        (hadRoom ? formatSeconds(order.secondsGiven) : "more memory than there is") + ", of " +
        std::to_string(order.compared) + " orders" + waitsText(order.waits.size());
    module_->setAttr(analysis::kExplanationAttr,
                     StringAttr::get(module_.getContext(), plan::explanationJson(explanation)));
  }

  static std::string waitsText(size_t waits) {
    return waits == 0   ? ""
           : waits == 1 ? "; a state waits until another has gone"
                        : "; " + std::to_string(waits) + " states wait until others have gone";
  }

  sched::ProgramOp program_;
  ModuleOp module_;
  SmallVector<Operation *> ops_; ///< by task
};

class OrderTasksPass : public impl::OrderTasksBase<OrderTasksPass> {
public:
  using OrderTasksBase::OrderTasksBase;
  void runOnOperation() override {
    for (auto program : getOperation().getOps<sched::ProgramOp>()) {
      if (failed(TaskOrderer(program).run(topology, ordersMax, seed))) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace

} // namespace headrace::schedule
