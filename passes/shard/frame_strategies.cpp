// Strategies of the relational ops: the table of rules of the design page on layouts, row by row.
#include "model/cost/tensor_work.h"
#include "passes/shard/carried_windows.h"
#include "passes/shard/row_order.h"
#include "passes/shard/strategies.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <array>

using namespace mlir;
using namespace headrace::dist;
using namespace headrace::frame;

namespace headrace::shard {
namespace {

using Keys = llvm::SmallVector<StringAttr, 2>;

std::string joined(ArrayRef<StringAttr> names) {
  std::string text;
  for (StringAttr name : names) {
    text += (text.empty() ? "" : ",") + name.getValue().str();
  }
  return text;
}

/// The key list and, if it has several, each key alone.
SmallVector<SmallVector<unsigned>> keyChoices(size_t count) {
  SmallVector<SmallVector<unsigned>> choices;
  SmallVector<unsigned> all;
  for (unsigned i = 0; i < count; ++i) {
    all.push_back(i);
  }
  choices.push_back(all);
  for (unsigned i = 0; count > 1 && i < count; ++i) {
    choices.push_back({i});
  }
  return choices;
}

Keys select(ArrayRef<StringAttr> keys, ArrayRef<unsigned> which) {
  Keys selected;
  for (unsigned index : which) {
    if (!llvm::is_contained(selected, keys[index])) { // equal columns count once
      selected.push_back(keys[index]);
    }
  }
  return selected;
}

class FrameEnumerator {
public:
  FrameEnumerator(PlacedNode &node, StrategyContext &context) : node_(node), context_(context) {}

  /// By how rows go through it and what it holds; the ops named are those that no other is like.
  bool run() {
    return TypeSwitch<Operation *, bool>(node_.op)
        .Case<ScanOp>([&](ScanOp op) { return scan(op); })
        .Case<JoinOp>([&](JoinOp op) { return join(op); })
        .Case<ScalarSubqueryOp>(
            [&](ScalarSubqueryOp op) { return add("replicated", {replicatedTable()}, {}, 0); })
        .Case<ToTensorOp>([&](ToTensorOp op) { return toTensor(op); })
        .Case<FromTensorOp>([&](FromTensorOp op) { return fromTensor(op); })
        .Case<RelationalOpInterface>([&](RelationalOpInterface op) { return relation(op); })
        .Default([](Operation *) { return false; });
  }

private:
  bool relation(RelationalOpInterface op) {
    switch (op.getRowFlow()) {
    case RowFlow::kSource:
      return add(op.getTitle().str(), {}, {replicatedTable()}, 0);
    case RowFlow::kRowByRow:
      return rowWise(op);
    case RowFlow::kUnite:
      return unite(op);
    case RowFlow::kProbe:
    case RowFlow::kState:
      break;
    }
    switch (op.getState().kind) {
    case RowState::Kind::kGroups:
      return group(op);
    case RowState::Kind::kOrder:
      return op.getState().choosesRows() ? choose(op) : sort();
    case RowState::Kind::kPartitions:
      return partitions(op);
    case RowState::Kind::kNone:
    case RowState::Kind::kJoinTable:
      break;
    }
    // no test: a new kind of state is told by the switch above
    llvm::report_fatal_error("no strategies for what is held by " +
                             node_.op->getName().getStringRef());
  }

  bool add(std::string label, SmallVector<Layout, 2> needs, SmallVector<Layout, 1> gives,
           double seconds, double memoryBytes = 0) {
    addStrategy(node_,
                {std::move(label), std::move(needs), std::move(gives), seconds, memoryBytes});
    return true;
  }
  double rows(Value table) { return context_.rows.rowsOf(table); }
  /// Into how many parts a table's rows are divided, for the rank that has most; a root has all of
  /// them.
  double parts(Value table, const Layout &layout) {
    double ranks = layout.isRoot() ? 1 : context_.parts(layout.rowAxes);
    // Stretches of keys are as long on all ranks; how many keys a hash brings to each is chance.
    return layout.cycle ? ranks : 1 / context_.rows.fullestShare(table, layout.keys, ranks);
  }
  /// Seconds of what `work` makes of a table in this layout.
  double price(Value table, const Layout &layout,
               llvm::function_ref<cost::StepWork(double parts)> work) {
    double share = parts(table, layout);
    return price({share, share, othersThan(layout)},
                 [&](double parts, double) { return work(parts); });
  }
  using Others = cost::Workers::Others;
  static Others othersThan(const Layout &layout) {
    return layout.isRoot() ? Others::kIdle : Others::kBusy;
  }
  /// What the work of a strategy depends on.
  struct Shares {
    double left;
    double right;
    Others others;
    bool operator==(const Shares &) const = default;
  };
  /// Many layouts are alike in this: each is priced once.
  double price(const Shares &shares,
               llvm::function_ref<cost::StepWork(double leftParts, double rightParts)> work) {
    for (const auto &[known, seconds] : priced_) {
      if (known == shares) {
        return seconds;
      }
    }
    double seconds =
        cost::secondsOf(context_.model, work(shares.left, shares.right), shares.others);
    priced_.push_back({shares, seconds});
    return seconds;
  }
  Layout root() const { return splitRows(RowKind::Root, context_.allAxes()); }
  std::string text(const Layout &layout) const { return describe(layout, context_.mesh); }

  /// The layout of the result when rows stay where they are.
  Layout follow(Value source, const Layout &layout) const {
    Layout result = layout;
    if (layout.rowKind == RowKind::Range) { // whoever needs the order again has it made again
      return splitRows(RowKind::Scattered, layout.rowAxes);
    }
    for (StringAttr &key : result.keys) {
      StringAttr name = context_.classes.follow(source, key, node_.op);
      if (!name) {
        return splitRows(RowKind::Scattered, layout.rowAxes);
      }
      key = name;
    }
    auto op = dyn_cast<RelationalOpInterface>(node_.op);
    if (result.rowKind == RowKind::Block && op && op.getRowFlow() == RowFlow::kProbe) {
      result.rowKind = RowKind::Scattered;
    }
    return result;
  }

  /// By hash if all columns are read that the rows were divided by, which was over one axis.
  Layout residentRows(ScanOp op) const {
    Keys keys;
    for (auto key : op.getResident()->getAsRange<StringAttr>()) {
      auto *file = llvm::find(op.getFileColumns(), Attribute(key));
      if (file == op.getFileColumns().end()) {
        return splitRows(RowKind::Block, context_.allAxes());
      }
      keys.push_back(op.getType().getNames()[file - op.getFileColumns().begin()]);
    }
    bool byHash = !keys.empty() && llvm::has_single_bit(context_.allAxes());
    return splitRows(byHash ? RowKind::Hash : RowKind::Block, context_.allAxes(),
                     byHash ? keys : Keys());
  }

  void addScan(std::string label, const Layout &layout, const cost::StepWork &work,
               double seconds) {
    Strategy strategy{std::move(label), {}, {layout}, seconds};
    strategy.readRows = work.rows;
    double stored = context_.model.load(work.stored).seconds;
    if (stored >= seconds) {
      strategy.storageSeconds = stored;
      strategy.deviceSeconds = context_.model.kernel(work.device).seconds;
    }
    addStrategy(node_, std::move(strategy));
  }

  bool scan(ScanOp op) {
    auto work = [&](double parts) { return context_.work.scan(op, parts); };
    auto addParts = [&](const char *label, const Layout &layout) {
      addScan(label, layout, work(parts(op, layout)), price(op, layout, work));
    };
    if (op.getResident() && context_.allAxes()) {
      addParts("each rank reads its own", residentRows(op));
      return true;
    }
    addParts("every rank reads all", replicatedTable());
    for (AxisSet axes : context_.axisSets()) {
      addParts("each rank reads its part", splitRows(RowKind::Block, axes));
      for (const KeyCycles::Cycle &cycle : context_.cycles.of(op, context_.parts(axes))) {
        addStretches(op, axes, cycle);
      }
    }
    return true;
  }

  /// Each rank reads what has rows of its stretches of a key, and keeps these.
  void addStretches(ScanOp op, AxisSet axes, const KeyCycles::Cycle &cycle) {
    double share = analysis::readOfStretches(op, cycle.column, static_cast<double>(cycle.keys),
                                             context_.parts(axes));
    cost::StepWork work = context_.work.scan(op, 1 / share, cycle.column);
    double seconds = cost::secondsOf(context_.model, work) +
                     cost::secondsOf(context_.model, OpWork::keepStretches(rows(op) * share));
    addScan("each rank reads its stretches of " + cycle.column.str(),
            cycledRows(axes, cycle.column, cycle.keys), work, seconds);
  }

  bool rowWise(Operation *op) {
    Value input = op->getOperand(0);
    auto work = [&](double parts) { return context_.work.rowWise(op, parts); };
    for (const Layout &layout : context_.available(input)) {
      add(text(layout), {layout}, {follow(input, layout)}, price(input, layout, work));
    }
    return true;
  }

  //===------------------------------------------------------------------===//
  // Joins
  //===------------------------------------------------------------------===//

  void addJoin(JoinOp op, std::string label, const Layout &left, const Layout &right,
               Layout result) {
    Shares shares{parts(op.getLeft(), left), parts(op.getRight(), right), othersThan(left)};
    using analysis::JoinSides;
    struct Tables {
      JoinSides sides;
      double buildRows, probeRows;
    };
    auto tables = [&](double leftParts, double rightParts) {
      double leftRows = rows(op.getLeft()) / leftParts,
             rightRows = rows(op.getRight()) / rightParts;
      JoinSides sides = JoinSides::of(op, leftRows, rightRows);
      return sides.turned ? Tables{sides, leftRows, rightRows} : Tables{sides, rightRows, leftRows};
    };
    double seconds = price(shares, [&](double leftParts, double rightParts) {
      auto [sides, buildRows, probeRows] = tables(leftParts, rightParts);
      cost::StepWork step = context_.work.build(sides, buildRows, probeRows);
      return step += context_.work.probe(sides, probeRows, buildRows,
                                         rows(op) / std::max(leftParts, rightParts));
    });
    auto [sides, buildRows, probeRows] = tables(shares.left, shares.right);
    cost::StateShape table = context_.rows.joinTable(sides, buildRows, probeRows);
    Strategy strategy{std::move(label),
                      {left, right},
                      {std::move(result)},
                      seconds,
                      context_.rows.heldBytes(table, sides.build)};
    cost::StepWork build = context_.work.build(sides, buildRows, probeRows);
    strategy.buildSeconds =
        std::min(seconds, cost::secondsOf(context_.model, build, othersThan(left)));
    strategy.turned = sides.turned;
    addStrategy(node_, std::move(strategy));
  }

  bool join(JoinOp op) {
    Value left = op.getLeft();
    Value right = op.getRight();
    addJoin(op, "both sides everywhere", replicatedTable(), replicatedTable(), replicatedTable());
    if (!context_.allAxes()) {
      return true;
    }
    addJoin(op, "on the first rank", root(), root(), root());
    RowSharding rule = op.getSharding();
    shuffleJoins(op, rule);
    for (unsigned side : rule.follows) {
      for (const Layout &layout : context_.available(op->getOperand(side))) {
        if (!layout.rowAxes || layout.isRoot()) {
          continue;
        }
        if (side == 0) {
          addJoin(op, "broadcast right, left " + text(layout), layout, replicatedTable(),
                  follow(left, layout));
        } else {
          addJoin(op, "broadcast left, right " + text(layout), replicatedTable(), layout,
                  follow(right, layout));
        }
      }
    }
    return true;
  }

  void shuffleJoins(JoinOp op, const RowSharding &rule) {
    if (rule.together.empty()) {
      return;
    }
    Keys leftKeys = context_.classes.namesOf(op.getLeft(), rule.together[0]);
    Keys rightKeys = context_.classes.namesOf(op.getRight(), rule.together[1]);
    for (AxisSet axes : context_.axisSets()) {
      for (const SmallVector<unsigned> &which : keyChoices(leftKeys.size())) {
        Keys l = select(leftKeys, which);
        Keys r = select(rightKeys, which);
        if (l.size() != r.size()) {
          continue; // Two pairs share a column on one side only; single keys cover the case.
        }
        SmallVector<int64_t> cycles{0};
        if (haveNeighbours(op.getLeft(), l) && haveNeighbours(op.getRight(), r)) {
          addCycles(op.getLeft(), axes, l, cycles);
          addCycles(op.getRight(), axes, r, cycles);
        }
        for (int64_t cycle : cycles) {
          std::array sides{splitRows(RowKind::Hash, axes, l), splitRows(RowKind::Hash, axes, r)};
          sides[0].cycle = sides[1].cycle = cycle;
          std::optional<unsigned> like = rule.togetherLikeOperand;
          Layout result = like ? follow(op->getOperand(*like), sides[*like])
                               : splitRows(RowKind::Scattered, axes);
          addJoin(op, "shuffle on " + joined(l) + " = " + joined(r), sides[0], sides[1], result);
        }
      }
    }
  }

  static bool haveNeighbours(Value table, ArrayRef<StringAttr> keys) {
    auto type = cast<frame::TableType>(table.getType());
    return llvm::all_of(
        keys, [&](StringAttr key) { return dist::hasNeighbours(type.getColumnType(key)); });
  }

  /// Those in which a table's rows can lie by this key.
  void addCycles(Value table, AxisSet axes, ArrayRef<StringAttr> keys,
                 SmallVectorImpl<int64_t> &cycles) const {
    for (const Layout &layout : context_.available(table)) {
      if (layout.cycle && layout.rowAxes == axes && ArrayRef(layout.keys) == keys &&
          !llvm::is_contained(cycles, layout.cycle)) {
        cycles.push_back(layout.cycle);
      }
    }
  }

  //===------------------------------------------------------------------===//
  // Aggregates
  //===------------------------------------------------------------------===//

  /// `groups`: of one rank.
  cost::StepWork groupWork(RelationalOpInterface op, size_t keys, double parts, double groups) {
    Value input = op->getOperand(0);
    return context_.work.group(input, op->getResult(0), static_cast<double>(keys),
                               rows(input) / parts, groups);
  }

  /// Complete where equal keys are together, unreduced elsewhere.
  bool group(RelationalOpInterface op) {
    RowSharding rule = op.getSharding();
    Keys keys = rule.together.empty() ? Keys() : rule.together.front();
    Value input = op->getOperand(0);
    Value result = op->getResult(0);
    // Where equal keys are together, a rank has its part of the groups; elsewhere it may have them
    // all.
    double seconds = price(input, replicatedTable(), [&](double parts) {
      return groupWork(op, keys.size(), parts, rows(result));
    });
    auto bytes = [&](double groups) {
      return keys.empty()
                 ? 0
                 : context_.rows.heldBytes(context_.rows.groupTable(result, groups), result);
    };
    add("everywhere", {replicatedTable()}, {replicatedTable()}, seconds, bytes(rows(result)));
    if (!context_.allAxes()) {
      return true;
    }
    auto addComplete = [&](std::string label, const Layout &need, const Layout &give) {
      double seconds = price(input, need, [&](double parts) {
        return groupWork(op, keys.size(), parts, std::max(1.0, rows(result) / parts));
      });
      add(std::move(label), {need}, {give}, seconds,
          bytes(std::max(1.0, rows(result) / parts(input, need))));
    };
    Keys inputKeys = context_.classes.namesOf(input, keys);
    Keys resultKeys = context_.classes.namesOf(result, keys);
    if (!keys.empty()) {
      addComplete("on the first rank", root(), root());
      for (AxisSet axes : context_.axisSets()) {
        for (const SmallVector<unsigned> &which : keyChoices(keys.size())) {
          Layout need = splitRows(RowKind::Hash, axes, select(inputKeys, which));
          Layout give = splitRows(RowKind::Hash, axes, select(resultKeys, which));
          addComplete("complete, by hash of " + joined(need.keys), need, give);
        }
      }
    }
    for (const Layout &layout : context_.available(input)) {
      if (!layout.rowAxes || layout.isRoot()) {
        continue;
      }
      bool together =
          layout.rowKind == RowKind::Hash && llvm::all_of(layout.keys, [&](StringAttr key) {
            return llvm::is_contained(inputKeys, key);
          });
      if (together && !keys.empty()) {
        addComplete("complete, by hash of " + joined(layout.keys), layout, follow(input, layout));
        continue;
      }
      if (rule.parts != RowSharding::Parts::kNone) {
        Layout give = inParts(rule, layout);
        give.groupKeys = select(resultKeys, keyChoices(resultKeys.size())[0]);
        double share = parts(input, layout);
        double groups = std::min(rows(result), std::max(1.0, rows(input) / share));
        add("pre-aggregate " + text(layout), {layout}, {give},
            cost::secondsOf(context_.model, groupWork(op, keys.size(), share, groups)),
            bytes(groups));
      }
    }
    return true;
  }

  /// Whole partitions: where rows are by hash of some of their keys, or on one rank. Copies of a
  /// table would disagree on the order of peers.
  bool partitions(RelationalOpInterface op) {
    Value input = op->getOperand(0);
    auto seconds = [&](const Layout &layout) {
      return price(input, layout, [&](double parts) {
        return context_.work.partitions(input, op->getResult(0), rows(input) / parts);
      });
    };
    auto bytes = [&](const Layout &layout) { return partitionBytes(op, layout); };
    if (!context_.allAxes()) {
      return add("here", {replicatedTable()}, {replicatedTable()}, seconds(replicatedTable()),
                 bytes(replicatedTable()));
    }
    add("on the first rank", {root()}, {root()}, seconds(root()), bytes(root()));
    if (auto window = dyn_cast<WindowOp>(node_.op); window && canBeCarried(window)) {
      carried(window);
    }
    RowSharding rule = op.getSharding();
    Keys keys = rule.together.empty() ? Keys() : rule.together.front();
    keys = context_.classes.namesOf(input, keys);
    for (AxisSet axes : keys.empty() ? SmallVector<AxisSet>() : context_.axisSets()) {
      for (const SmallVector<unsigned> &which : keyChoices(keys.size())) {
        Layout layout = splitRows(RowKind::Hash, axes, select(keys, which));
        add("by hash of " + joined(layout.keys), {layout}, {follow(input, layout)}, seconds(layout),
            bytes(layout));
      }
    }
    for (const Layout &layout : context_.available(input)) {
      if (layout.cycle && llvm::is_contained(keys, layout.keys.front())) {
        add("by stretches of " + joined(layout.keys), {layout}, {follow(input, layout)},
            seconds(layout), bytes(layout));
      }
    }
    return true;
  }

  /// What a rank holds of the window's rows.
  double partitionBytes(RelationalOpInterface op, const Layout &layout) {
    Value input = op->getOperand(0);
    return context_.work.partitionBytes(op->getResult(0), rows(input) / parts(input, layout));
  }

  /// Each rank has a range of the order, or without one whatever it has, and learns what goes
  /// before and behind.
  void carried(WindowOp op) {
    Value input = op.getInput();
    auto seconds = [&](const Layout &layout) {
      return price(input, layout,
                   [&](double parts) { return context_.work.carried(op, rows(input) / parts); });
    };
    if (!op.getOrder().empty()) {
      Layout ranges = rangedRows(context_.allAxes(), op.getOrder());
      add("by range of the order", {ranges}, {ranges}, seconds(ranges), partitionBytes(op, ranges));
      return;
    }
    for (const Layout &layout : context_.available(input)) {
      if (layout.rowAxes == context_.allAxes() && !layout.isRoot()) {
        add("each rank its rows", {layout}, {splitRows(RowKind::Scattered, layout.rowAxes)},
            seconds(layout), partitionBytes(op, layout));
      }
    }
  }

  /// The layout of what each rank makes of its own rows.
  Layout inParts(const RowSharding &rule, const Layout &rows) const {
    using Parts = RowSharding::Parts;
    MLIRContext *context = node_.op->getContext();
    Layout give;
    give.unreduced = rows.rowAxes;
    give.combine = rule.parts == Parts::kAggregate  ? Attribute(rule.contract)
                   : rule.parts == Parts::kDistinct ? CombineAttr::get(context, Combine::Distinct)
                   : rule.parts == Parts::kTopK     ? CombineAttr::get(context, Combine::TopK)
                                                    : CombineAttr::get(context, Combine::Limit);
    return give;
  }

  //===------------------------------------------------------------------===//
  // Orders
  //===------------------------------------------------------------------===//

  /// All rows of one rank put in order, or the first of them chosen.
  void addSort(std::string label, const Layout &need, const Layout &give) {
    Value input = node_.op->getOperand(0);
    double limit = limitOf(node_.op), share = rows(input) / parts(input, need);
    double seconds = price(input, need, [&](double parts) {
      return context_.work.sort(input, rows(input) / parts, limit, orderOf(node_.op));
    });
    double kept = limit > 0 ? std::min(limit, share) : share;
    cost::StateShape state = context_.rows.sortBuffer(input, kept, limit, orderOf(node_.op));
    add(std::move(label), {need}, {give}, seconds, context_.rows.heldBytes(state, input));
  }

  bool sort() {
    addSort("everywhere", replicatedTable(), replicatedTable());
    if (context_.allAxes()) {
      addSort("on the first rank", root(), root());
      Layout ranges = rangedRows(context_.allAxes(), orderOf(node_.op));
      addSort("by range of the order", ranges, ranges);
    }
    return true;
  }

  /// Rows chosen by position: one rank must decide, after each rank's own choice if that narrows
  /// them.
  bool choose(RelationalOpInterface op) {
    Value input = op->getOperand(0);
    if (!context_.allAxes()) {
      addSort("here", replicatedTable(), replicatedTable());
      return true;
    }
    if (context_.rows.rowsMaxOf(input) <= 1) {
      // Nothing to choose between, so all copies agree.
      addSort("everywhere", replicatedTable(), replicatedTable());
    }
    addSort("on the first rank", root(), root());
    RowSharding rule = op.getSharding();
    // An order that it did not make counts, and an exchange does not keep it.
    bool inOrder = op.getOrdering() == RowOrdering::kKept && isOrdered(input);
    for (const Layout &layout : context_.available(input)) {
      bool parts = rule.parts != RowSharding::Parts::kNone && !inOrder;
      if (parts && layout.rowAxes && !layout.isRoot()) {
        addSort("each rank's own choice first", layout, inParts(rule, layout));
      }
    }
    return true;
  }

  bool unite(RelationalOpInterface op) {
    Value result = op->getResult(0);
    auto repeat = [&](const Layout &layout) {
      return SmallVector<Layout, 2>(op->getNumOperands(), layout);
    };
    auto seconds = [&](const Layout &layout) {
      return price(result, layout,
                   [&](double parts) { return context_.work.unite(result, parts); });
    };
    add("everywhere", repeat(replicatedTable()), {replicatedTable()}, seconds(replicatedTable()));
    for (AxisSet axes : context_.axisSets()) {
      Layout scattered = splitRows(RowKind::Scattered, axes);
      add("where the rows are", repeat(scattered), {scattered}, seconds(scattered));
    }
    if (context_.allAxes()) {
      add("on the first rank", repeat(root()), {root()}, seconds(root()));
    }
    return true;
  }

  //===------------------------------------------------------------------===//
  // Tensors
  //===------------------------------------------------------------------===//

  bool toTensor(ToTensorOp op) {
    auto dimsOf = [&](Value tensor, AxisSet axes) {
      Layout layout = replicatedTensor(cast<RankedTensorType>(tensor.getType()).getRank());
      layout.dims[0] = axes;
      layout.raggedDim = 0;
      layout.raggedOrigin = op;
      return layout;
    };
    auto work = [&](double parts) { return context_.work.toTensor(op, parts); };
    // Copies of a table have their rows in different orders, so only one rank's can become a
    // tensor.
    if (!context_.allAxes()) {
      SmallVector<Layout, 1> gives;
      for (Value tensor : op.getTensors()) {
        gives.push_back(replicatedLayout(tensor.getType()));
      }
      return add("here", {replicatedTable()}, gives, price(op.getInput(), replicatedTable(), work));
    }
    auto become = [&](StringRef label, const Layout &rows, AxisSet axes) {
      SmallVector<Layout, 1> gives;
      for (Value tensor : op.getTensors()) {
        gives.push_back(dimsOf(tensor, axes));
      }
      add(label.str(), {rows}, gives, price(op.getInput(), rows, work));
    };
    // The parts of dim 0 follow one another by rank: the first one's has all rows, in their order.
    become("rows become the first rank's part of dim 0", root(), context_.allAxes());
    if (!isOrdered(op.getInput())) {
      // Over all axes: along others there would be copies.
      become("rows become parts of dim 0", splitRows(RowKind::Scattered, context_.allAxes()),
             context_.allAxes());
    }
    return true;
  }

  bool fromTensor(FromTensorOp op) {
    double bytes = tensorBytes(op.getTensor());
    Layout whole = replicatedLayout(op.getTensor().getType());
    add("everywhere", {whole}, {replicatedTable()},
        cost::copySeconds(context_.model, bytes, bytes));
    for (const Layout &layout : context_.available(op.getTensor())) {
      if (layout.dims[0] && layout.usedAxes() == layout.dims[0]) {
        double share = bytes / context_.parts(layout.dims[0]);
        add("parts of dim 0 become rows", {layout}, {splitRows(RowKind::Block, layout.dims[0])},
            cost::copySeconds(context_.model, share, share));
      }
    }
    return true;
  }

  PlacedNode &node_;
  StrategyContext &context_;
  SmallVector<std::pair<Shares, double>> priced_; ///< by shares, of this node's op
};

} // namespace

bool enumerateFrame(PlacedNode &node, StrategyContext &context) {
  context.classes.add(node.op);
  return FrameEnumerator(node, context).run();
}

} // namespace headrace::shard
