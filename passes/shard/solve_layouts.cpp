// The pass shard-solve: mesh and topology from the options, then strategies, solver, annotations,
// report.
#include "dialects/interfaces/DiagnosticKind.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/shard/near_layouts.h"
#include "passes/shard/passes.h"
#include "passes/shard/record_operators.h"
#include "passes/shard/rematerialize.h"
#include "passes/shard/run_time_choices.h"
#include "passes/shard/shard_program.h"
#include "passes/shard/sized_starts.h"
#include "runtime/base/log.h"
#include "runtime/base/readable.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <chrono>
#include <cmath>

using namespace mlir;

namespace headrace::shard {

#define GEN_PASS_DEF_SHARDSOLVEPASS
#include "passes/shard/Passes.h.inc"

namespace {

constexpr StringRef kMeshName = "mesh";
// The solver takes at most this share of the time that the program is estimated to run.
constexpr double kShareOfRunMax = 0.05;

double secondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// "name:size,name:size"
FailureOr<topo::MeshAttr> parseMesh(ModuleOp module, StringRef text) {
  MLIRContext *context = module.getContext();
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (StringRef axis : llvm::split(text, ',')) {
    auto [name, size] = axis.split(':');
    int64_t number = 0;
    if (name.empty() || size.getAsInteger(10, number)) {
      return withKind(module.emitError("expected a mesh such as ranks:4 or node:2,gpu:8, got "),
                      ErrorKind::kUser)
             << text;
    }
    names.push_back(StringAttr::get(context, name));
    sizes.push_back(number);
  }
  auto name = FlatSymbolRefAttr::get(context, kMeshName);
  auto wrong = [&] { return withKind(module.emitError(), ErrorKind::kUser); };
  if (failed(topo::MeshAttr::verify(wrong, name, names, sizes))) {
    return failure();
  }
  return topo::MeshAttr::get(context, name, names, sizes);
}

FailureOr<topo::MeshAttr> meshFor(ModuleOp module, const ShardOptions &options) {
  if (!options.mesh.empty()) {
    return parseMesh(module, options.mesh);
  }
  if (topo::MeshAttr mesh = topo::meshOf(module)) {
    return mesh;
  }
  return parseMesh(module, "ranks:1");
}

/// Nodes whose rejected strategies a reader asks for.
bool isInteresting(const PlacedNode &node) {
  if (!node.op || node.strategies.size() < 2) {
    return false;
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(node.op)) {
    return linalgOp.getNumReductionLoops() > 0;
  }
  auto relation = dyn_cast<frame::RelationalOpInterface>(node.op);
  return relation && relation.getState().kind != frame::RowState::Kind::kNone;
}

std::string opText(const PlacedNode &node) {
  if (!node.op) {
    auto name = dyn_cast<NameLoc>(node.results.front().getLoc());
    return name ? "argument " + name.getName().str() : "argument";
  }
  std::string text = node.op->getName().getStringRef().str();
  if (auto relation = dyn_cast<frame::RelationalOpInterface>(node.op)) {
    std::string variant = relation.getVariant();
    text += variant.empty() ? "" : " " + variant;
  } else if (auto generic = dyn_cast<linalg::GenericOp>(node.op)) {
    for (Operation &inner : generic.getBody()->without_terminator()) {
      if (!inner.hasTrait<OpTrait::ConstantLike>()) {
        text += " " + inner.getName().stripDialect().str();
      }
    }
  }
  return text;
}

/// A node in a message: what it is, and where the user wrote it if that is known.
std::string nodeText(const PlacedNode &node) {
  std::string text = opText(node);
  Location place = node.op ? node.op->getLoc() : node.results.front().getLoc();
  if (auto line = place->findInstanceOf<FileLineColLoc>()) {
    text += llvm::formatv(" ({0}:{1})", line.getFilename().getValue(), line.getLine()).str();
  }
  return text;
}

std::string placeText(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (op) {
    op->getLoc().print(stream);
  }
  return text;
}

/// Adds what was chosen in one function to the report.
class Reporter {
public:
  /// `near`: of the choice; null if no others were looked at.
  Reporter(ShardProgram &program, const solve::Choice &choice, const NearLayouts *near,
           const ShardOptions &options, ShardReport &report)
      : program_(program), choice_(choice), near_(near), options_(options), report_(report) {}

  void run() {
    SmallVector<int32_t> numbers(program_.nodes().size(), -1);
    addReshards();
    for (size_t node = 0; node < program_.nodes().size(); ++node) {
      // What is made anew wherever it is needed is no choice.
      const PlacedNode &placed = program_.nodes()[node];
      if (placed.results.empty() || !isRematerializable(placed.results.front())) {
        numbers[node] = static_cast<int32_t>(report_.choices.size());
        report_.choices.push_back(describeNode(node));
        if (placed.op && options_.explain == ShardOptions::Explain::kYes) {
          // The tensors of a return that stay have a node each, and the number of the first.
          if (auto first = placed.op->getAttrOfType<IntegerAttr>(kChoiceAttr)) {
            numbers[node] = static_cast<int32_t>(first.getInt());
          }
          Builder builder(placed.op->getContext());
          placed.op->setAttr(kChoiceAttr, builder.getI32IntegerAttr(numbers[node]));
        }
      }
    }
    for (const ShardEdge &edge : program_.edges()) {
      if (numbers[edge.source] >= 0 && !program_.edgePlan(edge, choice_).empty()) {
        ReshardCost cost = program_.edgeCost(edge, choice_);
        report_.moves.push_back(
            {numbers[edge.source], numbers[edge.target], cost.bytesSent, cost.seconds});
      }
    }
  }

private:
  /// What moves into every node.
  void addReshards() {
    reshards_.resize(program_.nodes().size());
    for (const ShardEdge &edge : program_.edges()) {
      ReshardCost cost = program_.edgeCost(edge, choice_);
      reshards_[edge.target].seconds += cost.seconds;
      reshards_[edge.target].bytesSent += cost.bytesSent;
      report_.reshards += program_.edgePlan(edge, choice_).empty() ? 0 : 1;
    }
  }

  ShardChoice describeNode(size_t index) {
    const PlacedNode &node = program_.nodes()[index];
    const Strategy &strategy = node.strategies[choice_[index]];
    ShardChoice described;
    described.op = opText(node);
    described.place = placeText(node.op);
    described.strategy = strategy.label;
    if (!strategy.gives.empty()) {
      described.layout = describe(strategy.gives.front(), program_.context().mesh);
    }
    described.seconds = strategy.seconds;
    described.reshardSeconds = reshards_[index].seconds;
    described.reshardBytes = reshards_[index].bytesSent;
    if (near_ && options_.explain == ShardOptions::Explain::kYes && isInteresting(node)) {
      addRunnerUp(index, described);
    }
    return described;
  }

  /// The quickest program known in which the node does not run as chosen.
  void addRunnerUp(size_t index, ShardChoice &described) {
    const PlacedNode &node = program_.nodes()[index];
    const NearLayouts::Layouts *other =
        near_->without(static_cast<int32_t>(index), node.strategies[choice_[index]].label);
    if (other) {
      described.runnerUp = node.strategies[other->choice[index]].label;
      described.runnerUpTotalSeconds = other->seconds;
    }
  }

  ShardProgram &program_;
  const solve::Choice &choice_;
  const NearLayouts *near_;
  const ShardOptions &options_;
  ShardReport &report_;
  std::vector<ReshardCost> reshards_; ///< by node
};

void describeMemory(const solve::Problem &problem, const solve::Choice &choice,
                    ShardReport &report) {
  report.memoryBytesMax = problem.tierBytesMax[0];
  report.memoryBytes = std::max(report.memoryBytes, solve::memoryPeak(problem, choice)[0]);
}

LogicalResult failedBy(Operation *op, const Status &status) {
  return withKind(op->emitError(status.message()), status.kind());
}

/// What was chosen, and what it was chosen from.
struct Chosen {
  solve::Choice choice;
  std::optional<NearLayouts> near;
};

FailureOr<Chosen> chooseLayouts(ShardProgram &program, const ShardOptions &options,
                                ShardReport &report) {
  auto nameOf = [&](int32_t node) { return nodeText(program.nodes()[node]); };
  if (options.seed != 0) {
    Expected<solve::Choice> choice =
        solve::randomFeasibleChoice(program.problem(), options.seed, nameOf);
    if (!choice.ok()) {
      return failedBy(program.function(), choice.status());
    }
    report.totalSeconds += LayoutSchedule(program).secondsOf(*choice, LayoutSchedule::Ways::kFixed);
    describeMemory(program.problem(), *choice, report);
    return Chosen{*choice, std::nullopt};
  }
  solve::SolveOptions solverOptions;
  solverOptions.secondsMax = options.secondsMax;
  solverOptions.shareOfCostMax = kShareOfRunMax;
  solverOptions.nameOf = nameOf;
  Expected<solve::Solution> solution = solve::solve(program.problem(), solverOptions);
  if (!solution.ok()) {
    return failedBy(program.function(), solution.status());
  }
  Chosen chosen{solution->choice, std::nullopt};
  LayoutSchedule schedule(program);
  bool explains = options.explain == ShardOptions::Explain::kYes;
  if (schedule.overlaps() || explains || options.alternative != 0) {
    NearLayouts &near = chosen.near.emplace(program, solverOptions);
    near.search(solution->choice, options.alternative);
    size_t number = std::min<size_t>(options.alternative, near.found().size() - 1);
    chosen.choice = near.found()[number].choice;
    report.layouts += schedule.overlaps() ? static_cast<int32_t>(near.found().size()) : 0;
  }
  report.totalSeconds += schedule.secondsOf(chosen.choice);
  report.sumSeconds += solution->cost;
  report.boundSeconds += solution->bound;
  report.solveRounds += solution->rounds;
  report.nodes += static_cast<int32_t>(solution->choice.size());
  report.nodesLeft += solution->nodesLeft;
  report.whyNothingFits = solution->whyNothingFits;
  describeMemory(program.problem(), chosen.choice, report);
  return chosen;
}

struct ShardSolve : impl::ShardSolvePassBase<ShardSolve> {
  using ShardSolvePassBase::ShardSolvePassBase;

  void runOnOperation() override {
    ShardOptions options;
    options.mesh = mesh;
    options.topology = topology;
    options.memoryBytes = memory;
    options.seed = seed;
    options.alternative = alternative;
    options.secondsMax = secondsMax;
    if (explain != "" && explain != "text" && explain != "json") {
      getOperation().emitError("explain must be text or json, got ") << explain;
      return signalPassFailure();
    }
    options.explain = explain.empty() ? ShardOptions::Explain::kNo : ShardOptions::Explain::kYes;
    ShardReport report;
    if (failed(solveLayouts(getOperation(), options, &report))) {
      return signalPassFailure();
    }
    reshardCount += static_cast<unsigned>(report.reshards);
    strategyCount += static_cast<unsigned>(report.strategies);
    if (explain == "text") {
      llvm::errs() << report.toText();
    } else if (explain == "json") {
      llvm::errs() << llvm::formatv("{0:2}\n", report.toJson());
    }
  }
};

} // namespace

LogicalResult solveLayouts(ModuleOp module, const ShardOptions &options, ShardReport *report) {
  double started = secondsNow();
  FailureOr<topo::MeshAttr> mesh = meshFor(module, options);
  if (failed(mesh)) {
    return failure();
  }
  Expected<topology::Topology> topology =
      topology::openTopology(options.topology, mesh->getRankCount(), options.memoryBytes);
  if (!topology.ok()) {
    return withKind(module.emitError(topology.status().toString()), topology.status().kind());
  }
  ShardReport local;
  ShardReport &filled = report ? *report : local;
  filled.topology = topology->name;
  filled.ranks = mesh->getRankCount();
  MLIRContext *context = module.getContext();
  module->setAttr(topo::TopoDialect::getMeshAttrName(), *mesh);
  module->setAttr(topo::TopoDialect::getTopologyAttrName(),
                  topo::TopologyAttr::get(context, StringAttr::get(context, topology->name),
                                          StringAttr::get(context, topology->hash)));
  // The built-in topology divides this machine's cores, which more ranks than cores share.
  int64_t threads = options.topology.empty() ? topology::thisMachine().cores : 0;
  Expected<cost::CostModel> model =
      cost::CostModel::create(*std::move(topology), toMesh(*mesh), threads);
  if (!model.ok()) {
    return failedBy(module, model.status());
  }
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal()) {
      continue;
    }
    sinkSizedStarts(function);
    ShardProgram program(function, *mesh, *model);
    if (failed(program.build())) {
      return failure();
    }
    FailureOr<Chosen> chosen = chooseLayouts(program, options, filled);
    if (failed(chosen)) {
      return failure();
    }
    filled.solveSeconds = secondsNow() - started;
    // A forced layout is taken as it is.
    std::optional<RunTimeChoice> open =
        options.seed == 0 ? RunTimeChoices(program).find(chosen->choice) : std::nullopt;
    const solve::Choice &choice = open ? open->layouts : chosen->choice;
    size_t reported = filled.choices.size();
    Reporter(program, choice, chosen->near ? &*chosen->near : nullptr, options, filled).run();
    log(LogLevel::kInfo, "layouts chosen in ", formatSeconds(filled.solveSeconds), " for ",
        filled.ranks, filled.ranks == 1 ? " rank of " : " ranks of ", filled.topology, ": ",
        formatSeconds(filled.totalSeconds));
    if (open) {
      ShardChoice &described = filled.choices[reported + open->node];
      described.strategy += "; " + open->toText();
      described.layout = describe(open->result, *mesh);
    }
    for (const PlacedNode &node : program.nodes()) {
      filled.strategies += static_cast<int32_t>(node.strategies.size());
    }
    if (mesh->getRankCount() > 1) {
      program.annotate(choice);
      if (open) {
        annotateRunTimeChoice(program, *open);
      }
    }
  }
  return success();
}

} // namespace headrace::shard
