// Program order; rows and bytes from the estimates, ways and seconds from the solver's report.
#include "passes/shard/record_operators.h"

#include "dialects/dist/DistDialect.h"
#include "dialects/frame/ExpressionText.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/analysis/local_rows.h"
#include "passes/analysis/operator_location.h"
#include "passes/shard/on_their_way.h"
#include "passes/shard/operator_text.h"
#include "passes/shard/rematerialize.h"
#include "passes/shard/row_order.h"

using namespace mlir;

namespace headrace::shard {
namespace {

bool isTable(Value value) { return isa<frame::TableType>(value.getType()); }

class Recorder {
public:
  Recorder(const ShardReport &report) : report_(report), rows_(report.ranks) {
    explanation_.topology = report.topology;
    explanation_.ranks = report.ranks;
    explanation_.totalSeconds = report.totalSeconds;
    bool bounded = report.nodes > 0 && report.layouts == 0; // neither forced nor compared
    explanation_.boundSeconds = bounded ? report.boundSeconds : 0;
    explanation_.solveSeconds = report.solveSeconds;
    explanation_.memoryBytes = report.memoryBytes;
    explanation_.memoryBytesMax = report.memoryBytesMax;
    explanation_.whyNothingFits = report.whyNothingFits;
  }

  plan::Explanation run(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!function.isExternal()) {
        addBlock(function.getBody().front());
        function.walk([](Operation *op) { op->removeAttr(kChoiceAttr); });
      }
    }
    return std::move(explanation_);
  }

private:
  void addBlock(Block &block) {
    for (Operation &op : block) {
      for (Region &region : op.getRegions()) {
        if (isa<dist::ChooseOp>(op)) {
          addBlock(region.front());
        }
      }
      if (isOperator(&op)) {
        add(&op);
      }
      if (auto end = dyn_cast<func::ReturnOp>(op)) {
        addStaying(end);
      }
    }
  }

  /// Tensors that stay on the ranks end the tree, each with its layout.
  void addStaying(func::ReturnOp end) {
    auto number = end->getAttrOfType<IntegerAttr>(kChoiceAttr);
    bool stay = residentKeys(end->getParentOfType<func::FuncOp>()) && number;
    for (auto [index, value] : llvm::enumerate(end.getOperands())) {
      if (!stay || isTable(value)) {
        return;
      }
      plan::Operator made;
      made.name = "result " + std::to_string(index);
      addInput(value, made);
      made.way = report_.choices[number.getInt() + static_cast<int64_t>(index)].strategy;
      made.where = report_.ranks == 1 ? "rank 0" : "each rank its own";
      explanation_.operators.push_back(std::move(made));
    }
  }

  static bool isOperator(Operation *op) {
    bool shaped = llvm::any_of(op->getResults(), [](Value value) {
      return isTable(value) || isa<RankedTensorType>(value.getType());
    });
    if (!shaped || isRematerializable(op->getResult(0)) || isa<tensor::EmptyOp>(op)) {
      return false;
    }
    auto project = dyn_cast<frame::ProjectOp>(op);
    return !isa<frame::RenameOp>(op) && !(project && project.getComputed().empty());
  }

  /// The operator that makes a value, through what is none; -1: an argument.
  int32_t operatorOf(Value value) const {
    while (Operation *op = value.getDefiningOp()) {
      if (auto found = numbers_.find(op); found != numbers_.end()) {
        return found->second;
      }
      if (op->getNumOperands() == 0) {
        return plan::kNone;
      }
      value = op->getOperand(0);
    }
    return plan::kNone;
  }

  void add(Operation *op) {
    std::string detail = operatorDetail(op);
    if (mergedWithFilter(op, detail)) {
      return;
    }
    auto number = static_cast<int32_t>(explanation_.operators.size());
    numbers_[op] = number;
    op->setLoc(analysis::withOperator(op->getLoc(), number));
    plan::Operator made;
    made.name = operatorName(op);
    made.detail = std::move(detail);
    addInputs(op, made);
    describePlace(op, made);
    if (isTable(op->getResult(0))) {
      made.rows = rowsOf(op->getResult(0));
      made.bytes = made.rows * rows_.bytesPerRow(op->getResult(0));
    }
    addDecision(op, made);
    explanation_.operators.push_back(std::move(made));
  }

  /// Filters right above each other become one stage of a kernel.
  bool mergedWithFilter(Operation *op, const std::string &detail) {
    auto filter = dyn_cast<frame::FilterOp>(op);
    auto below = filter ? filter.getInput().getDefiningOp<frame::FilterOp>() : frame::FilterOp();
    if (!below || !below->hasOneUse()) {
      return false;
    }
    int32_t number = numbers_.lookup(below);
    numbers_[op] = number;
    op->setLoc(analysis::withOperator(op->getLoc(), number));
    plan::Operator &made = explanation_.operators[number];
    made.detail += " and " + detail;
    made.rows = rowsOf(filter.getResult());
    made.bytes = made.rows * rows_.bytesPerRow(filter.getResult());
    if (const ShardChoice *choice = choiceOf(op); choice && made.seconds >= 0) {
      made.seconds += choice->seconds;
    }
    return true;
  }

  void addInput(Value value, plan::Operator &made) {
    int32_t input = operatorOf(value);
    bool shaped = isTable(value) || isa<RankedTensorType>(value.getType());
    if (shaped && input != plan::kNone && !llvm::is_contained(made.inputs, input)) {
      made.inputs.push_back(input);
    }
  }

  void addInputs(Operation *op, plan::Operator &made) {
    if (isa<dist::ChooseOp>(op)) { // the ends of its ways
      for (Region &region : op->getRegions()) {
        addInput(region.front().getTerminator()->getOperand(0), made);
      }
      return;
    }
    for (Value operand : op->getOperands()) {
      addInput(operand, made);
    }
  }

  // ---- where results lie ----

  struct Place {
    std::string text = "every rank";
    bool replicated = true;
  };

  Place placeOf(Value table) const {
    Operation *op = table.getDefiningOp();
    auto found = op ? places_.find(op) : places_.end();
    if (found != places_.end()) {
      return found->second;
    }
    return op && op->getNumOperands() > 0 ? placeOf(op->getOperand(0)) : Place();
  }

  static std::string listed(ArrayAttr keys) {
    std::string text;
    for (auto key : keys.getAsRange<StringAttr>()) {
      text += (text.empty() ? "" : ", ") + key.str();
    }
    return text;
  }

  /// Whether what came together along some axes goes on along others, as it is or with fewer rows.
  static bool gathersOn(dist::ExchangeOp gather) {
    auto isGather = [](Operation *user) {
      auto next = dyn_cast<dist::ExchangeOp>(user);
      return next && next.getKind() == dist::ExchangeKind::Gather;
    };
    return llvm::any_of(gather->getUsers(), [&](Operation *user) {
      return isGather(user) || llvm::any_of(user->getUsers(), isGather);
    });
  }

  Place tablePlace(Operation *op) const {
    if (auto scan = dyn_cast<frame::ScanOp>(op)) {
      bool split = scan->hasAttr(dist::DistDialect::getSplitAttrName());
      auto keep = scan->hasOneUse() ? dyn_cast<dist::KeepOp>(*scan->user_begin()) : dist::KeepOp();
      if (keep && keep.getCycle()) {
        return {"stretches of " + listed(*keep.getKeys()), false};
      }
      return split ? Place{"parts of the file", false} : Place();
    }
    if (auto exchange = dyn_cast<dist::ExchangeOp>(op)) {
      return exchange.getKind() == dist::ExchangeKind::Broadcast ? Place()
             : exchange.getKind() == dist::ExchangeKind::Gather
                 ? Place{gathersOn(exchange) ? "first along " + listed(exchange.getAxes())
                                             : "rank 0",
                         false}
             : exchange.getOrder()
                 ? Place{"by range of " + frame::orderText(*exchange.getOrder()), false}
                 : Place{"by " + (exchange.getKeys() ? listed(*exchange.getKeys()) : "rank") +
                             (haveArrived(exchange) ? "" : " along " + listed(exchange.getAxes())),
                         false};
    }
    if (auto keep = dyn_cast<dist::KeepOp>(op)) {
      return keep.getKeys() ? Place{"by " + listed(*keep.getKeys()), false}
                            : Place{"rank 0", false};
    }
    if (isa<dist::ChooseOp>(op)) {
      return {"parts", false};
    }
    for (Value operand : op->getOperands()) {
      if (Place place = placeOf(operand); isTable(operand) && !place.replicated) {
        return place;
      }
    }
    return Place();
  }

  void describePlace(Operation *op, plan::Operator &made) {
    Place place;
    if (report_.ranks == 1) {
      place = {"rank 0", false};
    } else if (isTable(op->getResult(0))) {
      place = tablePlace(op);
    } else if (const ShardChoice *choice = choiceOf(op); choice && choice->layout != "replicated") {
      place = {choice->layout, false};
    } else if (isa<dist::ReduceScatterOp, dist::AllToAllOp, dist::SliceOp>(op)) {
      place = {"parts", false};
    }
    places_[op] = place;
    made.where = place.text;
    made.replicated = place.replicated;
  }

  // ---- estimates and decisions ----

  /// On all ranks; of a replicated table those of one.
  double rowsOf(Value table) {
    auto relation = table.getDefiningOp<frame::RelationalOpInterface>();
    if (relation && relation.getState().partial) {
      double parts =
          placeOf(relation->getOperand(0)).replicated ? 1 : static_cast<double>(report_.ranks);
      return rows_.of(table).expected * parts;
    }
    if (auto exchange = table.getDefiningOp<dist::ExchangeOp>()) {
      return rowsOf(exchange.getInput());
    }
    return rows_.everywhere(table).expected;
  }

  const ShardChoice *choiceOf(Operation *op) const {
    auto number = op->getAttrOfType<IntegerAttr>(kChoiceAttr);
    return number ? &report_.choices[number.getInt()] : nullptr;
  }

  void addDecision(Operation *op, plan::Operator &made) {
    if (const ShardMove *move = moveOf(op)) {
      made.seconds = move->seconds;
      made.movedBytes = move->bytes;
      return;
    }
    auto aggregate = dyn_cast<frame::AggregateOp>(op);
    const ShardChoice *choice = choiceOf(op);
    if (!choice || (aggregate && aggregate.getStage() == frame::AggregateStage::Final)) {
      return; // its seconds are with the partial one's
    }
    made.seconds = choice->seconds;
    auto relation = dyn_cast<frame::RelationalOpInterface>(op);
    bool holds = relation && relation.getState().kind != frame::RowState::Kind::kNone;
    bool told = holds || isa<dist::ChooseOp>(op) || !choice->runnerUp.empty();
    if (told && report_.ranks > 1 && choice->strategy != made.where) {
      made.way = choice->strategy;
    }
    made.runnerUp = choice->runnerUp;
    made.runnerUpSeconds = choice->runnerUpTotalSeconds;
  }

  /// The move between two chosen ops that a step of communication is part of: the first step has
  /// its figures.
  const ShardMove *moveOf(Operation *op) const {
    if (!isa<dist::DistDialect>(op->getDialect()) ||
        isa<dist::ChooseOp, dist::KeepOp, dist::PlaceOp>(op)) {
      return nullptr;
    }
    Operation *source = op->getOperand(0).getDefiningOp();
    auto from = source ? source->getAttrOfType<IntegerAttr>(kChoiceAttr) : IntegerAttr();
    Operation *user = op;
    while (user && (user == op || !user->hasAttr(kChoiceAttr))) {
      user = user->getNumResults() > 0 && !user->getResult(0).use_empty()
                 ? *user->getResult(0).user_begin()
                 : nullptr;
    }
    auto to = user ? user->getAttrOfType<IntegerAttr>(kChoiceAttr) : IntegerAttr();
    for (const ShardMove &move : report_.moves) {
      if (from && to && move.source == from.getInt() && move.target == to.getInt()) {
        return &move;
      }
    }
    return nullptr;
  }

  const ShardReport &report_;
  analysis::LocalRows rows_;
  plan::Explanation explanation_;
  llvm::DenseMap<Operation *, int32_t> numbers_;
  llvm::DenseMap<Operation *, Place> places_;
};

} // namespace

plan::Explanation recordOperators(ModuleOp module, const ShardReport &report) {
  return Recorder(report).run(module);
}

} // namespace headrace::shard
