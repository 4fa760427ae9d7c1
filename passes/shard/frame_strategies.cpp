// Strategies of the relational ops: the table of rules of the design page on layouts, row by row.
#include "passes/shard/strategies.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace headrace::dist;
using namespace headrace::frame;

namespace headrace::shard {
namespace {

// Scalar operations per row; what matters is their order of magnitude against bytes.
constexpr double kScanOperations = 3;   // per value: decode
constexpr double kFilterOperations = 6; // per row
constexpr double kProbeOperations = 14;
constexpr double kBuildOperations = 24;
constexpr double kAggregateOperations = 18;
constexpr double kCompareOperations = 8;
constexpr double kEntryBytes = 64;    // a cache line per look-up
constexpr double kEntryOverhead = 16; // of a hash table entry beside its row

using Keys = llvm::SmallVector<StringAttr, 2>;

Keys keysOf(ArrayAttr array) { return llvm::to_vector<2>(array.getAsRange<StringAttr>()); }

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

  bool run() {
    return TypeSwitch<Operation *, bool>(node_.op)
        .Case<ScanOp>([&](ScanOp op) { return scan(op); })
        .Case<ValuesOp>([&](ValuesOp op) { return add("values", {}, {replicatedTable()}, 0); })
        .Case<FilterOp, ProjectOp, RenameOp>([&](auto op) { return rowWise(op); })
        .Case<JoinOp>([&](JoinOp op) { return join(op); })
        .Case<AggregateOp>([&](AggregateOp op) { return aggregate(op); })
        .Case<DistinctOp>([&](DistinctOp op) { return distinct(op); })
        .Case<SortOp>([&](SortOp op) { return sort(op); })
        .Case<LimitOp>([&](LimitOp op) { return limit(op); })
        .Case<TopKOp>([&](TopKOp op) { return topK(op); })
        .Case<UnionOp>([&](UnionOp op) { return unite(op); })
        .Case<ScalarSubqueryOp>([&](ScalarSubqueryOp op) {
          return add("replicated", {replicatedTable()}, {}, 0);
        })
        .Case<ToTensorOp>([&](ToTensorOp op) { return toTensor(op); })
        .Case<FromTensorOp>([&](FromTensorOp op) { return fromTensor(op); })
        .Default([](Operation *) { return false; });
  }

private:
  bool add(std::string label, SmallVector<Layout, 2> needs, SmallVector<Layout, 1> gives,
           double seconds, double memoryBytes = 0) {
    addStrategy(node_, {std::move(label), std::move(needs), std::move(gives), seconds, memoryBytes});
    return true;
  }
  double rows(Value table) { return context_.rows.rowsOf(table); }
  double bytes(Value table) { return rows(table) * context_.rows.bytesPerRow(table); }
  double parts(const Layout &layout) const { return context_.parts(layout.rowAxes); }
  /// Rows over which one rank works: a root works alone.
  double partsOfWork(const Layout &layout) const { return layout.isRoot() ? 1 : parts(layout); }
  Layout root() const { return splitRows(RowKind::Root, context_.allAxes()); }
  std::string text(const Layout &layout) const { return describe(layout, context_.mesh); }

  /// The layout of the result when rows stay where they are.
  Layout follow(Value source, const Layout &layout) const {
    Layout result = layout;
    for (StringAttr &key : result.keys) {
      StringAttr name = context_.classes.follow(source, key, node_.op);
      if (!name) {
        return splitRows(RowKind::Scattered, layout.rowAxes);
      }
      key = name;
    }
    if (result.rowKind == RowKind::Block && isa<JoinOp>(node_.op)) {
      result.rowKind = RowKind::Scattered;
    }
    return result;
  }

  bool scan(ScanOp op) {
    double values = rows(op) * op.getType().getNumColumns();
    auto work = [&](double parts) {
      return context_.kernelSeconds(kScanOperations * values / parts, bytes(op) / parts);
    };
    add("every rank reads all", {}, {replicatedTable()}, work(1));
    for (AxisSet axes : context_.axisSets()) {
      Layout split = splitRows(RowKind::Block, axes);
      add("each rank reads its part", {}, {split}, work(context_.parts(axes)));
    }
    return true;
  }

  bool rowWise(Operation *op) {
    Value input = op->getOperand(0);
    Value result = op->getResult(0);
    for (const Layout &layout : context_.available(input)) {
      double parts = partsOfWork(layout);
      double seconds = context_.kernelSeconds(kFilterOperations * rows(input) / parts,
                                              bytes(result) / parts);
      add(text(layout), {layout}, {follow(input, layout)}, seconds);
    }
    return true;
  }

  //===------------------------------------------------------------------===//
  // Joins
  //===------------------------------------------------------------------===//

  /// Work and memory of a join whose sides have the given parts.
  struct JoinWork {
    double seconds;
    double memoryBytes;
  };
  JoinWork joinWork(JoinOp op, double leftParts, double rightParts) {
    bool buildLeft = op.getKind() == JoinKind::Inner && rows(op.getLeft()) < rows(op.getRight());
    Value build = buildLeft ? op.getLeft() : op.getRight();
    Value probe = buildLeft ? op.getRight() : op.getLeft();
    double buildRows = rows(build) / (buildLeft ? leftParts : rightParts);
    double probeRows = rows(probe) / (buildLeft ? rightParts : leftParts);
    double parts = std::max(leftParts, rightParts);
    double tableBytes = buildRows * (context_.rows.bytesPerRow(build) + kEntryOverhead);
    double pairs = op.getLeftKeys().empty() ? buildRows * probeRows : 0;
    double seconds =
        context_.kernelSeconds(kBuildOperations * buildRows, tableBytes, kEntryBytes * buildRows, tableBytes) +
        context_.kernelSeconds(kProbeOperations * probeRows + kCompareOperations * pairs,
                               bytes(op) / parts, kEntryBytes * probeRows, tableBytes);
    return {seconds, tableBytes};
  }
  void addJoin(JoinOp op, std::string label, const Layout &left, const Layout &right, Layout result) {
    JoinWork work = joinWork(op, partsOfWork(left), partsOfWork(right));
    add(std::move(label), {left, right}, {std::move(result)}, work.seconds, work.memoryBytes);
  }

  bool join(JoinOp op) {
    JoinKind kind = op.getKind();
    Value left = op.getLeft();
    Value right = op.getRight();
    addJoin(op, "both sides everywhere", replicatedTable(), replicatedTable(), replicatedTable());
    if (!context_.allAxes()) {
      return true;
    }
    addJoin(op, "on the first rank", root(), root(), root());
    shuffleJoins(op);
    // The replicated side must not have to report rows without a match.
    if (kind != JoinKind::Right && kind != JoinKind::Full) {
      for (const Layout &layout : context_.available(left)) {
        if (layout.rowAxes && !layout.isRoot()) {
          addJoin(op, "broadcast right, left " + text(layout), layout, replicatedTable(),
                  follow(left, layout));
        }
      }
    }
    if (kind == JoinKind::Right || kind == JoinKind::Inner) {
      for (const Layout &layout : context_.available(right)) {
        if (layout.rowAxes && !layout.isRoot()) {
          addJoin(op, "broadcast left, right " + text(layout), replicatedTable(), layout,
                  follow(right, layout));
        }
      }
    }
    return true;
  }

  void shuffleJoins(JoinOp op) {
    // NOT IN looks at the whole right side (is it empty, has it NULL): one rank's part does not tell.
    if (op.getLeftKeys().empty() || op.getNullAware()) {
      return;
    }
    Keys leftKeys = context_.classes.namesOf(op.getLeft(), keysOf(op.getLeftKeys()));
    Keys rightKeys = context_.classes.namesOf(op.getRight(), keysOf(op.getRightKeys()));
    for (AxisSet axes : context_.axisSets()) {
      for (const SmallVector<unsigned> &which : keyChoices(leftKeys.size())) {
        Keys l = select(leftKeys, which);
        Keys r = select(rightKeys, which);
        if (l.size() != r.size()) {
          continue; // Two pairs share a column on one side only; single keys cover the case.
        }
        Layout leftLayout = splitRows(RowKind::Hash, axes, l);
        Layout rightLayout = splitRows(RowKind::Hash, axes, r);
        Layout result = op.getKind() == JoinKind::Full    ? splitRows(RowKind::Scattered, axes)
                        : op.getKind() == JoinKind::Right ? follow(op.getRight(), rightLayout)
                                                          : follow(op.getLeft(), leftLayout);
        addJoin(op, "shuffle on " + joined(l) + " = " + joined(r), leftLayout, rightLayout, result);
      }
    }
  }

  //===------------------------------------------------------------------===//
  // Aggregates
  //===------------------------------------------------------------------===//

  double groupWork(Value input, Value result, double parts) {
    double tableBytes = rows(result) * (context_.rows.bytesPerRow(result) + kEntryOverhead);
    return context_.kernelSeconds(kAggregateOperations * rows(input) / parts, bytes(input) / parts,
                                  kEntryBytes * rows(input) / parts, tableBytes);
  }

  /// Aggregates and distinct: complete where equal keys are together, unreduced elsewhere.
  void group(Value input, Value result, ArrayRef<StringAttr> keys, Attribute combine) {
    add("everywhere", {replicatedTable()}, {replicatedTable()}, groupWork(input, result, 1));
    if (!context_.allAxes()) {
      return;
    }
    Keys inputKeys = context_.classes.namesOf(input, keys);
    Keys resultKeys = context_.classes.namesOf(result, keys);
    if (!keys.empty()) {
      add("on the first rank", {root()}, {root()}, groupWork(input, result, 1));
      for (AxisSet axes : context_.axisSets()) {
        for (const SmallVector<unsigned> &which : keyChoices(keys.size())) {
          Layout need = splitRows(RowKind::Hash, axes, select(inputKeys, which));
          Layout give = splitRows(RowKind::Hash, axes, select(resultKeys, which));
          add("complete, by hash of " + joined(need.keys), {need}, {give},
              groupWork(input, result, context_.parts(axes)));
        }
      }
    }
    for (const Layout &layout : context_.available(input)) {
      if (!layout.rowAxes || layout.isRoot()) {
        continue;
      }
      bool together = layout.rowKind == RowKind::Hash &&
                      llvm::all_of(layout.keys, [&](StringAttr key) {
                        return llvm::is_contained(inputKeys, key);
                      });
      double seconds = groupWork(input, result, parts(layout));
      if (together && !keys.empty()) {
        add("complete, by hash of " + joined(layout.keys), {layout}, {follow(input, layout)}, seconds);
        continue;
      }
      if (combine) {
        Layout give;
        give.unreduced = layout.rowAxes;
        give.combine = combine;
        give.groupKeys = select(resultKeys, keyChoices(resultKeys.size())[0]);
        add("pre-aggregate " + text(layout), {layout}, {give}, seconds);
      }
    }
  }

  bool aggregate(AggregateOp op) {
    SmallVector<AggregateFunction> functions;
    SmallVector<Type> types;
    bool combines = true;
    for (auto [measure, type] :
         llvm::zip(op.getMeasureRange(), op.getType().getColumnTypes().drop_front(op.getKeys().size()))) {
      combines = combines && combineFunction(measure.getFunction()).has_value();
      functions.push_back(measure.getFunction());
      types.push_back(dropNullable(type));
    }
    Attribute contract =
        combines ? ContractAttr::get(op.getContext(), functions, types) : ContractAttr();
    group(op.getInput(), op, keysOf(op.getKeys()), contract);
    return true;
  }

  bool distinct(DistinctOp op) {
    group(op.getInput(), op, llvm::to_vector(op.getType().getNames()),
          CombineAttr::get(op.getContext(), Combine::Distinct));
    return true;
  }

  //===------------------------------------------------------------------===//
  // Orders
  //===------------------------------------------------------------------===//

  double sortWork(Value input) {
    double count = rows(input);
    return context_.kernelSeconds(kCompareOperations * count * std::log2(count + 2), 4 * bytes(input));
  }

  bool sort(SortOp op) {
    add("everywhere", {replicatedTable()}, {replicatedTable()}, sortWork(op.getInput()));
    if (context_.allAxes()) {
      add("on the first rank", {root()}, {root()}, sortWork(op.getInput()));
    }
    return true;
  }

  /// Rows chosen by position: one rank must decide, after each rank's own choice if that narrows them.
  void choose(Value input, Combine combine, bool partial, double operationsPerRow) {
    auto work = [&](double parts) {
      return context_.kernelSeconds(operationsPerRow * rows(input) / parts, bytes(input) / parts);
    };
    if (!context_.allAxes()) {
      add("here", {replicatedTable()}, {replicatedTable()}, work(1));
      return;
    }
    if (context_.rows.rowsMaxOf(input) <= 1) {
      // Nothing to choose between, so all copies agree.
      add("everywhere", {replicatedTable()}, {replicatedTable()}, work(1));
    }
    add("on the first rank", {root()}, {root()}, work(1));
    for (const Layout &layout : context_.available(input)) {
      if (partial && layout.rowAxes && !layout.isRoot()) {
        Layout give;
        give.unreduced = layout.rowAxes;
        give.combine = CombineAttr::get(node_.op->getContext(), combine);
        add("each rank's own choice first", {layout}, {give}, work(parts(layout)));
      }
    }
  }

  bool limit(LimitOp op) {
    // After a sort the order counts, which an exchange does not keep.
    Operation *producer = op.getInput().getDefiningOp();
    while (producer && isa<FilterOp, ProjectOp, RenameOp>(producer)) {
      producer = producer->getOperand(0).getDefiningOp();
    }
    bool ordered = producer && isa<SortOp, TopKOp, LimitOp>(producer);
    choose(op.getInput(), Combine::Limit, op.getCount() && !ordered, 1);
    return true;
  }

  bool topK(TopKOp op) {
    choose(op.getInput(), Combine::TopK, true, kCompareOperations);
    return true;
  }

  bool unite(UnionOp op) {
    size_t count = op.getInputs().size();
    auto repeat = [&](const Layout &layout) { return SmallVector<Layout, 2>(count, layout); };
    add("everywhere", repeat(replicatedTable()), {replicatedTable()}, 0);
    for (AxisSet axes : context_.axisSets()) {
      Layout scattered = splitRows(RowKind::Scattered, axes);
      add("where the rows are", repeat(scattered), {scattered}, 0);
    }
    if (context_.allAxes()) {
      add("on the first rank", repeat(root()), {root()}, 0);
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
    double seconds = context_.kernelSeconds(0, 2 * bytes(op.getInput()));
    // Copies of a table have their rows in different orders, so only one rank's can become a tensor.
    if (!context_.allAxes()) {
      SmallVector<Layout, 1> gives;
      for (Value tensor : op.getTensors()) {
        gives.push_back(replicatedLayout(tensor.getType()));
      }
      return add("here", {replicatedTable()}, gives, seconds);
    }
    for (AxisSet axes : context_.axisSets()) {
      SmallVector<Layout, 1> gives;
      for (Value tensor : op.getTensors()) {
        gives.push_back(dimsOf(tensor, axes));
      }
      add("rows become parts of dim 0", {splitRows(RowKind::Scattered, axes)}, gives,
          seconds / context_.parts(axes));
    }
    return true;
  }

  bool fromTensor(FromTensorOp op) {
    double seconds = context_.kernelSeconds(0, 2 * bytes(op));
    Layout whole = replicatedLayout(op.getTensor().getType());
    add("everywhere", {whole}, {replicatedTable()}, seconds);
    for (const Layout &layout : context_.available(op.getTensor())) {
      if (layout.dims[0] && layout.usedAxes() == layout.dims[0]) {
        add("parts of dim 0 become rows", {layout}, {splitRows(RowKind::Block, layout.dims[0])},
            seconds / context_.parts(layout.dims[0]));
      }
    }
    return true;
  }

  PlacedNode &node_;
  StrategyContext &context_;
};

} // namespace

bool enumerateFrame(PlacedNode &node, StrategyContext &context) {
  context.classes.add(node.op);
  return FrameEnumerator(node, context).run();
}

} // namespace headrace::shard
