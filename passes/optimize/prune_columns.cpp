// optimize-prune-columns: what nobody uses is not scanned, computed or carried.
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"
#include "llvm/ADT/TypeSwitch.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZEPRUNECOLUMNS
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

/// Rebuilds the table ops of one block with narrower types: needs are found backward, ops made
/// forward.
class ColumnPruning {
public:
  explicit ColumnPruning(Block &block)
      : block_(block), builder_(block.getParentOp()->getContext()) {}

  void run() {
    for (Operation &op : llvm::reverse(block_)) {
      collectNeeds(&op);
    }
    SmallVector<Operation *> old;
    for (Operation &op : block_) {
      old.push_back(&op);
    }
    for (Operation *op : old) {
      rebuild(op);
    }
    tidyBlock(block_);
  }

private:
  void collectNeeds(Operation *op);
  void rebuild(Operation *op);
  TableType narrowed(TableType type, const ColumnSet &kept) const;
  Value current(Value old) const { return current_.lookup(old) ? current_.lookup(old) : old; }
  /// The new value of `old` with no other columns than `wanted`.
  Value restricted(Value old, const ColumnSet &wanted, Location location);
  /// The new value of `old` with exactly its old type.
  Value restored(Value old, Location location);

  Value rebuildScan(ScanOp op);
  Value rebuildValues(ValuesOp op);
  Value rebuildProject(ProjectOp op);
  Value rebuildJoin(JoinOp op);
  Value rebuildAggregate(AggregateOp op);
  Value rebuildUnion(UnionOp op);
  Value rebuildRename(RenameOp op);

  ColumnSet leftNeeds(JoinOp op) const;
  ColumnSet rightNeeds(JoinOp op) const;

  Block &block_;
  OpBuilder builder_;
  llvm::DenseMap<Value, ColumnSet> needs_;
  llvm::DenseMap<Value, Value> current_;
};

void addNames(ColumnSet &set, ArrayAttr names) {
  for (StringAttr name : names.getAsRange<StringAttr>()) {
    set.insert(name);
  }
}

ColumnSet sortNeeds(ColumnSet needs, ArrayAttr keys) {
  for (SortKeyAttr key : keys.getAsRange<SortKeyAttr>()) {
    needs.insert(key.getColumn());
  }
  return needs;
}

/// What a join needs of one side: columns of its result, keys, the residual's columns.
ColumnSet sideNeeds(JoinOp op, const ColumnSet &resultNeeds, TableType side, ArrayAttr keys) {
  ColumnSet needs;
  for (StringAttr name : resultNeeds) {
    if (side.hasColumn(name)) {
      needs.insert(name);
    }
  }
  addNames(needs, keys);
  if (op.hasResidual()) {
    for (StringAttr name : op.getResidualColumns()->getAsRange<StringAttr>()) {
      if (side.hasColumn(name)) {
        needs.insert(name);
      }
    }
  }
  return needs;
}

bool isLeftOnly(JoinKind kind) {
  return kind == JoinKind::Semi || kind == JoinKind::Anti || kind == JoinKind::Mark;
}

/// Rows that are made in memory are counted by their columns, so one of them stays.
static ColumnSet atLeastOne(ColumnSet needs, TableType type) {
  if (needs.empty() && type.getNumColumns() > 0) {
    needs.insert(type.getNames().front());
  }
  return needs;
}

/// Whether a join only marks rows, and nobody looks.
bool isUnusedMark(JoinOp op, const ColumnSet &needs) {
  return op.getKind() == JoinKind::Mark && !needs.contains(op.getMark().name);
}

ColumnSet ColumnPruning::leftNeeds(JoinOp op) const {
  return sideNeeds(op, needs_.lookup(op.getResult()), op.getLeft().getType(), op.getLeftKeys());
}

ColumnSet ColumnPruning::rightNeeds(JoinOp op) const {
  ColumnSet result = isLeftOnly(op.getKind()) ? ColumnSet() : needs_.lookup(op.getResult());
  return sideNeeds(op, result, op.getRight().getType(), op.getRightKeys());
}

void ColumnPruning::collectNeeds(Operation *op) {
  auto need = [&](Value table, const ColumnSet &columns) { needs_[table].insert_range(columns); };
  ColumnSet own = op->getNumResults() == 1 ? needs_.lookup(op->getResult(0)) : ColumnSet();
  llvm::TypeSwitch<Operation *>(op)
      .Case<ScanOp, ValuesOp>([](Operation *) {})
      .Case([&](FilterOp filter) {
        addNames(own, filter.getColumns());
        need(filter.getInput(), own);
      })
      .Case([&](ProjectOp project) {
        ColumnSet input;
        for (StringAttr name : own) {
          Expression computed = computedBy(project, name);
          if (computed.value) {
            addColumnsOf(computed, input);
          } else {
            input.insert(name);
          }
        }
        need(project.getInput(), input);
      })
      .Case([&](RenameOp rename) {
        ColumnSet input;
        for (StringAttr name : own) {
          input.insert(rename.getInput()
                           .getType()
                           .getNames()[*rename.getResult().getType().findColumn(name)]);
        }
        need(rename.getInput(), input);
      })
      .Case([&](JoinOp join) {
        if (isUnusedMark(join, own)) {
          need(join.getLeft(), own);
          return;
        }
        need(join.getLeft(), leftNeeds(join));
        need(join.getRight(), rightNeeds(join));
      })
      .Case([&](AggregateOp aggregate) {
        ColumnSet input;
        addNames(input, aggregate.getKeys());
        for (MeasureAttr measure : aggregate.getMeasureRange()) {
          if (own.contains(measure.getName()) && measure.getInput()) {
            input.insert(measure.getInput());
          }
        }
        need(aggregate.getInput(), input);
      })
      .Case([&](LimitOp limit) { need(limit.getInput(), own); })
      .Case<SortOp, TopKOp>(
          [&](auto sort) { need(sort.getInput(), sortNeeds(own, sort.getKeys())); })
      .Case([&](UnionOp unionOp) {
        own = atLeastOne(own, unionOp.getResult().getType());
        for (Value input : unionOp.getInputs()) {
          ColumnSet columns;
          for (StringAttr name : own) {
            columns.insert(cast<TableType>(input.getType())
                               .getNames()[*unionOp.getResult().getType().findColumn(name)]);
          }
          need(input, columns);
        }
      })
      .Case([&](ToTensorOp toTensor) {
        ColumnSet columns;
        for (ArrayAttr group : toTensor.getGroups().getAsRange<ArrayAttr>()) {
          addNames(columns, group);
        }
        need(toTensor.getInput(), columns);
      })
      .Default([&](Operation *other) { // whole rows: return, distinct, scalar_subquery, unknown ops
        for (Value operand : other->getOperands()) {
          if (auto table = dyn_cast<TableType>(operand.getType())) {
            needs_[operand].insert_range(table.getNames());
          }
        }
      });
}

TableType ColumnPruning::narrowed(TableType type, const ColumnSet &kept) const {
  SmallVector<Column> columns;
  for (const Column &column : type.getColumns()) {
    if (kept.contains(column.name)) {
      columns.push_back(column);
    }
  }
  return TableType::get(type.getContext(), columns);
}

Value ColumnPruning::restricted(Value old, const ColumnSet &wanted, Location location) {
  Value value = current(old);
  SmallVector<StringAttr> names;
  for (StringAttr name : cast<TableType>(value.getType()).getNames()) {
    if (wanted.contains(name)) {
      names.push_back(name);
    }
  }
  if (names.size() == cast<TableType>(value.getType()).getNumColumns()) {
    return value;
  }
  return createKeep(builder_, location, value, names);
}

Value ColumnPruning::restored(Value old, Location location) {
  Value value = current(old);
  return value.getType() == old.getType()
             ? value
             : createKeep(builder_, location, value, cast<TableType>(old.getType()).getNames())
                   .getResult();
}

Value ColumnPruning::rebuildScan(ScanOp op) {
  const ColumnSet &needs = needs_[op.getResult()];
  SmallVector<Attribute> files;
  for (auto [name, file] :
       llvm::zip_equal(op.getResult().getType().getNames(), op.getFileColumns())) {
    if (needs.contains(name)) {
      files.push_back(file);
    }
  }
  return ScanOp::create(builder_, op.getLoc(), narrowed(op.getResult().getType(), needs),
                        op.getTableNameAttr(), builder_.getArrayAttr(files),
                        op.getStatisticsAttr());
}

Value ColumnPruning::rebuildValues(ValuesOp op) {
  ColumnSet needs = atLeastOne(needs_[op.getResult()], op.getResult().getType());
  SmallVector<Attribute> rows;
  for (ArrayAttr row : op.getRows().getAsRange<ArrayAttr>()) {
    SmallVector<Attribute> cells;
    for (auto [name, cell] : llvm::zip_equal(op.getResult().getType().getNames(), row)) {
      if (needs.contains(name)) {
        cells.push_back(cell);
      }
    }
    rows.push_back(builder_.getArrayAttr(cells));
  }
  return ValuesOp::create(builder_, op.getLoc(), narrowed(op.getResult().getType(), needs),
                          builder_.getArrayAttr(rows));
}

Value ColumnPruning::rebuildProject(ProjectOp op) {
  const ColumnSet &needs = needs_[op.getResult()];
  SmallVector<StringAttr> names;
  SmallVector<Expression> values;
  for (auto [name, value] : llvm::zip_equal(op.getComputed().getAsRange<StringAttr>(),
                                            yieldedBy(op.getExpressions(), op.getColumns()))) {
    if (needs.contains(name)) {
      names.push_back(name);
      values.push_back(value);
    }
  }
  return createProject(builder_, op.getLoc(), current(op.getInput()),
                       narrowed(op.getResult().getType(), needs), names, values);
}

Value ColumnPruning::rebuildJoin(JoinOp op) {
  if (const ColumnSet &needs = needs_[op.getResult()]; isUnusedMark(op, needs)) {
    return restricted(op.getLeft(), needs, op.getLoc());
  }
  Value left = restricted(op.getLeft(), leftNeeds(op), op.getLoc());
  Value right = restricted(op.getRight(), rightNeeds(op), op.getLoc());
  TableType type = JoinOp::inferResultType(op.getKind(), cast<TableType>(left.getType()),
                                           cast<TableType>(right.getType()), op.getMark());
  auto result = JoinOp::create(builder_, op.getLoc(), type, op.getKind(), left, right,
                               op.getLeftKeys(), op.getRightKeys(), op.getNullSafeAttr(),
                               op.getResidualColumnsAttr(), op.getNullAware());
  result.getResidual().takeBody(op.getResidual());
  return result;
}

Value ColumnPruning::rebuildAggregate(AggregateOp op) {
  ColumnSet kept = needs_[op.getResult()];
  addNames(kept, op.getKeys());
  SmallVector<Attribute> measures;
  for (MeasureAttr measure : op.getMeasureRange()) {
    if (kept.contains(measure.getName())) {
      measures.push_back(measure);
    }
  }
  return AggregateOp::create(builder_, op.getLoc(), narrowed(op.getResult().getType(), kept),
                             current(op.getInput()), op.getKeys(), builder_.getArrayAttr(measures));
}

Value ColumnPruning::rebuildUnion(UnionOp op) {
  TableType type = op.getResult().getType();
  ColumnSet needs = atLeastOne(needs_[op.getResult()], type);
  SmallVector<Value> inputs;
  for (Value input : op.getInputs()) {
    // By position: names and order must line up exactly.
    SmallVector<StringAttr> names;
    for (StringAttr name : type.getNames()) {
      if (needs.contains(name)) {
        names.push_back(cast<TableType>(input.getType()).getNames()[*type.findColumn(name)]);
      }
    }
    Value value = current(input);
    bool same = ArrayRef(names) == cast<TableType>(value.getType()).getNames();
    inputs.push_back(same ? value : createKeep(builder_, op.getLoc(), value, names).getResult());
  }
  return UnionOp::create(builder_, op.getLoc(), narrowed(type, needs), inputs);
}

Value ColumnPruning::rebuildRename(RenameOp op) {
  const ColumnSet &needs = needs_[op.getResult()];
  TableType type = op.getResult().getType();
  SmallVector<StringAttr> names;
  for (StringAttr name : type.getNames()) {
    if (needs.contains(name)) {
      names.push_back(op.getInput().getType().getNames()[*type.findColumn(name)]);
    }
  }
  Value value = current(op.getInput());
  if (ArrayRef(names) != cast<TableType>(value.getType()).getNames()) {
    value = createKeep(builder_, op.getLoc(), value, names);
  }
  return RenameOp::create(builder_, op.getLoc(), narrowed(type, needs), value);
}

void ColumnPruning::rebuild(Operation *op) {
  builder_.setInsertionPoint(op);
  Location location = op->getLoc();
  Value result =
      llvm::TypeSwitch<Operation *, Value>(op)
          .Case([&](ScanOp scan) { return rebuildScan(scan); })
          .Case([&](ValuesOp values) { return rebuildValues(values); })
          .Case([&](ProjectOp project) { return rebuildProject(project); })
          .Case([&](JoinOp join) { return rebuildJoin(join); })
          .Case([&](AggregateOp aggregate) { return rebuildAggregate(aggregate); })
          .Case([&](UnionOp unionOp) { return rebuildUnion(unionOp); })
          .Case([&](RenameOp rename) { return rebuildRename(rename); })
          .Case([&](FilterOp filter) -> Value {
            Value input = current(filter.getInput());
            auto copy =
                FilterOp::create(builder_, location, input.getType(), input, filter.getColumns());
            copy.getPredicate().takeBody(filter.getPredicate());
            return copy;
          })
          .Case([&](LimitOp limit) -> Value {
            Value input = restricted(limit.getInput(), needs_[limit.getResult()], location);
            return LimitOp::create(builder_, location, input.getType(), input,
                                   limit.getOffsetAttr(), limit.getCountAttr());
          })
          .Case([&](SortOp sort) -> Value {
            ColumnSet needs = sortNeeds(needs_[sort.getResult()], sort.getKeys());
            Value input = restricted(sort.getInput(), needs, location);
            return SortOp::create(builder_, location, input.getType(), input, sort.getKeys());
          })
          .Case([&](TopKOp topk) -> Value {
            ColumnSet needs = sortNeeds(needs_[topk.getResult()], topk.getKeys());
            Value input = restricted(topk.getInput(), needs, location);
            return TopKOp::create(builder_, location, input.getType(), input, topk.getKeys(),
                                  topk.getOffsetAttr(), topk.getCountAttr());
          })
          .Case([&](DistinctOp distinct) -> Value {
            Value input = restored(distinct.getInput(), location);
            return DistinctOp::create(builder_, location, input.getType(), input);
          })
          .Case([&](ToTensorOp toTensor) -> Value {
            toTensor.getInputMutable().assign(current(toTensor.getInput()));
            return {};
          })
          .Default([&](Operation *other) -> Value {
            for (OpOperand &operand : other->getOpOperands()) {
              if (isa<TableType>(operand.get().getType())) {
                operand.set(restored(operand.get(), location));
              }
            }
            return {};
          });
  if (result) {
    if (Operation *made = result.getDefiningOp(); made && made->getName() == op->getName()) {
      made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    }
    current_[op->getResult(0)] = result;
  }
}

struct PruneColumnsPass : optimize::impl::OptimizePruneColumnsBase<PruneColumnsPass> {
  void runOnOperation() override {
    for (Block &block : getOperation().getBody()) {
      ColumnPruning(block).run();
    }
  }
};

} // namespace
