// optimize-roll-up: of aggregates over the same rows, the coarse ones are made from the fine ones.
#include "dialects/frame/FrameConstants.h"
#include "passes/analysis/cardinality.h"
#include "passes/optimize/Passes.h"
#include "passes/optimize/avg.h"
#include "passes/optimize/expressions.h"

#include "llvm/ADT/MapVector.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZEROLLUP
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

/// An aggregate by the keys of several is worth its while where it has at most this share of the
/// rows.
constexpr double kCommonShareMax = 0.5;

/// Aggregates of one table, in one block.
using Family = SmallVector<AggregateOp, 2>;

SmallVector<Family> findFamilies(func::FuncOp function) {
  llvm::MapVector<std::pair<Value, Block *>, Family> byInput;
  function.walk([&](AggregateOp op) {
    if (op.getInput().getParentBlock() == op->getBlock()) {
      byInput[{op.getInput(), op->getBlock()}].push_back(op);
    }
  });
  SmallVector<Family> families;
  for (auto &[input, family] : byInput) {
    if (family.size() > 1) {
      families.push_back(std::move(family));
    }
  }
  return families;
}

/// An aggregate, and what its measures are of the family's rows: it may itself be made of groups.
struct Groups {
  AggregateOp op;
  ArrayAttr measures;
};

bool hasKeysOf(AggregateOp op, AggregateOp other) {
  return llvm::all_of(other.getKeys(),
                      [&](Attribute key) { return llvm::is_contained(op.getKeys(), key); });
}

/// The column of `fine` with the partial states of `measure`; null if there is none.
StringAttr partialOf(const Groups &fine, MeasureAttr measure, Type type) {
  if (!ruleOf(measure.getFunction()).combine) {
    return {};
  }
  AggregateOp op = fine.op;
  for (auto own : fine.measures.getAsRange<MeasureAttr>()) {
    if (own.getFunction() == measure.getFunction() && own.getInput() == measure.getInput() &&
        dropNullable(op.getType().getColumnType(own.getName())) == dropNullable(type)) {
      return own.getName();
    }
  }
  return {};
}

/// The partial states in `fine` for each measure of `coarse`; nothing if one is missing.
std::optional<SmallVector<StringAttr>> partialsOf(const Groups &fine, AggregateOp coarse) {
  SmallVector<StringAttr> partials;
  for (MeasureAttr measure : coarse.getMeasureRange()) {
    StringAttr partial =
        partialOf(fine, measure, coarse.getType().getColumnType(measure.getName()));
    if (!partial) {
      return std::nullopt;
    }
    partials.push_back(partial);
  }
  return partials;
}

bool isCount(MeasureAttr measure) {
  return ruleOf(measure.getFunction()).result == AggregateResult::kCount;
}

/// `coarse` made of the groups of `fine`, which is in front of the builder.
AggregateOp rollUp(OpBuilder &builder, AggregateOp fine, AggregateOp coarse,
                   ArrayRef<StringAttr> partials) {
  MLIRContext *context = builder.getContext();
  Location location = coarse.getLoc();
  bool global = coarse.getKeys().empty();
  SmallVector<Attribute> measures;
  SmallVector<Column> columns(coarse.getType().getColumns());
  SmallVector<StringAttr> counts; // a sum of no counts is NULL
  for (auto [index, measure] : llvm::enumerate(coarse.getMeasureRange())) {
    measures.push_back(MeasureAttr::get(context, *ruleOf(measure.getFunction()).combine,
                                        partials[index], measure.getName()));
    if (global && isCount(measure)) {
      Column &column = columns[coarse.getKeys().size() + index];
      column.type = addNullable(column.type);
      counts.push_back(measure.getName());
    }
  }
  auto result = AggregateOp::create(builder, location, TableType::get(context, columns), fine,
                                    coarse.getKeys(), builder.getArrayAttr(measures));
  Value table = result;
  if (!counts.empty()) {
    auto count = [&](RegionBuilder &inside, StringAttr name) {
      return createCountOfParts(inside.builder(), location, inside.column(name),
                                coarse.getType().getColumnType(name));
    };
    table = createProject(builder, location, table, coarse.getType(), counts, count);
  }
  coarse.getResult().replaceAllUsesWith(table);
  coarse.erase();
  return result;
}

/// An aggregate with the measures of `roots` (all have the same) by all their keys, if it has few
/// groups.
AggregateOp createCommon(OpBuilder &builder, ArrayRef<AggregateOp> roots) {
  AggregateOp first = roots.front();
  for (AggregateOp root : roots) {
    if (!partialsOf({first, first.getMeasures()}, root) ||
        !partialsOf({root, root.getMeasures()}, first)) {
      return {};
    }
  }
  TableType input = first.getInput().getType();
  llvm::SetVector<Attribute> keys;
  for (AggregateOp root : roots) {
    keys.insert_range(root.getKeys());
  }
  SmallVector<Column> columns;
  for (Attribute key : keys) {
    auto name = cast<StringAttr>(key);
    columns.push_back({name, input.getColumnType(name)});
  }
  SmallVector<Attribute> measures;
  for (auto [index, measure] : llvm::enumerate(first.getMeasureRange())) {
    // Another name than that of the coarse ones: both are seen by those who read one of each.
    auto name = builder.getStringAttr(measure.getName().getValue() + ".fine");
    Type own = first.getType().getColumnType(measure.getName());
    Type type =
        withNullability(dropNullable(own),
                        nullabilityOf(measureType(
                            measure.getFunction(),
                            measure.getInput() ? input.getColumnType(measure.getInput()) : Type(),
                            Grouping::kByKeys, builder.getContext())));
    measures.push_back(
        MeasureAttr::get(builder.getContext(), measure.getFunction(), measure.getInput(), name));
    columns.push_back({name, type});
  }
  auto common = AggregateOp::create(
      builder, first.getLoc(), TableType::get(builder.getContext(), columns), first.getInput(),
      builder.getArrayAttr(keys.getArrayRef()), builder.getArrayAttr(measures));
  analysis::CardinalityAnalysis cardinality;
  if (cardinality.rowsOf(common).expected <=
      kCommonShareMax * cardinality.rowsOf(first.getInput()).expected) {
    return common;
  }
  common.erase();
  return {};
}

/// To where `input` is known.
void moveBehind(AggregateOp op, Value input) {
  if (Operation *definition = input.getDefiningOp()) {
    op->moveAfter(definition);
  } else {
    op->moveBefore(op->getBlock(), op->getBlock()->begin());
  }
}

void rollUpFamily(OpBuilder &builder, Family &family) {
  // Fine ones first; each is made of the coarsest that has its keys.
  llvm::stable_sort(
      family, [](AggregateOp a, AggregateOp b) { return a.getKeys().size() > b.getKeys().size(); });
  SmallVector<Groups> made;
  auto sourceOf = [&](AggregateOp op) -> const Groups * {
    for (const Groups &fine : llvm::reverse(made)) {
      if (hasKeysOf(fine.op, op) && partialsOf(fine, op)) {
        return &fine;
      }
    }
    return nullptr;
  };
  SmallVector<AggregateOp> roots;
  for (AggregateOp op : family) {
    if (!sourceOf(op)) {
      roots.push_back(op);
    }
    made.push_back({op, op.getMeasures()});
  }
  made.clear();
  builder.setInsertionPointAfterValue(family.front().getInput());
  if (roots.size() > 1) {
    if (AggregateOp common = createCommon(builder, roots)) {
      made.push_back({common, common.getMeasures()});
    }
  }
  // All in one place, as readers of a coarse one may come before the fine one.
  for (AggregateOp op : family) {
    ArrayAttr measures = op.getMeasures();
    if (const Groups *fine = sourceOf(op)) {
      op = rollUp(builder, fine->op, op, *partialsOf(*fine, op));
    } else if (made.empty()) {
      moveBehind(op, op.getInput());
    } else {
      op->moveAfter(made.back().op);
    }
    made.push_back({op, measures});
    builder.setInsertionPointAfter(op);
  }
}

struct RollUpPass : optimize::impl::OptimizeRollUpBase<RollUpPass> {
  void runOnOperation() override {
    if (findFamilies(getOperation()).empty()) {
      return;
    }
    makeMeasuresCombine(getOperation());
    OpBuilder builder(&getContext());
    for (Family &family : findFamilies(getOperation())) {
      rollUpFamily(builder, family);
    }
  }
};

} // namespace
