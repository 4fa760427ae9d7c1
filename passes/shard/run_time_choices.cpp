// Compares a broadcast of the right side with a shuffle of both as functions of the right side's
// rows.
#include "passes/shard/run_time_choices.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace headrace::dist;
using namespace headrace::frame;

namespace headrace::shard {
namespace {

/// A guess whose 95th percentile is this much above it is not certain.
constexpr double kDoubt = 1.2;
/// Bounds further than this from the guess are not worth two plans.
constexpr double kReach = 100;
constexpr double kRowsMax = 1e12;
/// A table that is broadcast may take this share of a rank's memory.
constexpr double kBroadcastShare = 0.25;

} // namespace

class RunTimeChoices::Finder {
public:
  Finder(RunTimeChoices &choices, const solve::Choice &choice)
      : known_(choices.known_), program_(choices.program_), context_(program_.context()),
        choice_(choice), axes_(context_.allAxes()) {}

  std::optional<RunTimeChoice> run() {
    // Collectives of tensors would need an order with the agreement.
    for (const PlacedNode &node : program_.nodes()) {
      if (llvm::any_of(node.results,
                       [](Value value) { return isa<TensorType>(value.getType()); })) {
        return std::nullopt;
      }
    }
    std::optional<RunTimeChoice> best;
    for (size_t node = 0; axes_ && node < program_.nodes().size(); ++node) {
      std::optional<RunTimeChoice> found = examine(static_cast<int32_t>(node));
      if (found && (!best || distance(*found) < distance(*best))) {
        best = std::move(found);
      }
    }
    return best;
  }

private:
  static double distance(const RunTimeChoice &found) {
    return std::abs(std::log(std::max(1.0, found.expected) / static_cast<double>(found.atMost)));
  }
  const Strategy &chosen(int32_t node) const {
    return program_.nodes()[node].strategies[choice_[node]];
  }
  const ShardEdge *edgeInto(int32_t node, int32_t operand) const {
    for (const ShardEdge &edge : program_.edges()) {
      if (edge.target == node && edge.targetOperand == operand) {
        return &edge;
      }
    }
    return nullptr;
  }
  const Layout &given(const ShardEdge &edge) const {
    return chosen(edge.source).gives[edge.sourceResult];
  }
  bool isSpread(const Layout &layout) const {
    return layout.rowAxes == axes_ && !layout.isRoot() && !layout.unreduced;
  }

  std::optional<RunTimeChoice> examine(int32_t node) {
    auto join = dyn_cast_or_null<JoinOp>(program_.nodes()[node].op);
    if (!join || join.getKind() == JoinKind::Right || join.getKind() == JoinKind::Full ||
        join.getNullAware() || join.getLeftKeys().empty() || join.getLeft() == join.getRight()) {
      return std::nullopt;
    }
    const ShardEdge *leftEdge = edgeInto(node, 0), *rightEdge = edgeInto(node, 1);
    const Strategy &strategy = chosen(node);
    bool broadcasts = isSpread(strategy.needs[0]) && strategy.needs[1].isReplicated();
    bool shuffles = isHash(strategy.needs[0]) && isHash(strategy.needs[1]);
    if (!leftEdge || !rightEdge || broadcasts == shuffles) {
      return std::nullopt;
    }
    RunTimeChoice found;
    found.node = node;
    found.left = given(*leftEdge);
    found.right = given(*rightEdge);
    found.result = splitRows(RowKind::Scattered, axes_);
    found.layouts = choice_;
    analysis::Cardinality rows = context_.rows.cardinalityOf(join.getRight());
    found.expected = rows.expected;
    found.p95 = rows.p95;
    if (!isSpread(found.left) || !isSpread(found.right) || rows.p95 < kDoubt * rows.expected ||
        (broadcasts && !program_.edgePlan(*leftEdge, choice_).empty()) || !beginsInMemory(node) ||
        !scatter(node, found.result, found.layouts)) {
      return std::nullopt;
    }
    return knownShuffle(join, node, found) ? std::optional(found) : std::nullopt;
  }

  bool isHash(const Layout &layout) const {
    return isSpread(layout) && layout.rowKind == RowKind::Hash;
  }

  /// Lets the users of a node take scattered rows, if they need no more reshards for it than
  /// before: as they are, or by a strategy that differs only in that (and then hands scattered rows
  /// on).
  bool scatter(int32_t node, const Layout &scattered, solve::Choice &choice) const {
    for (const ShardEdge &edge : program_.edges()) {
      if (edge.source != node) {
        continue;
      }
      const Strategy &user = program_.nodes()[edge.target].strategies[choice[edge.target]];
      std::optional<ReshardPlan> plan = planReshard(scattered, user.needs[edge.targetOperand]);
      if (plan && plan->size() <= program_.edgePlan(edge, choice_).size()) {
        continue;
      }
      if (!takeScattered(edge, user, scattered, choice)) {
        return false;
      }
    }
    return true;
  }

  bool takeScattered(const ShardEdge &edge, const Strategy &user, const Layout &scattered,
                     solve::Choice &choice) const {
    SmallVector<Layout, 2> wanted(user.needs);
    wanted[edge.targetOperand] = scattered;
    for (auto [index, other] : llvm::enumerate(program_.nodes()[edge.target].strategies)) {
      bool handsOn = other.gives.size() == 1 && other.gives[0] == scattered;
      if (other.needs != wanted || (other.gives != user.gives && !handsOn)) {
        continue;
      }
      bool same = other.gives == user.gives;
      choice[edge.target] = static_cast<int32_t>(index);
      return same || scatter(edge.target, scattered, choice);
    }
    return false;
  }

  /// Whether the pipeline of the left side starts at a scan or a state, which both ways can read:
  /// not at the receiving end of an exchange. The join's own reshard of its left side is part of
  /// the choice.
  bool beginsInMemory(int32_t join) const {
    for (int32_t node = join;;) {
      const ShardEdge *edge = edgeInto(node, 0);
      ReshardPlan plan = node == join ? ReshardPlan() : program_.edgePlan(*edge, choice_);
      if (!plan.empty()) {
        return plan.back().kind == StepKind::kFinish;
      }
      auto source = dyn_cast_or_null<RelationalOpInterface>(program_.nodes()[edge->source].op);
      RowFlow flow = source ? source.getRowFlow() : RowFlow::kUnite;
      if (flow == RowFlow::kState || (source && isa<ScanOp>(*source))) {
        return true;
      }
      if (flow != RowFlow::kRowByRow && flow != RowFlow::kProbe) {
        return false;
      }
      node = edge->source;
    }
  }

  bool knownShuffle(JoinOp join, int32_t node, RunTimeChoice &found) {
    for (const auto &[shuffle, pays] : known_) {
      if (shuffle.node == node && shuffle.left == found.left && shuffle.right == found.right) {
        found.atMost = shuffle.atMost;
        found.leftKeys = shuffle.leftKeys;
        found.rightKeys = shuffle.rightKeys;
        found.cycle = shuffle.cycle;
        found.broadcastInLevels = shuffle.broadcastInLevels;
        found.leftInLevels = shuffle.leftInLevels;
        found.rightInLevels = shuffle.rightInLevels;
        return pays;
      }
    }
    bool pays = findShuffle(join, node, found);
    known_.push_back({found, pays});
    return pays;
  }

  /// The cheapest shuffle, and the rows at which it costs as much as the broadcast. False if there
  /// is none, or if the one or the other is better for any number of rows in reach.
  bool findShuffle(JoinOp join, int32_t node, RunTimeChoice &found) {
    double best = solve::kForbidden;
    double expected = std::max(found.expected, 1.0);
    for (const Strategy &strategy : program_.nodes()[node].strategies) {
      if (!isHash(strategy.needs[0]) || !isHash(strategy.needs[1])) {
        continue;
      }
      std::optional<ReshardPlan> left = planReshard(found.left, strategy.needs[0]);
      std::optional<ReshardPlan> right = planReshard(found.right, strategy.needs[1]);
      auto isOneExchange = [](const std::optional<ReshardPlan> &plan) {
        return plan &&
               (plan->empty() || (plan->size() == 1 && plan->front().kind == StepKind::kHash));
      };
      if (!isOneExchange(left) || !isOneExchange(right)) {
        continue;
      }
      if (left->empty() && right->empty()) {
        return false; // where they are the sides meet, however many rows there are
      }
      double crossing = crossingOf(join, found, strategy);
      double seconds = shuffleSeconds(join, found, strategy, expected);
      if (crossing >= 1 && seconds < best) {
        best = seconds;
        found.atMost = static_cast<uint64_t>(crossing);
        found.leftKeys = left->empty() ? decltype(found.leftKeys)() : left->front().keys;
        found.rightKeys = right->empty() ? decltype(found.rightKeys)() : right->front().keys;
        found.cycle = strategy.needs[0].cycle;
        found.leftInLevels = leftWay(join, found, strategy).inLevels;
        found.rightInLevels =
            wayOf(found.right, strategy.needs[1], join.getRight(), expected).inLevels;
      }
    }
    found.broadcastInLevels =
        wayOf(found.right, replicatedTable(), join.getRight(), expected).inLevels;
    double bound = static_cast<double>(found.atMost);
    return best < solve::kForbidden && expected < bound * kReach && bound < expected * kReach;
  }

  /// The join itself with `rows` right rows on one rank, left rows being where they are.
  double joinSeconds(JoinOp join, double rows) const {
    double share = 1 / context_.parts(axes_);
    auto sides = analysis::JoinSides::asWritten(join);
    double probes = context_.rows.rowsOf(join.getLeft()) * share;
    cost::StepWork step = context_.work.build(sides, rows, probes);
    step += context_.work.probe(sides, probes, rows, context_.rows.rowsOf(join) * share);
    return cost::secondsOf(context_.model, step);
  }
  struct PricedWay {
    double seconds = 0;
    bool inLevels = false;
  };
  PricedWay wayOf(const Layout &from, const Layout &to, Value table, double rows) const {
    ValueSize size;
    size.value = table;
    size.estimates = &context_.rows;
    size.shape = context_.rows.shapeOf(table);
    size.rows = size.partRows = rows;
    ReshardPricer pricer(size, context_.model);
    ShardProgram::Way way = *program_.cheaperWay(pricer, table, from, to);
    return {pricer.costOf(way.plan, from).seconds, way.inLevels};
  }
  PricedWay leftWay(JoinOp join, const RunTimeChoice &found, const Strategy &shuffle) const {
    return wayOf(found.left, shuffle.needs[0], join.getLeft(),
                 context_.rows.rowsOf(join.getLeft()));
  }
  double broadcastSeconds(JoinOp join, const RunTimeChoice &found, double rows) const {
    return wayOf(found.right, replicatedTable(), join.getRight(), rows).seconds +
           joinSeconds(join, rows);
  }
  double shuffleSeconds(JoinOp join, const RunTimeChoice &found, const Strategy &shuffle,
                        double rows) const {
    return leftWay(join, found, shuffle).seconds +
           wayOf(found.right, shuffle.needs[1], join.getRight(), rows).seconds +
           joinSeconds(join, rows / context_.parts(axes_));
  }

  /// The most rows with which the broadcast is no dearer and fits; 0 if there are none.
  double crossingOf(JoinOp join, const RunTimeChoice &found, const Strategy &shuffle) const {
    auto broadcastIsBetter = [&](double rows) {
      return broadcastSeconds(join, found, rows) <= shuffleSeconds(join, found, shuffle, rows);
    };
    if (!broadcastIsBetter(1)) {
      return 0;
    }
    double low = 1, high = kRowsMax;
    while (high / low > 1.001) {
      double middle = std::sqrt(low * high);
      (broadcastIsBetter(middle) ? low : high) = middle;
    }
    double expected = std::max(found.expected, 1.0);
    double held = context_.rows.heldBytes(
        context_.rows.joinTable(analysis::JoinSides::asWritten(join), expected,
                                context_.rows.rowsOf(join.getLeft())),
        join.getRight());
    double room = context_.model.memoryBytes() * kBroadcastShare / held * expected;
    return std::floor(std::min(low, room));
  }

  std::vector<std::pair<RunTimeChoice, bool>> &known_;
  ShardProgram &program_;
  StrategyContext &context_;
  const solve::Choice &choice_;
  AxisSet axes_;
};

std::string RunTimeChoice::toText() const {
  auto join = [](ArrayRef<StringAttr> keys) {
    std::string text;
    for (StringAttr key : keys) {
      text += (text.empty() ? "" : ",") + key.getValue().str();
    }
    return text;
  };
  std::string shuffle = leftKeys.empty() ? "shuffle right on " + join(rightKeys)
                        : rightKeys.empty()
                            ? "shuffle left on " + join(leftKeys)
                            : "shuffle on " + join(leftKeys) + " = " + join(rightKeys);
  return llvm::formatv("chosen at run time: broadcast right if it has at most {0} rows ({1:f0} "
                       "expected, p95 {2:f0}), else {3}",
                       atMost, expected, p95, shuffle);
}

std::optional<RunTimeChoice> RunTimeChoices::find(const solve::Choice &choice) {
  return Finder(*this, choice).run();
}

void annotateRunTimeChoice(ShardProgram &program, const RunTimeChoice &found) {
  Operation *join = program.nodes()[found.node].op;
  topo::MeshAttr mesh = program.context().mesh;
  Builder builder(join->getContext());
  auto keys = [&](ArrayRef<StringAttr> names) {
    return builder.getArrayAttr(SmallVector<Attribute>(names.begin(), names.end()));
  };
  join->removeAttr(DistDialect::getLevelsAttrName());
  join->setAttr(DistDialect::getNeedsAttrName(),
                builder.getArrayAttr({toAttr(found.left, mesh), toAttr(found.right, mesh)}));
  join->setAttr(DistDialect::getLayoutsAttrName(),
                builder.getArrayAttr({toAttr(found.result, mesh)}));
  NamedAttrList attributes;
  attributes.set("at_most", builder.getI64IntegerAttr(static_cast<int64_t>(found.atMost)));
  attributes.set("levels", builder.getDenseBoolArrayAttr(
                               {found.broadcastInLevels, found.leftInLevels, found.rightInLevels}));
  attributes.set("left_keys", keys(found.leftKeys));
  attributes.set("right_keys", keys(found.rightKeys));
  attributes.set("cycle", builder.getI64IntegerAttr(found.cycle));
  join->setAttr(DistDialect::getChooseAttrName(), attributes.getDictionary(join->getContext()));
}

} // namespace headrace::shard
