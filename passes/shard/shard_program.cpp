// Builds the solver's problem from a function, and writes the solution back.
#include "passes/shard/shard_program.h"
#include "dialects/interfaces/DiagnosticKind.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/shard/rematerialize.h"
#include "passes/shard/row_order.h"
#include "passes/shard/sized_starts.h"
#include "llvm/ADT/MapVector.h"

#include <algorithm>
#include <map>

using namespace mlir;
using namespace headrace::dist;

namespace headrace::shard {
namespace {

/// A size that is only asked for to make an empty tensor, or to take all of a dimension: it follows
/// the tensors' layouts.
bool isSizeOnly(Operation *op) {
  auto dim = dyn_cast<tensor::DimOp>(op);
  return dim && dim.getConstantIndex() &&
         llvm::all_of(dim->getUsers(), llvm::IsaPred<tensor::EmptyOp, tensor::ExtractSliceOp>);
}

/// The tensors whose extents size an empty tensor, one per dynamic dimension; nothing if some size
/// comes from elsewhere.
std::optional<SmallVector<Value, 2>> sizeSources(tensor::EmptyOp empty) {
  SmallVector<Value, 2> sources;
  for (Value size : empty.getDynamicSizes()) {
    Operation *producer = size.getDefiningOp();
    if (!producer || !isSizeOnly(producer)) {
      return std::nullopt;
    }
    sources.push_back(cast<tensor::DimOp>(producer).getSource());
  }
  return sources;
}

/// Everything replicated: right for any op that computes the same from the same inputs.
void addReplicated(PlacedNode &node) {
  Strategy strategy;
  strategy.label = "replicated";
  for (Value value : node.operands) {
    strategy.needs.push_back(replicatedLayout(value.getType()));
  }
  for (Value value : node.results) {
    strategy.gives.push_back(replicatedLayout(value.getType()));
  }
  addStrategy(node, std::move(strategy));
}

/// The rows of the result stay on the ranks that make them, each on one. Those that have an order
/// are in that of the ranks.
void enumerateResidentReturn(PlacedNode &node, ArrayAttr keys, StrategyContext &context) {
  Value rows = node.operands.front();
  if (!keys.empty()) {
    SmallVector<StringAttr> columns(keys.getAsRange<StringAttr>());
    Layout layout =
        splitRows(RowKind::Hash, context.allAxes(), context.classes.namesOf(rows, columns));
    addStrategy(node, {"rows of the result stay, as asked", {layout}, {}, 0, 0});
    return;
  }
  for (const Layout &layout : context.available(rows)) {
    bool ranged = layout.rowKind == RowKind::Range || layout.isRoot();
    if (layout.rowAxes == context.allAxes() && !layout.unreduced && (ranged || !isOrdered(rows))) {
      addStrategy(node, {"rows of the result stay", {layout}, {}, 0, 0});
    }
  }
}

/// One tensor of the result stays as it comes, in parts or whole on every rank. How many rows there
/// are of a query only the run knows, so none of later programs could be planned for them.
void enumerateResidentTensor(PlacedNode &node, StrategyContext &context) {
  for (const Layout &layout : context.available(node.operands.front())) {
    if (layout.raggedDim < 0) {
      addStrategy(node, {"stays on the ranks, " + describe(layout, context.mesh), {layout}, {}, 0});
    }
  }
}

/// The caller reads results on the first rank: tables there, or everywhere; tensors everywhere.
void enumerateReturn(PlacedNode &node, StrategyContext &context) {
  ArrayAttr keys = residentKeys(cast<func::FuncOp>(node.op->getParentOp()));
  if (keys && context.allAxes()) {
    enumerateResidentReturn(node, keys, context);
    return;
  }
  addReplicated(node);
  if (!context.allAxes() || node.operands.size() > 4) {
    return;
  }
  for (unsigned mask = 1; mask < 1u << node.operands.size(); ++mask) {
    Strategy strategy = node.strategies.front();
    bool tables = true;
    for (auto [index, value] : llvm::enumerate(node.operands)) {
      if (mask >> index & 1) {
        tables = tables && isa<frame::TableType>(value.getType());
        strategy.needs[index] = splitRows(RowKind::Root, context.allAxes());
      }
    }
    if (tables) {
      strategy.label = "result on the first rank";
      addStrategy(node, std::move(strategy));
    }
  }
}

/// Of a value of the type; axes of size one split nothing.
Layout dividing(LayoutAttr attr, Type type, StrategyContext &context) {
  Layout layout = fromAttr(attr, context.mesh);
  layout.form = isa<RankedTensorType>(type) ? Form::kTensor : Form::kTable;
  AxisSet real = context.allAxes();
  layout.rowAxes &= real;
  for (AxisSet &dim : layout.dims) {
    dim &= real;
  }
  return layout;
}

void enumerateConstrain(PlacedNode &node, ConstrainOp op, StrategyContext &context) {
  Layout layout = dividing(op.getLayout(), op.getType(), context);
  layout.keys = context.classes.namesOf(op.getInput(), layout.keys);
  addStrategy(node, {"as the program asks", {layout}, {layout}, 0, 0});
}

/// An argument that is there in parts has its layout; nothing is loaded, and its memory is taken.
void enumerateKeptTensor(PlacedNode &node, LayoutAttr kept, StrategyContext &context) {
  Value tensor = node.results.front();
  Layout layout = dividing(kept, tensor.getType(), context);
  double parts = 1;
  for (AxisSet axes : layout.dims) {
    parts *= context.parts(axes);
  }
  addStrategy(node, {"lies on the ranks, " + describe(layout, context.mesh),
                     {},
                     {layout},
                     0,
                     tensorBytes(tensor) / parts});
}

} // namespace

LogicalResult ShardProgram::build() {
  if (!llvm::hasSingleElement(function_.getBody())) {
    return unsupported(function_.emitOpError("cannot be sharded: it needs exactly one block"));
  }
  ordered_ = orderedTables(function_);
  stored_ = storedTables(function_);
  if (context_.allAxes()) {
    context_.cycles.add(function_.getBody().front(), context_.rows);
  }
  for (BlockArgument argument : function_.getArguments()) {
    if (failed(addArgument(argument))) {
      return failure();
    }
  }
  for (Operation &op : function_.getBody().front()) {
    if (failed(addNode(&op))) {
      return failure();
    }
  }
  for (const PlacedNode &node : nodes_) {
    solve::Node plain;
    for (const Strategy &strategy : node.strategies) {
      plain.cost.push_back(std::min(strategy.seconds, solve::kForbidden));
    }
    problem_.nodes.push_back(std::move(plain));
  }
  addMemory();
  for (const ShardEdge &edge : edges_) {
    addEdgeCosts(edge);
  }
  return success();
}

LogicalResult ShardProgram::addArgument(BlockArgument argument) {
  if (!hasLayout(argument.getType())) {
    return success();
  }
  PlacedNode node;
  node.results = {argument};
  if (auto kept = function_.getArgAttrOfType<LayoutAttr>(argument.getArgNumber(),
                                                         DistDialect::getResidentAttrName())) {
    if (failed(verifyLayout(function_, kept, argument.getType()))) { // had no mesh before
      return failure();
    }
    enumerateKeptTensor(node, kept, context_);
  } else if (isa<RankedTensorType>(argument.getType())) {
    enumerateInputTensor(node, context_);
  } else {
    addReplicated(node);
    for (AxisSet axes : context_.axisSets()) {
      addStrategy(node, {"each rank reads its part", {}, {splitRows(RowKind::Block, axes)}, 0, 0});
    }
  }
  finishNode(std::move(node));
  return success();
}

LogicalResult ShardProgram::addNode(Operation *op) {
  if (isa<func::ReturnOp>(op) && residentKeys(function_) &&
      llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>)) {
    addResidentTensors(op);
    return success();
  }
  PlacedNode node;
  node.op = op;
  for (Value operand : op->getOperands()) {
    if (hasLayout(operand.getType())) {
      node.operands.push_back(operand);
      node.onlySizes.push_back(false);
    }
  }
  for (Value result : op->getResults()) {
    if (hasLayout(result.getType())) {
      node.results.push_back(result);
    }
  }
  auto empty = dyn_cast<tensor::EmptyOp>(op);
  bool plainEmpty = false;
  if (empty && !carriedSizes(empty)) {
    std::optional<SmallVector<Value, 2>> sources = sizeSources(empty);
    plainEmpty = !sources;
    if (sources) {
      node.operands = *sources;
      node.onlySizes.assign(sources->size(), true);
    }
  }
  if (isSizeOnly(op) || (node.operands.empty() && node.results.empty())) {
    return success();
  }
  if (isa<func::ReturnOp>(op)) {
    enumerateReturn(node, context_);
  } else if (auto constrain = dyn_cast<ConstrainOp>(op)) {
    if (failed(constrain.verify())) { // the module had no mesh before
      return failure();
    }
    context_.classes.add(op);
    enumerateConstrain(node, constrain, context_);
  } else if (isa<DistDialect>(op->getDialect())) {
    return op->emitOpError("cannot be sharded a second time");
  } else if (plainEmpty || (!enumerateFrame(node, context_) && !enumerateTensor(node, context_))) {
    addReplicated(node);
  }
  if (node.strategies.empty()) {
    // no test: every op of today can run replicated
    return unsupported(op->emitOpError("has no layout in which it can run on this mesh"));
  }
  finishNode(std::move(node));
  return success();
}

/// A node for each: what one of them has does not matter to the others.
void ShardProgram::addResidentTensors(Operation *op) {
  for (Value tensor : op->getOperands()) {
    PlacedNode node;
    node.op = op;
    node.operands = {tensor};
    node.onlySizes = {false};
    enumerateResidentTensor(node, context_);
    finishNode(std::move(node));
  }
}

void ShardProgram::finishNode(PlacedNode node) {
  context_.publish(node);
  int32_t id = static_cast<int32_t>(nodes_.size());
  for (auto [index, value] : llvm::enumerate(node.results)) {
    producers_[value] = {id, static_cast<int32_t>(index)};
  }
  for (auto [index, value] : llvm::enumerate(node.operands)) {
    auto [source, result] = producers_.lookup(value);
    edges_.push_back({source, result, id, static_cast<int32_t>(index), value});
  }
  nodes_.push_back(std::move(node));
}

ValueSize ShardProgram::sizeOf(Value value, AxisSet unreduced) {
  ValueSize size;
  size.value = value;
  if (isa<RankedTensorType>(value.getType())) {
    size.bytes = tensorBytes(value);
    return size;
  }
  size.estimates = &context_.rows;
  size.shape = context_.rows.shapeOf(value);
  size.rows = context_.rows.rowsOf(value);
  size.partRows = size.rows;
  if (Operation *op = value.getDefiningOp(); op && unreduced) {
    // A part has no more groups than there are, and no more than it has input rows.
    double input = context_.rows.rowsOf(op->getOperand(0));
    size.partRows = std::min(size.rows, input / context_.parts(unreduced));
    size.limit = limitOf(op);
  }
  return size;
}

void ShardProgram::addEdgeCosts(const ShardEdge &edge) {
  const auto &gives = nodes_[edge.source].strategies;
  const auto &needs = nodes_[edge.target].strategies;
  // Many strategies share a layout at one operand: cost every pair of layouts once.
  SmallVector<const Layout *> given;
  SmallVector<const Layout *> needed;
  auto intern = [](SmallVectorImpl<const Layout *> &known, const Layout &layout) {
    for (auto [index, candidate] : llvm::enumerate(known)) {
      if (*candidate == layout) {
        return index;
      }
    }
    known.push_back(&layout);
    return known.size() - 1;
  };
  SmallVector<size_t> givenIndex;
  SmallVector<size_t> neededIndex;
  for (const Strategy &strategy : gives) {
    givenIndex.push_back(intern(given, strategy.gives[edge.sourceResult]));
  }
  for (const Strategy &strategy : needs) {
    neededIndex.push_back(intern(needed, strategy.needs[edge.targetOperand]));
  }
  // All rows of one rank are no part like those of the others: what can run there takes them as
  // they are. Only a union may join them with parts of others.
  auto target = dyn_cast_or_null<frame::RelationalOpInterface>(nodes_[edge.target].op);
  bool unites = target && target.getRowFlow() == frame::RowFlow::kUnite;
  bool runsOnFirst =
      !unites && llvm::any_of(needed, [](const Layout *layout) { return layout->isRoot(); });
  auto hidesRoot = [&](const Layout &from, const Layout &to) {
    return runsOnFirst && from.isRoot() && !to.isRoot() && to.rowKind == RowKind::Scattered &&
           to.rowAxes;
  };
  bool onlySize = nodes_[edge.target].onlySizes.size() > static_cast<size_t>(edge.targetOperand) &&
                  nodes_[edge.target].onlySizes[edge.targetOperand];
  bool copied = isRematerializable(edge.value);
  Operation *user = nodes_[edge.target].op;
  bool handsOnOrder =
      stored_.contains(edge.value) && user &&
      (isa<frame::ToTensorOp, func::ReturnOp>(user) ||
       llvm::any_of(user->getResults(), [&](Value rows) { return stored_.contains(rows); }));
  auto byFloat = [&](const ReshardPlan &plan) {
    auto table = dyn_cast<frame::TableType>(edge.value.getType());
    return table && keepsByFloat(plan, table);
  };
  SmallVector<double> pairCost(given.size() * needed.size(), solve::kForbidden);
  std::map<AxisSet, ReshardPricer> pricers; // by the axes over which the value is unreduced
  for (size_t g = 0; g < given.size(); ++g) {
    AxisSet unreduced = given[g]->unreduced;
    ReshardPricer &pricer =
        pricers.try_emplace(unreduced, sizeOf(edge.value, unreduced), context_.model).first->second;
    for (size_t n = 0; n < needed.size(); ++n) {
      double &cost = pairCost[g * needed.size() + n];
      if (onlySize || isSizedFill(edge.value)) {
        cost = *given[g] == *needed[n] ? 0 : solve::kForbidden;
      } else if (copied &&
                 llvm::any_of(given, [&](const Layout *could) { return *could == *needed[n]; })) {
        cost = 0; // unreduced from the start
      } else if (hidesRoot(*given[g], *needed[n])) {
        cost = solve::kForbidden;
      } else if (std::optional<Way> way = cheaperWay(pricer, edge.value, *given[g], *needed[n]);
                 way &&
                 (!ordered_.all.contains(edge.value) || keepsOrder(way->plan) ||
                  (given[g]->rowKind == RowKind::Range && keepsStoredOrder(way->plan) &&
                   !ordered_.taken.contains(edge.value))) &&
                 (keepsStoredOrder(way->plan) || !handsOnOrder) && !byFloat(way->plan)) {
        cost = copied
                   ? 0
                   : std::min(pricer.costOf(way->plan, *given[g]).seconds, solve::kForbidden / 2);
      }
    }
  }
  solve::Edge plain{edge.source, edge.target, {}};
  for (size_t g = 0; g < gives.size(); ++g) {
    for (size_t n = 0; n < needs.size(); ++n) {
      plain.cost.push_back(pairCost[givenIndex[g] * needed.size() + neededIndex[n]]);
    }
  }
  problem_.edges.push_back(std::move(plain));
}

void ShardProgram::addMemory() {
  // One tier so far: the memory of the rank with least. A node's memory is held while it runs, and
  // if its result is a tensor, until the last use.
  problem_.tierBytesMax = {context_.model.memoryBytes()};
  SmallVector<int32_t> last(nodes_.size());
  for (auto [index, end] : llvm::enumerate(last)) {
    end = static_cast<int32_t>(index) + 1;
  }
  for (const ShardEdge &edge : edges_) {
    if (isa<RankedTensorType>(edge.value.getType())) {
      last[edge.source] = std::max(last[edge.source], edge.target + 1);
    }
  }
  for (auto [index, node] : llvm::enumerate(nodes_)) {
    solve::MemoryUse use{0, static_cast<int32_t>(index), last[index], {}};
    for (const Strategy &strategy : node.strategies) {
      use.bytes.push_back(strategy.memoryBytes);
    }
    problem_.nodes[index].memory.push_back(std::move(use));
  }
}

std::optional<ShardProgram::Way> ShardProgram::cheaperWay(ReshardPricer &pricer, Value value,
                                                          const Layout &given,
                                                          const Layout &needed) const {
  std::optional<ReshardPlan> plan = planReshard(given, needed);
  if (!plan) {
    return std::nullopt;
  }
  std::optional<ReshardPlan> levels;
  if (context_.model.mesh().axes.size() > 1) {
    levels = planReshardInLevels(given, needed, value.getType(), context_.model.mesh());
  }
  if (levels && levels->size() != plan->size() &&
      pricer.costOf(*levels, given).seconds < pricer.costOf(*plan, given).seconds) {
    return Way{*levels, true};
  }
  return Way{*plan};
}

const Layout &ShardProgram::givenOn(const ShardEdge &edge, const solve::Choice &choice) const {
  return nodes_[edge.source].strategies[choice[edge.source]].gives[edge.sourceResult];
}

ReshardPricer ShardProgram::pricerOf(const ShardEdge &edge, const Layout &given) {
  return {sizeOf(edge.value, given.unreduced), context_.model};
}

ShardProgram::Way ShardProgram::edgeWay(const ShardEdge &edge, const solve::Choice &choice) {
  if (isRematerializable(edge.value)) {
    return Way();
  }
  const Layout &given = givenOn(edge, choice);
  ReshardPricer pricer = pricerOf(edge, given);
  return cheaperWay(pricer, edge.value, given,
                    nodes_[edge.target].strategies[choice[edge.target]].needs[edge.targetOperand])
      .value_or(Way());
}

ReshardPlan ShardProgram::edgePlan(const ShardEdge &edge, const solve::Choice &choice) {
  return edgeWay(edge, choice).plan;
}

ReshardCost ShardProgram::edgeCost(const ShardEdge &edge, const solve::Choice &choice) {
  ReshardPlan plan = edgePlan(edge, choice);
  if (plan.empty()) {
    return ReshardCost();
  }
  const Layout &given = givenOn(edge, choice);
  return pricerOf(edge, given).costOf(plan, given);
}

void ShardProgram::annotate(const solve::Choice &choice) {
  MLIRContext *context = function_.getContext();
  auto toArray = [&](ArrayRef<Layout> layouts) {
    SmallVector<Attribute> attrs;
    for (const Layout &layout : layouts) {
      attrs.push_back(toAttr(layout, context_.mesh));
    }
    return ArrayAttr::get(context, attrs);
  };
  SmallVector<SmallVector<bool>> levels; // by node and operand
  for (const PlacedNode &node : nodes_) {
    levels.emplace_back(node.operands.size(), false);
  }
  for (const ShardEdge &edge : edges_) {
    levels[edge.target][edge.targetOperand] = edgeWay(edge, choice).inLevels;
  }
  SmallVector<Attribute> arguments;
  llvm::MapVector<Operation *, std::pair<SmallVector<Layout>, SmallVector<bool>>> needs;
  for (auto [index, node] : llvm::enumerate(nodes_)) {
    const Strategy &strategy = node.strategies[choice[index]];
    if (!node.op) {
      arguments.push_back(toAttr(strategy.gives.front(), context_.mesh));
      continue;
    }
    if (!node.results.empty()) {
      node.op->setAttr(DistDialect::getLayoutsAttrName(), toArray(strategy.gives));
    }
    bool moved = llvm::none_of(node.onlySizes, [](bool only) { return only; });
    if (!node.operands.empty() && moved) { // several of a return whose tensors stay
      needs[node.op].first.append(strategy.needs.begin(), strategy.needs.end());
      needs[node.op].second.append(levels[index]);
    }
  }
  for (const auto &[op, asked] : needs) {
    op->setAttr(DistDialect::getNeedsAttrName(), toArray(asked.first));
    if (llvm::is_contained(asked.second, true)) {
      op->setAttr(DistDialect::getLevelsAttrName(), DenseBoolArrayAttr::get(context, asked.second));
    }
  }
  if (!arguments.empty()) {
    function_->setAttr(DistDialect::getLayoutsAttrName(), ArrayAttr::get(context, arguments));
  }
  if (residentKeys(function_)) {
    // The mapping of hashes to ranks is that of the mesh: what lasts is known for one axis.
    const Layout &rows = nodes_.back().strategies[choice.back()].needs.front();
    bool byHash =
        rows.rowKind == RowKind::Hash && !rows.cycle && llvm::has_single_bit(rows.rowAxes);
    SmallVector<Attribute> keys(rows.keys.begin(), rows.keys.end());
    function_->setAttr(frame::FrameDialect::getResultResidentAttrName(),
                       ArrayAttr::get(context, byHash ? keys : SmallVector<Attribute>()));
  }
}

} // namespace headrace::shard
